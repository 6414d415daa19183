"""Which ncu launches explain which kernel of the time base: nsys says where time goes, ncu says why.

Matched from strict to loose: name, grid and block; the name, where the time base does not write grids; the
bare function name, where one side prints nothing else and no other kernel shares it. Different grids of
one name are not matched: a launch of one block says nothing about one of thousands. Where grids are not
written, launches must on average take about as long as in the time base, or ncu saw other sizes. Kernel
families are never matched, metrics of one GEMM say nothing about another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from nsight_insight.views.activity import Activities, codes_of
from nsight_insight.views.facts import Array, Bools, Floats, Ints
from nsight_insight.views.groups import Groups

SAME_SIZE: Final = (2 / 3, 2.5)
"""Mean duration under ncu over that under nsys for the same work. ncu flushes caches before each launch and by
default holds the clock at its base, so launches take as long or up to about twice as long, not less."""


@dataclass(frozen=True)
class Kernels:
    """The time base's rows grouped by device and normalised name."""

    groups: Groups
    first: Ints
    """Position in ``Activities.base`` of each kernel's first row."""


def kernels_of(acts: Activities) -> Kernels:
    """Kernels of the time base in file order."""
    rows = acts.base
    codes, first = codes_of(acts.device[rows], acts.name_codes[0][rows])
    return Kernels(Groups(codes, len(first)), first)


@dataclass(frozen=True)
class Join:
    """Pairs of a kernel and an ncu launch that explains part of it; arrays of equal length.

    Attributes:
        kernel: group number of ``Kernels``.
        launch: position in ``Activities.metered``.
        time: seconds of the time base that the launch stands for in this kernel.
        launches: launches of the time base it stands for.
        level: how it was matched: same, launch, name, base.
        foreign: True where the launch ran on another device than the kernel.
    """

    kernel: Ints
    launch: Ints
    time: Floats
    launches: Ints
    level: Array
    foreign: Bools

    def per_launch(self, values: Array, size: int) -> Floats:
        """Sum of ``values`` over the pairs of each of ``size`` ncu launches, on the launch's own device."""
        own = ~self.foreign
        return np.bincount(self.launch[own], weights=values[own], minlength=size).astype(np.float64)

    def levels(self, size: int) -> Array:
        """How each ncu launch was matched; None where it explains nothing."""
        found = np.full(size, None, dtype=object)
        found[self.launch] = self.level
        return found


def join(acts: Activities, kernels: Kernels) -> Join:
    """Pair the time base's kernels with ncu launches."""
    metered = np.zeros(acts.size, dtype=bool)
    metered[acts.metered] = True
    own = np.flatnonzero(metered[acts.base])
    if len(own) < len(acts.base):
        return _Matcher(acts, kernels, np.flatnonzero(~metered[acts.base]), own).join()
    return _same(acts, kernels, own)


def _same(acts: Activities, kernels: Kernels, own: Ints) -> Join:
    """Ncu launches that are in the time base stand for themselves; ``own`` are positions in it."""
    place = np.zeros(acts.size, dtype=np.int64)
    place[acts.metered] = np.arange(len(acts.metered))
    rows, size = acts.base[own], len(own)
    return Join(
        kernels.groups.codes[own], place[rows], acts.time(rows),
        acts.launches(rows), np.full(size, "same", dtype=object), np.zeros(size, dtype=bool),
    )  # fmt: skip


