"""One table of ncu as launches and printed columns, before any number is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from nsight_insight.catalog.metrics import load_attributes, metric_index
from nsight_insight.model.numbers import Style
from nsight_insight.model.profile import ColumnOrigin, Ints

DURATION_PAIRS = (
    ("sm__cycles_elapsed.avg", "sm__cycles_elapsed.avg.per_second"),
    ("smsp__cycles_elapsed.avg", "smsp__cycles_elapsed.avg.per_second"),
    ("gpc__cycles_elapsed.max", "gpc__cycles_elapsed.avg.per_second"),
    ("sm__cycles_elapsed.max", "sm__cycles_elapsed.avg.per_second"),
)
"""Cycles and clock that give the duration where it was not collected: .avg exactly, .max up to 1 % more (60 launches
on an H200, 2.6 to 28 us)."""


@dataclass(frozen=True)
class Printed:
    """One metric as one column of text.

    Attributes:
        metric: name it stands for on the raw page.
        field: heading, name or label as written.
        column: 1-based field number of the cells, None in binary reports.
        cells: one per launch, None where the launch has none.
        units: of all cells, or one per launch.
        lines: line per launch where the cells do not share the launch's own line.
        columns: column per launch where the cells do not stand below each other.
    """

    metric: str
    field: str
    column: int | None
    cells: Sequence[str | None]
    units: str | Sequence[str]
    lines: Ints | None = None
    columns: Ints | None = None

    def origin(self, unit: str) -> ColumnOrigin:
        """Where the column stands."""
        return ColumnOrigin(self.field, self.column, unit, self.lines, self.columns)


@dataclass(frozen=True)
class RuleRow:
    """One rule result: the launch it is about, where its text stands, and its cells by heading."""

    row: int
    line: int
    cells: dict[str, str]
    column: int | None = None
    field: str = ""


@dataclass
class Page:
    """A table.

    Attributes:
        report: ``raw``, ``details`` ...
        line: where it begins.
        lines: first line of each launch.
        texts: identity heading -> cell per launch, for the headings that are there.
        origins: identity heading -> where its cells stand.
        printed: metric name -> the columns that carry it, for the names that somebody asks for.
        available: every metric name or label in the table.
        has_units: False for a raw page without its row of units, and for a details page without its column of them.
        evidence: further number cells that may tell how numbers are written.
        nvtx: thread and names of the open ranges per launch; empty when the page says nothing of them.
        kinds: what each launch is; empty for kernels.
        counts: launches that each row stands for; empty for one.
        style: how numbers are written; None to find it out.
    """

    report: str
    line: int
    lines: list[int]
    texts: dict[str, list[str]]
    origins: dict[str, ColumnOrigin]
    printed: dict[str, list[Printed]]
    available: frozenset[str]
    has_units: bool = True
    rules: list[RuleRow] = field(default_factory=list)
    evidence: Iterable[str] = ()
    nvtx: Sequence[tuple[int, str]] = ()
    kinds: Sequence[str] = ()
    counts: Sequence[int] = ()
    style: Style | None = None

    def __len__(self) -> int:
        return len(self.lines)


def capability(cell: str) -> float | None:
    """The compute capability in a CC cell, None for anything else."""
    return float(cell) if re.fullmatch(r"[0-9]{1,2}\.[0-9]", cell) else None


@lru_cache(maxsize=1)
def wanted_metrics() -> frozenset[str]:
    """Names that some metric, activity column, device attribute or fallback is made of."""
    attributes = (name for attribute in load_attributes().values() for name in attribute.metrics)
    return frozenset([*metric_index(), *attributes, *(name for pair in DURATION_PAIRS for name in pair)])
