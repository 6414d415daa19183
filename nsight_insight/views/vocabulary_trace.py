"""Declarations of the facts about a device's whole timeline and about neighbouring kernels."""

from __future__ import annotations

from typing import Final

from nsight_insight.catalog.gpu_samples import load_gpu_samples
from nsight_insight.model.units import BYTES, FRACTION, FREQUENCY, NUMBER, TIME
from nsight_insight.views.facts import FAMILIES, SEQUENCE, TRACE
from nsight_insight.views.vocabulary import numbers, texts

_SEQUENCE: Final = frozenset({SEQUENCE})
_TRACE: Final = frozenset({TRACE})
_LAUNCHES: Final = ("correlation",)
_STEPS: Final = ("start", "nvtx")
"""Steps are found by NVTX ranges for certain, else only if kernels repeat exactly."""

SEQUENCE_FACTS: Final = (
    *texts(
        _SEQUENCE,
        ("prev_family", "family of the kernel before on the stream"),
        ("next_family", "family of the kernel after on the stream"),
        ("prev_dtype_out", "result type of the kernel before"),
        ("next_dtype_in", "operand type of the kernel after"),
    ),
    *numbers(
        _SEQUENCE, TIME, ("gap_before", "time from the end of the kernel before on the stream", ("start",))
    ),
    *numbers(
        _SEQUENCE,
        NUMBER,
        ("pingpong", "1 when an opposite cast of about the same size follows with at most two kernels between", ()),
        ("pingpong_matrix", "1 when the casts of a pingpong lead to and from a matrix kernel in FP32 or FP64", ()),
        ("repeats_per_step", "times this kernel with this grid runs per training step", ()),
        ("steps", "steps found in the window", ()),
        ("weight_casts", "casts of each weight per step; 0 for casts of other things or where sizes do not tell", ()),
    ),
    *numbers(
        _SEQUENCE, FRACTION, ("repeated_cast", "part of a cast's time that repeats a weight's cast of the step", ())
    ),
)  # fmt: skip

_KERNEL_TIMES: Final = numbers(
    _TRACE,
    TIME,
    ("kernel_time", "sum of kernel durations", ("duration",)),
    ("tiny_time", "time of kernel rows shorter than 10 us on average", ("duration",)),
    ("optimizer_loop_time", "elementwise kernels of a per-parameter optimizer loop", ("duration",)),
    ("foreach_optimizer_time", "multi-tensor kernels of an Adam that is not fused", ("duration",)),
    ("scaler_time", "GradScaler kernels", ("duration",)),
    ("fp32_gemm_time", "matrix kernels in FP32 on CUDA cores", ("duration",)),
    ("tensor_time", "kernels on Tensor Cores by name", ("duration",)),
    ("half_matrix_time", "matrix kernels with 16-bit or smaller operands", ("duration",)),
    ("half_cuda_core_time", "matrix kernels with 16-bit operands on CUDA cores", ("duration",)),
    ("fp32_collective_time", "collectives of FP32 values, by name", ("duration",)),
    ("half_other_time", "other kernels with 16-bit or smaller operands that do not convert", ("duration",)),
    ("byte_matrix_time", "matrix kernels with 8-bit or smaller operands", ("duration",)),
    ("narrowing_time", "casts from FP32, by name: what autocast does to weights and inputs", ("duration",)),
    ("matrix_time", "gemm, conv and attention kernels", ("duration",)),
    *((f"time_{family}", f"time of {family} kernels", ("duration",)) for family in FAMILIES),
    column="duration",
)

_COPY_TIMES: Final = numbers(
    _TRACE,
    TIME,
    ("copy_time", "sum of copy durations, start-up copies left out where order is known", ("memcpy",)),
    ("h2d_time", "host-to-device copies", ("memcpy",)),
    ("d2h_time", "device-to-host copies", ("memcpy",)),
    ("d2d_time", "device-to-device copies", ("memcpy",)),
    ("pageable_time", "copies from or to pageable memory", ("memcpy_kind",)),
    ("small_copy_time", "copies of at most 64 KiB on average, managed memory left out", ("memcpy_bytes",)),
    ("loop_copy_time", "host-device copies after the first computation; unknown without start times", ("start",)),
    ("exposed_copy_time", "the same, with no kernel running at the time", ("start",)),
    ("startup_copy_time", "copies before the device's first computation: a one-off upload", ("start",)),
    column="duration",
)

