"""Tables of several inputs on top of each other: one array per activity column."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.columns import ACTIVITY_COLUMNS, FILL
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import Ints, ReadResult, Source, Table, VendorFinding

Array = npt.NDArray[Any]
STYLE: Final = "_style"
"""Column of the NVTX range style: readers hand it over, it tells reports apart and is no activity column."""


@dataclass
class Stack:
    """All rows of all inputs.

    Attributes:
        columns: activity columns and metrics, each as long as the profile.
        sources: one per table, ``first_row`` set.
        style: NVTX range style per row, "" elsewhere.
        issues: what assembling found out.
    """

    columns: dict[str, Array]
    sources: list[Source]
    style: Array
    vendor: list[VendorFinding] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.style)

    def note(self, text: str, source: int, level: Level = Level.INFO) -> None:
        """Report something about one source."""
        self.issues.append(Issue(level, text, Location(self.sources[source].path)))

    def tools(self) -> Array:
        """Tool per row."""
        return self._per_row([source.tool for source in self.sources])

    def reports(self) -> Array:
        """Report name per row."""
        return self._per_row([source.report for source in self.sources])

    def _per_row(self, values: Sequence[str]) -> Array:
        names: Array = np.array([*values, ""], dtype=object)
        picked: Array = names[self.columns["source"]]
        return picked


def distinct_tables(results: Iterable[ReadResult]) -> tuple[list[Table], list[Issue]]:
    """All tables, each content once, and what the readers reported.

    Tables without times (sizes per operation) may well be equal in two ranks; they count as one only when they
    come from the same place.
    """
    kept: dict[object, Table] = {}
    issues: list[Issue] = []
    for result in results:
        issues += result.issues
        for table in result.tables:
            key = _content(table) if len(table) else id(table)
            if key not in kept:
                kept[key] = table
                continue
            first = kept[key].source
            text = f"{table.source.report}: the same table as in {first.path}, counted once"
            issues.append(Issue(Level.INFO, text, Location(table.source.path)))
    return list(kept.values()), list(dict.fromkeys(issues))


def _content(table: Table) -> object:
    """A key that two tables share when they hold the same rows, wherever they stand."""
    durations = table.columns.get("duration")
    timed = durations is not None and bool(np.isfinite(durations.astype(np.float64)).any())
    place = () if timed else (table.source.path, tuple(table.columns["line"]))
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(table.columns.keys() - {"line"}):
        values = table.columns[name]
        text = "\x00".join(map(str, values)).encode(errors="replace") if values.dtype == object else values.tobytes()
        digest.update(f"{name}\x00{len(text)}\x00".encode() + text)
    return table.source.tool, table.source.report, len(table), place, digest.digest()


def stack(tables: Sequence[Table], issues: Iterable[Issue]) -> Stack:
    """Tables in the order given; columns a table does not have hold the contract's fill."""
    lengths = [len(table) for table in tables]
    first_rows: list[int] = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).tolist()
    names = dict.fromkeys(name for table in tables for name in table.columns if not name.startswith("_"))
    columns = {name: _column(name, tables, first_rows) for name in (*ACTIVITY_COLUMNS, *names)}
    columns["source"] = np.repeat(np.arange(len(tables), dtype=np.int32), lengths)
    sources = [replace(table.source, first_row=first) for table, first in zip(tables, first_rows, strict=False)]
    vendor = [
        replace(finding, row=None if finding.row is None else finding.row + first)
        for table, first in zip(tables, first_rows, strict=False)
        for finding in table.vendor
    ]
    return Stack(columns, sources, _column(STYLE, tables, first_rows), vendor, list(issues))


def _column(name: str, tables: Sequence[Table], first_rows: Sequence[int]) -> Array:
    contract = ACTIVITY_COLUMNS.get(name)
    dtype = contract.dtype if contract else ("object" if name == STYLE else "float64")
    values: Array = np.full(first_rows[-1], FILL[dtype], dtype=dtype)
    for table, first in zip(tables, first_rows, strict=False):
        if name in table.columns:
            values[first : first + len(table)] = table.columns[name]
    return values


def without_rows(data: Stack, gone: Array) -> Stack:
    """The stack without some rows; vendor findings on them lose their row, their source keeps its place."""
    keep = ~gone
    new_row = np.cumsum(keep) - 1
    sources: list[Source] = []
    first = 0
    for source in data.sources:
        kept = np.flatnonzero(keep[source.first_row : source.first_row + source.rows])
        sources.append(replace(_subset(source, kept), first_row=first, rows=len(kept)))
        first += len(kept)
    vendor = [
        finding
        if finding.row is None
        else replace(finding, row=int(new_row[finding.row]) if keep[finding.row] else None)
        for finding in data.vendor
    ]
    columns = {name: values[keep] for name, values in data.columns.items()}
    return Stack(columns, sources, data.style[keep], vendor, data.issues)


def _subset(source: Source, kept: Ints) -> Source:
    if len(kept) == source.rows:
        return source
    return replace(
        source,
        columns={
            name: tuple(o if o.lines is None else replace(o, lines=o.lines[kept]) for o in origins)
            for name, origins in source.columns.items()
        },
        pick={name: values[kept] for name, values in source.pick.items()},
        reasons={name: codes[kept] for name, codes in source.reasons.items()},
    )
