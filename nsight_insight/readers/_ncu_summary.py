"""Pages of ``--print-summary``: one row per kernel and shape, with the average of all of its launches.

Metrics are averages over launches, each counted alike; the row's ``duration`` is their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nsight_insight.model.issues import Issue
from nsight_insight.model.profile import Table
from nsight_insight.readers._ncu_page import Page
from nsight_insight.readers._ncu_table import build_table

REPORT: Final = "summary"
_DURATION: Final = "duration"


def build_summary(pages: Sequence[Page], path: str, reader: str) -> tuple[Table, list[Issue]]:
    """The table of a summary and what was lost in it.

    Args:
        pages: the page with averages, largest and smallest values; ``counts`` says what each row stands for.
        path: of the input.
        reader: name of the reader that found it.

    Raises:
        UnrecognizedInput: its numbers can be read in two ways.
    """
    average, *extremes = pages
    table, issues = build_table(average, path, reader)
    columns = table.columns
    if _DURATION not in columns:
        return table, issues
    columns["avg"] = columns[_DURATION]
    # ncu rounds a total before it is one: the average has the page's two decimals.
    columns[_DURATION] = np.round(columns["avg"] * columns["count"], 3)
    columns["median"] = np.where(columns["count"] == 1, columns["avg"], np.nan)
    for name, page in zip(("max", "min"), extremes, strict=True):
        other, _ = build_table(page, path, reader)
        columns[name] = other.columns.get(_DURATION, np.full(len(table), np.nan))
    return table, issues
