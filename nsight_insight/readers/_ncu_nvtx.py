"""The NVTX cell of a launch: its thread and the ranges that were open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from nsight_insight.readers._ncu_layout import NVTX, Layout

_THREAD: Final = re.compile(r"\s*([0-9]{1,18})\s")
_RANGE: Final = re.compile(r'"(.*?)"(?=\s|$)', re.DOTALL)
_TYPE = r"[A-Za-z0-9_]*"
_STATE: Final = re.compile(
    rf"(?:<default domain>|[^:]*):(?P<name>.*):{_TYPE}:[^:]*:{_TYPE}:(?:none|0x[0-9A-Fa-f]+|\d+):{_TYPE}:.*",
    re.DOTALL,
)
_STATE_2020: Final = re.compile(rf"(?:<default domain>|[^:]*):(?P<name>.*):{_TYPE}:[^:]*", re.DOTALL)


@lru_cache(maxsize=4096)
def parse_nvtx(cell: str, *, colours: bool) -> tuple[int, str]:
    """Thread id (-1 unknown) and the names of the push/pop ranges, outermost first, joined by ``/``.

    A range reads ``domain:name:payload type:payload:colour type:colour:message type:message``; ncu 2020 ends it
    behind the payload (``colours`` False). Names may hold colons, so the rest is matched from its end.
    """
    thread = _THREAD.match(cell)
    pattern = _STATE if colours else _STATE_2020
    ranges = (pattern.fullmatch(found[1]) for found in _RANGE.finditer(cell))
    names = [state["name"] for state in ranges if state and state["name"]]
    return int(thread[1]) if thread else -1, "/".join(names)


def nvtx_states(layout: Layout, texts: Mapping[str, Sequence[str]]) -> list[tuple[int, str]]:
    """Thread and ranges of every launch; empty when the table has no NVTX column."""
    colours = any(heading.startswith(NVTX) and "Color" in heading for heading in layout.headings)
    return [parse_nvtx(cell, colours=colours) for cell in texts.get(NVTX, ())]


@lru_cache(maxsize=4096)
def parse_ranges(cell: str) -> str:
    """The names in the range column of a summary, where ranges have no domain in front."""
    found = (f":{item[1]}" for item in _RANGE.finditer(cell))
    states = (_STATE.fullmatch(text) or _STATE_2020.fullmatch(text) for text in found)
    return "/".join(state["name"] for state in states if state and state["name"])
