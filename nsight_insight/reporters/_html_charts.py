"""The sections of the HTML report that show charts: roofline, warp states, timeline, kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _html_bars as bars
from nsight_insight.reporters import _html_roofline as roofline
from nsight_insight.reporters import _html_table as cells
from nsight_insight.reporters import _html_timeline as timeline
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._html_part import Part, Section, sentences
from nsight_insight.reporters._html_svg import marker_swatch
from nsight_insight.reporters._html_table import Cell
from nsight_insight.reporters.palette import family_look

if TYPE_CHECKING:
    from nsight_insight.model.charts import Charts, KernelRow, Roofline, StallBar, Timeline

KERNELS: Final = 300
"""Rows of the kernel table; further kernels are summed up."""
KERNEL: Final = 72
DEVICES: Final = 8
NO_CHARTS: Final = "Not computed: the report was made without chart data."


def _heading(chart: Roofline | Timeline, several: bool) -> str:
    return f"Device {chart.device}{f': {fmt.flow(chart.gpu)}' if chart.gpu else ''}" if several else ""


def rooflines(charts: Charts | None) -> Section:
    """Each device's kernels under its roofs."""
    section = Section("roofline", "Roofline")
    if charts is None:
        section.empty = NO_CHARTS
        return section
    shown = [chart for chart in charts.rooflines if chart.points][:DEVICES]
    for number, chart in enumerate(shown):
        families = sorted({point.family for point in chart.points})
        legend = [(marker_swatch(family_look(family)), family) for family in families]
        section.parts.append(
            Part(
                title=_heading(chart, len(charts.rooflines) > 1),
                texts=roofline.remarks(chart),
                picture=roofline.picture(chart),
                legends=[("area of a marker: share of the kernel time; line: lowest to highest launch", legend)],
                folded=[roofline.points_table(chart, f"roofline-{number}")],
            )
        )
    if not shown:
        lines = [line for chart in charts.rooflines for line in (*roofline.remarks(chart), chart.note) if line]
        section.empty = (
            sentences(["Nothing can be placed", *dict.fromkeys(lines)]) if lines else "There are no kernels."
        )
    return section


def stalls(charts: Charts | None) -> Section:
    """Why warps wait, per device."""
    section = Section("stalls", "Warp states")
    if charts is None:
        section.empty = NO_CHARTS
        return section
    devices: dict[int, list[StallBar]] = {}
    for bar in charts.stalls:
        devices.setdefault(bar.device, []).append(bar)
    for device, own in list(devices.items())[:DEVICES]:
        title = f"Device {device}" if len(devices) > 1 else ""
        section.parts.append(Part(title=title, legends=[("", bars.stall_legend(own))], tables=[bars.stalls(own)]))
    if not devices:
        section.empty = sentences([charts.stalls_note])
    return section


def timelines(charts: Charts | None) -> Section:
    """A typical step of each device."""
    section = Section("timeline", "Timeline")
    if charts is None:
        section.empty = NO_CHARTS
        return section
    shown = [chart for chart in charts.timelines if chart.lanes][:DEVICES]
    for chart in shown:
        idle = fmt.share(1 - chart.busy_ns / chart.window_ns)
        told = sentences([f"{chart.title}: {fmt.time(chart.window_ns)}, idle for {idle} of it"])
        legends = [("work", timeline.families(chart))]
        if chart.idle:
            legends.append(("idle, height: part of each moment", timeline.causes(chart)))
        title = _heading(chart, len(charts.timelines) > 1)
        section.parts.append(Part(title=title, texts=[told], picture=timeline.picture(chart), legends=legends))
    if not shown:
        notes = dict.fromkeys(chart.note for chart in charts.timelines if chart.note)
        section.empty = sentences(["No timeline", *notes]) if notes else "There are no kernels."
    return section


_METRICS: Final = (
    ("SM busy:", "sm_throughput"),
    ("memory busy:", "memory_throughput"),
    ("tensor pipe:", "tensor_active"),
    ("occupancy:", "occupancy"),
)


def kernels(charts: Charts | None) -> Section:
    """Every kernel, up to a number."""
    section = Section("kernels", "Kernels")
    if charts is None or not charts.kernels:
        section.empty = NO_CHARTS if charts is None else "There are no kernels."
        return section
    shown, rest = charts.kernels[:KERNELS], charts.kernels[KERNELS:]
    metrics = [(head, name) for head, name in _METRICS if any(getattr(row, name) is not None for row in shown)]
    several = len({row.device for row in charts.kernels}) > 1
    names = fmt.kernels([row.kernel for row in shown], KERNEL)
    rows = [_kernel(row, name, metrics, several) for row, name in zip(shown, names, strict=True)]
    head = [
        "kernel",
        *(["device:"] if several else []),
        "family",
        "type",
        "Tensor Cores",
        "launches:",
        "time:",
        "share:",
    ]
    head += ["mean:", *(title for title, _ in metrics)]
    foot = _rest(rest, len(head), several) if rest else None
    caption = f"{fmt.count(len(charts.kernels), 'kernel')}, most time first"
    caption += f"; those after the first {len(shown)} are summed up" if rest else ""
    found = cells.table(caption, "|".join(head), rows, foot=foot, sortable=True, id="kernel-table")
    section.parts = [Part(tables=[found])]
    return section


def _kernel(row: KernelRow, name: str, metrics: Sequence[tuple[str, str]], several: bool) -> list[Cell]:
    return [
        cells.kernel(row.kernel, name),
        *([Cell(str(row.device), float(row.device))] if several else []),
        Cell(row.family),
        Cell(row.dtype),
        Cell(row.tensor_core),
        cells.count(row.launches),
        cells.time(row.time_ns),
        cells.share(row.share),
        cells.time(row.mean_ns),
        *(cells.share(getattr(row, name)) for _, name in metrics),
    ]


def _rest(rows: Sequence[KernelRow], width: int, several: bool) -> list[Cell]:
    blanks = [Cell("")] * (3 + several)
    sums = [
        cells.count(sum(row.launches for row in rows)),
        cells.time(sum(row.time_ns for row in rows)),
        cells.share(None if several else sum(row.share for row in rows)),
    ]
    found = [Cell(f"{len(rows)} further kernels"), *blanks, *sums]
    return [*found, *[Cell("")] * (width - len(found))]
