"""NVTX ranges, and which of them were open on a thread at a given time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import Ints
from nsight_insight.readers._sqlite_database import Database, Field, Floats, Objects, plain
from nsight_insight.readers._sqlite_sums import too_many
from nsight_insight.readers._sqlite_tables import THREAD, Part, read_part

NVTX: Final = "NVTX_EVENTS"
_STYLES: Final = (("PushPop", "nvtx_pushpop_trace", (59, 70)), ("StartEnd", "nvtx_startend_trace", (60, 71)))
"""Style, report and event types (of the API, of an NVTXT file). ``nsys stats`` has a summary only of the second."""
_DOMAIN_CREATE: Final = 75
_FIELDS: Final = (plain("start", "start", "ns"), *THREAD, plain("_domain", "domainId"), plain("_end", "end"))


@dataclass(frozen=True)
class Ranges:
    """Push/pop ranges in the order they were opened on each thread.

    Attributes:
        thread: process and thread in one number.
        parent: position of the enclosing range, -1 outermost.
        texts: as the program gave them, without domain.
    """

    thread: Ints
    start: Floats
    end: Floats
    parent: Ints
    texts: Objects


def read_ranges(database: Database) -> tuple[list[Part], Ranges | None]:
    """Tables of ranges by style, and the push/pop ranges for ``paths_at``."""
    if not database.has(NVTX, "start", "end", "eventType") or too_many(database, NVTX, left_out=True):
        return [], None
    fields = _fields(database)
    parts: list[Part] = []
    ranges: Ranges | None = None
    for style, report, types in _STYLES:
        where = f"eventType IN {types}"
        part = read_part(database, NVTX, report, Kind.RANGE, fields, where)
        if part is None:
            continue
        texts = _texts(database, part, where)
        _name(database, part, texts)
        part.columns["_style"] = np.full(len(part), style, dtype=object)
        parts.append(part)
        if style == "PushPop":
            end = np.nan_to_num(part.figure("_end"), nan=np.inf)
            ranges = nest(thread_of(part), part.figure("start"), end, texts)
    return parts, ranges


def _fields(database: Database) -> tuple[Field, ...]:
    """A range that was never closed lasts until the last time stamp of the table, as in nsys' own reports."""
    last = database.first(f'SELECT MAX(COALESCE("end", "start")) FROM {NVTX}', NVTX) or 0  # noqa: S608
    duration = Field("duration", f'COALESCE("end", {int(last)}) - "start"', ("start", "end"), "end - start", "ns")
    return (*_FIELDS, duration)


def thread_of(part: Part) -> Ints:
    """Process and thread of each row in one number; thread ids are unique within a process only."""
    process, thread = (np.nan_to_num(part.figure(name), nan=-1.0) for name in ("process", "thread"))
    return process.astype(np.int64) << 24 | thread.astype(np.int64)


def _texts(database: Database, part: Part, where: str) -> Objects:
    """The text of each row: registered strings by id, others in the row."""
    shared: dict[str, str] = {}
    ids: list[int] = []
    texts: list[str] = []
    for row, text in database.fetch(_text_query(database, where), NVTX):
        name = text if isinstance(text, str) else ""
        ids.append(row)
        texts.append(shared.setdefault(name, name))
    # One more at the end, for rows whose text could not be read.
    place = np.searchsorted(np.array(ids, dtype=np.int64), part.rows.ids)
    found: Objects = np.array([*texts, ""], dtype=object)[place]
    return found


def _text_query(database: Database, where: str) -> str:
    strings = database.has("StringIds", "id", "value") and database.has(NVTX, "textId")
    sources = [*(["s.value"] if strings else []), *(["e.text"] if database.has(NVTX, "text") else []), "''"]
    join = "LEFT JOIN StringIds s ON s.id = e.textId" if strings else ""
    text = f"COALESCE({', '.join(sources)})" if len(sources) > 1 else "''"
    return f"SELECT e.rowid, {text} FROM {NVTX} e {join} WHERE {where} ORDER BY e.rowid"  # noqa: S608


