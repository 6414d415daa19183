"""The reports of ``nsys stats``: which headings belong to which, in every release since 2019."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from nsight_insight.catalog.yamlio import load_data

_APPROXIMATE: Final = "approx"
"""Stands in brackets where a recipe combined the figures of several ranks."""
_UNIT: Final = re.compile(r"(.*?)\s*\(([^()]*)\)\s*")


@dataclass(frozen=True)
class Heading:
    """One heading of a table.

    Attributes:
        text: as written.
        key: lower case, without unit, in the spelling of 2022 and later.
        unit: what stood in brackets, "" when nothing.
    """

    text: str
    key: str
    unit: str


@dataclass(frozen=True)
class CellEvidence:
    """What the cells of a report look like: more than ``share`` of those under ``heading`` match."""

    heading: str
    pattern: re.Pattern[str]
    share: float

    def holds(self, cells: Iterable[str]) -> bool:
        """True when enough cells match; False without cells."""
        matches = [self.pattern.fullmatch(cell) is not None for cell in cells]
        return bool(matches) and sum(matches) > self.share * len(matches)


@dataclass(frozen=True)
class ReportFormat:
    """One report; see the head of ``nsys_reports.yaml`` for the meaning of the fields."""

    name: str
    title: str
    kind: str
    legacy: tuple[str, ...] = ()
    key: frozenset[str] = frozenset()
    columns: Mapping[str, str] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)
    evidence: CellEvidence | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    rule: bool = False
    recipe: bool = False
    advice: str = ""

    def called(self, name: str) -> bool:
        """True for the report's name of either generation."""
        return name == self.name or name in self.legacy

    def places(self, headings: Sequence[Heading]) -> dict[str, int]:
        """Heading key -> position of its first occurrence, in this report's spelling."""
        places: dict[str, int] = {}
        for position, heading in enumerate(headings):
            key = self.spellings.get(heading.key, heading.key)
            places.setdefault(key, position)
        return places


@lru_cache(maxsize=1)
def load_reports() -> Mapping[str, ReportFormat]:
    """Report name -> format, the more usual first where several have the same headings."""
    data = load_data("nsys_reports.yaml")
    return {name: _report(name, entry, data["groups"]) for name, entry in data["reports"].items()}


@lru_cache(maxsize=1)
def rule_reports() -> tuple[str, ...]:
    """Names of the tables of ``nsys analyze``."""
    return tuple(name for name, report in load_reports().items() if report.rule)


def _report(name: str, entry: Mapping[str, Any], groups: Mapping[str, Mapping[str, str]]) -> ReportFormat:
    columns: dict[str, str] = {}
    for group in entry.get("groups", ()):
        columns.update(groups[group])
    columns.update(entry.get("columns", {}))
    evidence = entry.get("evidence")
    return ReportFormat(
        name=name,
        title=entry["title"],
        kind=entry.get("kind", ""),
        legacy=tuple(entry.get("legacy", ())),
        key=frozenset(entry["key"]),
        columns=columns,
        spellings=entry.get("spellings", {}),
        evidence=evidence and CellEvidence(evidence["heading"], re.compile(evidence["pattern"]), evidence["share"]),
        fixed=entry.get("fixed", {}),
        units=entry.get("units", {}),
        rule=entry.get("rule", False),
        recipe=entry.get("recipe", False),
        advice=entry.get("advice", ""),
    )


@lru_cache(maxsize=4096)
def parse_heading(text: str) -> Heading:
    """``Total Time (ns)`` -> key ``total time``, unit ``ns``; ``Average`` -> key ``avg``, no unit."""
    found = _UNIT.fullmatch(text)
    name, unit = (found[1], found[2].strip()) if found else (text, "")
    unit = "" if unit == _APPROXIMATE else unit
    key = " ".join(name.lower().split())
    return Heading(text, _spellings().get(key, key), unit)


@lru_cache(maxsize=1)
def _spellings() -> Mapping[str, str]:
    spellings: Mapping[str, str] = load_data("nsys_reports.yaml")["spellings"]
    return spellings


@lru_cache(maxsize=1)
def heading_keys() -> frozenset[str]:
    """Every heading key some report has; tells tables from program output.

    Those of recipes (``mean``, ``sum``) are everybody's.
    """
    keys = set(load_data("nsys_reports.yaml")["unread"])
    for report in load_reports().values():
        if not report.recipe:
            keys.update(report.key, report.columns, report.spellings)
    return frozenset(keys)


def fitting_reports(headings: Sequence[Heading]) -> list[ReportFormat]:
    """Reports whose key the headings hold, only those with the longest key, usual ones first."""
    found: list[ReportFormat] = []
    for report in load_reports().values():
        if report.key <= report.places(headings).keys():
            if found and len(report.key) > len(found[0].key):
                found = []
            if not found or len(report.key) == len(found[0].key):
                found.append(report)
    return found


def choose_report(
    candidates: Sequence[ReportFormat], banner: str, cells_under: Callable[[ReportFormat, str], Sequence[str]]
) -> ReportFormat:
    """One of several reports with the same headings.

    Args:
        candidates: from ``fitting_reports``, at least one.
        banner: report name of the last banner line, "" when none; believed only where the cells agree, since
            banners and tables travel on different streams and may change places.
        cells_under: the cells of the table under one of the report's headings.
    """
    agreeing = [
        report
        for report in candidates
        if report.evidence is None or report.evidence.holds(cells_under(report, report.evidence.heading))
    ]
    decided = [report for report in agreeing if report.evidence is not None] or agreeing or list(candidates)
    for report in [*decided, *agreeing]:
        if report.called(banner):
            return report
    return decided[0]
