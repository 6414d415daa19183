"""Which rows stand for the work: of several reports of one capture, the most detailed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nsight_insight.catalog.nsys_reports import rule_reports
from nsight_insight.model.columns import Kind
from nsight_insight.model.units import parse_unit
from nsight_insight.readers._assemble_copies import settle_sizes
from nsight_insight.readers._assemble_kernels import settle_incomplete, settle_nested_ranges, settle_partial
from nsight_insight.readers._assemble_match import Part, explained, in_order, repeated
from nsight_insight.readers._assemble_ncu import settle_launches
from nsight_insight.readers._assemble_stack import Array, Stack

_NVPROF: Final = ("nvprof-gpu-trace", "nvprof-summary")
_COPIES: Final = ("cuda_gpu_trace", "cuda_gpu_mem_time_sum", "cuda_gpu_sum", "cuda_api_gpu_sum", *_NVPROF)


def _recipe(what: str) -> tuple[str, ...]:
    return (f"recipe_{what}_by_device", f"recipe_{what}_sum_by_rank", f"recipe_{what}_sum")


_ORDER: Final = {
    Kind.KERNEL: (
        "cuda_gpu_trace", "cuda_kern_exec_trace", "cuda_gpu_kern_gb_sum", "cuda_gpu_kern_sum", "cuda_gpu_sum",
        "cuda_api_gpu_sum", "cuda_kern_exec_sum", "nvtx_kern_sum", *_NVPROF, *_recipe("cuda_gpu_kern"),
    ),
    Kind.MEMCPY: _COPIES,
    Kind.MEMSET: _COPIES,
    Kind.API: (
        "cuda_api_trace", "cuda_api_sum", "cuda_api_gpu_sum", "nvprof-api-trace", "nvprof-summary",
        *_recipe("cuda_api"),
    ),
    Kind.RANGE: (
        "nvtx_pushpop_trace", "nvtx_startend_trace", "nvtx_sum", "nvtx_pushpop_sum", "nvtx_startend_sum",
        "nvtx_gpu_proj_trace", "nvtx_gpu_proj_sum", *_recipe("nvtx"),
    ),
    Kind.OSRT: ("osrt_sum", *_recipe("osrt")),
    Kind.MPI: ("mpi_event_trace", "mpi_event_sum", *_recipe("mpi")),
}  # fmt: skip
"""Reports that hold a kind, the most detailed first; reports not named here come last."""
_PROJECTED: Final = ("nvtx_gpu_proj_trace", "nvtx_gpu_proj_sum")
_CALL: Final = ("process", "thread", "start", "duration", "name")
"""What tells one MPI call from another."""
_MIGRATIONS: Final = ("um_sum", "um_total_sum")
_UNTIMED: Final = ("nvprof-metrics",)
"""Reports that describe kernels without saying how long they took."""
_WITHIN_RANGES: Final = "nvprof-nvtx"
"""What ran inside NVTX ranges, all of it in nvprof's summary too."""
_PAGES_MOVED: Final = "nvprof-unified-memory"
"""Copies that no other report of nvprof holds."""
_NVPROF_DIGITS: Final = 1e-4
"""nvprof prints five significant digits: a value may be off by this part of itself."""
_NVPROF_DECIMALS: Final = 1e-6
"""nvprof prints six decimals in CSV."""
_PRINTED_DECIMALS: Final = 1e-4
"""nsys prints four decimals with --timeunit other than nsec."""
_AVERAGE_DECIMALS: Final = 0.1
"""A total derived from an average is off by up to this times the count."""
_LISTED: Final = 3


def settle_primary(data: Stack) -> None:
    """Fill ``primary``: every piece of work has one row, or one set of rows, that stands for it."""
    primary = data.columns["primary"]
    nsys = data.tools() != "ncu"
    settle_sizes(data)
    primary[np.isin(data.reports(), _MIGRATIONS)] = False  # the copies themselves are in other reports, with times
    primary[np.isin(data.reports(), [*rule_reports(), *_UNTIMED])] = False
    primary[(data.reports() == _WITHIN_RANGES) & (data.columns["kind"] != Kind.RANGE.value)] = False
    _settle_projections(data)
    for kind, order in _ORDER.items():
        rows = nsys & primary & (data.columns["kind"] == kind.value)
        for style in sorted(set(data.style[rows])):
            _settle_kind(data, kind, parts_of(data, rows & (data.style == style)), order)
    _settle_requests(data)
    settle_nested_ranges(data)
    settle_launches(data)


