"""The GPU table: what each GPU and each compute capability can do at most.

The numbers and where they come from stand in ``gpus.yaml``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

GAINS: Final[Mapping[str, tuple[str, str]]] = {
    "gain_tf32": ("tf32", "fp32"),
    "gain_16bit": ("16bit", "fp32"),
    "gain_16bit_over_tf32": ("16bit", "tf32"),
    "gain_fp32_over_fp64": ("fp32", "fp64"),
}
"""Gain -> the types whose dense peaks are compared, better one first."""

_CUDA_CORES: Final = frozenset({"fp64", "fp32", "fp16_vec", "bf16_vec"})
_BOOST_CLOCK: Final = _CUDA_CORES | {"fp64_tc"}
_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "fp64": ("fp64", "fp64_tc"),
    "fp16": ("fp16_f32acc",),
    "16bit": ("fp16_f32acc",),
    "fp8": ("fp8_f32acc",),
}
_CAP: Final = 0.5


@dataclass(frozen=True)
class Gpu:
    """One GPU of the catalogue; all rates and sizes in SI units.

    Attributes:
        names: as the driver prints them.
        cc: compute capability, 9.0.
        sm_count: streaming multiprocessors of the whole GPU, of a MIG slice too (see ``partition``).
        base_clock_hz: where ncu locks the clock by default; None unknown.
        boost_clock_hz: clock of the CUDA core and FP64 peaks.
        tensor_clock_hz: clock of the published Tensor Core peaks.
        bandwidth: theoretical memory bandwidth in byte/s, of the slice when there is a ``partition``.
        memory_bytes: nominal memory size.
        nvlink: byte/s per direction to other GPUs, 0 without NVLink.
        pcie: byte/s per direction; None on integrated GPUs.
        c2c: byte/s per direction to the CPU over NVLink-C2C; None where there is none.
        rates: dense multiply-accumulates per SM and clock by type and accumulator, as in ``gpus.yaml``.
        capped: types that run at half rate with FP32 accumulation.
        segment: ``datacenter``, ``workstation``, ``geforce`` or ``jetson``.
        published: dense TFLOP/s of the datasheet by the keys of ``rates``.
        measured: best share of the peak that was measured on this GPU (``bf16``, ``fp8``, ``bandwidth``).
        partition: MIG profile such as ``1g.10gb``, "" for a whole GPU.
    """

    id: str
    names: tuple[str, ...]
    aliases: tuple[str, ...]
    chip: str
    cc: float
    sm_count: int
    base_clock_hz: float | None
    boost_clock_hz: float
    tensor_clock_hz: float
    bandwidth: float
    memory_bytes: float
    l2_bytes: float
    nvlink: float
    pcie: float | None
    c2c: float | None
    segment: str
    confidence: str
    source: str
    note: str
    rates: Mapping[str, float] = field(hash=False)
    published: Mapping[str, float] = field(hash=False)
    measured: Mapping[str, float] = field(hash=False)
    capped: frozenset[str] = frozenset()
    partition: str = ""

    @property
    def integrated(self) -> bool:
        """True where GPU and CPU share their memory, so that copies are no bottleneck worth naming."""
        return self.pcie is None

    @property
    def host_bandwidth(self) -> float | None:
        """Byte/s per direction between CPU and GPU: NVLink-C2C, else PCIe; None on integrated GPUs."""
        return self.c2c or self.pcie

    def peak(self, dtype: str, *, sm_count: int | None = None, clock_hz: float | None = None) -> float | None:
        """Dense peak in FLOP/s (operations/s for integers).

        Args:
            dtype: ``fp32`` (CUDA cores), ``fp64`` (best of CUDA and Tensor Cores), ``tf32``, ``fp16``, ``bf16``,
                ``16bit``, ``fp8`` (these with FP32 accumulation), ``int8``, or any key of ``rates``.
            sm_count: as measured; the table's otherwise.
            clock_hz: SM clock as measured; otherwise the clock behind the published peak of that type.

        Returns:
            None when the GPU lacks the type or its rate is unknown, and for a MIG slice without ``sm_count``.
        """
        paths = [path for path in _PATHS.get(dtype, (dtype,)) if path in self.rates]
        sms = self._sms(sm_count)
        if not paths or sms is None:
            return None
        return max(2.0 * self.rates[path] * sms * (clock_hz or self._clock(path)) for path in paths)

    def gain(self, name: str, *, clock_hz: float | None = None) -> float | None:
        """Ratio of two dense peaks of this GPU, by a name of ``GAINS``; None where either is missing."""
        better, worse = (self.peak(dtype, sm_count=1, clock_hz=clock_hz) for dtype in GAINS[name])
        return better / worse if better and worse else None

    def tensor_cap(self, dtype: str) -> float:
        """Largest value the tensor pipe counter can reach for a type accumulating in FP32: 0.5 or 1."""
        return _CAP if ("fp16" if dtype == "16bit" else dtype) in self.capped else 1.0

    def achievable(self, what: str) -> float:
        """Share of the peak that well-written code reaches, for ``bandwidth``, ``fp8`` or any other type.

        Measured on this GPU where known, else the median of the GPUs that were measured.
        """
        key = what if what in ("bandwidth", "fp8") else "bf16"
        return self.measured.get(key, _document()["achievable"][key])

    def _sms(self, measured: int | None) -> int | None:
        if measured is not None:
            return measured
        return None if self.partition else self.sm_count

    def _clock(self, path: str) -> float:
        return self.boost_clock_hz if path in _BOOST_CLOCK else self.tensor_clock_hz


@dataclass(frozen=True)
class ComputeCapability:
    """What one SM of a compute capability can hold.

    Attributes:
        shared_memory: bytes per SM for all blocks.
        block_shared_memory: bytes one block may ask for.
        l1_shared_memory: bytes that L1 cache and shared memory divide between them.
        opcodes: matrix instructions in SASS.
        issue_per_cycle: schedulers, each issuing one instruction per cycle.
    """

    cc: float
    arch: str
    max_warps: int
    max_blocks: int
    shared_memory: int
    block_shared_memory: int
    l1_shared_memory: int
    cuda_cores: int
    tensor_cores: int
    tensor_generation: int
    opcodes: tuple[str, ...]
    registers: int = 65536
    registers_per_thread: int = 255
    register_allocation_unit: int = 256
    issue_per_cycle: int = 4


@lru_cache(maxsize=1)
def load_gpus() -> tuple[Gpu, ...]:
    """Every GPU of the catalogue, in its order: oldest architecture first."""
    document = _document()
    return tuple(_gpu(row, document["rates"][row["rates"]]) for row in document["gpus"])


@lru_cache(maxsize=32)
def compute_capability(cc: float) -> ComputeCapability | None:
    """Limits of a compute capability such as ``8.6``; None when the catalogue does not have it."""
    row = _document()["compute_capabilities"].get(f"{cc:.1f}")
    if row is None:
        return None
    return ComputeCapability(
        cc,
        row["arch"],
        row["warps"],
        row["blocks"],
        row["shared"] * 1024,
        row["block_shared"] * 1024,
        row["l1"] * 1024,
        row["cuda_cores"],
        row["tensor_cores"],
        row["tensor_generation"],
        tuple(row["opcodes"]),
    )


def _document() -> Any:
    from nsight_insight.catalog.yamlio import load_data

    return load_data("gpus.yaml")


def _gpu(row: dict[str, Any], profile: dict[str, Any]) -> Gpu:
    mhz, memory = row["mhz"], row["memory"]
    return Gpu(
        id=row["id"],
        names=tuple(row["names"]),
        aliases=tuple(row.get("aliases", ())),
        chip=row["chip"],
        cc=float(row["cc"]),
        sm_count=row["sm"],
        base_clock_hz=_scaled(mhz.get("base"), 1e6),
        boost_clock_hz=mhz["boost"] * 1e6,
        tensor_clock_hz=mhz.get("tensor", mhz["boost"]) * 1e6,
        bandwidth=memory["gbs"] * 1e9,
        memory_bytes=memory["gb"] * 1e9,
        l2_bytes=row["l2_mb"] * 2.0**20,
        nvlink=row["nvlink"] * 1e9 / 2,
        pcie=_scaled(row.get("pcie"), 1e9),
        c2c=_scaled(row.get("c2c"), 1e9 / 2),
        segment=row["segment"],
        confidence=row["confidence"],
        source=row["source"],
        note=row.get("note", ""),
        rates=profile["mac"],
        published=row.get("published", {}),
        measured=row.get("achievable", {}),
        capped=frozenset(profile.get("capped", ())),
    )


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