_API_TIMES: Final = numbers(
    _TRACE,
    TIME,
    ("api_time", "CUDA API time, all threads", ("api",)),
    ("launch_api_time", "time in launch calls", ("api",)),
    ("sync_api_time", "time in synchronizing calls, mostly waiting for useful work", ("api",)),
    ("malloc_api_time", "time in cudaMalloc/cudaFree and host allocation", ("api",)),
    ("module_load_time", "time loading modules and libraries, JIT included", ("api",)),
    ("steady_malloc_api_time", "time in allocation calls inside the steady window", ("api", "start", "nvtx")),
    column="duration",
)

_DERIVED_TIMES: Final = numbers(
    _TRACE,
    TIME,
    ("mean_kernel", "mean kernel duration", ("duration",)),
    ("window", "first kernel's start to the last end on the device, warm-up steps included", ("start",)),
    ("busy", "union of kernels, copies and sets in the window", ("start",)),
    ("idle", "window minus busy", ("start",)),
    ("steady_window", "window without warm-up: whole steps after the first slow ones", _STEPS),
    ("steady_busy", "union of kernels, copies and sets in the steady window", _STEPS),
    ("steady_idle", "steady window minus steady busy", _STEPS),
    ("steady_kernel_time", "sum of kernel durations in the steady window", _STEPS),
    ("attention_chain_time", "product, softmax, product on one stream, with what stands between", ("start",)),
    ("attention_between_time", "that without the matrix products", ("start",)),
    ("norm_chain_time", "normalizations and softmaxes (not of attention) written as several kernels", ("start",)),
    ("queue_time", "mean time a kernel waits in the queue after its launch call", ("queue_duration",)),
    ("master_cast_time", "estimate of the casts FP32 master weights need", ("duration",)),
)

_IDLE_TIMES: Final = (
    *numbers(
        _TRACE, TIME,
        ("idle_launch_time", "steady idle time in which the host was still launching the next work", _LAUNCHES),
        ("idle_sync_time", "the same, had the host not waited for the GPU before but launched ahead", _LAUNCHES),
        ("idle_allocation_time", "steady idle time with the launching thread in an allocation call", _LAUNCHES),
        ("idle_module_time", "steady idle time with the launching thread loading or compiling GPU code", _LAUNCHES),
        ("idle_copy_time", "steady idle time with the launching thread in a copy call", _LAUNCHES),
        ("idle_mpi_time", "steady idle time with the launching thread in a traced MPI call", _LAUNCHES),
        ("idle_data_time", "steady idle time with the launching thread in a range that prepares data", _LAUNCHES),
        ("idle_host_time", "steady idle gaps over 1 ms that no call or range of the host explains", _LAUNCHES),
        ("idle_queued_time", "steady idle time with the next work already launched: the GPU's own", _LAUNCHES),
        ("idle_unknown_time", "steady idle time for which the input does not say what the host did", _STEPS),
        ("median_gap", "median idle gap in the steady window", _STEPS),
        ("step_median", "median length of the steady steps", _STEPS),
        ("step_max", "longest steady step", _STEPS),
        ("slow_step_time", "time of slow steady steps beyond the median", _STEPS),
        ("comm_time", "collective kernels in the window", ("start",)),
        ("comm_exposed_time", "collectives with no other kernel running on the device", ("start",)),
        ("comm_wait_time", "collectives beyond the device's that joined last; steady steps where known", ("start",)),
        ("comm_beside_time", "kernels beside collectives that also ran without them, same grid", ("start",)),
        ("comm_slowdown_time", "how much longer those ran than their median without collectives", ("start",)),
        ("steady_comm_time", "collective kernels in the steady window", _STEPS),
        ("steady_comm_exposed_time", "exposed collectives in the steady window", _STEPS),
    ),
    *numbers(
        _TRACE, FRACTION,
        ("idle_share", "idle part of the steady window", _STEPS),
        ("host_bound_share", "part of the steady window in which the GPU waited for the host", _LAUNCHES),
        ("blocking_launches", "part of the launches of kernels over 20 us that returned after the kernel", _LAUNCHES),
        ("comm_joined_last", "part of the collectives that this device joined last", ("start",)),
    ),
    *numbers(
        _TRACE, NUMBER,
        ("gaps", "idle gaps in the steady window", _STEPS),
        ("slow_steps", "steady steps longer than 1.5 medians", _STEPS),
        ("concurrency", "sum of durations over busy time: 1 when nothing ran at the same time", ("start",)),
        ("kernel_concurrency", "the same of kernels alone", ("start",)),
        ("comm_waits", "collectives that lasted twice as long as on the device that joined last", ("start",)),
        ("graph_launches", "launches of CUDA graphs", ("api",)),
    ),
)  # fmt: skip

