"""Facts that every row-like scope shares: names, classes, times, keys."""

from __future__ import annotations

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Array, Floats, Ints


def identity(acts: Activities, rows: Ints) -> dict[str, Array]:
    """Name and class of each row."""
    words = {name: acts.words(name, rows) for name in ("name", "base", "dtype_in", "dtype_out", "library")}
    return {**words, "family": acts.family(rows), "tensor_core": acts.tensor_core(rows)}


def share_of_device(time: Floats, devices: Ints, acts: Activities) -> Floats:
    """``time`` in seconds over the kernel time of its device in the time base."""
    base = acts.base
    total = np.full(len(time), np.nan)
    for index in np.unique(devices):
        total[devices == index] = acts.time(base[acts.device[base] == index]).sum()
    with np.errstate(all="ignore"):
        return np.where(total > 0, time / total, np.nan)


def extremes(acts: Activities, rows: Ints) -> tuple[Floats, Floats]:
    """Shortest and longest launch of each row in seconds; a row of one launch is both itself."""
    duration, single = acts.seconds(rows), acts.count(rows) == 1
    low, high = acts.seconds(rows, "min"), acts.seconds(rows, "max")
    return (
        np.where(np.isnan(low) & single, duration, low),
        np.where(np.isnan(high) & single, duration, high),
    )


def row_keys(acts: Activities, rows: Ints, *, extra: Array | None = None) -> list[str]:
    """Identity of each row: device (only where there are several), name, grid, block and running number."""
    from nsight_insight.views.activity import codes_of

    columns = [acts.device[rows], acts.name_codes[0][rows], acts.grid[rows], acts.block[rows]]
    codes, first = codes_of(*columns, *([] if extra is None else [extra]))
    names = acts.name_codes[1]
    several = len(np.unique(acts.device[acts.base])) > 1
    stems = [_stem(acts, int(rows[place]), names, several) for place in first]
    numbers = _running_number(codes)
    return [f"{stems[code]}#{number}" for code, number in zip(codes.tolist(), numbers.tolist(), strict=True)]


def _stem(acts: Activities, row: int, names: list[str], several: bool) -> str:
    device = f"{acts.device[row]}:" if several else ""
    shape = [f"{size:g}" for size in (acts.grid[row], acts.block[row]) if not np.isnan(size)]
    return "".join([device, names[acts.name_codes[0][row]], *(f"@{size}" for size in shape)])


def _running_number(codes: Ints) -> Ints:
    """How many earlier rows have the same code."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes) if len(codes) else np.zeros(0, dtype=np.int64)
    starts = np.cumsum(counts) - counts
    numbers = np.empty(len(codes), dtype=np.int64)
    numbers[order] = np.arange(len(codes)) - starts[codes[order]]
    return numbers
