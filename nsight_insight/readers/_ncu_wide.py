"""The raw page: one launch per line, one metric per column, units in a row of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from nsight_insight.model.numbers import leading_aggregate
from nsight_insight.readers._ncu_layout import ID, IDENTITY, RAW, Layout
from nsight_insight.readers._ncu_nvtx import nvtx_states
from nsight_insight.readers._ncu_page import Page, Printed, wanted_metrics
from nsight_insight.readers._ncu_scan import Record

_SAMPLE: Final = 200
"""Launches of which every cell is kept, in case those asked for do not tell the number notation."""


_PREFIX: Final = re.compile(r"[KMGTP](?=[a-z])")


class WidePage:
    """Collects the records of one raw page."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._metrics: dict[str, int] = {}
        for place, name in layout.metrics:
            if name in wanted_metrics():
                self._metrics.setdefault(name, place)
        self._headings = [heading for heading in IDENTITY if heading in layout.places]
        kept = [layout.places[heading] for heading in self._headings] + list(self._metrics.values())
        self._pick = itemgetter(*kept, 0)  # one more, so that it is a tuple even when one column is kept
        self._units: list[str] | None = None
        self._lines: list[int] = []
        self._cells: list[tuple[str, ...]] = []
        self._sample: list[list[str]] = []

    def add(self, record: Record) -> bool:
        """Take a record; False when it cannot be one of this page."""
        if not record.cells[self.layout.places[ID]]:
            if self._units is not None:
                return record.cells == self._units
            self._units = record.cells
            return not self._lines
        self._lines.append(record.line)
        self._cells.append(self._pick(record.cells))
        if len(self._sample) < _SAMPLE:
            self._sample.append(record.cells)
        return True

    def finish(self) -> Page:
        """The page as columns."""
        columns: list[Sequence[str]] = list(zip(*self._cells, strict=True)) or [()] * (
            len(self._headings) + len(self._metrics)
        )
        texts = {heading: list(columns[i]) for i, heading in enumerate(self._headings)}
        units = self._units
        printed = {
            name: [Printed(name, name, place + 1, cells, _cell_units(cells, units[place]) if units else "")]
            for (name, place), cells in zip(self._metrics.items(), columns[len(self._headings) :], strict=False)
        }
        names = frozenset(name for _, name in self.layout.metrics)
        layout = self.layout
        return Page(
            RAW, layout.line, self._lines, texts, layout.origins, printed, names, units is not None,
            evidence=self._evidence(), nvtx=nvtx_states(layout, texts),
        )  # fmt: skip

    def _evidence(self) -> Iterator[str]:
        places = [place for place, _ in self.layout.metrics]
        return (cells[place] for cells in self._sample for place in places)


def _cell_units(cells: Sequence[str], unit: str) -> str | Sequence[str]:
    """The column's unit, or one per cell where some show instances.

    Under ``--print-metric-instances`` ncu 2025.3 scales each cell for itself, as on the details page, yet prints one
    unit for the column, the largest. A scaled number has decimals and a count has none, which settles columns in
    Kbyte; in larger units the prefix of a scaled cell is unknown, and no value is better than one off by 1000.
    """
    if not _PREFIX.match(unit) or not any(cell.endswith(")") for cell in cells):
        return unit
    return [_instance_unit(cell, unit) if cell.endswith(")") else unit for cell in cells]


def _instance_unit(cell: str, unit: str) -> str:
    if not re.search(r"[.,]\d\d$", leading_aggregate(cell)):
        return unit[1:]
    return unit if unit[0] == "K" else f"{unit} or less"
