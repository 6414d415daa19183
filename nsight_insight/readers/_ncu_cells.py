"""Collects pages that print one metric per line: which label or name stands for which metric, of which launch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from nsight_insight.catalog.metrics import label_index
from nsight_insight.model.profile import Ints
from nsight_insight.readers._ncu_page import Printed, capability, wanted_metrics

_LABEL_NAME: Final = re.compile(r".* \(([A-Za-z][\w.:]*)\)", re.DOTALL)
_COUNT_LABELS: Final = {("Launch Statistics", "# SMs"): "launch__sm_count"}
"""The only device attribute that the details page prints."""


class Cell(NamedTuple):
    """One value as written, and where; ``column`` 0 where it is the same for all."""

    line: int
    unit: str
    value: str
    column: int = 0


class CellCollector:
    """Cells by metric; the first of a launch counts."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[int, Cell]] = defaultdict(dict)
        self._available: set[str] = set()

    @property
    def available(self) -> frozenset[str]:
        """Every name or label that was there."""
        return frozenset(self._available)

    def take(self, row: int, section: str, written: str, cc: str, cell: Cell) -> None:
        """One line of a page; ``cc`` is "" where the page does not say."""
        shown, names = metric_names(section, written, cc)
        self._available.add(shown)
        for name in names:
            self._found[name, written].setdefault(row, cell)

    def evidence(self) -> Iterator[str]:
        """Every value, as written."""
        return (cell.value for found in self._found.values() for cell in found.values())

    def printed(self, lines: Iterable[int], column: int | None) -> dict[str, list[Printed]]:
        """Metric name -> columns; ``lines``: those of the launches; ``column``: the same for all values, or None."""
        printed: dict[str, list[Printed]] = {}
        home = np.array(list(lines), dtype=np.int64)
        for (name, written), found in self._found.items():
            printed.setdefault(name, []).append(_column(name, written, found, home, column))
        return printed


def _column(name: str, written: str, found: dict[int, Cell], home: Ints, column: int | None) -> Printed:
    cells: list[str | None] = [None] * len(home)
    units = [""] * len(home)
    lines, columns = home.copy(), np.zeros(len(home), dtype=np.int64)
    for row, cell in found.items():
        cells[row], units[row], lines[row], columns[row] = cell.value, cell.unit, cell.line, cell.column
    return Printed(name, written, column, cells, units, lines, None if column else columns)


@lru_cache(maxsize=16384)
def metric_names(section: str, written: str, cc: str) -> tuple[str, tuple[str, ...]]:
    """What a label or name on a page stands for.

    Args:
        section: display name of the section; a label alone is ambiguous.
        written: label, metric name, or ``Label (metric.name)``.
        cc: compute capability cell, "" when the page has none.

    Returns:
        The name or label to list as available, and the metric names somebody may ask for.
    """
    wanted = wanted_metrics()
    if written in wanted:
        return written, (written,)
    if (found := _LABEL_NAME.fullmatch(written)) and ("__" in found[1] or found[1] in wanted):
        return found[1], (found[1],) if found[1] in wanted else ()
    if name := _COUNT_LABELS.get((section, written)):
        return written, (name,)
    aliases = label_index().get((section, written), ())
    return written, tuple(dict.fromkeys(alias.metric for _, alias in aliases if alias.exists_on(capability(cc))))
