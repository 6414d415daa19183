"""What the page about the proof says of the other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.proof.cases import load_cases, load_truth
from bench.proof.peers import load
from bench.proof.peers_score import FOURNEX, LAYOUTS, NSYS_AI, Names, fournex, nsys_ai
from bench.proof.score import Result, total

Row = list[str]


@dataclass(frozen=True)
class Peers:
    """Results of the other tools: both lists of nsys-ai, and fournex in each layout of its input."""

    diagnose: list[Result]
    root_causes: list[Result]
    layouts: dict[str, list[Result]]

    @property
    def best_layout(self) -> str:
        """The layout in which fournex names most causes first, then among the first three."""
        scores = {layout: total(results) for layout, results in self.layouts.items()}
        return max(scores, key=lambda layout: (scores[layout].top1, scores[layout].top3))

    @property
    def fournex(self) -> list[Result]:
        """Results in the best layout."""
        return self.layouts[self.best_layout]


def peers() -> Peers:
    """The other tools scored on the cases that each can read."""
    cases, truth = load_cases(), load_truth()
    return Peers(
        nsys_ai(cases, truth, "diagnose"),
        nsys_ai(cases, truth, "root_causes"),
        {layout: fournex(cases, truth, layout) for layout in LAYOUTS},
    )


def facts(mine: Sequence[Result], theirs: Sequence[Result], others: Peers) -> dict[str, Any]:
    """Names in the template ``proof.md.j2`` and their values."""
    said = load("nsys-ai")
    tools = {"NVIDIA": theirs, "fournex": others.fournex, "nsys-ai": others.diagnose}
    return {
        "fournex_version": load("fournex")["version"],
        "nsys_ai_version": said["version"],
        "peers_date": said["date"],
        "layouts": [_layout(layout, results) for layout, results in others.layouts.items()],
        "best_layout": LAYOUTS[others.best_layout],
        "refused": [name for name, one in said["captures"].items() if "error" in one],
        "warned": sum(bool(one.good) for one in others.diagnose),
        "caused": sum(bool(one.good) for one in others.root_causes),
        "timelines": len(others.diagnose),
        "earlier": list(_earlier(mine, tools)),
        "names_nsys_ai": _names(NSYS_AI),
        "names_fournex": _names(FOURNEX),
    }


def _layout(layout: str, results: Sequence[Result]) -> Row:
    score = total(results)
    return [LAYOUTS[layout], f"{score.top1} of {score.cases}", f"{score.top3} of {score.cases}"]


def _earlier(mine: Sequence[Result], tools: dict[str, Sequence[Result]]) -> Iterator[Row]:
    """Cases whose cause another tool names at an earlier place."""
    own = {one.case.id: one.rank for one in mine}
    for tool, results in tools.items():
        for one in results:
            place = own[one.case.id]
            if one.planted and one.hit is not None and (place is None or (one.rank or 0) < place):
                yield [one.case.id, tool, one.hit.rule, str(one.rank), str(place or "missed")]


def _names(names: Names) -> list[Row]:
    return [[f"`{start.replace('|', '`, `')}`", ", ".join(rules), why] for start, rules, why in names]