class _Matcher:
    """Cells are the distinct (device, name, grid, block) of the time base's rows that carry no metrics.

    ``timed`` and ``own`` are positions in the time base: rows to explain, and ncu launches among them.
    """

    def __init__(self, acts: Activities, kernels: Kernels, timed: Ints, own: Ints) -> None:
        self.acts, self.kernels, self.own = acts, kernels, own
        self.base, self.metered = acts.base[timed], acts.metered
        names = acts.name_codes[0]
        codes, first = codes_of(
            acts.device[self.base], names[self.base], acts.grid[self.base], acts.block[self.base]
        )  # fmt: skip
        cells = Groups(codes, len(first))
        self.time = np.nan_to_num(cells.sum(acts.seconds(self.base)))
        self.launches = np.nan_to_num(cells.sum(acts.count(self.base))).astype(np.int64)
        self.kernel = kernels.groups.codes[timed][first]
        self.explains = ~np.isin(acts.metered, acts.base[own])
        self.cell = self.base[first]
        self.open = np.ones(len(first), dtype=bool)
        self.pairs: list[tuple[Ints, Ints, Array, Bools]] = []

    @cached_property
    def devices_differ(self) -> bool:
        """True when the two captures do not number devices alike, so that device numbers say nothing."""
        ours, theirs = self.acts.device[self.cell], self.acts.device[self.metered]
        return bool((ours < 0).any() or (theirs < 0).any() or not np.isin(theirs, ours).any())

    def join(self) -> Join:
        for level in ("launch", "name", "base"):
            if not self.devices_differ:
                self._match(level, same_device=True)
            self._match(level, same_device=False)
        cell, launch, level_of, foreign = (np.concatenate(parts) for parts in zip(*self.pairs, strict=True))
        order = np.lexsort((launch, cell))
        cell, launch, level_of, foreign = cell[order], launch[order], level_of[order], foreign[order]
        same = _same(self.acts, self.kernels, self.own)
        return Join(
            np.concatenate((same.kernel, self.kernel[cell])),
            np.concatenate((same.launch, launch)),
            np.concatenate((same.time, self._split_time(cell, launch))),
            np.concatenate((same.launches, self._split_launches(cell))),
            np.concatenate((same.level, level_of)),
            np.concatenate((same.foreign, foreign)),
        )

    def _match(self, level: str, *, same_device: bool) -> None:
        keys, known = self._keys(level, same_device)
        cells = np.flatnonzero(self.open & known[: len(self.cell)])
        launches = np.flatnonzero(self.explains & known[len(self.cell) :])
        ours, theirs = keys[cells], keys[len(self.cell) + launches]
        order = np.argsort(theirs, kind="stable")
        low = np.searchsorted(theirs[order], ours, side="left")
        found = np.searchsorted(theirs[order], ours, side="right") - low
        offsets = np.arange(int(found.sum())) - np.repeat(np.cumsum(found) - found, found)
        cell, launch = np.repeat(cells, found), launches[order[np.repeat(low, found) + offsets]]
        if level != "launch":
            alike = self._alike(cell, launch)
            cell, launch = cell[alike], launch[alike]
        foreign = np.full(len(launch), not same_device and not self.devices_differ)
        self.pairs.append((cell, launch, np.full(len(launch), level, dtype=object), foreign))
        self.open[cell] = False

    def _alike(self, cell: Ints, launch: Ints) -> Bools:
        """Pairs whose cell's launches take about as long in both captures; unknown durations are let pass."""
        groups = Groups(cell, len(self.cell))
        rows = self.metered[launch]
        duration = self.acts.seconds(rows) / np.maximum(self.acts.count(rows), 1.0)
        with np.errstate(all="ignore"):
            ratio = groups.mean(duration, np.ones(len(cell))) * self.launches / self.time
        differs: Bools = (ratio < SAME_SIZE[0]) | (ratio > SAME_SIZE[1])
        return ~differs[cell]

    def _keys(self, level: str, same_device: bool) -> tuple[Ints, Bools]:
        """A key per cell and launch, and whether it may be matched at this level at all."""
        acts, rows = self.acts, np.concatenate((self.cell, self.metered))
        name, grid, block = acts.name_codes[0][rows], acts.grid[rows], acts.block[rows]
        known = np.ones(len(rows), dtype=bool)
        device = acts.device[rows] if same_device else np.zeros(len(rows), dtype=np.int64)
        ours = np.arange(len(rows)) < len(self.cell)
        if level == "launch":
            known = ~np.isnan(grid)
            return codes_of(device, name, grid, block)[0], known
        known = np.isnan(grid) | ~ours
        if level == "name":
            return codes_of(device, name)[0], known
        return codes_of(device, acts.column("base")[rows])[0], known & self._bare(rows, ours)

    def _bare(self, rows: Ints, ours: Bools) -> Bools:
        """Names whose function name belongs to one kernel on each side, bare on at least one side."""
        codes, names = self.acts.name_codes
        base = self.acts.column("base")[rows]
        held, _ = codes_of(base)
        groups = Groups(held, int(held.max(initial=-1)) + 1)
        bare = np.array([names[code] == text for code, text in zip(codes[rows], base, strict=True)], dtype=bool)
        single = np.ones(groups.size, dtype=bool)
        for side in (ours, ~ours):
            kinds = np.unique(np.stack((held[side], codes[rows][side])), axis=1)[0]
            single &= np.bincount(kinds, minlength=groups.size) == 1
        result: Bools = (single & (groups.count(bare) > 0))[held] & (base != "")
        return result

    def _split_time(self, cell: Ints, launch: Ints) -> Floats:
        """Each cell's time over its launches, in proportion to their ncu durations."""
        duration = np.nan_to_num(self.acts.column("duration")[self.metered[launch]])
        total = np.bincount(cell, weights=duration, minlength=len(self.cell))[cell]
        number = np.bincount(cell, minlength=len(self.cell))[cell]
        with np.errstate(all="ignore"):
            share = np.where(total > 0, duration / total, 1.0 / number)
        return np.asarray(self.time[cell] * share, dtype=np.float64)

    def _split_launches(self, cell: Ints) -> Ints:
        """Each cell's launches over its ncu launches, as evenly as whole numbers allow."""
        number = np.bincount(cell, minlength=len(self.cell))
        place = np.arange(len(cell)) - (np.cumsum(number) - number)[cell]
        share = self.launches[cell] // number[cell]
        return np.asarray(share + (place < self.launches[cell] % number[cell]), dtype=np.int64)
