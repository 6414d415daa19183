"""The blind group: programs written and captured after the rules stood.

``python -m bench.proof.blind`` prints what today's rules say of each program. ``--first`` writes ``blind.json``, the
score of the rules as they stood when the captures came back, and refuses to write it a second time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.proof.cases import BLIND, load_cases, load_truth
from bench.proof.score import Result, judge_all, nvidia, ours, total

FIRST = Path(__file__).resolve().parent / "blind.json"


def blind_results() -> tuple[list[Result], list[Result]]:
    """Our results on the blind group, and those of NVIDIA's rules on its ncu captures."""
    cases, truth = load_cases(BLIND), load_truth()
    judged = judge_all(cases, truth)
    mine = [ours(case, truth[case.id], judged) for case in cases]
    return mine, [nvidia(case, truth[case.id], judged) for case in cases if case.tool == "ncu"]


def as_first_scored() -> dict[str, Any]:
    """``blind.json``: when it was written, the totals, and one entry per case."""
    first: dict[str, Any] = json.loads(FIRST.read_text())
    return first


def _card(mine: Sequence[Result], theirs: Sequence[Result]) -> dict[str, Any]:
    from bench.proof.report import entry

    return {
        "scored": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "scores": {"blind": vars(total(mine)), "nvidia": vars(total(theirs))},
        "cases": {one.case.id: entry(one) for one in mine},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print every case; keep the first score when told to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", action="store_true")
    chosen = parser.parse_args(arguments)
    mine, theirs = blind_results()
    if chosen.first:
        with FIRST.open("x") as out:
            out.write(json.dumps(_card(mine, theirs), indent=1) + "\n")
    for one in mine:
        top = one.top.rule if one.top else "none"
        print(one.case.id, "first:", top, "place:", one.rank, "true:", one.true, "said:", one.predicted, one.covered)
        for found in one.false:
            print("    false:", found.rule, f"{found.expected:.3f}", found.text)
        if one.misled:
            print("    forbidden:", *one.misled)
    print("ours", total(mine))
    print("nvidia", total(theirs))


if __name__ == "__main__":
    main()
