"""Score the rules on the committed captures: ``python -m bench.proof.score``; needs no GPU.

Writes ``bench/proof/scorecard.json`` and ``docs/proof.md``. ``--check`` writes nothing and fails where they differ.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from math import log
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from bench.proof.cases import CALIBRATE, REPORT, Case, Truth, load_again, load_cases, load_truth
from bench.proof.findings import CAPTURES, Found, Judged, judge
from bench.proof.vendor import names_cause

if TYPE_CHECKING:
    from nsight_insight.config import Config

HERE = Path(__file__).resolve().parent
EFFECT = 0.03
"""A plant whose cure saves less has not bitten: there is nothing to find."""
FALSE = 0.05
"""Expected share from which a finding on a healthy program is counted as false."""
LOWER, UPPER = 0.5, 1.1
"""True savings within [0.5 x expected, 1.1 x upper] count as covered."""


@dataclass(frozen=True)
class Result:
    """One case scored by one judge (our rules, or NVIDIA's).

    Attributes:
        rank: place of the first finding that names the planted cause, 1 the top; None: not found.
        hit: that finding.
        top: the first finding, None where nothing was said.
        true: share of the time the cure saves; None for controls.
        false: findings above 5 % on the cured or healthy program that nothing justifies.
        misled: forbidden rules among the first three.
        good: every finding on the cured or healthy program.
    """

    case: Case
    true: float | None
    spread: float
    rank: int | None
    hit: Found | None
    top: Found | None
    false: tuple[Found, ...]
    misled: tuple[str, ...]
    good: tuple[Found, ...] = ()

    @property
    def planted(self) -> bool:
        """Whether the plant has an effect, so that there is something to find."""
        return self.true is not None and self.true >= EFFECT

    @property
    def predicted(self) -> tuple[float, float] | None:
        """Expected and upper share of the finding that hit, of its remedy where the cure is one; None: none stated."""
        if self.hit is None or self.hit.upper <= 0:
            return None
        return self.hit.remedies.get(self.case.remedy, (self.hit.expected, self.hit.upper))

    @property
    def covered(self) -> bool | None:
        """Whether the true saving lies in the promised interval; None where nothing was hit."""
        if self.predicted is None or self.true is None:
            return None
        expected, upper = self.predicted
        return LOWER * expected <= self.true <= UPPER * upper


@dataclass(frozen=True)
class Score:
    """Totals over some cases; shares are None where there is nothing to divide by.

    Attributes:
        cases: planted cases with an effect.
        healthy: cured and healthy programs, ``false`` of them with a false finding.
        hits: causes found, at any place; ``stated`` of them with a saving, ``covered`` of those right.
        error: median abs(log(expected / true)).
        correlation: Spearman's, of expected and true.
    """

    cases: int
    top1: int
    top3: int
    healthy: int
    false: int
    covered: int
    hits: int
    stated: int
    error: float | None
    correlation: float | None


def judge_all(cases: Sequence[Case], truth: dict[str, Truth], config: Config | None = None) -> dict[str, Judged]:
    """Findings of every capture of ``cases``, by archive name."""
    jobs = [
        ([f"{case.id}-{variant}"], truth[case.id].bad_range if variant == "bad" else truth[case.id].good_range)
        for case in cases
        for variant in (("good",) if case.control else ("bad", "good"))
    ]
    # Forking a process that has threads, as test runners do, is an error in later Python versions.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = pool.map(partial(judge, config=config), *zip(*jobs, strict=True), chunksize=8)
        return dict(zip([name for [name], _ in jobs], found, strict=True))


def ours(case: Case, truth: Truth, judged: dict[str, Judged]) -> Result:
    """The case scored by our rules."""
    bad = () if case.control else judged[f"{case.id}-bad"].found
    good = judged[f"{case.id}-good"].found
    place = next((i for i, one in enumerate(bad) if _matches(one.rule, case.expect)), None)
    return Result(
        case, saving(truth), spread(truth), None if place is None else place + 1,
        None if place is None else bad[place], bad[0] if bad else None,
        tuple(one for one in good if one.expected > FALSE and one.rule not in case.remains),
        tuple(one.rule for one in bad[:3] if _matches(one.rule, case.wrong_rules)), good,
    )  # fmt: skip


def nvidia(case: Case, truth: Truth, judged: dict[str, Judged]) -> Result:
    """The case scored by NVIDIA's rules, as far as ncu wrote estimates; only those for the run time can be false."""
    bad = () if case.control else judged[f"{case.id}-bad"].vendor
    good = judged[f"{case.id}-good"].vendor
    place = next((i for i, one in enumerate(bad) if names_cause(one, case.expect)), None)
    false = {one.rule: one for one in good if one.expected > FALSE and one.scope == "global"}
    return Result(
        case, saving(truth), spread(truth), None if place is None else place + 1,
        None if place is None else bad[place], bad[0] if bad else None, tuple(false.values()), (),
    )  # fmt: skip


def _matches(rule: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(rule, pattern) for pattern in patterns)


def saving(truth: Truth) -> float | None:
    """Share of the bad program's time that the cure saves, of the medians."""
    return 1 - statistics.median(truth.good) / statistics.median(truth.bad) if truth.bad else None


def spread(truth: Truth) -> float:
    """Half the distance between the quartiles of the repeats over their median, of the noisier variant."""
    widths = []
    for times in (truth.bad, truth.good):
        if times:
            first, _, third = statistics.quantiles(times, n=4)
            widths.append((third - first) / 2 / statistics.median(times))
    return max(widths)


def total(results: Iterable[Result]) -> Score:
    """Totals of some results."""
    every = list(results)
    planted = [one for one in every if one.planted]
    pairs = [
        (one.predicted[0], one.true)
        for one in planted
        if one.predicted is not None and one.true is not None and one.predicted[0] > 0
    ]
    return Score(
        cases=len(planted),
        top1=sum(one.rank == 1 for one in planted),
        top3=sum(one.rank is not None and one.rank <= 3 for one in planted),
        healthy=len(every),
        false=sum(bool(one.false) for one in every),
        covered=sum(bool(one.covered) for one in planted),
        hits=sum(one.rank is not None for one in planted),
        stated=sum(one.predicted is not None for one in planted),
        error=statistics.median(abs(log(expected / true)) for expected, true in pairs) if pairs else None,
        correlation=_rank_correlation(pairs),
    )


def _rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's correlation; None below ten pairs, which could be in order by chance."""
    if len(pairs) < 10:
        return None
    import pandas as pd

    frame = pd.DataFrame(pairs).rank()
    return float(frame[0].corr(frame[1]))


def run(config: Config | None = None) -> tuple[list[Result], list[Result]]:
    """Our results, and NVIDIA's on the ncu captures."""
    cases, truth = load_cases(), load_truth()
    judged = judge_all(cases, truth, config)
    mine = [ours(case, truth[case.id], judged) for case in cases]
    return mine, [nvidia(case, truth[case.id], judged) for case in cases if case.tool == "ncu"]


def run_others(folder: str) -> list[Result]:
    """Our results on the captures in ``again`` (the same program once more) or ``paired`` (ncu beside nsys)."""
    truth = load_again() if folder == "again" else load_truth()
    chosen = [case for case in load_cases() if (CAPTURES / folder / f"{case.id}-bad.tar.xz").exists()]
    results = []
    for case in chosen:
        judged = {}
        for variant, length in (("bad", truth[case.id].bad_range), ("good", truth[case.id].good_range)):
            name = f"{case.id}-{variant}"
            names = [f"{folder}/{name}"] if folder == "again" else [name, f"{folder}/{name}"]
            judged[name] = judge(names, length)
        results.append(ours(case, truth[case.id], judged))
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Score and write, or compare with what is written."""
    from bench.proof.blind import blind_results
    from bench.proof.peers_report import peers
    from bench.proof.report import DOCUMENT, document, scorecard

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args(arguments).check
    (mine, theirs), others, blind = run(), peers(), blind_results()
    card = json.dumps(scorecard(mine, theirs, others), indent=1) + "\n"
    written = {
        HERE / "scorecard.json": card,
        DOCUMENT: document(mine, theirs, others, run_others("again"), run_others("paired"), blind),
    }
    stale = [path for path, text in written.items() if not path.exists() or path.read_text() != text]
    for path in [] if check else stale:
        path.write_text(written[path])
    for half in (CALIBRATE, REPORT):
        print(half, total(one for one in mine if one.case.half == half))
    for name, results in (
        ("blind", blind[0]),
        ("nvidia", theirs),
        ("fournex", others.fournex),
        ("nsys-ai", others.diagnose),
    ):
        print(name, total(results))
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
