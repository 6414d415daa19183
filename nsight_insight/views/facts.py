"""The vocabulary of rule expressions: every fact with its dimension, scopes, needs and meaning.

A fact is a column of a view's table. Its declaration here is what rules are checked against when they
are loaded, and what the rule documentation prints. Canonical metrics (``catalog/metrics.yaml``) are facts
of the scopes ``launch`` and ``kernel`` without being repeated here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.units import BANDWIDTH, BYTES, FLOP_RATE, FRACTION, NUMBER, TIME, Dimension

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

LAUNCH: Final = "launch"
KERNEL: Final = "kernel"
SEQUENCE: Final = "sequence"
TRACE: Final = "trace"
SCOPES: Final = (LAUNCH, KERNEL, SEQUENCE, TRACE)
"""launch: rows that carry metrics (ncu launches), else the primary kernel rows. kernel: device and kernel
name. sequence: time-ordered kernel rows per stream. trace: one row per device, summaries of everything."""

INTENSITY = FLOP_RATE / BANDWIDTH


@dataclass(frozen=True)
class Fact:
    """One name of the vocabulary.

    Attributes:
        kind: ``number`` or ``text``.
        needs: canonical metrics or activity columns without which the fact is unknown; used to say what
            to collect.
        column: activity column a finding's evidence points at, "" when the fact is derived.
    """

    name: str
    doc: str
    dimension: Dimension = NUMBER
    kind: str = "number"
    scopes: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    column: str = ""


@dataclass
class FactTable:
    """Facts of one scope: arrays of equal length in SI units (NaN unknown) or texts (None unknown).

    Attributes:
        values: fact name -> array; a fact of the scope that is not there is unknown for every subject.
        keys: identity of each subject, stable across exports (device, base name, grid ...).
        rows: activity row positions each subject stands for.
        lead: the activity row that evidence points at, the longest of ``rows``.
        time: seconds of the profile's time base each subject stands for; differs from ``duration`` where
            ncu metrics explain nsys time.
        devices: device index per subject.
        launches: launches per subject.
        evidence_rows: fact name -> activity row per subject, where another row than ``lead`` holds it.
        combined: fact name -> how launches were combined ("duration-weighted mean of 12 launches").
        assumptions: fact name -> what was assumed where the profile does not say (same for all rows).
    """

    scope: str
    values: dict[str, Array]
    keys: list[str]
    rows: list[Ints]
    lead: Ints
    time: Array
    devices: Ints
    launches: Array
    evidence_rows: dict[str, Ints] = field(default_factory=dict)
    combined: dict[str, str] = field(default_factory=dict)
    assumptions: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)


_ROWS = frozenset({LAUNCH, KERNEL, SEQUENCE})
_METERED = frozenset({LAUNCH, KERNEL})


def _text(scopes: frozenset[str], *rows: tuple[str, str]) -> list[Fact]:
    return [Fact(name, doc, kind="text", scopes=scopes, column=name) for name, doc in rows]


def _numbers(scopes: frozenset[str], dimension: Dimension, *rows: tuple[str, str, tuple[str, ...]]) -> list[Fact]:
    return [Fact(name, doc, dimension, "number", scopes, needs) for name, doc, needs in rows]


STALLS: Final = (
    "long_scoreboard", "short_scoreboard", "mio_throttle", "lg_throttle", "tex_throttle", "math_pipe_throttle",
    "wait", "barrier", "membar", "branch_resolving", "no_instruction", "dispatch_stall", "drain", "imc_miss",
    "sleeping", "not_selected", "selected", "gmma", "misc",
)  # fmt: skip
"""Warp states of Nsight Compute's Warp State Statistics; metric ``stall_<name>`` in cycles per issue."""

FAMILIES: Final = (
    "gemm", "gemv", "conv", "attention", "elementwise", "cast", "layout", "quantize", "copy", "fill", "reduction",
    "norm", "softmax", "loss", "optimizer", "amp", "collective", "embedding", "rng", "sort", "scan", "gather",
    "pooling", "fft", "rnn", "splitk", "graph", "unknown",
)  # fmt: skip
"""Kernel families of ``catalog/kernels.yaml``."""

