"""Do two collections of tables describe the same work? Decided by totals, whatever the files are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.profile import Ints

MAX_COMBINED: Final = 10
"""Tables per side up to which every combination is tried: 2**10 sums, a matter of milliseconds."""


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one kind in one table.

    Attributes:
        source: index into the sources.
        rows: positions in the activity frame.
        launches: sum of their counts.
        durations: ns per row, sorted.
        quantum: last printed digit of a duration in ns, 0 when it is whole nanoseconds.
        slack: how far the sum of durations may be off for the digits printed, 0 when exact.
        relative: part of itself by which a duration may be off, for tools that print significant digits.
        reader: what read the table.
        database: True where the figures were not rounded for print.
    """

    source: int
    report: str
    rows: Ints
    launches: int
    durations: npt.NDArray[np.float64]
    quantum: float = 0.0
    slack: float = 0.0
    reader: str = ""
    database: bool = False
    relative: float = 0.0

    @property
    def total(self) -> float:
        """Sum of durations in ns."""
        return float(self.durations.sum())

    @property
    def exact(self) -> bool:
        """True when the times are printed to the nanosecond."""
        return self.slack == 0.0


def agree(left: Sequence[Part], right: Sequence[Part]) -> bool:
    """True when both stand for as many launches and as much time, within the digits printed."""
    if sum(part.launches for part in left) != sum(part.launches for part in right):
        return False
    difference = abs(sum(part.total for part in left) - sum(part.total for part in right))
    return difference <= sum(part.slack for part in (*left, *right))


def explained(lower: Sequence[Part], upper: Sequence[Part]) -> list[Part]:
    """The parts of ``lower`` that describe the same work as parts of ``upper``.

    First table by table, then all that is left on either side, then (where times are exact) the smallest
    collections with equal totals: a report may be split over files, and two ranks may have a report each. Every
    part of ``upper`` explains once.
    """
    found: list[Part] = []
    lower, upper = in_order(lower), in_order(upper)
    for part in list(lower):
        twin = next((other for other in upper if agree([part], [other])), None)
        if twin is not None:
            found.append(part)
            lower.remove(part)
            upper.remove(twin)
    if lower and upper and agree(lower, upper):
        return [*found, *lower]
    lower, upper = ([part for part in side if part.exact] for side in (lower, upper))
    while pair := smallest_pair(lower, upper):
        found += pair[0]
        lower = [part for part in lower if part not in pair[0]]
        upper = [part for part in upper if part not in pair[1]]
    return found


def repeated(parts: Sequence[Part]) -> list[Part]:
    """Parts of one report that another one holds in more detail.

    Rounded to coarser units, with shorter names and so with fewer rows, whole beside its own pieces, or the
    same in another format. Otherwise tables with equally many rows in equal units are never repeats: were
    they the same, they would be equal.
    """
    found: list[Part] = []
    for part in sorted(in_order(parts), key=_coarsest_first):
        others = [other for other in parts if other is not part and other not in found]
        if any(_same_table(part, other) for other in others) or _in_pieces(part, others):
            found.append(part)
    return found


def _coarsest_first(part: Part) -> tuple[float, float, int, bool]:
    return -part.relative, -part.quantum, len(part.rows), part.database


def _same_table(part: Part, other: Part) -> bool:
    if len(part.rows) != len(other.rows):
        return agree([part], [other])
    if part.reader != other.reader and np.array_equal(part.durations, other.durations):
        return True
    reach = 0.51 * (part.quantum + other.quantum) + (part.relative + other.relative) * part.durations
    return (
        (part.quantum, part.relative) != (other.quantum, other.relative)
        and part.launches == other.launches
        and bool((np.abs(part.durations - other.durations) <= reach).all())
    )


def _in_pieces(part: Part, others: Sequence[Part]) -> bool:
    pair = smallest_pair([part], [other for other in others if other.exact]) if part.exact else None
    return pair is not None and len(pair[1]) > 1


def in_order(parts: Iterable[Part]) -> list[Part]:
    """Parts in an order that does not depend on the order of the inputs."""
    return sorted(parts, key=lambda part: (part.report, part.total, part.launches, len(part.rows)))


def smallest_pair(lower: Sequence[Part], upper: Sequence[Part]) -> tuple[tuple[Part, ...], tuple[Part, ...]] | None:
    """The smallest collections of either side with equal launches and total, None when there are none."""
    if not lower or not upper or max(len(lower), len(upper)) > MAX_COMBINED:
        return None
    sums: dict[tuple[int, float], tuple[Part, ...]] = {}
    for group in _collections(upper):
        sums.setdefault(_sums(group), group)
    for group in _collections(lower):
        if match := sums.get(_sums(group)):
            return group, match
    return None


def _collections(parts: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    for size in range(1, len(parts) + 1):
        yield from combinations(parts, size)


def _sums(parts: Sequence[Part]) -> tuple[int, float]:
    return sum(part.launches for part in parts), sum(part.total for part in parts)
