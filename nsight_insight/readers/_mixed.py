"""Texts that hold the output of several tools: a batch job that runs nsys, then ncu, and keeps one log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.errors import InputError
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult

if TYPE_CHECKING:
    from nsight_insight.model.profile import Table

SURE: Final = 0.9
"""From this score on a reader has seen a table of its own, not only lines that often stand beside one."""
_HEAD: Final = 2
"""Lines above the first row of a table that belong to it."""
_ONE: Final = {"nsys_csv": "nsys", "nsys_text": "nsys"}
"""Readers that find each other's tables."""


def others(best: str, scores: Sequence[tuple[float, str]]) -> list[str]:
    """Readers beside the best one that have tables of their own in the text, the surest first."""
    taken = {_ONE.get(best, best)}
    found = []
    for score, name in sorted(scores, reverse=True):
        family = _ONE.get(name, name)
        if score >= SURE and family not in taken:
            taken.add(family)
            found.append(name)
    return found


def read_all(names: Sequence[str], read: Callable[[str], ReadResult], path: str) -> ReadResult:
    """What each reader makes of one text; what two of them claim belongs to the first.

    Raises:
        InputError: none of them can read it; the first one's error.
    """
    merged = ReadResult()
    errors: list[tuple[str, InputError]] = []
    alone = []
    said: list[tuple[Issue, list[Table]]] = []
    for name in names:
        try:
            result = read(name)
        except InputError as error:
            errors.append((name, error))
            continue
        new = [table for table in result.tables if not _claimed(table, merged.tables)]
        if new or not result.tables:
            merged.tables += new
            said += [(issue, new) for issue in result.issues]
            alone.append(result.alone)
    if not alone:
        raise errors[0][1]
    if all(error is not None for error in alone):
        merged.alone = alone[0]
    merged.issues += [issue for issue, own in said if not _foreign(issue, own, merged.tables)]
    merged.issues += [
        Issue(Level.DATA_LOSS, f"{name} finds something in this text that it cannot read: {error.text}",
              Location(path, error.line))
        for name, error in errors
    ]  # fmt: skip
    merged.issues = list(dict.fromkeys(merged.issues))
    return merged


def _foreign(issue: Issue, own: Sequence[Table], tables: Sequence[Table]) -> bool:
    """True for a loss in lines that are another reader's table: nothing of them was lost."""
    line = issue.location.line if issue.location is not None else None
    if issue.level < Level.DATA_LOSS or line is None:
        return False
    mine = {id(table) for table in own}
    spans = (_span(table) for table in tables if len(table) and id(table) not in mine)
    return any(first <= line <= last for first, last in spans)


def _span(table: Table) -> tuple[int, int]:
    """Lines of a table, heading and units included."""
    lines = table.columns["line"]
    return int(lines.min()) - _HEAD, int(lines.max())


def _claimed(table: Table, before: Sequence[Table]) -> bool:
    """True where a row of the table stands in a line that another reader read."""
    if not len(table):
        return False
    return any(bool(np.isin(table.columns["line"], other.columns["line"]).any()) for other in before if len(other))
