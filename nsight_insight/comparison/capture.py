"""One capture as a comparison needs it: times per step with their noise, or of the whole with that of its launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.comparison.noise import ZERO, Estimate, mean_of, median_of, total
from nsight_insight.comparison.spans import Spans
from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities, codes_of
from nsight_insight.views.facts import KERNEL, Floats, Ints

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.views.build import Views

STEADY: Final = "steps"
"""Noise from the steady steps of the capture."""
LAUNCHES: Final = "launches"
"""Noise from launches of the same kernel and grid."""
SUMMARY: Final = "standard deviations of a summary"
NONE: Final = "single launches"


@dataclass(frozen=True)
class Kernel:
    """A kernel of one capture, all devices together; times in ns.

    Attributes:
        number: its place in ``Capture.kernels``.
        key: name in one dialect.
        total, launches: of the whole capture.
        launch: one launch.
        samples: time per steady step, None where steps have no places in the capture.
        step_launches: launches per steady step.
        shapes: launches by (grid, block); unknown sizes are -1.
        bytes: DRAM bytes of the whole capture, by ncu; None where it did not count.
    """

    number: int
    key: str
    name: str
    base: str
    family: str
    dtype: str
    total: float
    launches: float
    launch: Estimate
    samples: Floats | None
    step_launches: float
    shapes: Mapping[tuple[float, float], float]
    bytes: float | None = None

    def time(self, steps: float | None) -> Estimate:
        """Time per unit: the mean steady step, or the whole over ``steps`` where that is given."""
        if steps is None and self.samples is not None:
            return mean_of(self.samples)
        per = steps or 1.0
        # The error of the mean launch is shared by all of them.
        error = None if self.launch.error is None else self.launch.error * self.launches / per
        return Estimate(self.total / per, error, self.launch.freedom)

    def count(self, steps: float | None) -> float:
        """Launches per unit."""
        return self.step_launches if steps is None and self.samples is not None else self.launches / (steps or 1.0)


@dataclass(frozen=True)
class Lane:
    """Copies of one direction, or sets: as of ``Kernel``."""

    name: str
    total: float
    count: float
    samples: Floats | None
    step_count: float

    def time(self, steps: float | None) -> Estimate:
        """Time per unit."""
        if steps is None and self.samples is not None:
            return mean_of(self.samples)
        return Estimate(self.total / (steps or 1.0), None)

    def launches(self, steps: float | None) -> float:
        """Operations per unit."""
        return self.step_count if steps is None and self.samples is not None else self.count / (steps or 1.0)


@dataclass
class Capture:
    """One side of a comparison.

    Attributes:
        views: facts of the profile.
        steps: training steps that times are averaged over; None where none are known.
        divisor: what whole-capture times are divided by; None where the samples of steady steps stand.
        kernels, lanes: GPU work.
        sequence: kernel numbers in the order of one typical step, or of the whole capture.
        tool: the tool whose times count.
        noise: where the uncertainty comes from.
    """

    profile: Profile
    views: Views
    spans: Spans
    steps: int | None
    divisor: float | None
    kernels: list[Kernel]
    lanes: list[Lane]
    sequence: list[int]
    tool: str
    noise: str
    cautions: list[str] = field(default_factory=list)

    @cached_property
    def launches(self) -> float:
        """Kernel launches of the whole capture."""
        return sum(kernel.launches for kernel in self.kernels)

    def ratio_to(self, after: Capture) -> float:
        """Launches after over those before of the typical kernel that both captures hold; 1 without any."""
        theirs = {kernel.key: kernel.launches for kernel in after.kernels}
        ratios = [theirs[kernel.key] / kernel.launches for kernel in self.kernels if theirs.get(kernel.key)]
        return float(np.median(ratios)) if ratios else 1.0

    def wall(self) -> Estimate | None:
        """The median steady step; None where steps have no places: the whole capture holds start-up and warm-up."""
        placed = self.divisor is None and self.spans.lengths is not None
        return median_of(self.spans.lengths) if placed and self.spans.lengths is not None else None

    def idle(self) -> Estimate | None:
        """Time per step in which the device did nothing."""
        return mean_of(self.spans.idle) if self.divisor is None and self.spans.idle is not None else None

    def kernel_time(self) -> Estimate:
        """Sum of kernel durations per unit."""
        return self.sum_of(self.kernels)

    def sum_of(self, kernels: Sequence[Kernel]) -> Estimate:
        """Time of some kernels per unit; steps add up before their spread is taken, so that what cancels does."""
        if not kernels:
            return ZERO
        samples = [kernel.samples for kernel in kernels if kernel.samples is not None]
        if self.divisor is None and len(samples) == len(kernels):
            return mean_of(np.sum(samples, axis=0))
        return total(kernel.time(self.divisor) for kernel in kernels)


def capture_of(profile: Profile, views: Views, given: int | None = None) -> Capture:
    """Measure a profile.

    Args:
        profile: what was read.
        views: its facts.
        given: steps in the capture, as the user says; None takes what the capture shows.
    """
    acts = views.activities
    spans = Spans.of(acts)
    if (given is not None and given != spans.count) or (given is None and _cut_short(acts, spans)):
        spans = spans.without_places()
    steady = spans.steady
    steps = steady if steady is not None else given or spans.count
    divisor = None if steady is not None else float(steps) if steps else None
    kernels, noise = _kernels(acts, views, spans, timed=steady is not None)
    tools = sorted({str(tool) for tool in acts.tool[acts.base]})
    found = Capture(
        profile, views, spans, steps, divisor, kernels, _lanes(acts, spans, timed=steady is not None),
        _sequence(acts, spans), "+".join(tools), noise,
    )  # fmt: skip
    if steady is None and given is None and spans.count:
        found.cautions.append("steps are only counted, not placed: warm-up is part of the average")
    return found


def _cut_short(acts: Activities, spans: Spans) -> bool:
    """Whether steps of an ncu profile may be incomplete: it holds as many launches as were asked for."""
    rows = acts.base
    if not len(rows) or not (acts.tool[rows] == "ncu").all() or not spans.count:
        return False
    if spans.steady is None or spans.steady < 2:
        return True
    launches = spans.sums(rows, np.ones(len(rows)))
    return bool((launches != launches[0]).any())


def _kernels(acts: Activities, views: Views, spans: Spans, *, timed: bool) -> tuple[list[Kernel], str]:
    rows = acts.base
    codes, names = acts.name_codes
    order = np.argsort(codes[rows], kind="stable")
    edges = np.flatnonzero(np.diff(codes[rows][order])) + 1
    moved = _bytes(acts, views)
    groups = np.split(order, edges) if len(rows) else []
    kernels = [_kernel(acts, spans, number, rows[places], names, timed) for number, places in enumerate(groups)]
    kernels = [_with_bytes(kernel, moved.get(kernel.key)) for kernel in kernels]
    if timed and spans.steady is not None and spans.steady > 1:
        return kernels, STEADY
    if not len(rows) or not any(kernel.launch.error for kernel in kernels):
        return kernels, NONE
    return kernels, SUMMARY if (acts.count(rows) > 1).any() else LAUNCHES


def _with_bytes(kernel: Kernel, moved: float | None) -> Kernel:
    return kernel if moved is None else replace(kernel, bytes=moved)


def _kernel(acts: Activities, spans: Spans, number: int, rows: Ints, names: list[str], timed: bool) -> Kernel:
    time = acts.time(rows) * 1e9
    count = np.nan_to_num(acts.count(rows), nan=1.0)
    lead = rows[int(np.argmax(time))]
    grid = np.nan_to_num(acts.grid[rows], nan=-1.0)
    block = np.nan_to_num(acts.block[rows], nan=-1.0)
    samples = spans.sums(rows, time) if timed else None
    return Kernel(
        number=number,
        key=names[acts.name_codes[0][lead]],
        name=str(acts.column("name")[lead]),
        base=str(acts.column("base")[lead]) or names[acts.name_codes[0][lead]],
        family=str(acts.family(np.array([lead]))[0]),
        dtype=str(acts.column("dtype_in")[lead]),
        total=float(time.sum()),
        launches=float(count.sum()),
        launch=_launch(acts, rows, time, count, grid, block),
        samples=samples,
        step_launches=float(spans.sums(rows, count).mean()) if samples is not None else 0.0,
        shapes=_shapes(grid, block, count),
    )


def _shapes(grid: Floats, block: Floats, count: Floats) -> dict[tuple[float, float], float]:
    found: dict[tuple[float, float], float] = {}
    for x, y, launches in zip(grid.tolist(), block.tolist(), count.tolist(), strict=True):
        found[x, y] = found.get((x, y), 0.0) + launches
    return found


def _launch(acts: Activities, rows: Ints, time: Floats, count: Floats, grid: Floats, block: Floats) -> Estimate:
    """One launch on average: the mean; its error from launches of one grid and block (robust) or from a summary."""
    launches = float(count.sum())
    value = float(time.sum()) / launches if launches else 0.0
    if (count > 1).any():
        deviation = np.where(count > 1, acts.column("std")[rows], 0.0)
        if np.isnan(deviation).any():
            return Estimate(value, None)
        return Estimate(value, sqrt(float((count * deviation**2).sum())) / launches, max(launches - 1.0, 1.0))
    start = acts.column("start")[rows]
    order = np.argsort(np.where(np.isnan(start), acts.column("correlation")[rows], start), kind="stable")
    codes, first = codes_of(grid[order], block[order])
    cells = [median_of(time[order][codes == code]).scaled(int((codes == code).sum())) for code in range(len(first))]
    whole = total(cells)
    return Estimate(value, None if whole.error is None else whole.error / launches, whole.freedom)


def _bytes(acts: Activities, views: Views) -> dict[str, float]:
    """DRAM bytes of the whole capture by kernel name, as far as ncu counted them."""
    table = views[KERNEL]
    moved = table.values.get("dram_bytes_moved")
    if moved is None:
        return {}
    codes, names = acts.name_codes
    found: dict[str, float] = {}
    for lead, value in zip(table.lead, moved, strict=True):
        if not np.isnan(value):
            name = names[codes[lead]]
            found[name] = found.get(name, 0.0) + float(value)
    return found


_DIRECTIONS: Final = {
    "HtoD": "host to device", "DtoH": "device to host", "DtoD": "device to device", "PtoP": "device to device",
    "HtoH": "host to host", "unified": "unified memory",
}  # fmt: skip


def _lanes(acts: Activities, spans: Spans, *, timed: bool) -> list[Lane]:
    primary, direction = acts.column("primary"), acts.column("direction")
    copies, sets = (acts.rows(acts.kind(kind) & primary) for kind in (Kind.MEMCPY, Kind.MEMSET))
    own: dict[str, list[Ints]] = {"sets": [sets]} if len(sets) else {}
    for text in sorted(set(direction[copies])):
        own.setdefault(_DIRECTIONS.get(str(text), "copies"), []).append(copies[direction[copies] == text])
    return [_lane(acts, spans, name, np.concatenate(rows), timed) for name, rows in sorted(own.items())]


def _lane(acts: Activities, spans: Spans, name: str, rows: Ints, timed: bool) -> Lane:
    time, count = acts.time(rows) * 1e9, np.nan_to_num(acts.count(rows), nan=1.0)
    placed = timed and not np.isnan(acts.column("start")[rows]).any()
    samples = spans.sums_at(acts, rows, time) if placed else None
    per_step = float(spans.sums_at(acts, rows, count).mean()) if placed else 0.0
    return Lane(name, float(time.sum()), float(count.sum()), samples, per_step)


def _sequence(acts: Activities, spans: Spans) -> list[int]:
    """Kernel numbers of one typical step (or all launches) in order; empty where the input gives no order."""
    rows = acts.base
    if not len(rows) or (acts.count(rows) > 1).any():
        return []
    chosen = spans.typical(rows)
    start = acts.column("start")[chosen]
    # ncu numbers launches in their order; a launch ID is what nsys calls a correlation id.
    when = np.where(np.isnan(start), acts.column("correlation")[chosen], start)
    codes = acts.name_codes[0]
    numbers = {int(code): number for number, code in enumerate(np.unique(codes[rows]))}
    device = acts.device[chosen]
    order = np.lexsort((when, device != (device[0] if len(device) else 0)))
    return [numbers[int(code)] for code in codes[chosen][order]]
