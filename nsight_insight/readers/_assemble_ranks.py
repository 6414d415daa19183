"""Inputs that give several GPUs one number: a job that writes one file per rank calls every rank's GPU device 0."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.profile import Run, Table
from nsight_insight.readers._assemble_gpus import Inputs, Node, gpus_of, read_inputs, timed_work
from nsight_insight.readers._assemble_stack import Array, Stack

_LISTED: Final = 8


@dataclass(frozen=True)
class Numbering:
    """Numbers of devices over all inputs.

    Attributes:
        numbers: input and its own number of a device -> number in the profile, where it differs.
        shift: path -> ns to add to its times.
        clocks: as ``Profile.clocks``.
    """

    numbers: Mapping[Node, int] = field(default_factory=dict)
    shift: Mapping[str, float] = field(default_factory=dict)
    clocks: Mapping[int, int] = field(default_factory=dict)

    def of(self, path: str, index: int) -> int:
        """Number in the profile of a device of an input."""
        return self.numbers.get((path, index), index)


def number_devices(data: Stack, tables: Sequence[Table]) -> Numbering:
    """Give every GPU its own number and put inputs of one machine on one clock; changes ``device`` and ``start``.

    Two inputs mean different GPUs by one number when the exports identify the GPUs, or when their kernels overlap on
    one stream, which one GPU cannot do. Inputs captured one after the other have a time line each, too: the pause
    between them is not idle time of the program. Where nothing tells them apart, equal numbers mean one GPU.
    """
    rows = timed_work(data)
    if len({path for path, _ in rows}) < 2:
        return Numbering()
    inputs = read_inputs(data, tables, rows)
    gpus, mixed = gpus_of(inputs)
    order = _in_order(gpus, inputs.runs)
    numbers = _numbers(order)
    shift = {path: offset for path, (_, offset) in inputs.clock.items() if offset}
    found = Numbering(_with_others(data, tables, numbers, rows), shift, _clocks(order, numbers, inputs))
    _apply(data, found)
    _note(data, order, found)
    _note_mixed(data, mixed)
    return found


def _in_order(gpus: Sequence[list[Node]], runs: Mapping[str, Run | None]) -> list[list[Node]]:
    """By rank where each has its own, else by path with numbers read as such, then by the input's own number."""
    ranks = [{run.rank for path, _ in gpu if (run := runs[path]) is not None} for gpu in gpus]
    by_file: dict[int | None, set[str]] = defaultdict(set)
    for gpu, own in zip(gpus, ranks, strict=True):
        by_file[next(iter(own)) if len(own) == 1 else None].update(path for path, _ in gpu)
    ranked = None not in by_file and all(len(paths) == 1 for paths in by_file.values())

    def key(gpu: list[Node]) -> tuple[object, ...]:
        path, index = min(gpu, key=lambda node: (_natural(node[0]), node[1]))
        run = runs[path]
        rank = run.rank if ranked and run is not None and run.rank is not None else 0
        return rank, _natural(path), index

    return sorted(gpus, key=key)