_MANAGED: Final = (
    *numbers(
        _TRACE, TIME,
        ("migration_time", "sum of the durations of managed memory's migrations", ("memcpy",)),
        ("fault_kernel_time", "kernel time during which page faults of the GPU were being served", ("gpu_faults",)),
        ("migration_kernel_time", "kernel time with migrations under way that were no prefetch", ("migrations",)),
        ("bulk_migration_time", "what those would take in one piece, as fast as the fastest one", ("migrations",)),
    ),
    *numbers(
        _TRACE, NUMBER,
        ("gpu_faults", "page faults of the GPU", ("gpu_faults",)),
        ("cpu_faults", "page faults of the host in managed memory", ("gpu_faults",)),
    ),
    *numbers(_TRACE, BYTES, ("migrated_bytes", "bytes of managed memory that moved", ("memcpy_bytes",))),
)  # fmt: skip
_SAMPLED: Final = tuple(
    fact
    for prefix, window in (("", "window"), ("steady_", "steady window"))
    for metric in load_gpu_samples().values()
    for fact in numbers(
        _TRACE, FRACTION if metric.kind == "share" else FREQUENCY,
        (f"{prefix}sampled_{metric.name}", f"mean over the {window}, sampled by nsys: {metric.doc}", ("gpu_metrics",)),
    )
)  # fmt: skip

_COUNTS: Final = (
    *numbers(_TRACE, NUMBER, ("launches", "kernel launches", ()), column="count"),
    *numbers(
        _TRACE,
        NUMBER,
        ("kernels", "different kernels", ()),
        ("copies", "copies", ("memcpy",)),
        ("pageable_copies", "copies from or to pageable memory", ("memcpy_kind",)),
        ("small_copies", "copies of at most 64 KiB on average, managed memory left out", ("memcpy_bytes",)),
        ("copies_have_order", "1 when copies have start times, so that start-up copies are left out; else 0", ()),
        ("launch_api_calls", "launch calls", ("api",)),
        ("sync_api_calls", "synchronizing calls", ("api",)),
        ("malloc_api_calls", "allocation calls", ("api",)),
        ("free_api_calls", "those of them that give memory back", ("api",)),
        ("steady_malloc_api_calls", "allocation calls inside the steady window", ("api", "start", "nvtx")),
        ("steady_sync_api_calls", "synchronizing calls inside the steady window", ("api", "start", "nvtx")),
        ("tiny_launches", "launches of kernel rows shorter than 10 us on average", ()),
        ("optimizer_loop_launches", "launches of a per-parameter optimizer loop", ()),
        ("optimizer_loop_kernels", "different kernels of that loop", ()),
        ("fp16_kernels", "kernels with FP16 operands", ()),
        ("steps", "steps found in the window", ()),
        ("steady_steps", "steps in the steady window", _STEPS),
        ("steady_launches", "kernel launches in the steady window", _STEPS),
        *((f"launches_{family}", f"launches of {family} kernels", ()) for family in FAMILIES),
    ),
)

_BYTES: Final = numbers(
    _TRACE,
    BYTES,
    ("copy_bytes", "bytes copied", ("memcpy_bytes",)),
    ("h2d_bytes", "bytes copied to the device", ("memcpy_bytes",)),
    ("d2h_bytes", "bytes copied to the host", ("memcpy_bytes",)),
    ("pageable_bytes", "bytes copied from or to pageable memory", ("memcpy_kind",)),
    ("startup_copy_bytes", "bytes of copies before the device's first computation", ("start",)),
    column="bytes",
)

TRACE_FACTS: Final = (
    *_KERNEL_TIMES, *_COPY_TIMES, *_API_TIMES, *_DERIVED_TIMES, *_IDLE_TIMES, *_MANAGED, *_SAMPLED, *_COUNTS, *_BYTES,
)  # fmt: skip
