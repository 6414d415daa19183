"""Printed columns to numbers in the unit of the metric that asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from nsight_insight.catalog.metrics import Alias, Metric
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.missing import Missing
from nsight_insight.model.numbers import Codes, Floats, Style, parse_numbers
from nsight_insight.model.profile import ColumnOrigin
from nsight_insight.readers._ncu_page import Page, Printed

Bools = npt.NDArray[np.bool_]
_CLOCKS: Final = tuple(f"{unit}__cycles_elapsed.avg.per_second" for unit in ("gpc", "sm", "smsp"))
_SLOWEST_CLOCK: Final = 1e7
"""Hz. No SM runs below 10 MHz, and no clock printed in Khz, Mhz or Ghz reaches this number."""


@dataclass(frozen=True)
class Reading:
    """One way to fill a metric: a value or a ``Missing`` code per launch, and where they stand."""

    values: Floats
    codes: Codes
    origin: ColumnOrigin


@dataclass
class Sheet:
    """A page whose numbers can be read.

    Attributes:
        style: how the table writes numbers.
        issues: cells that were lost, one issue per column and kind of loss.
    """

    page: Page
    style: Style
    path: str
    issues: list[Issue] = field(default_factory=list)
    _numbers: dict[int, tuple[Floats, Codes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scaled_units_known = self.page.has_units or self._prints_base_units()

    def numbers(self, printed: Printed) -> tuple[Floats, Codes]:
        """A printed column's numbers as written, with the reasons for gaps."""
        known = self._numbers.get(id(printed))
        if known is None:
            known = self._numbers[id(printed)] = parse_numbers(printed.cells, self.style)
            self._lost(printed, known[1] == Missing.UNPARSABLE, "is not a number")
        return known

    def readings(self, metric: Metric, alias: Alias) -> list[Reading]:
        """What an alias gives for a metric; several where a details page prints it under several labels."""
        first, *rest = ([self._read(metric, alias, p) for p in self.page.printed.get(term, ())] for term in alias.terms)
        return first if not rest else [_sum([_merge(readings) for readings in (first, *rest)])]

    def _read(self, metric: Metric, alias: Alias, printed: Printed) -> Reading:
        values, codes = self.numbers(printed)
        if not self.scaled_units_known and not metric.dimension.plain:
            factors: Floats = np.full(len(values), np.nan)
        else:
            factors = _factors(metric, alias, printed.units, len(values))
        wrong = np.isnan(factors) & (codes == Missing.PRESENT)
        if wrong.any():
            codes = np.where(wrong, Missing.WRONG_UNIT, codes).astype(np.uint8)
            if self.scaled_units_known:
                self._lost(printed, wrong, f"has a unit that does not fit {metric.name}")
        unit = printed.units if isinstance(printed.units, str) else next(iter(set(printed.units) - {""}), "")
        return Reading(values * factors, codes, printed.origin(unit))

    def _prints_base_units(self) -> bool:
        """Whether a page without units holds base units: its clocks tell."""
        for name in _CLOCKS:
            for printed in self.page.printed.get(name, ()):
                values = self.numbers(printed)[0]
                if np.isfinite(values).any():
                    return bool(np.nanmin(values) >= _SLOWEST_CLOCK)
        return False

    def _lost(self, printed: Printed, where: Bools, why: str) -> None:
        """Report cells of a column that hold no usable value."""
        for row in np.flatnonzero(where)[:1].tolist():
            unit = printed.units if isinstance(printed.units, str) else printed.units[row]
            cell = " ".join(filter(None, (f"{(printed.cells[row] or '')[:80]!r}", unit)))
            self.report(printed.origin(unit), row, f"{cell} {why}", where)

    def place(self, origin: ColumnOrigin, row: int) -> Location:
        """The cell of a column that belongs to a launch."""
        line = self.page.lines[row] if origin.lines is None else int(origin.lines[row])
        column = origin.column if origin.columns is None else int(origin.columns[row])
        return Location(self.path, line, column, origin.field)

    def report(self, origin: ColumnOrigin, row: int, text: str, where: Bools) -> None:
        """One issue for what is wrong with a column, at the first launch that has it."""
        count = int(where.sum())
        more = f", and so on in {count} of {len(where)} launches" if count > 1 else ""
        issue = Issue(Level.DATA_LOSS, f"{origin.field}: {text}{more}", self.place(origin, row))
        if issue not in self.issues:
            self.issues.append(issue)


def _factors(metric: Metric, alias: Alias, units: str | Sequence[str], rows: int) -> Floats:
    """What to multiply each launch's number by, NaN where its unit is of another kind."""
    if isinstance(units, str):
        factor = metric.factor(alias, units)
        return np.full(rows, np.nan if factor is None else factor)
    known = {unit: metric.factor(alias, unit) for unit in set(units)}
    return np.array([known[unit] for unit in units], dtype=np.float64)


def _merge(readings: Sequence[Reading]) -> Reading:
    """The first value of each launch."""
    first = readings[0]
    values, codes = first.values, first.codes
    for other in readings[1:]:
        gaps = np.isnan(values) & ~np.isnan(other.values)
        values, codes = np.where(gaps, other.values, values), np.where(gaps, other.codes, codes).astype(np.uint8)
    return Reading(values, codes, first.origin)


def _sum(terms: Sequence[Reading]) -> Reading:
    """Term by term; unknown where one of them is, for that one's reason."""
    values = np.sum([term.values for term in terms], axis=0)
    codes = np.zeros(len(values), dtype=np.uint8)
    for term in reversed(terms):
        codes = np.where(term.codes != Missing.PRESENT, term.codes, codes).astype(np.uint8)
    first = terms[0].origin
    names = " + ".join(term.origin.field for term in terms)
    return Reading(values, codes, replace(first, field=names))
