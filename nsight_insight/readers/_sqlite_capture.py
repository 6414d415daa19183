"""One nsys export to tables: GPU work joined to the calls that started it and the ranges around those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from nsight_insight.errors import EmptyInput
from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._sqlite_api import (
    LAUNCH,
    RUNTIME,
    add_devices,
    add_launches,
    index_calls,
    read_calls,
)
from nsight_insight.readers._sqlite_complete import settle_gaps
from nsight_insight.readers._sqlite_database import Database, number_of
from nsight_insight.readers._sqlite_devices import number_devices
from nsight_insight.readers._sqlite_facts import capture_facts
from nsight_insight.readers._sqlite_gpu import read_gpu, read_waits
from nsight_insight.readers._sqlite_managed import add_causes, read_faults
from nsight_insight.readers._sqlite_mpi import MPI, read_mpi
from nsight_insight.readers._sqlite_notes import diagnostic_issues, overhead_issues, product_version, version_issues
from nsight_insight.readers._sqlite_nvtx import NVTX, Ranges, read_ranges
from nsight_insight.readers._sqlite_run import run_of
from nsight_insight.readers._sqlite_samples import SAMPLES, read_samples
from nsight_insight.readers._sqlite_sums import OSRT, sum_os_calls
from nsight_insight.readers._sqlite_tables import Part, finish

_OTHER_ACTIVITY: Final = {
    NVTX: "NVTX ranges",
    OSRT: "OS runtime calls",
    "SCHED_EVENTS": "thread scheduling",
    "COMPOSITE_EVENTS": "CPU samples",
    SAMPLES: "GPU metrics",
    **dict.fromkeys(MPI, "MPI calls"),
}
_UNREAD: Final = ("CUDA_GPU_MEMORY_USAGE_EVENTS", "NET_NIC_METRIC")
"""Tables about GPU or communication that no view uses yet."""
_CAPTURE: Final = "nsys profile --trace=cuda,nvtx"


def read_capture(database: Database, reader: str) -> ReadResult:
    """Every table of an export.

    Raises:
        EmptyInput: no CUDA activity in it.
    """
    said = [*version_issues(database), *diagnostic_issues(database)]
    gpu, calls = read_gpu(database), read_calls(database)
    if not gpu and calls is None:
        raise _nothing(database, [*said, *database.issues])
    for part in gpu:
        add_causes(database, part)
    waits, faults = read_waits(database), read_faults(database)
    devices = number_devices(database, [*gpu, *faults, *([waits] if waits else [])])
    ranges, open_ranges = read_ranges(database)
    said += _without_kernels(database, gpu, calls)
    if calls is not None:
        add_devices(calls, gpu, waits)
        calls = _join(database, calls, gpu, open_ranges)
    said += [*overhead_issues(database), *_unread(database)]
    parts = [*gpu, calls, waits, *ranges, sum_os_calls(database), *read_mpi(database), *faults]
    version = product_version(database)
    tables = [finish(part, database, reader, version) for part in parts if part is not None]
    facts = capture_facts(database)
    tables = [replace(table, source=replace(table.source, facts=facts)) for table in tables]
    run = run_of(database)
    for table in tables:
        table.run = run
    for table in tables[:1]:
        table.devices, table.samples = devices, read_samples(database)
    return ReadResult(tables, [*said, *database.issues])


def _join(database: Database, calls: Part, gpu: Sequence[Part], ranges: Ranges | None) -> Part | None:
    """Give GPU work what its launching calls tell; the calls that are to be kept."""
    if "correlation" not in calls.rows.columns:
        return calls
    index = index_calls(calls)
    for part in gpu:
        if "correlation" in part.rows.columns:
            add_launches(part, index, ranges)
    return settle_gaps(database, index, gpu)


def _nothing(database: Database, said: Iterable[Issue]) -> EmptyInput:
    """The error for an export without CUDA activity: what it has, what the profiler said, what to do."""
    held = list(dict.fromkeys(what for table, what in _OTHER_ACTIVITY.items() if database.count(table)))
    text = f"no CUDA activity in this export; it holds {', '.join(held) if held else 'no events at all'}"
    lost = [issue.text for issue in said if issue.level > Level.INFO]
    return EmptyInput("; ".join([text, *lost, f"capture with {_CAPTURE}"]), path=database.path)


def _without_kernels(database: Database, gpu: Sequence[Part], calls: Part | None) -> list[Issue]:
    """Calls but no GPU work: the profiler did not see it, which is not the same as an idle GPU."""
    if calls is None or any(part.kind in (Kind.KERNEL, Kind.GRAPH) for part in gpu):
        return []
    names = calls.columns["name"]
    counts = calls.columns.get("count")
    launches = sum(
        1 if counts is None else int(counts[row]) for row, name in enumerate(names) if LAUNCH.match(str(name))
    )
    text = (
        f"API calls but no kernels were recorded ({number_of(launches, 'launch call')}): "
        "GPU time is unknown, not zero; "
        "nsys may be older than the GPU or its driver, or the platform may not support GPU tracing"
    )
    level = Level.DATA_LOSS if launches else Level.INFO
    return [Issue(level, text, Location(database.path, table=RUNTIME))]


def _unread(database: Database) -> list[Issue]:
    return [
        Issue(Level.INFO, f"{number_of(count, 'row')} not analysed", Location(database.path, table=table))
        for table in _UNREAD
        if (count := database.count(table))
    ]
