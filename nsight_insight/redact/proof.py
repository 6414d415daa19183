"""Is the clean copy clean, and still the same capture? Both are found out from the copy as it lies on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from nsight_insight.catalog.kernels import classify
from nsight_insight.readers._sqlite_database import open_database, quoted
from nsight_insight.redact.mask import ENVIRONMENT, MIN_LITERAL, private_in

if TYPE_CHECKING:
    import numpy.typing as npt

    from nsight_insight.model.profile import ReadResult, Table
    from nsight_insight.readers.text import SourceText

_TEXTS: Final = frozenset({"name", "nvtx"})
"""Columns whose texts may change, as long as equal ones stay equal and different ones different."""
_CLASSES: Final = ("family", "dtype_in", "dtype_out", "tensor_core", "library", "arch")


def leaks(text: SourceText, removed: Mapping[str, str]) -> Iterator[str]:
    """Kind and place of everything in a clean copy that should have been taken out.

    Args:
        text: the copy, opened anew.
        removed: every text that was taken out of any file of the call -> its kind.
    """
    database = text.magic.startswith(b"SQLite format 3")
    for place, cell in _cells(text) if database else _lines(text):
        for kind, _ in private_in(cell, figures=True):
            yield f"{place}: {kind}"
        for literal, kind in removed.items():
            if kind != ENVIRONMENT and len(literal) >= MIN_LITERAL and _stands_in(literal, cell):
                yield f"{place}: {kind} that stood in the original"
    if database:
        yield from _bytes_left(text.data, removed)


def _stands_in(literal: str, text: str) -> bool:
    return literal in text and re.search(rf"(?<![\w-]){re.escape(literal)}(?![\w-])", text) is not None


def _lines(text: SourceText) -> Iterator[tuple[str, str]]:
    yield from ((f"line {number}", line) for number, line in enumerate(text.lines, 1) if line)


def _cells(text: SourceText) -> Iterator[tuple[str, str]]:
    """Every text of a database, whatever its column was declared as."""
    with open_database(text) as database:
        for table, columns in database.tables.items():
            for column in sorted(columns):
                sql = f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)} WHERE typeof({quoted(column)}) = 'text'"  # noqa: S608
                for (cell,) in database.fetch(sql, table):
                    yield f"{table}.{column}", cell


def _bytes_left(data: bytes, removed: Mapping[str, str]) -> Iterator[str]:
    """Texts that no cell holds but that lie somewhere in the file: free pages, what was overwritten."""
    for literal, kind in removed.items():
        word = literal.encode()
        known = len(word) >= 2 * MIN_LITERAL and kind != ENVIRONMENT and word in data
        if known and re.search(rb"(?<![\w-])" + re.escape(word) + rb"(?![\w-])", data):
            yield f"bytes of the file: {kind} that stood in the original"


def difference(before: ReadResult, after: ReadResult) -> str:
    """What a clean copy reads otherwise than its original, "" when nothing."""
    if len(before.tables) != len(after.tables):
        return f"{len(before.tables)} tables became {len(after.tables)}"
    for old, new in zip(before.tables, after.tables, strict=True):
        if what := _table_difference(old, new):
            return f"{old.source.report}: {what}"
    return ""


def unchanged(before: ReadResult, after: ReadResult, renamed: Mapping[str, str]) -> str:
    """A name that should have been changed and is still in a copy, "" when none.

    Args:
        before: what the original reads.
        after: what the copy reads.
        renamed: every name that was to be changed -> its new form.
    """
    left = set(names_in(before)) & set(names_in(after))
    return next((name for name in sorted(left) if renamed.get(name, name) != name), "")


def names_in(result: ReadResult) -> Iterator[str]:
    """Names of activities and of the ranges they stand in."""
    for table in result.tables:
        for column in _TEXTS & table.columns.keys():
            yield from dict.fromkeys(str(name) for name in table.columns[column].tolist())


def _table_difference(old: Table, new: Table) -> str:
    if len(old) != len(new) or old.columns.keys() != new.columns.keys():
        return f"{len(old)} rows became {len(new)}"
    for name in old.columns:
        if not _same(name, old.columns[name], new.columns[name]):
            return f"column {name} differs"
    if not _same_classes(old, new):
        return "kernels are of other families"
    if [device.name for device in old.devices] != [device.name for device in new.devices]:
        return "the GPUs differ"
    if len(old.vendor) != len(new.vendor) or len(old.hot_lines) != len(new.hot_lines):
        return "remarks of the tool or samples differ"
    return ""


def _same(name: str, old: npt.NDArray[Any], new: npt.NDArray[Any]) -> bool:
    import numpy as np

    if old.dtype != object:
        return bool(np.array_equal(old, new, equal_nan=old.dtype.kind == "f"))
    pairs = set(zip(old.tolist(), new.tolist(), strict=True))
    if name not in _TEXTS:
        return all(first == second for first, second in pairs)
    return all(_unique(sorted(str(pair[side]) for pair in pairs)) for side in (0, 1))


def _same_classes(old: Table, new: Table) -> bool:
    """Whether names of kernels tell the same of them as before."""
    if "name" not in old.columns:
        return True
    kinds = old.columns["kind"].tolist() if "kind" in old.columns else ["kernel"] * len(old)
    rows = zip(kinds, old.columns["name"].tolist(), new.columns["name"].tolist(), strict=True)
    changed = {(first, second) for kind, first, second in rows if kind == "kernel" and first != second}
    return all(_class(first) == _class(second) for first, second in changed)


def _class(name: str) -> tuple[object, ...]:
    found = classify(name)
    return tuple(getattr(found, what) for what in _CLASSES)


def _unique(texts: list[str]) -> bool:
    return all(first != second for first, second in pairwise(texts))
