"""Hot lines of several inputs: each kernel's once, under the name that its launches have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nsight_insight.catalog.names import normalize
from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import HotLine, Table
from nsight_insight.readers._assemble_stack import Stack


def hot_lines(tables: Sequence[Table], data: Stack) -> tuple[HotLine, ...]:
    """The lines of every kernel from the input that sampled it most, kernels in the order of the inputs.

    Pages spell names differently. Where a name is none of the profile's, the page's own order says which launch is
    meant, provided that the launch's name holds the page's (``--print-kernel-base function``).
    """
    known = {normalize(str(name)) for name in set(data.columns["name"][data.columns["kind"] == Kind.KERNEL.value])}
    orders = _launch_orders(data)
    best: dict[tuple[str, str], tuple[int, list[HotLine]]] = {}
    for table in tables:
        found: dict[tuple[str, str], list[HotLine]] = {}
        for line in table.hot_lines:
            key = line.key if line.key in known else _by_order(line, orders)
            found.setdefault((key, line.view), []).append(replace(line, key=key))
        for place, lines in found.items():
            total = lines[0].total
            if place not in best or total > best[place][0]:
                best[place] = total, lines
    return tuple(line for _, lines in best.values() for line in lines)


def _launch_orders(data: Stack) -> list[list[str]]:
    """Kernel names in launch order, per table of ncu launches."""
    profiled = (data.tools() == "ncu") & (data.columns["kind"] == Kind.KERNEL.value) & (data.columns["count"] == 1)
    sources = data.columns["source"]
    return [
        [str(name) for name in data.columns["name"][profiled & (sources == source)]]
        for source in np.unique(sources[profiled]).tolist()
    ]


def _by_order(line: HotLine, orders: Sequence[Sequence[str]]) -> str:
    names = {normalize(order[line.launch]) for order in orders
             if line.launch < len(order) and line.kernel and line.kernel in order[line.launch]}  # fmt: skip
    return names.pop() if len(names) == 1 else line.key