def _natural(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", path)]


def _numbers(order: Sequence[list[Node]]) -> dict[Node, int]:
    """The inputs' own numbers where no two GPUs share one, else numbers from 0."""
    own = [{index for _, index in gpu} for gpu in order]
    if all(len(indices) == 1 for indices in own) and len(set.union(*own)) == len(own):
        return {node: node[1] for gpu in order for node in gpu}
    return {node: number for number, gpu in enumerate(order) for node in gpu}


def _with_others(
    data: Stack, tables: Sequence[Table], numbers: Mapping[Node, int], rows: Mapping[Node, Array]
) -> dict[Node, int]:
    """Numbers of the devices of inputs without times, too: by equal kernels, else by equal number."""
    if all(number == index for (_, index), number in numbers.items()):
        return dict(numbers)
    kernels = data.columns["kind"] == Kind.KERNEL.value
    totals = {_totals(data, places[kernels[places]]): numbers[node] for node, places in rows.items()}
    first: dict[int, int] = {}
    for (_, index), number in numbers.items():
        first[index] = min(number, first.get(index, number))
    found, following = dict(numbers), len(set(numbers.values()))
    for node, places in _others(data, tables, numbers).items():
        known = totals.get(_totals(data, places), first.get(node[1]))
        if known is None:
            known = first[node[1]] = following
            following += 1
        found[node] = known
    return found


def _others(data: Stack, tables: Sequence[Table], numbers: Mapping[Node, int]) -> dict[Node, Array]:
    """Devices of inputs that have no number yet, with the rows of their kernels."""
    columns, found = data.columns, {}
    kernels = columns["kind"] == Kind.KERNEL.value
    for number, source in enumerate(data.sources):
        here = columns["source"] == number
        used = np.unique(columns["device"][here & (columns["device"] >= 0)]).tolist()
        found.update({(source.path, i): here & kernels & (columns["device"] == i) for i in used})
    for table in tables:
        for device in table.devices:
            found.setdefault((table.source.path, device.index), np.zeros(len(data), dtype=bool))
    return {node: np.flatnonzero(found[node]) for node in sorted(found) if node[1] >= 0 and node not in numbers}


def _totals(data: Stack, places: Array) -> tuple[int, float]:
    return int(data.columns["count"][places].sum()), float(np.nan_to_num(data.columns["duration"][places]).sum())


def _clocks(order: Sequence[list[Node]], numbers: Mapping[Node, int], inputs: Inputs) -> dict[int, int]:
    """Clock of each GPU; GPUs that were told apart by their times alone have one each."""
    shared = [index for gpu in order for index in {index for _, index in gpu}]
    keys: dict[int, object] = {}
    for gpu in order:
        known = {inputs.clock[path][0] for path, _ in gpu if path in inputs.clock}
        alone = any(shared.count(index) > 1 for _, index in gpu)
        keys[numbers[gpu[0]]] = known.pop() if len(known) == 1 else (gpu[0] if alone else None)
    distinct = list(dict.fromkeys(keys.values()))
    return {number: distinct.index(key) for number, key in keys.items()} if len(distinct) > 1 else {}


def _apply(data: Stack, found: Numbering) -> None:
    own = data.columns["device"].copy()
    for source in data.sources:
        rows = slice(source.first_row, source.first_row + source.rows)
        for (path, index), new in found.numbers.items():
            if path == source.path and new != index:
                data.columns["device"][rows][own[rows] == index] = new
        if source.path in found.shift:
            data.columns["start"][rows] += found.shift[source.path]


def _note(data: Stack, order: Sequence[list[Node]], found: Numbering) -> None:
    """Say which device is which, and what cannot be compared."""
    first = _source_of(data, order[0][0][0])
    renumbered = any(found.of(*node) != node[1] for gpu in order for node in gpu)
    if renumbered:
        told = [
            f"device {found.of(*gpu[0])} is device {' and '.join(sorted({str(index) for _, index in gpu}))} of "
            f"{_few([path for path, _ in gpu])}"
            for gpu in order[:_LISTED]
        ]
        more = [f"and {len(order) - _LISTED} more"] if len(order) > _LISTED else []
        text = "inputs give several GPUs, or several captures of one, the same number; here "
        data.note(text + ", ".join([*told, *more]), first)
    for path, offset in sorted(found.shift.items()):
        text = f"its times are given {offset:.0f} ns later, on the clock of the input that began first"
        data.note(text, _source_of(data, path))
    if found.clocks:
        text = "the clocks of the inputs cannot be aligned: what happened on several devices at once is not compared"
        data.note(text, first)


def _note_mixed(data: Stack, mixed: Sequence[list[Node]]) -> None:
    for group in mixed:
        text = (
            f"device {group[0][1]} of {_few([path for path, _ in group])} is taken for one GPU: some of its work "
            "overlaps on one stream, so there are several, but the inputs do not say which belong together; "
            "its idle time is too small"
        )
        data.note(text, _source_of(data, group[0][0]))


def _source_of(data: Stack, path: str) -> int:
    return next(number for number, source in enumerate(data.sources) if source.path == path)


def _few(paths: Sequence[str]) -> str:
    names = sorted(set(paths))
    return " and ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