_SIMPLE: Final = [
    *_text(
        _ROWS,
        ("name", "kernel name as written"),
        ("base", "normalised function name"),
        ("family", "kernel family; unknown when the name says nothing"),
        ("dtype_in", "operand type: fp64 fp32 tf32 fp16 bf16 16bit fp8 int8 ..."),
        ("dtype_out", "result type"),
        ("tensor_core", "yes or no by name; unknown otherwise"),
        ("library", "library that owns the kernel"),
    ),
    *_text(_ROWS | {TRACE}, ("gpu", "GPU name; unknown when no input says")),
    *_numbers(
        _ROWS,
        TIME,
        ("duration", "total time of the subject's launches", ("duration",)),
        ("mean_duration", "mean time of a launch", ("duration",)),
        ("min_duration", "shortest launch", ("min",)),
        ("max_duration", "longest launch", ("max",)),
    ),
    *_numbers(_ROWS, FRACTION, ("time_share", "share of the device's kernel time", ("duration",))),
    *_numbers(
        _ROWS,
        NUMBER,
        ("launches", "number of launches", ()),
        ("grid", "blocks in the grid", ("grid_x",)),
        ("block", "threads per block", ("block_x",)),
        ("registers", "registers per thread", ("registers",)),
        ("cc", "compute capability as a number, 9.0", ("cc",)),
        ("sm_count", "streaming multiprocessors of the GPU", ("cc",)),
    ),
    *_numbers(
        _ROWS,
        BYTES,
        ("shared_static", "static shared memory per block", ("shared_static",)),
        ("shared_dynamic", "dynamic shared memory per block", ("shared_dynamic",)),
    ),
    *_numbers(
        _ROWS | {TRACE},
        FLOP_RATE,
        *(
            (f"peak_{dtype}", f"dense peak of this GPU, {what}, at the measured clock if known", ())
            for dtype, what in (
                ("fp32", "FP32 on CUDA cores"), ("tf32", "TF32 on Tensor Cores"),
                ("fp16", "FP16 with FP32 accumulation"), ("bf16", "BF16 with FP32 accumulation"),
                ("fp8", "FP8 with FP32 accumulation"), ("int8", "INT8"), ("fp64", "FP64, best of CUDA and Tensor Cores"),
            )
        ),
        ("peak_own", "dense peak for this kernel's own operand type and path", ()),
    ),
    *_numbers(_ROWS | {TRACE}, BANDWIDTH, ("dram_bandwidth", "theoretical DRAM bandwidth of this GPU", ())),
    *_numbers(
        _ROWS | {TRACE},
        NUMBER,
        ("gain_tf32", "TF32 peak over FP32 peak of this GPU; assumed when the GPU is unknown", ()),
        ("gain_16bit", "16-bit Tensor Core peak over FP32 peak; assumed when the GPU is unknown", ()),
        ("gain_16bit_over_tf32", "16-bit peak over TF32 peak", ()),
        ("gain_fp32_over_fp64", "FP32 peak over FP64 peak", ()),
        ("min_cc", "lowest compute capability the profile is consistent with", ()),
    ),
    *_numbers(_ROWS, FRACTION, ("tensor_cap", "largest value the tensor pipe counter can reach (0.5 on GeForce)", ())),
    # --- derived from metrics -------------------------------------------------------------------------
    *_numbers(
        _METERED,
        FRACTION,
        ("max_throughput", "larger of SM and memory throughput", ("sm_throughput", "memory_throughput")),
        ("tensor_utilization", "tensor pipe busy share, corrected for the GPU's cap", ("tensor_active",)),
        ("tail_loss", "share of time lost in the last partial wave: 1 - waves/ceil(waves)", ("waves",)),
        ("grid_fill", "blocks over SMs, at most 1", ("grid_x",)),
        ("conversion_share", "conversion instructions over all thread instructions", ("conversion_instructions", "thread_instructions")),
        ("fp64_share", "FP64 over FP32+FP64 arithmetic instructions", ("fp64_instructions", "fp32_instructions")),
        ("excess_sectors", "global-memory sectors beyond the ideal, share", ("sectors_global", "sectors_global_ideal")),
        ("bank_conflict_share", "shared-memory wavefronts lost to bank conflicts", ("shared_bank_conflicts", "shared_wavefronts")),
        ("local_share", "local-memory sectors over all L1 sectors of loads and stores", ("local_load_sectors", "local_store_sectors", "global_load_sectors", "global_store_sectors")),
        ("thread_efficiency", "active threads per executed instruction over 32", ("threads_per_instruction",)),
        ("occupancy_gap", "theoretical minus achieved occupancy", ("theoretical_occupancy", "achieved_occupancy")),
        *((f"stall_share_{name}", f"share of warp latency in {name}", (f"stall_{name}", "warp_latency")) for name in STALLS),
        ("stall_top_share", "share of the dominant stall, selected and not_selected left out", ("warp_latency",)),
    ),
    *[
        Fact("stall_top", "dominant stall reason", kind="text", scopes=_METERED, needs=("warp_latency",)),
        Fact("occupancy_limiter", "what limits theoretical occupancy: registers, shared_mem, blocks, warps, barriers",
             kind="text", scopes=_METERED, needs=("occupancy_limit_registers",)),
        Fact("wave_count", "waves: grid over blocks that fit", NUMBER, "number", _METERED, ("waves",)),
        Fact("dram_bytes_moved", "DRAM bytes of the subject's launches", BYTES, "number", _METERED, ("dram_bytes",)),
        Fact("tensor_flops_rate", "achieved tensor operations per second", FLOP_RATE, "number", _METERED, ("tensor_ops",)),
        Fact("arithmetic_intensity", "operations per DRAM byte (tensor, else FP32/FP64)", INTENSITY, "number", _METERED, ("dram_bytes",)),
        Fact("ridge", "operations per byte where this GPU's roofline bends for the kernel's own type", INTENSITY, "number", _METERED, ()),
    ],
    # --- sequence ---------------------------------------------------------------------------------------
    *_text(
        frozenset({SEQUENCE}),
        ("prev_family", "family of the kernel before on the stream"),
        ("next_family", "family of the kernel after on the stream"),
        ("prev_dtype_out", "result type of the kernel before"),
        ("next_dtype_in", "operand type of the kernel after"),
    ),
    *_numbers(frozenset({SEQUENCE}), TIME, ("gap_before", "time from the end of the kernel before on the stream", ("start",))),
    *_numbers(
        frozenset({SEQUENCE}),
        NUMBER,
        ("pingpong", "1 when an opposite cast follows on the stream with at most two kernels between", ()),
        ("repeats_per_step", "times this kernel with this grid runs per training step", ()),
        ("steps", "steps found in the window", ()),
    ),
    # --- trace ------------------------------------------------------------------------------------------
    *_numbers(
        frozenset({TRACE}),
        TIME,
        ("kernel_time", "sum of kernel durations", ("duration",)),
        ("mean_kernel", "mean kernel duration", ("duration",)),
        ("copy_time", "sum of copy durations", ("memcpy",)),
        ("h2d_time", "host-to-device copies", ("memcpy",)),
        ("d2h_time", "device-to-host copies", ("memcpy",)),
        ("d2d_time", "device-to-device copies", ("memcpy",)),
        ("pageable_time", "copies from or to pageable memory", ("memcpy_kind",)),
        ("small_copy_time", "copies of at most 64 KiB on average", ("memcpy_bytes",)),
        ("api_time", "CUDA API time, all threads", ("api",)),
        ("launch_api_time", "time in launch calls", ("api",)),
        ("sync_api_time", "time in synchronizing calls, mostly waiting for useful work", ("api",)),
        ("malloc_api_time", "time in cudaMalloc/cudaFree and host allocation", ("api",)),
        ("module_load_time", "time loading modules and libraries, JIT included", ("api",)),
        ("window", "first start to last end on the device", ("start",)),
        ("busy", "union of kernels, copies and sets", ("start",)),
        ("idle", "window minus busy", ("start",)),
        ("tiny_time", "time of kernels shorter than 10 us on average", ("duration",)),
        ("queue_time", "mean time a kernel waits in the queue after its launch call", ("queue_duration",)),
        ("optimizer_loop_time", "elementwise kernels of a per-parameter optimizer loop", ("duration",)),
        ("scaler_time", "GradScaler kernels", ("duration",)),
        ("master_cast_time", "estimate of the casts FP32 master weights need", ("duration",)),
        ("fp32_gemm_time", "matrix kernels in FP32 on CUDA cores", ("duration",)),
        ("tensor_time", "kernels on Tensor Cores by name", ("duration",)),
        ("half_matrix_time", "matrix kernels with 16-bit or smaller operands", ("duration",)),
        ("matrix_time", "gemm, conv and attention kernels", ("duration",)),
        *((f"time_{family}", f"time of {family} kernels", ("duration",)) for family in FAMILIES),
    ),
    *_numbers(
        frozenset({TRACE}),
        NUMBER,
        ("launches", "kernel launches", ()),
        ("kernels", "different kernels", ()),
        ("copies", "copies", ("memcpy",)),
        ("pageable_copies", "copies from or to pageable memory", ("memcpy_kind",)),
        ("small_copies", "copies of at most 64 KiB on average", ("memcpy_bytes",)),
        ("launch_api_calls", "launch calls", ("api",)),
        ("sync_api_calls", "synchronizing calls", ("api",)),
        ("malloc_api_calls", "allocation calls", ("api",)),
        ("tiny_launches", "launches of kernels shorter than 10 us on average", ()),
        ("optimizer_loop_launches", "launches of a per-parameter optimizer loop", ()),
        ("optimizer_loop_kernels", "different kernels of that loop", ()),
        ("fp16_kernels", "kernels with FP16 operands", ()),
        ("steps", "steps found in the window", ()),
        *((f"launches_{family}", f"launches of {family} kernels", ()) for family in FAMILIES),
    ),
    *_numbers(
        frozenset({TRACE}),
        BYTES,
        ("copy_bytes", "bytes copied", ("memcpy_bytes",)),
        ("h2d_bytes", "bytes copied to the device", ("memcpy_bytes",)),
        ("d2h_bytes", "bytes copied to the host", ("memcpy_bytes",)),
        ("pageable_bytes", "bytes copied from or to pageable memory", ("memcpy_kind",)),
    ),
]  # fmt: skip


@lru_cache(maxsize=8)
def facts_of(scope: str) -> Mapping[str, Fact]:
    """Every fact of a scope, canonical metrics included."""
    from nsight_insight.catalog.metrics import load_metrics

    declared = {fact.name: fact for fact in _SIMPLE if scope in fact.scopes}
    if scope in _METERED:
        for metric in load_metrics().values():
            declared.setdefault(
                metric.name,
                Fact(metric.name, metric.doc, metric.dimension, "number", _METERED, (metric.name,), metric.name),
            )
    return declared
