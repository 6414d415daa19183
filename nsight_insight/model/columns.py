"""The activity frame's column contract.

One row per record of GPU or API activity: an ncu launch, an nsys trace event, a line of a summary
report. ``count`` says how many launches a row stands for. Every canonical metric of
``catalog/metrics.yaml`` that a source holds is a further float64 column, in SI units and fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a row is."""

    KERNEL = "kernel"
    MEMCPY = "memcpy"
    MEMSET = "memset"
    GRAPH = "graph"
    API = "api"
    SYNC = "sync"
    RANGE = "range"
    OSRT = "osrt"
    MPI = "mpi"
    FAULT = "fault"


@dataclass(frozen=True)
class Column:
    """One column: its numpy/pandas dtype, unit ("" for none) and meaning."""

    name: str
    dtype: str
    unit: str
    doc: str


def _columns(*rows: tuple[str, str, str, str]) -> dict[str, Column]:
    return {name: Column(name, dtype, unit, doc) for name, dtype, unit, doc in rows}


ACTIVITY_COLUMNS: Final = _columns(
    ("source", "int32", "", "index into Profile.sources"),
    ("line", "int64", "", "line in the file, or rowid"),
    ("kind", "object", "", "kernel, memcpy, memset, graph, api, sync, range, osrt, mpi, fault"),
    ("primary", "bool", "", "False where another row of the profile stands for the same work"),
    ("name", "object", "", "name as the tool wrote it"),
    ("base", "object", "", "normalised function name without template and parameter lists"),
    ("count", "int64", "", "launches or calls the row stands for"),
    ("start", "float64", "ns", "start on the capture's clock; NaN in summaries"),
    ("duration", "float64", "ns", "total duration of the row's launches; integral below 2**53 ns = 104 days"),
    ("min", "float64", "ns", "shortest launch"),
    ("avg", "float64", "ns", "mean launch"),
    ("median", "float64", "ns", "median launch"),
    ("max", "float64", "ns", "longest launch"),
    ("std", "float64", "ns", "sample standard deviation"),
    ("device", "int64", "", "device index, -1 unknown"),
    ("cc", "float64", "", "compute capability, 9.0; NaN unknown"),
    ("process", "int64", "", "process id, -1 unknown"),
    ("thread", "int64", "", "thread id, -1 unknown"),
    ("context", "int64", "", "CUDA context, -1 unknown"),
    ("stream", "int64", "", "CUDA stream, -1 unknown"),
    ("correlation", "int64", "", "correlation id, -1 unknown; for ncu the launch ID"),
    ("grid_x", "float64", "", "grid dimension, NaN unknown"),
    ("grid_y", "float64", "", ""),
    ("grid_z", "float64", "", ""),
    ("block_x", "float64", "", "block dimension, NaN unknown"),
    ("block_y", "float64", "", ""),
    ("block_z", "float64", "", ""),
    ("registers", "float64", "", "registers per thread"),
    ("shared_static", "float64", "byte", "static shared memory per block"),
    ("shared_dynamic", "float64", "byte", "dynamic shared memory per block"),
    ("bytes", "float64", "byte", "bytes copied or set (all of the row's operations)"),
    ("src_kind", "object", "", "pageable, pinned, device, managed, array or empty"),
    ("dst_kind", "object", "", "as src_kind"),
    ("direction", "object", "", "HtoD, DtoH, DtoD, PtoP, HtoH, unified or empty; copies only"),
    ("cause", "object", "", "why pages of managed memory moved: page fault, user prefetch, ...; empty when unknown"),
    ("nvtx", "object", "", "innermost-last NVTX ranges joined by '/', empty when unknown"),
    ("api_duration", "float64", "ns", "duration of the launching API call (kern_exec reports)"),
    ("queue_duration", "float64", "ns", "time from API return to kernel start (kern_exec reports)"),
    ("family", "object", "", "catalog/kernels.yaml"),
    ("dtype_in", "object", "", "operand type, empty unknown"),
    ("dtype_out", "object", "", "result type, empty unknown"),
    ("tensor_core", "object", "", "yes, no, unknown"),
    ("library", "object", "", "cublas, cutlass, cudnn, pytorch, triton, nccl, ... or empty"),
)
"""Column name -> contract, in frame order."""

FILL: Final[dict[str, object]] = {
    "object": "",
    "int64": -1,
    "int32": -1,
    "float64": float("nan"),
    "bool": True,
}
"""What a reader that does not know a column leaves in it, per dtype."""

TIME_COLUMNS: Final = tuple(c.name for c in ACTIVITY_COLUMNS.values() if c.unit == "ns")
