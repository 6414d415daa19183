"""Compares a person's reading of a published profile (``docs/readings/*.yaml``) with what the product finds in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import yaml

import nsight_insight as ni
from nsight_insight.model.finding import Finding, Report

READINGS: Final = Path(__file__).resolve().parent / "readings"
MUCH: Final = 0.05
"""Expected saving, as a share of the finding's own base, that counts as advice."""
TOP: Final = 3
"""Findings that a reader looks at."""


@dataclass(frozen=True)
class Cause:
    """One cause of a verdict: what, the range of savings (None where none can be named) and of which time."""

    text: str
    saving: tuple[float, float] | None
    of: str
    why: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """What a person read from one file; ``name`` is ``NN-what``."""

    name: str
    data: dict[str, Any]

    @property
    def file(self) -> str:
        """The profile, relative to the folder that holds ``captures`` and ``corpus``."""
        return str(self.data["file"])

    @property
    def answer(self) -> str:
        """``causes``, ``healthy`` or ``cannot_tell``."""
        return str(self.data["answer"])

    @property
    def differs(self) -> str:
        """Why the product and the reading differ, argued; "" where they agree."""
        return str(self.data.get("differs", ""))

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Patterns of rules that must not give advice here."""
        return tuple(self.data["forbidden"])

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """The verdict in the reader's order, each cause with the rules that name it."""
        found = []
        for entry, rules in zip(self.data["verdict"], self.data["rules"], strict=True):
            saving = None if entry["saving"] is None else (float(entry["saving"][0]), float(entry["saving"][1]))
            found.append(Cause(entry["cause"], saving, entry["of"], entry["why"], tuple(rules)))
        return tuple(found)


@dataclass(frozen=True)
class Agreement:
    """How a report compares with a reading.

    Attributes:
        place: rank of the first cause among distinct rules, 1 for the first finding; None where it is not found.
        advice: rules that expect to save more than 5 %.
        misled: those of them that the reading forbids.
        agrees: first cause found first, or no advice where there is nothing to advise; and nothing forbidden.
    """

    place: int | None
    advice: tuple[str, ...]
    misled: tuple[str, ...]
    agrees: bool


def load_readings(folder: Path = READINGS) -> tuple[Reading, ...]:
    """All readings by number."""
    paths = sorted(folder.glob("*.yaml"))
    return tuple(Reading(path.stem, yaml.safe_load(path.read_text(encoding="utf-8"))) for path in paths)


def analyzed(reading: Reading, lab: Path) -> Report:
    """The product's report on a reading's file."""
    return ni.analyze(ni.load(lab / reading.file))


def distinct(report: Report) -> list[Finding]:
    """The best finding of each rule, in the report's order: a rule that fires on every device is one cause."""
    first: dict[str, Finding] = {}
    for finding in report.findings:
        first.setdefault(finding.rule, finding)
    return list(first.values())


def judge(reading: Reading, report: Report) -> Agreement:
    """Compare the two."""
    ranked = distinct(report)
    advice = tuple(finding.rule for finding in ranked if finding.saving.share > MUCH)
    misled = tuple(rule for rule in advice if any(fnmatch(rule, pattern) for pattern in reading.forbidden))
    if reading.answer != "causes":
        return Agreement(None, advice, misled, not advice and not misled)
    place = place_of(reading.causes[0], ranked)
    return Agreement(place, advice, misled, place == 1 and not misled)


def place_of(cause: Cause, ranked: Sequence[Finding]) -> int | None:
    """Rank of the first finding that names a cause."""
    return next((rank for rank, finding in enumerate(ranked, 1) if finding.rule in cause.rules), None)
