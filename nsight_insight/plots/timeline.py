"""What runs when: a typical step, lane by lane, with its idle gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from nsight_insight.errors import EmptyInput
from nsight_insight.model.charts import IDLE_CAUSES
from nsight_insight.plots._figure import EDGE, choose, first_file, legend, new_figure, patch, set_title, style, title
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.palette import CAUSE, family_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nsight_insight.model.charts import Charts, Timeline

FAMILIES: Final = 14
"""Families in the legend."""
NARROW: Final = 1 / 300
"""Blocks narrower than this part of the window are drawn without a frame, which would cover them."""


def figure(charts: Charts, *, device: int | None = None, top: int | None = None) -> Figure:
    """The timeline of a device: the steady step of median length, else the whole capture.

    Raises:
        UsageError: no such device.
        EmptyInput: the input has no start times.
    """
    chart = choose(charts, charts.timelines, device, "timeline")
    if not chart.lanes:
        raise EmptyInput(f"no timeline: {chart.note or 'nothing ran'}", path=first_file(charts))
    rows = len(chart.lanes) + 1
    height = 2.6 + 0.42 * rows
    with style():
        picture = new_figure(12.0, height)
        axes = picture.add_axes((0.115, 1.85 / height, 0.87, 0.42 * rows / height))
        draw(axes, chart, top=FAMILIES if top is None else top)
        set_title(axes, title(charts, f"Timeline: {chart.title}", chart.gpu, chart.device))
    return picture


def draw(axes: Axes, chart: Timeline, *, top: int = FAMILIES) -> None:
    """Lanes on an axes; below them the idle part of each moment, coloured by cause."""
    unit, factor = ("ms", 1e6) if chart.window_ns >= 1e6 else ("us", 1e3)
    times: dict[str, float] = {}
    for row, lane in enumerate(chart.lanes):
        for block in lane.blocks:
            times[block.family] = times.get(block.family, 0.0) + block.busy_ns
        for family in sorted({block.family for block in lane.blocks}):
            look = family_look(family)
            mine = [block for block in lane.blocks if block.family == family]
            wide = [block.end_ns - block.start_ns >= chart.window_ns * NARROW for block in mine]
            axes.broken_barh(
                [(block.start_ns / factor, (block.end_ns - block.start_ns) / factor) for block in mine],
                (row - 0.36, 0.72), facecolor=look.color, hatch=look.hatch * 3, edgecolor=EDGE,
                linewidth=[0.3 if broad else 0.0 for broad in wide],
            )  # fmt: skip
    _idle(axes, chart, factor)
    axes.set_yticks(range(len(chart.lanes) + 1), [lane.label for lane in chart.lanes] + ["idle"])
    axes.set_ylim(len(chart.lanes) + 0.55, -0.55)
    axes.set_xlim(0, chart.window_ns / factor)
    axes.set_xlabel(f"time since the start of the window ({unit})")
    _legends(axes, chart, times, top)


def _idle(axes: Axes, chart: Timeline, factor: float) -> None:
    """Idle part of each cell, causes stacked."""
    row = len(chart.lanes)
    bottom = [0.0] * max((len(parts) for parts in chart.cells.values()), default=0)
    for cause, parts in chart.cells.items():
        look, width = CAUSE[cause], chart.window_ns / len(parts) / factor
        # Axes point down: a bar grows from the lower edge of its row.
        boxes = [
            Rectangle((cell * width, row + 0.36 - 0.72 * low), width, -0.72 * part)
            for cell, (low, part) in enumerate(zip(bottom, parts, strict=True))
            if part > 0
        ]
        axes.add_collection(PatchCollection(boxes, facecolor=look.color, edgecolor="none", hatch=look.hatch * 3))
        bottom = [low + part for low, part in zip(bottom, parts, strict=True)]


def _legends(axes: Axes, chart: Timeline, times: dict[str, float], top: int) -> None:
    ranked = sorted(times, key=lambda family: (-times[family], family))
    entries = [patch(family_look(family), f"{family} {fmt.time(times[family])}") for family in ranked[:top]]
    if len(ranked) > top:
        rest = fmt.time(sum(times[family] for family in ranked[top:]))
        entries.append(patch(family_look("unknown"), f"{len(ranked) - top} further families {rest}"))
    height = 0.42 * (len(chart.lanes) + 1)
    legend(axes, entries, loc="upper left", bbox_to_anchor=(-0.12, -0.5 / height), ncols=6, fontsize=7.5)
    first = axes.get_legend()
    idle = [
        patch(CAUSE[cause], f"{IDLE_CAUSES[cause]} {fmt.time(ns)} ({fmt.share(ns / chart.window_ns)})")
        for cause, ns in chart.idle.items()
    ]
    if not idle:
        return
    part = fmt.share(1 - chart.busy_ns / chart.window_ns)
    told = f"idle, height: part of each moment; in all {part} of {fmt.time(chart.window_ns)}"
    legend(
        axes, idle, loc="upper left", bbox_to_anchor=(-0.12, -1.18 / height), ncols=4, fontsize=7.5, title=told,
        title_fontsize=7.5, alignment="left",
    )  # fmt: skip
    if first is not None:
        axes.add_artist(first)
