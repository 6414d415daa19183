"""Which devices of several inputs are one GPU: by what the exports say of them, by machine and time, by overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import Run, Table
from nsight_insight.readers._assemble_clocks import Session, components, offsets_of
from nsight_insight.readers._assemble_stack import Array, Stack

Node = tuple[str, int]
"""Path of an input and its own number of a device."""

_WORK: Final = (Kind.KERNEL.value, Kind.MEMCPY.value, Kind.MEMSET.value)
_OVERLAP: Final = 0.01
"""Part of the time on a stream. A stream runs one piece of work after the other, so that the halves of one capture
overlap by nothing; two ranks that compute 2 % of the time do by about 2 %."""
_OWN_OVERLAP: Final = 2.0
"""Nodes of a CUDA graph do overlap on one stream: what counts is more overlap across inputs than within them."""


@dataclass(frozen=True)
class Launches:
    """Work of one device of one input; start and end in ns on the common clock.

    Attributes:
        stream: number of context and stream.
        engine: what one GPU does for one process at a time: computing, or copying in one direction.
        processes: those it is of, empty where the input does not say.
    """

    stream: Array
    engine: Array
    start: Array
    end: Array
    processes: frozenset[int]


@dataclass(frozen=True)
class Inputs:
    """What is known of every device of every input that has kernels with start times."""

    launches: Mapping[Node, Launches]
    runs: Mapping[str, Run | None]
    clock: Mapping[str, tuple[int, float]]
    identity: Mapping[Node, str]
    names: Mapping[Node, str]

    def same(self, a: Node, b: Node) -> bool:
        """True when both are surely one GPU on one clock."""
        here, there = (self.identity.get(node, "") for node in (a, b))
        return bool(here) and here == there and self._clock(a) is not None and self._clock(a) == self._clock(b)

    def differ(self, a: Node, b: Node) -> bool:
        """True when both cannot be one time line of one GPU."""
        here, there = (self.identity.get(node, "") for node in (a, b))
        if here and there and here[:4] == there[:4] and here != there:
            return True
        if self.same(a, b):
            return False
        if len({self.names.get(node, "") for node in (a, b)} - {""}) > 1:
            return True
        clocks = self._clock(a), self._clock(b)
        if None not in clocks and clocks[0] != clocks[1]:
            return True
        return _overlap(self.launches[a], self.launches[b])

    def _clock(self, node: Node) -> int | None:
        return self.clock[node[0]][0] if node[0] in self.clock else None


def timed_work(data: Stack) -> dict[Node, Array]:
    """Rows of counted work with start times, by input and device; only of devices that ran kernels."""
    columns = data.columns
    chosen = columns["primary"] & np.isin(columns["kind"], _WORK) & (columns["device"] >= 0)
    places = np.flatnonzero(chosen & np.isfinite(columns["start"]) & np.isfinite(columns["duration"]))
    found: dict[Node, list[Array]] = defaultdict(list)
    for number in np.unique(columns["source"][places]).tolist():
        own = places[columns["source"][places] == number]
        for index in np.unique(columns["device"][own]).tolist():
            found[data.sources[number].path, index].append(own[columns["device"][own] == index])
    kernels = columns["kind"] == Kind.KERNEL.value
    whole = {node: np.concatenate(found[node]) for node in sorted(found)}
    return {node: places for node, places in whole.items() if kernels[places].any()}


def read_inputs(data: Stack, tables: Sequence[Table], rows: Mapping[Node, Array]) -> Inputs:
    import pandas as pd

    runs = {table.source.path: table.run for table in tables}
    start = data.columns["start"]
    end = start + np.nan_to_num(data.columns["duration"])
    own: dict[str, list[Array]] = defaultdict(list)
    for (path, _), places in rows.items():
        own[path].append(places)
    sessions = {
        path: Session(runs[path], float(start[places].min()), float(end[places].max()))
        for path, parts in own.items()
        for places in [np.concatenate(parts)]
    }
    clock = offsets_of(sessions)
    stream = data.columns["context"] << 32 | (data.columns["stream"] + 1)
    engine: Array = pd.factorize(data.columns["kind"] + data.columns["direction"])[0]
    launches = {}
    for (path, index), places in rows.items():
        shift = clock[path][1] if path in clock else 0.0
        process = set(np.unique(data.columns["process"][places]).tolist())
        launches[path, index] = Launches(
            stream[places], engine[places], start[places] + shift, end[places] + shift,
            frozenset() if -1 in process else frozenset(process),
        )  # fmt: skip
    devices = {(table.source.path, device.index): device for table in tables for device in table.devices}
    identity = {node: device.identity for node, device in devices.items()}
    return Inputs(launches, runs, clock, identity, {node: device.name for node, device in devices.items()})


def _overlap(a: Launches, b: Launches) -> bool:
    """True when both worked at once on what works on one thing at a time.

    That is a stream; and between processes, which share a GPU in turns, an engine. Where both may be one process,
    there must be more overlap between the inputs than within them: nodes of a CUDA graph overlap on one stream.
    """
    strangers = bool(a.processes and b.processes) and not a.processes & b.processes
    lanes = (a.engine, b.engine) if strangers else (a.stream, b.stream)
    across = within = least = 0.0
    for lane in np.intersect1d(*lanes).tolist():
        (start, end), other = ((x.start[own == lane], x.end[own == lane]) for x, own in zip((a, b), lanes, strict=True))
        busy = _union(start, end), _union(*other)
        across += sum(busy) - _union(np.concatenate((start, other[0])), np.concatenate((end, other[1])))
        within += float((end - start).sum() + (other[1] - other[0]).sum()) - sum(busy)
        least += min(busy)
    return across > _OVERLAP * least and (strangers or across > _OWN_OVERLAP * within)


def _union(start: Array, end: Array) -> float:
    order = np.argsort(start, kind="stable")
    start, reached = start[order], np.maximum.accumulate(end[order])
    before = np.concatenate((start[:1], reached[:-1]))
    return float(np.maximum(reached - np.maximum(start, before), 0.0).sum())


def gpus_of(inputs: Inputs) -> tuple[list[list[Node]], list[list[Node]]]:
    """Devices of the inputs, grouped by the GPU and time line they are part of.

    Returns:
        All groups, and those among them that must be of several GPUs but cannot be taken apart.
    """
    nodes = list(inputs.launches)
    pairs = list(combinations(nodes, 2))
    apart = {(a, b) for a, b in pairs if a[1] == b[1] and a[0] != b[0] and inputs.differ(a, b)}
    links = [(a, b) for a, b in pairs if inputs.same(a, b) or (a[1] == b[1] and (a, b) not in apart)]
    groups: list[list[Node]] = []
    for group in components(nodes, links):
        groups += _by_what_they_say(group, links, inputs) if _contradicts(group, apart) else [group]
    return groups, [group for group in groups if _contradicts(group, apart)]


def _contradicts(group: Sequence[Node], apart: set[tuple[Node, Node]]) -> bool:
    return any(pair in apart for pair in combinations(group, 2))


def _by_what_they_say(group: Sequence[Node], links: Sequence[tuple[Node, Node]], inputs: Inputs) -> list[list[Node]]:
    """A group without inputs that say nothing of themselves: one that fits several GPUs must not make them one.

    Such an input stands for itself then; where no input says anything, the group stays whole.
    """
    certain = [node for node in group if node[0] in inputs.clock or inputs.identity.get(node)]
    if not certain or len(certain) == len(group):
        return [list(group)]
    others = [node for node in group if node not in certain]
    found: list[list[Node]] = []
    for own in (certain, others):
        found += components(own, [(a, b) for a, b in links if a in own and b in own])
    return found
