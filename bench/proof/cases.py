"""The cases: what was planted, what the cure is, which rule should find it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
CALIBRATE, REPORT = "calibrate", "report"
BLIND = "blind"
"""Cases written and captured after the rules stood, scored as they came."""


@dataclass(frozen=True)
class Case:
    """One planted pathology, or a healthy control.

    Attributes:
        id: number of the proposal, P for a pathology, C for a control.
        family: folder, which is the category of the rule that should fire.
        half: ``calibrate``, ``report`` or ``blind``, from ``split.json``.
        tool: which profiler captured it.
        expect: rule ids, shell patterns, that name the planted cause; any of them is a hit.
        remedy: remedy of the expected rule that is the cure, where its saving is not the finding's own.
        remains: rules that may rightly fire on the cured program, with the reason.
        wrong_rules: rules, shell patterns, that must not be among the first three on the bad program.
    """

    id: str
    family: str
    half: str
    tool: str
    title: str
    path: Path
    planted: str = ""
    cure: str = ""
    expect: tuple[str, ...] = ()
    remedy: str = ""
    wrong: str = ""
    remains: dict[str, str] = field(default_factory=dict)
    wrong_rules: tuple[str, ...] = ()

    @property
    def control(self) -> bool:
        """Whether the program is healthy as it is."""
        return self.id.startswith("C")

    @property
    def number(self) -> tuple[str, int]:
        """Sorting key: controls last, by number."""
        return ("z" if self.control else "a", int(self.id[1:]))


@dataclass(frozen=True)
class Truth:
    """Unprofiled times in us, and the traced range's length in us where nsys captured the case."""

    bad: tuple[float, ...]
    good: tuple[float, ...]
    bad_range: float | None
    good_range: float | None


def load_cases(*halves: str) -> list[Case]:
    """Cases of ``halves``, by number; of the two halves the rules were written with where none is named."""
    split = json.loads((HERE / "split.json").read_text())
    wanted = halves or (CALIBRATE, REPORT)
    half_of = {case: half for half, members in split.items() for case in members}
    files = [path for path in (HERE / "cases").rglob("[pc][0-9]*.*") if path.suffix in (".cu", ".py")]
    cases = (_case(path, half_of) for path in files)
    return sorted((case for case in cases if case.half in wanted), key=lambda case: case.number)


def _case(path: Path, half_of: dict[str, str]) -> Case:
    head = header(path.read_text())
    return Case(
        id=head["id"],
        family=path.parent.name,
        half=half_of[head["id"]],
        tool=head["tool"],
        title=head["title"],
        path=path,
        planted=str(head.get("planted", "")),
        cure=str(head.get("cure", "")),
        expect=tuple(head.get("expect", ())),
        remedy=head.get("remedy", ""),
        wrong=str(head.get("wrong", "")),
        remains=head.get("remains", {}),
        wrong_rules=tuple(head.get("wrong_rules", ())),
    )


def header(text: str) -> dict[str, Any]:
    """The leading comment of a case file: one ``key: value`` a line, values in YAML's flow style or plain text."""
    block = text.partition("*/")[0].partition("/*")[2] if text.startswith("/*") else text.split('"""')[1]
    lines = [line.split(": ", 1) for line in block.strip().splitlines()]
    return {key: yaml.safe_load(value) if value[0] in "[{" else value for key, value in lines}


def load_truth() -> dict[str, Truth]:
    """Times of every case from the session whose capture is the scored one."""
    return {
        case: _truth(one)
        for session in _sessions()
        for case, one in session["cases"].items()
        if case not in session["again"]
    }


def load_again() -> dict[str, Truth]:
    """Times of the cases that were captured a second time, on another machine of the kind."""
    return {case: _truth(session["cases"][case]) for session in _sessions() for case in session["again"]}


def load_machine() -> dict[str, Any]:
    """Versions and measured ceilings of the first session."""
    machine: dict[str, Any] = _sessions()[0]["machine"]
    return machine


def _sessions() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((HERE / "truth").glob("*.json"))]


def _truth(one: dict[str, Any]) -> Truth:
    return Truth(tuple(one.get("bad", ())), tuple(one["good"]), one.get("bad_range_us"), one.get("good_range_us"))
