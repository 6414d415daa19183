"""The scorecard as JSON and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jinja2
import yaml

from bench.proof import device, peers_report
from bench.proof.blind import as_first_scored
from bench.proof.cases import CALIBRATE, REPORT
from bench.proof.score import EFFECT, FALSE, Result, Score, total

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "proof.md"
BEFORE = (
    "first place 63 of 87, first three 65, covered 43 of 65 hits, median abs(log) 0.63, false findings on 5 programs"
)
DEVICE_SECONDS = 1187
Row = list[str]


def scorecard(mine: Sequence[Result], theirs: Sequence[Result], others: peers_report.Peers) -> dict[str, Any]:
    """The numbers a later version is compared with."""
    groups = {
        "calibrate": [one for one in mine if one.case.half == CALIBRATE],
        "report": [one for one in mine if one.case.half == REPORT],
        "all": list(mine),
        "ncu": [one for one in mine if one.case.tool == "ncu"],
        "nvidia": list(theirs),
        "fournex": others.fournex,
        "nsys": [one for one in mine if one.case.tool == "nsys"],
        "nsys-ai diagnose": others.diagnose,
        "nsys-ai root causes": others.root_causes,
    }
    return {
        "scores": {name: vars(total(group)) for name, group in groups.items()},
        "cases": {one.case.id: entry(one) for one in mine},
    }


def entry(one: Result) -> dict[str, Any]:
    """What the scorecard keeps of one case."""
    predicted = one.predicted or (None, None)
    return {
        "half": one.case.half,
        "top": one.top.rule if one.top else None,
        "rank": one.rank,
        "true": _round(one.true),
        "expected": _round(predicted[0]),
        "upper": _round(predicted[1]),
        "false": [found.rule for found in one.false],
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def document(
    mine: Sequence[Result],
    theirs: Sequence[Result],
    others: peers_report.Peers,
    again: Sequence[Result],
    paired: Sequence[Result],
    unseen: tuple[Sequence[Result], Sequence[Result]],
) -> str:
    """The page ``docs/proof.md``."""
    notes = yaml.safe_load((HERE / "notes.yaml").read_text())
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  Markdown, not HTML
    )
    return environment.get_template("proof.md.j2").render(
        planted=sum(not one.case.control for one in mine),
        controls=sum(one.case.control for one in mine),
        scores=list(_scores(mine, theirs, others)),
        before=BEFORE,
        families=list(_families(mine)),
        cases=[_case(one) for one in mine if not one.case.control],
        missed=_notes(notes["missed"], (one.case.id for one in mine if one.planted and one.rank != 1)),
        outside=_notes(notes["outside"], (one.case.id for one in mine if one.planted and one.covered is False)),
        amended=sorted(notes["amended"].items()),
        changes=notes["changes"],
        mistaken=[row for one in mine for row in _false(one)],
        healthy=len(mine),
        remains=[row for one in mine for row in _remains(one)],
        nvidia_false=sum(bool(one.false) for one in theirs),
        nvidia_healthy=len(theirs),
        again=list(_again(mine, again)),
        paired=[_pair(one) for one in paired],
        device_seconds=DEVICE_SECONDS,
        blind=_blind(*unseen, notes["blind"]),
        **peers_report.facts(mine, theirs, others),
        **device.facts(),
    )


def _scores(mine: Sequence[Result], theirs: Sequence[Result], others: peers_report.Peers) -> Iterator[Row]:
    halves = [[one for one in mine if one.case.half == half] for half in (CALIBRATE, REPORT)]
    ncu, nsys = ([one for one in mine if one.case.tool == tool] for tool in ("ncu", "nsys"))
    groups = (*halves, mine, ncu, theirs, others.fournex, nsys, others.diagnose, others.root_causes)
    yield from _score_rows([total(group) for group in groups])


def _score_rows(columns: Sequence[Score]) -> Iterator[Row]:
    rows: dict[str, Callable[[Score], str]] = {
        "planted cases with an effect": lambda s: str(s.cases),
        "cause in first place": lambda s: _of(s.top1, s.cases),
        "cause among the first three": lambda s: _of(s.top3, s.cases),
        "cured and healthy programs with a false finding": lambda s: f"{s.false} of {s.healthy}",
        "true saving covered, of the causes found with a saving": lambda s: _of(s.covered, s.stated),
        "median abs(log(expected / true))": lambda s: _number(s.error),
        "rank correlation of expected and true": lambda s: _number(s.correlation),
    }
    for name, value in rows.items():
        yield [name, *(value(score) for score in columns)]


def _blind(mine: Sequence[Result], theirs: Sequence[Result], notes: dict[str, Any]) -> dict[str, Any]:
    """What the page says of the blind group: the first score, today's, and what lies between them."""
    first = as_first_scored()
    then = [Score(**first["scores"][name]) for name in ("blind", "nvidia")]
    missed = {case for case, one in first["cases"].items() if (one["true"] or 0) >= EFFECT and one["rank"] != 1}
    return {
        "planted": sum(not one.case.control for one in mine),
        "controls": sum(one.case.control for one in mine),
        "scored": first["scored"],
        "scores": list(_score_rows([then[0], total(mine), then[1], total(theirs)])),
        "cases": [
            [*_case(one), str(first["cases"][one.case.id]["rank"] or "-")] for one in mine if not one.case.control
        ],
        "missed": _notes(notes["missed"], sorted(missed)),
        "outside": _notes(notes["outside"], (one.case.id for one in mine if one.planted and one.covered is False)),
        "mistaken": [[*row, _notes(notes["mistaken"], [row[0]])[0][1]] for one in mine for row in _false(one)],
        "remains": [row for one in mine for row in _remains(one)],
        "amended": sorted(notes["amended"].items()),
        "changes": notes["changes"],
    }


