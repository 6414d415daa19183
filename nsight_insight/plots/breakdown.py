"""Where a device's time goes: kernels by family, copies, and idle time by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.errors import EmptyInput
from nsight_insight.model.charts import IDLE_CAUSES
from nsight_insight.plots._figure import EDGE, choose, first_file, legend, new_figure, patch, set_title, style, title
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.palette import CAUSE, GREY, Look, family_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nsight_insight.model.charts import Breakdown, Charts

TOP: Final = 16


def figure(charts: Charts, *, device: int | None = None, top: int | None = None) -> Figure:
    """Kernel families and copies of a device, with its busy and idle time below where the input says.

    Raises:
        UsageError: no such device.
        EmptyInput: no kernel time at all.
    """
    chart = choose(charts, charts.breakdowns, device, "breakdown")
    if not chart.families:
        raise EmptyInput("no kernel time to break down", path=first_file(charts))
    count = TOP if top is None else top
    rows = min(len(chart.families), count + 1) + bool(chart.copies_ns)
    window = 1.5 if chart.window_ns else 0.0
    height = 1.15 + 0.3 * rows + window
    with style():
        picture = new_figure(9.0, height)
        axes = picture.add_axes((0.18, (0.55 + window) / height, 0.76, 0.3 * rows / height))
        draw(axes, chart, top=count)
        set_title(axes, title(charts, "Time by kernel family", chart.gpu, chart.device))
        if window:
            draw_window(picture.add_axes((0.18, 0.86 / height, 0.76, 0.3 / height)), chart)
    return picture


def draw(axes: Axes, chart: Breakdown, *, top: int = TOP) -> None:
    """One bar per family, and one for copies."""
    rows = [(name, ns, family_look(name)) for name, ns in chart.families.items()]
    total = sum(chart.families.values())
    if len(rows) > top + 1:
        rest = rows[top:]
        rows = [*rows[:top], (f"{len(rest)} others", sum(ns for _, ns, _ in rest), Look(GREY))]
    if chart.copies_ns:
        rows.append(("copies", chart.copies_ns, family_look("memcpy")))
    for place, (name, ns, look) in enumerate(rows):
        axes.barh(place, ns / 1e6, color=look.color, hatch=look.hatch * 3, edgecolor=EDGE, linewidth=0.4, height=0.72)
        share = "" if name == "copies" or not total else f"  {fmt.share(ns / total)}"
        axes.annotate(
            f"{fmt.time(ns)}{share}",
            (ns / 1e6, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("time of all launches (ms)")
    axes.set_xlim(0, 1.22 * max(ns for _, ns, _ in rows) / 1e6)
    axes.spines[["top", "right"]].set_visible(False)


def draw_window(axes: Axes, chart: Breakdown) -> None:
    """The window as one bar: busy, then idle by cause."""
    window, busy = chart.window_ns or 0.0, chart.busy_ns or 0.0
    idle = dict(chart.idle)
    if not idle and window > busy:
        idle = {"unknown": window - busy}
    parts = [("busy", busy, Look("#FFFFFF")), *((cause, ns, CAUSE[cause]) for cause, ns in idle.items())]
    left, entries = 0.0, []
    for name, ns, look in parts:
        axes.barh(0, ns / 1e6, left=left, color=look.color, hatch=look.hatch * 3, edgecolor=EDGE, linewidth=0.5)
        words = "GPU busy" if name == "busy" else f"idle: {_words(name, chart)}"
        entries.append(patch(look, f"{words} {fmt.time(ns)} ({fmt.share(ns / window)})"))
        left += ns / 1e6
    axes.set_yticks([0], ["steady window" if chart.steady else "whole capture"])
    axes.set_xlim(0, left)
    axes.set_xlabel("time (ms)", labelpad=1)
    legend(axes, entries, loc="upper left", bbox_to_anchor=(-0.2, -1.35), ncols=3, fontsize=7)


def _words(cause: str, chart: Breakdown) -> str:
    return IDLE_CAUSES[cause] if chart.steady else "cause not split, start-up included"