def _name(database: Database, part: Part, texts: Objects) -> None:
    """``domain:text``, with nothing before the colon in the default domain, as nsys prints it."""
    domains = _domains(database)
    process, domain = part.figure("process"), np.nan_to_num(part.figure("_domain"))
    shared: dict[str, str] = {}
    names = np.empty(len(part), dtype=object)
    for row, key in enumerate(zip(process.tolist(), domain.tolist(), strict=True)):
        name = f"{domains.get(key, '')}:{texts[row]}"
        names[row] = shared.setdefault(name, name)
    part.columns["name"] = names
    part.labels["name"] = "textId" if database.has(NVTX, "textId") else "text"


def _domains(database: Database) -> dict[tuple[float, float], str]:
    """(process, domain id) -> name; of several the first one created."""
    if not database.has(NVTX, "domainId"):
        return {}
    where = f"eventType = {_DOMAIN_CREATE}"
    rows = database.read(NVTX, _FIELDS, where)
    texts = [str(text) for _, text in database.fetch(_text_query(database, where), NVTX)]
    nothing = np.full(len(rows), np.nan)
    columns = (rows.columns.get(name, nothing).tolist() for name in ("start", "process", "_domain"))
    found: dict[tuple[float, float], str] = {}
    for _, process, domain, text in sorted(zip(*columns, texts, strict=False), key=lambda row: row[0]):
        found.setdefault((process, domain), text)
    return found


def nest(thread: Ints, start: Floats, end: Floats, texts: Objects) -> Ranges:
    """Ranges with their parents: one pass over each thread with a stack of what is open."""
    order = np.lexsort((np.arange(len(start)), -end, start, thread))
    thread, start, end, texts = thread[order], start[order], end[order], texts[order]
    parent = np.full(len(order), -1, dtype=np.int64)
    stack: list[int] = []
    threads, ends = thread.tolist(), end.tolist()
    for index, last in enumerate(ends):
        if index and threads[index] != threads[index - 1]:
            stack.clear()
        while stack and ends[stack[-1]] < last:
            stack.pop()
        if stack:
            parent[index] = stack[-1]
        stack.append(index)
    return Ranges(thread, start, end, parent, texts)


def paths_at(ranges: Ranges, thread: Ints, when: Floats) -> Objects:
    """Ranges open on a thread at a time, outermost first, joined by ``/``; "" outside any."""
    place = _open_at(ranges, thread, when)
    paths: dict[int, str] = {-1: ""}
    found, places = np.unique(place, return_inverse=True)
    texts = np.array([_path(ranges, index, paths) for index in found.tolist()] or [""], dtype=object)
    return texts[places]


def _open_at(ranges: Ranges, thread: Ints, when: Floats) -> Ints:
    """The innermost range open on each thread at each time: the last one opened, or the next around it still open."""
    place = np.full(len(when), -1, dtype=np.int64)
    threads, first = np.unique(ranges.thread, return_index=True)
    bounds = [*first.tolist(), len(ranges.thread)]
    for number, low, high in zip(threads.tolist(), bounds, bounds[1:], strict=False):
        here = np.flatnonzero(thread == number)
        inside = np.searchsorted(ranges.start[low:high], when[here], side="right") + low - 1
        place[here] = np.where(inside >= low, inside, -1)
    ends = np.append(ranges.end, np.inf)  # place -1, no range, never ends
    while (over := ends[place] < when).any():
        place[over] = ranges.parent[place[over]]
    return place


def _path(ranges: Ranges, index: int, paths: dict[int, str]) -> str:
    above: list[int] = []
    while index not in paths:
        above.append(index)
        index = int(ranges.parent[index])
    for below in reversed(above):
        text = str(ranges.texts[below])
        outer = paths[index]
        paths[below] = f"{outer}/{text}" if outer and text else outer or text
        index = below
    return paths[index]