def parts_of(data: Stack, rows: Array) -> list[Part]:
    """The rows of a mask, by table."""
    positions = np.flatnonzero(rows)
    sources = data.columns["source"][positions]
    return [_part(data, int(source), positions[sources == source]) for source in np.unique(sources)]


def _part(data: Stack, source: int, rows: Array) -> Part:
    durations = np.nan_to_num(data.columns["duration"][rows])
    counts = data.columns["count"][rows]
    quantum, slack = _precision(data, source, durations, counts)
    table = data.sources[source]
    return Part(
        source, table.report, rows, int(counts.sum()), np.sort(durations), quantum, slack,
        table.reader, bool(table.table), _NVPROF_DIGITS if quantum == 0.0 and table.tool == "nvprof" else 0.0,
    )  # fmt: skip


def _precision(data: Stack, source: int, durations: Array, counts: Array) -> tuple[float, float]:
    """Last printed digit of a duration, and the error of their sum to expect (rounding errors are independent)."""
    columns = data.sources[source].columns
    if "duration" not in columns and "avg" in columns:
        return _AVERAGE_DECIMALS, float(np.sqrt(((_AVERAGE_DECIMALS * counts) ** 2 + 1.0).sum()))
    unit = parse_unit(columns["duration"][0].unit) if "duration" in columns else None
    nvprof = data.sources[source].tool == "nvprof"
    if nvprof and (unit is None or not unit.name):
        return 0.0, _NVPROF_DIGITS * float(np.sqrt((durations**2).sum()))
    if unit is None or not unit.name or unit.scale <= 1e-9:
        return 0.0, 0.0
    quantum = unit.scale * 1e9 * (_NVPROF_DECIMALS if nvprof else _PRINTED_DECIMALS)
    return quantum, quantum * float(np.sqrt(len(durations)))


def _settle_kind(data: Stack, kind: Kind, parts: Sequence[Part], order: Sequence[str]) -> None:
    reports = [*order, *sorted({part.report for part in parts} - set(order))]
    groups: list[list[Part]] = []
    chosen: list[Part] = []
    for report in reports:
        group = [part for part in parts if part.report == report]
        again = repeated(group)
        left = group = [part for part in group if part not in again]
        for upper in groups:
            same = explained(left, upper)
            left = [part for part in left if part not in same]
        groups.append(group)
        chosen += left
    if kind == Kind.KERNEL:
        chosen = settle_partial(data, chosen)
    chosen = settle_incomplete(data, chosen)
    for part in parts:
        data.columns["primary"][part.rows] = part in chosen
    _note_captures(data, kind, chosen, reports)


def _note_captures(data: Stack, kind: Kind, chosen: Sequence[Part], reports: Sequence[str]) -> None:
    """Say it when rows of several reports, or several tables of kernels, are added up."""
    used = [report for report in reports if any(part.report == report for part in chosen)]
    for report in used[1:]:
        if report == _PAGES_MOVED:
            continue
        part = in_order(part for part in chosen if part.report == report)[0]
        text = (
            f"{report}: {part.total:.0f} ns in {part.launches} {kind.value} rows agree with no {used[0]} table; "
            "taken for another capture and added"
        )
        data.note(text, part.source)
    first = [part for part in chosen if part.report == used[0]] if used else []
    if kind == Kind.KERNEL and len(first) > 1:
        names = [data.sources[part.source].path for part in first]
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        text = f"{used[0]}: {len(first)} tables are added up: {', '.join(names[:_LISTED])}{more}"
        data.note(text, first[0].source)


def _settle_requests(data: Stack) -> None:
    """A call that waits for several requests is listed once for each of them."""
    calls = data.columns["primary"] & (data.columns["kind"] == Kind.MPI.value) & np.isfinite(data.columns["start"])
    rows = np.flatnonzero(calls)
    keys = [tuple(data.columns[name][row] for name in _CALL) for row in rows.tolist()]
    first = dict(zip(reversed(keys), reversed(rows.tolist()), strict=True))
    data.columns["primary"][[row for key, row in zip(keys, rows.tolist(), strict=True) if first[key] != row]] = False


def _settle_projections(data: Stack) -> None:
    """Projected ranges hold GPU time of ranges whose own time other reports give."""
    ranges = data.columns["kind"] == Kind.RANGE.value
    projected = ranges & np.isin(data.reports(), _PROJECTED)
    if (ranges & ~projected).any():
        data.columns["primary"][projected] = False