def _false(one: Result) -> list[Row]:
    return [[one.case.id, found.rule, _percent(found.expected)] for found in one.false]


def _families(mine: Sequence[Result]) -> Iterator[Row]:
    for family in sorted({one.case.family for one in mine if not one.case.control}):
        score: Score = total(one for one in mine if one.case.family == family)
        yield [
            family, str(score.cases), str(score.top1), str(score.top3), _of(score.covered, score.hits),
            _number(score.error),
        ]  # fmt: skip


def _case(one: Result) -> Row:
    expected, upper = (_percent(value) for value in one.predicted) if one.predicted else ("", "")
    top = one.top.rule if one.top else "none"
    place = "not scored" if not one.planted else str(one.rank or "missed")
    covered = "" if one.covered is None or not one.planted else "yes" if one.covered else "no"
    true = f"{_percent(one.true)} ± {100 * one.spread:.1f}"
    return [one.case.id, one.case.title, one.case.half, one.case.planted, top, place, true, expected, upper, covered]


def _remains(one: Result) -> Iterator[Row]:
    for found in one.good:
        if found.expected > FALSE and found.rule in one.case.remains:
            yield [one.case.id, found.rule, _percent(found.expected), one.case.remains[found.rule]]


def _notes(texts: dict[str, str], cases: Iterable[str]) -> list[tuple[str, str]]:
    """What is known about each case; a case without a note is shown all the same."""
    return [(case, " ".join(texts.get(case, "no reason found yet").split())) for case in cases]


def _again(mine: Sequence[Result], again: Sequence[Result]) -> Iterator[Row]:
    first = {one.case.id: one for one in mine}
    for one in again:
        pair = (first[one.case.id], one)
        tops = list(dict.fromkeys(each.top.rule if each.top else "none" for each in pair))
        expected = [_percent(each.predicted[0]) if each.predicted else "" for each in pair]
        yield [one.case.id, ", then ".join(tops), ", ".join(expected), ", ".join(_percent(each.true) for each in pair)]


def _pair(one: Result) -> Row:
    false = ", ".join(f"{found.rule} {_percent(found.expected)}" for found in one.false) or "none"
    return [
        one.case.id,
        one.top.rule if one.top else "none",
        _percent(one.predicted[0]) if one.predicted else "",
        false,
    ]


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
