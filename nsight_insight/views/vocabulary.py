"""Declarations of the facts about kernels: identity, time, GPU, and what is derived from metrics."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from nsight_insight.model.units import BANDWIDTH, BYTES, FLOP_RATE, FRACTION, NUMBER, TIME, Dimension
from nsight_insight.views.facts import INTENSITY, KERNEL, LAUNCH, SEQUENCE, STALLS, TRACE, Fact

ROWS: Final = frozenset({LAUNCH, KERNEL, SEQUENCE})
METERED: Final = frozenset({LAUNCH, KERNEL})
EVERYWHERE: Final = ROWS | {TRACE}
Scopes = frozenset[str]
Row = tuple[str, str, tuple[str, ...]]


def texts(scopes: Scopes, *rows: tuple[str, str]) -> list[Fact]:
    """Text facts, each read from the activity column of its own name."""
    return [Fact(name, doc, kind="text", scopes=scopes, column=name) for name, doc in rows]


def numbers(scopes: Scopes, dimension: Dimension, *rows: Row, column: str = "") -> list[Fact]:
    """Number facts of one dimension: name, meaning, needs."""
    return [Fact(name, doc, dimension, "number", scopes, needs, column) for name, doc, needs in rows]


@lru_cache(maxsize=1)
def declared_facts() -> tuple[Fact, ...]:
    """Every declared fact of every scope; canonical metrics are added by ``facts.facts_of``."""
    from nsight_insight.views.vocabulary_trace import SEQUENCE_FACTS, TRACE_FACTS

    return (*_IDENTITY, *_LAUNCH_SHAPE, *_GPU, *_DERIVED, *_COUNTED, *_JOINED, *SEQUENCE_FACTS, *TRACE_FACTS)


_IDENTITY: Final = (
    *texts(
        ROWS,
        ("name", "kernel name as written"),
        ("base", "normalised function name"),
        ("family", "kernel family; the text 'unknown' when the name says nothing"),
        ("dtype_in", "operand type: fp64 fp32 tf32 fp16 bf16 16bit fp8 int8 ..."),
        ("dtype_out", "result type"),
        ("tensor_core", "yes or no by name; unknown otherwise"),
        ("library", "library that owns the kernel"),
    ),
    *texts(EVERYWHERE, ("gpu", "GPU name; unknown when no input says")),
    *numbers(
        ROWS,
        TIME,
        ("duration", "total time of the subject's launches, as its own tool measured it", ("duration",)),
        column="duration",
    ),
    *numbers(
        ROWS,
        TIME,
        ("mean_duration", "mean time of a launch", ("duration",)),
        ("min_duration", "shortest launch", ("min",)),
        ("max_duration", "longest launch", ("max",)),
    ),
    *numbers(ROWS, FRACTION, ("time_share", "share of the device's kernel time", ("duration",))),
    *numbers(ROWS, NUMBER, ("launches", "number of launches", ()), column="count"),
)

_LAUNCH_SHAPE: Final = (
    *numbers(
        ROWS,
        NUMBER,
        ("grid", "blocks in the grid; time-weighted mean where launches differ", ("grid_x",)),
        ("block", "threads per block; time-weighted mean where launches differ", ("block_x",)),
    ),
    *numbers(ROWS, NUMBER, ("registers", "registers per thread", ("registers",)), column="registers"),
    *numbers(
        ROWS, BYTES, ("shared_static", "static shared memory per block", ("shared_static",)), column="shared_static"
    ),
    *numbers(
        ROWS, BYTES, ("shared_dynamic", "dynamic shared memory per block", ("shared_dynamic",)), column="shared_dynamic"
    ),
)

_PEAKS: Final = (
    ("fp32", "FP32 on CUDA cores"),
    ("tf32", "TF32 on Tensor Cores"),
    ("fp16", "FP16 with FP32 accumulation"),
    ("bf16", "BF16 with FP32 accumulation"),
    ("fp8", "FP8 with FP32 accumulation"),
    ("int8", "INT8"),
    ("fp64", "FP64, best of CUDA and Tensor Cores"),
)

_GPU: Final = (
    *numbers(
        EVERYWHERE,
        NUMBER,
        ("cc", "compute capability as a number, 9.0", ("cc",)),
        ("sm_count", "streaming multiprocessors of the GPU", ("cc",)),
    ),
    *numbers(
        EVERYWHERE,
        FLOP_RATE,
        *(
            (f"peak_{dtype}", f"dense peak of this GPU, {what}, at the measured clock if known", ())
            for dtype, what in _PEAKS
        ),
        ("peak_own", "dense peak for this kernel's own operand type and path; unknown for a whole device", ()),
    ),
    *numbers(EVERYWHERE, BANDWIDTH, ("dram_bandwidth", "theoretical DRAM bandwidth of this GPU", ())),
    *numbers(
        EVERYWHERE,
        NUMBER,
        ("gain_tf32", "TF32 peak over FP32 peak of this GPU; assumed when the GPU is unknown", ()),
        ("gain_16bit", "16-bit Tensor Core peak over FP32 peak; assumed when the GPU is unknown", ()),
        ("gain_16bit_over_tf32", "16-bit peak over TF32 peak", ()),
        ("gain_fp32_over_fp64", "FP32 peak over FP64 peak", ()),
        ("min_cc", "lowest compute capability the profile is consistent with", ()),
    ),
    *numbers(
        EVERYWHERE, FRACTION, ("tensor_cap", "largest value the tensor pipe counter can reach (0.5 on GeForce)", ())
    ),
)  # fmt: skip

_L1_SECTORS: Final = ("local_load_sectors", "local_store_sectors", "global_load_sectors", "global_store_sectors")

_DERIVED: Final = numbers(
    METERED,
    FRACTION,
    ("max_throughput", "larger of SM and memory throughput", ("sm_throughput", "memory_throughput")),
    ("tensor_utilization", "tensor pipe busy share, corrected for the GPU's cap", ("tensor_active",)),
    ("tail_loss", "share of time lost in the last partial wave, 1 - waves/ceil(waves); 0 up to one wave", ("waves",)),
    ("grid_fill", "blocks over SMs, at most 1", ("grid_x",)),
    (
        "conversion_share",
        "conversion instructions over all thread instructions",
        ("conversion_instructions", "thread_instructions"),
    ),
    (
        "fp64_share",
        "FP64 over FP32+FP64 arithmetic instructions, 0 without FP64",
        ("fp64_instructions", "fp32_instructions"),
    ),
    (
        "excess_sectors",
        "global-memory sectors beyond the ideal, share",
        ("sectors_global", "sectors_global_ideal"),
    ),
    (
        "bank_conflict_share",
        "shared-memory wavefronts lost to bank conflicts",
        ("shared_bank_conflicts", "shared_wavefronts"),
    ),
    ("local_share", "local-memory sectors over all L1 sectors of loads and stores", _L1_SECTORS),
    ("thread_efficiency", "active threads per executed instruction over 32", ("threads_per_instruction",)),
    (
        "occupancy_gap",
        "theoretical minus achieved occupancy",
        ("theoretical_occupancy", "achieved_occupancy"),
    ),
    *(
        (f"stall_share_{name}", f"share of warp latency in {name}", (f"stall_{name}", "warp_latency"))
        for name in STALLS
    ),
    ("stall_top_share", "share of the dominant stall, selected and not_selected left out", ("warp_latency",)),
)  # fmt: skip

_COUNTED: Final = (
    Fact("stall_top", "dominant stall reason", kind="text", scopes=METERED, needs=("warp_latency",)),
    Fact(
        "occupancy_limiter",
        "what limits theoretical occupancy: registers, shared_mem, blocks, warps, barriers",
        kind="text",
        scopes=METERED,
        needs=("occupancy_limit_registers",),
    ),
    *numbers(
        METERED,
        NUMBER,
        ("wave_count", "waves: grid over blocks that fit", ("waves",)),
        (
            "stall_coverage",
            "sum of the stall reasons over warp latency; far from 1 where passes disagree and stalls cannot be trusted",
            ("warp_latency",),
        ),
    ),
    *numbers(METERED, BYTES, ("dram_bytes_moved", "DRAM bytes of the subject's launches", ("dram_bytes",))),
    *numbers(METERED, FLOP_RATE, ("tensor_flops_rate", "achieved tensor operations per second", ("tensor_ops",))),
    *numbers(
        METERED,
        INTENSITY,
        ("arithmetic_intensity", "operations per DRAM byte (tensor, else FP32/FP64)", ("dram_bytes",)),
        ("ridge", "operations per byte where this GPU's roofline bends for the kernel's own type", ()),
    ),
)

_JOINED: Final = (
    *numbers(
        frozenset({KERNEL}),
        TIME,
        ("fusible_time", "time that fusing other runs of elementwise kernels saves, all but one of each", ("start",)),
        ("norm_fusible_time", "time that fusing normalizations and softmaxes of several kernels saves", ("start",)),
    ),
    *numbers(
        frozenset({KERNEL}),
        NUMBER,
        ("optimizer_loop", "1 for a kernel of a per-parameter optimizer loop, else 0", ()),
        ("foreach_optimizer", "1 for a multi-tensor kernel of an Adam that is not fused, else 0", ()),
        ("ncu_launches", "ncu launches the metrics come from; 0 when the kernel was not profiled by ncu", ()),
    ),
    Fact(
        "join",
        "how ncu metrics were matched to the kernel: same, launch (name, grid and block), name, base",
        kind="text",
        scopes=METERED,
    ),
)
