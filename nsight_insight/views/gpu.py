"""What each device can do: from the profile first, from the GPU table second, assumed third."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.gpus import GAINS, Gpu, GpuGuess, find_gpu, load_gpus, unknown_gpu
from nsight_insight.catalog.kernels import classify
from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import DTYPES, Array, Floats, Ints

if TYPE_CHECKING:
    from nsight_insight.model.profile import Device

UNKNOWN: Final = float("nan")
_HALF_RATE_TYPES: Final = ("fp16", "bf16", "tf32")
"""Tensor types whose FP32-accumulating rate, and so the pipe counter, is cut in half on some chips."""


@dataclass(frozen=True)
class GpuFacts:
    """One device; NaN, None and "" where nothing says.

    Attributes:
        max_clock_hz: a measured clock above it is an artefact of very short kernels.
        min_cc: lowest compute capability consistent with the stated one and the kernel names.
        guess: what was assumed instead of the table's entry.
    """

    name: str | None
    gpu: Gpu | None
    cc: float
    sm_count: float
    bandwidth: float
    max_clock_hz: float
    min_cc: float
    guess: GpuGuess | None

    def peak(self, dtype: str, clock_hz: Array) -> Floats:
        """Dense peak in FLOP/s at each clock, at the published clock where it is NaN."""
        if self.gpu is None:
            return np.full(len(clock_hz), UNKNOWN)
        sms = None if np.isnan(self.sm_count) else int(self.sm_count)
        published = self.gpu.peak(dtype, sm_count=sms)
        per_hertz = self.gpu.peak(dtype, sm_count=sms, clock_hz=1.0)
        if published is None or per_hertz is None:
            return np.full(len(clock_hz), UNKNOWN)
        return np.where(np.isnan(clock_hz), published, per_hertz * np.fmin(clock_hz, self.max_clock_hz))

    def gain(self, name: str) -> float:
        """How much faster one type's peak is than another's; 1 where this GPU lacks the better type."""
        if self.guess is not None:
            return self.guess.gain(name)
        if self.gpu is None or self.gpu.peak(GAINS[name][1], sm_count=1) is None:
            return UNKNOWN
        return self.gpu.gain(name) or 1.0

    def tensor_cap(self, dtype: str | None) -> float:
        """Largest value of the tensor pipe counter; unknown unless every GPU this could be agrees."""
        gpus = [self.gpu] if self.gpu else [gpu for gpu in load_gpus() if gpu.cc == self.cc]
        types = (dtype,) if dtype else _HALF_RATE_TYPES
        caps = {gpu.tensor_cap(kind) for gpu in gpus for kind in types}
        return caps.pop() if len(caps) == 1 else UNKNOWN


@dataclass(frozen=True)
class DeviceColumns:
    """GPU facts per subject and what was assumed for them."""

    values: dict[str, Array]
    assumptions: dict[str, str] = field(default_factory=dict)


def device_columns(
    acts: Activities,
    devices: Ints,
    *,
    clock: Floats | None = None,
    bandwidth: Floats | None = None,
    own: Array | None = None,
) -> DeviceColumns:
    """GPU facts of each subject.

    Args:
        acts: the profile's activities.
        devices: device per subject.
        clock: SM clock measured per subject in Hz; the published peak where absent or NaN.
        bandwidth: theoretical DRAM bandwidth measured per subject in byte/s, as ``clock``.
        own: operand type and path per subject (a name of ``DTYPES``), None unknown.
    """
    size = len(devices)
    clock = np.full(size, UNKNOWN) if clock is None else clock
    own = np.full(size, None, dtype=object) if own is None else own
    values: dict[str, Array] = {name: np.full(size, UNKNOWN) for name in _NUMBERS}
    values["gpu"] = np.full(size, None, dtype=object)
    assumptions: dict[str, str] = {}
    for index in np.unique(devices):
        facts, here = gpu_facts(acts, int(index)), devices == index
        values["gpu"][here] = facts.name
        _fill(values, here, facts, clock[here], own[here])
        if facts.guess is not None:
            assumptions.update({name: facts.guess.text for name in GAINS if not np.isnan(facts.gain(name))})
    if bandwidth is not None:
        values["dram_bandwidth"] = np.where(np.isnan(bandwidth), values["dram_bandwidth"], bandwidth)
    return DeviceColumns(values, assumptions)


_NUMBERS: Final = (
    "cc", "sm_count", "min_cc", "dram_bandwidth", "peak_own", "tensor_cap", *GAINS, *(f"peak_{d}" for d in DTYPES),
)  # fmt: skip


def _fill(values: dict[str, Array], here: Array, facts: GpuFacts, clock: Floats, own: Array) -> None:
    for name, value in (
        ("cc", facts.cc), ("sm_count", facts.sm_count), ("min_cc", facts.min_cc), ("dram_bandwidth", facts.bandwidth),
        *((gain, facts.gain(gain)) for gain in GAINS),
    ):  # fmt: skip
        values[name][here] = value
    peaks = {dtype: facts.peak(dtype, clock) for dtype in DTYPES}
    for dtype, peak in peaks.items():
        values[f"peak_{dtype}"][here] = peak
    values["peak_own"][here] = np.select([own == d for d in DTYPES], [peaks[d] for d in DTYPES], UNKNOWN)
    caps = [facts.tensor_cap(dtype) for dtype in DTYPES]
    values["tensor_cap"][here] = np.select([own == d for d in DTYPES], caps, facts.tensor_cap(None))


def table_facts(name: str, dtype: str | None = None) -> dict[str, float | str]:
    """GPU facts of a named GPU by the table alone, as if a profile had named it; {} when it is not known."""
    gpu = find_gpu(name)
    if gpu is None:
        return {}
    facts = GpuFacts(name, gpu, gpu.cc, gpu.sm_count, gpu.bandwidth, UNKNOWN, gpu.cc, None)
    values: dict[str, Array] = {column: np.full(1, UNKNOWN) for column in _NUMBERS}
    _fill(values, np.ones(1, dtype=bool), facts, np.full(1, UNKNOWN), np.array([dtype], dtype=object))
    return {"gpu": name, **{column: float(array[0]) for column, array in values.items()}}


def gpu_facts(acts: Activities, index: int) -> GpuFacts:
    """What is known about one device of the profile."""
    entries = _entries(acts, index)
    name = next((entry.name for entry in entries if entry.name), None)
    counted = next((entry.sm_count for entry in entries if entry.sm_count), None)
    gpu = find_gpu(name, counted) if name else None
    cc = _first([entry.cc for entry in entries], gpu.cc if gpu else _row_cc(acts, index))
    proven = max((arch for arch in _architectures(acts, index)), default=0.0)
    min_cc = cc if not np.isnan(cc) else proven
    guess = None if gpu else unknown_gpu(min_cc, cc=None if np.isnan(cc) else cc, name=name or "")
    whole = gpu.sm_count if gpu and not gpu.partition else None
    return GpuFacts(
        name=name,
        gpu=gpu,
        cc=cc,
        sm_count=_first([entry.sm_count for entry in entries], whole),
        bandwidth=_first([entry.memory_bandwidth for entry in entries], gpu.bandwidth if gpu else None),
        max_clock_hz=_first([entry.sm_clock_hz for entry in entries], None),
        min_cc=min_cc,
        guess=guess,
    )


def _entries(acts: Activities, index: int) -> list[Device]:
    """The profile's notes about a device; for unnumbered rows all notes, if they are of one kind of GPU."""
    devices = acts.profile.devices
    named = [entry for entry in devices if entry.index == index]
    unnumbered = [entry for entry in devices if entry.index < 0]
    if index >= 0:
        return named or unnumbered
    return list(devices) if len({(entry.name, entry.cc) for entry in devices}) == 1 else []


def _first(found: Sequence[float | None], fallback: float | None) -> float:
    return next((float(value) for value in (*found, fallback) if value is not None), UNKNOWN)


def _row_cc(acts: Activities, index: int) -> float | None:
    stated = acts.column("cc")[acts.device == index]
    stated = stated[~np.isnan(stated)]
    return float(stated[0]) if len(stated) else None


def _architectures(acts: Activities, index: int) -> list[float]:
    """Compute capabilities that the kernel names of the device prove at least."""
    kernels = acts.kind(Kind.KERNEL) & (acts.device == index)
    _, first = np.unique(acts.name_codes[0][kernels], return_index=True)
    return [classify(str(name)).arch for name in acts.column("name")[kernels][first]]
