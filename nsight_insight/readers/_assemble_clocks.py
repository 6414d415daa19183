"""Which inputs were captured at the same time on one machine, so that their times can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from nsight_insight.model.profile import Run

_BOOT_NS: Final = 1_000_000_000
"""Machines of one name whose clocks began at most this far apart are one: clocks are corrected by less."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Session:
    """One input: what it says of its run, and its first start and last end of GPU work in ns on its own clock."""

    run: Run | None
    first: float
    last: float


def offsets_of(sessions: Mapping[str, Session]) -> dict[str, tuple[int, float]]:
    """Number of the clock and ns to add, for every input that says when it began; its key is the path.

    Inputs share a clock when they are of one machine and began together or worked at the same time; times are
    then those of the input that began first.
    """
    known = sorted(path for path, session in sessions.items() if _began(session) is not None)
    groups = components(known, [(a, b) for a in known for b in known if a < b and _together(sessions[a], sessions[b])])
    found: dict[str, tuple[int, float]] = {}
    for number, group in enumerate(groups):
        began = {path: start for path in group if (start := _began(sessions[path])) is not None}
        found |= {path: (number, float(start - min(began.values()))) for path, start in began.items()}
    return found


def _began(session: Session) -> int | None:
    return session.run.began if session.run is not None else None


def _together(a: Session, b: Session) -> bool:
    if a.run is None or b.run is None or a.run.began is None or b.run.began is None or not _one_machine(a.run, b.run):
        return False
    shift = b.run.began - a.run.began
    return shift == 0 or (a.first < b.last + shift and b.first + shift < a.last)


def _one_machine(a: Run, b: Run) -> bool:
    if not a.host or a.host != b.host:
        return False
    return a.booted is None or b.booted is None or abs(a.booted - b.booted) < _BOOT_NS


def components(items: Sequence[Item], links: Sequence[tuple[Item, Item]]) -> list[list[Item]]:
    """Items that links join directly or through others, groups and members in the order of ``items``."""
    group = {item: [item] for item in items}
    for left, right in links:
        if group[left] is not group[right]:
            group[left] += group[right]
            for item in group[right]:
                group[item] = group[left]
    place = {item: number for number, item in enumerate(items)}
    distinct = {id(members): sorted(members, key=place.__getitem__) for members in group.values()}
    return sorted(distinct.values(), key=lambda members: place[members[0]])
