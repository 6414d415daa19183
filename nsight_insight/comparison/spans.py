"""Which steady step each piece of work belongs to, and how long and how idle each step was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Floats, Ints
from nsight_insight.views.steps import Steps, find_steps
from nsight_insight.views.timeline import window

USED: Final = 0.01
"""Part of the busiest device's kernel time below which a device takes no part in the training."""


@dataclass(frozen=True)
class Span:
    """Steps of one device: ``first`` is the first steady one, ``edges`` are None where steps have no times."""

    device: int
    steps: Steps
    first: int
    rows: Ints


@dataclass(frozen=True)
class Spans:
    """Steps of all devices of a capture.

    Attributes:
        spans: per device; empty where some device has no steps with places.
        steady: steady steps that every device has; None without places.
        count: steps, warm-up included, as far as anything says; None unknown.
        lengths: per steady step, ns; of the slowest device. None without times.
        idle: idle time per steady step, ns, the mean of the devices.
        index: steady step per row of the activity frame, -1 outside.
        basis: what the steps were recognised by, "" without any.
    """

    spans: tuple[Span, ...]
    steady: int | None
    count: int | None
    lengths: Floats | None
    idle: Floats | None
    index: Ints
    basis: str = ""

    @classmethod
    def of(cls, acts: Activities) -> Spans:
        """The steps of a profile's activities."""
        device = acts.device[acts.base]
        busy = {int(index): float(acts.time(acts.base[device == index]).sum()) for index in np.unique(device)}
        used = [index for index, time in busy.items() if time >= USED * max(busy.values())]
        found = [_span(acts, index, acts.base[device == index]) for index in used]
        index = np.full(acts.size, -1, dtype=np.int64)
        placed = [span for span in found if span is not None and span.first >= 0]
        counts = [span.steps.count for span in found if span is not None]
        count = max(counts) if counts and len(counts) == len(found) else None
        basis = ", ".join(sorted({span.steps.basis for span in found if span is not None}))
        if not placed or len(placed) < len(found):
            return cls((), None, count, None, None, index, basis)
        steady = min(span.steps.count - span.first for span in placed)
        for span in placed:
            numbers = span.steps.index
            if numbers is not None:
                own = numbers - span.first
                index[span.rows] = np.where((own >= 0) & (own < steady), own, -1)
        lengths, idle = _lengths(acts, placed, steady)
        return cls(tuple(placed), steady, count, lengths, idle, index, basis)

    def without_places(self) -> Spans:
        """The same capture where the user says how many steps it holds, and they are not the ones found."""
        index = np.full_like(self.index, -1)
        return replace(self, spans=(), steady=None, count=None, lengths=None, idle=None, index=index, basis="")

    def sums(self, rows: Ints, values: Floats) -> Floats:
        """Sum of ``values`` (one per row) per steady step."""
        return _sums(self.index[rows], values, self.steady or 0)

    def sums_at(self, acts: Activities, rows: Ints, values: Floats) -> Floats:
        """As ``sums`` for work that is no kernel: it belongs to the step in which it starts."""
        total = np.zeros(self.steady or 0)
        for span in self.spans:
            edges = span.steps.edges
            if edges is None:
                continue
            own = acts.device[rows] == span.device if len(self.spans) > 1 else np.ones(len(rows), dtype=bool)
            start = acts.column("start")[rows[own]]
            step = np.searchsorted(edges, start, side="right") - 1 - span.first
            total += _sums(step, values[own], self.steady or 0)
        return total

    def typical(self, rows: Ints) -> Ints:
        """The rows of the steady step of median length; all rows without places."""
        if self.steady is None:
            return rows
        lengths = self.lengths if self.lengths is not None else np.zeros(self.steady)
        chosen = int(np.argsort(lengths, kind="stable")[(len(lengths) - 1) // 2])
        found: Ints = rows[self.index[rows] == chosen]
        return found


def _span(acts: Activities, device: int, rows: Ints) -> Span | None:
    steps = find_steps(acts, rows)
    if steps is None:
        return None
    steady = steps.steady()
    placed = steady is not None and steps.index is not None
    return Span(device, steps, steady[0] if steady is not None and placed else -1, rows)


def _sums(step: Ints, values: Floats, steady: int) -> Floats:
    inside = (step >= 0) & (step < steady)
    found: Floats = np.bincount(step[inside], weights=values[inside], minlength=steady).astype(np.float64)
    return found


def _lengths(acts: Activities, spans: list[Span], steady: int) -> tuple[Floats | None, Floats | None]:
    active = acts.rows(acts.kind(Kind.KERNEL, Kind.GRAPH, Kind.MEMCPY, Kind.MEMSET) & acts.column("primary"))
    lengths, idle = np.zeros((len(spans), steady)), np.zeros((len(spans), steady))
    for place, span in enumerate(spans):
        edges = span.steps.edges
        if edges is None:
            return None, None
        own = active[acts.device[active] == span.device] if len(spans) > 1 else active
        begin = acts.column("start")[own]
        if np.isnan(begin).any():
            return np.diff(edges)[span.first : span.first + steady], None
        order = np.argsort(begin, kind="stable")
        begin = begin[order]
        end = begin + np.nan_to_num(acts.column("duration")[own][order])
        reach = np.maximum.accumulate(end)
        for step in range(steady):
            start, stop = float(edges[span.first + step]), float(edges[span.first + step + 1])
            # Only what can reach into the step, or a long trace costs its length for every step.
            near = slice(int(np.searchsorted(reach, start, side="right")), int(np.searchsorted(begin, stop)))
            found = window(begin[near], end[near], start, stop)
            lengths[place, step], idle[place, step] = found.length, found.idle
    return lengths.max(axis=0), idle.mean(axis=0)
