"""Kernels under the roofs of their GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from nsight_insight.errors import EmptyInput
from nsight_insight.model.text import scaled
from nsight_insight.plots._figure import EDGE, choose, first_file, legend, new_figure, set_title, style, title
from nsight_insight.plots._labels import place_labels
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.palette import family_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nsight_insight.model.charts import Charts, Roofline, RooflinePoint

TOP: Final = 15
NAME: Final = 46
LEFT, RIGHT, DOWN, UP = 6.0, 20.0, 3.0, 2.0
"""Factors by which the axes reach beyond points and roofs: room for the roofs' labels."""
SMALL, LARGE = 18.0, 420.0
"""Marker areas in points squared, of nothing and of the whole kernel time."""


def figure(charts: Charts, *, device: int | None = None, top: int | None = None) -> Figure:
    """The roofline of a device, with its kernels numbered by time and named beside.

    Raises:
        UsageError: no such device.
        EmptyInput: no kernel can be placed; the text says why.
    """
    chart = choose(charts, charts.rooflines, device, "roofline")
    if not chart.points:
        raise EmptyInput(f"no kernel can be placed on a roofline: {_why(chart)}", path=first_file(charts))
    count = TOP if top is None else top
    with style():
        picture = new_figure(11.0, 6.4)
        axes = picture.add_axes((0.08, 0.09, 0.52, 0.80))
        draw(axes, chart, top=count)
        set_title(axes, title(charts, "Roofline (DRAM)", chart.gpu, chart.device))
        _names(picture, chart, count)
    return picture


def draw(axes: Axes, chart: Roofline, *, top: int = TOP) -> None:
    """Roofs and kernels on an axes; the ``top`` kernels with most time carry numbers."""
    low, high, floor, roof = _limits(chart)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(floor, roof))
    axes.set_xlabel("arithmetic intensity (FLOP per byte of DRAM traffic)")
    axes.set_ylabel("performance (FLOP/s)")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _power(value)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, which="major", color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    _roofs(axes, chart, (low, high))
    for rank, point in enumerate(chart.points, 1):
        _kernel(axes, point, named=rank <= top)
    shown = chart.points[:top]
    place_labels(axes, [(p.intensity["DRAM"], p.rate) for p in shown], [math.sqrt(_area(p)) / 2 for p in shown])


def _power(value: float) -> str:
    """``10 G`` at a power of ten."""
    number, _, prefix = scaled(value, "").partition(" ")
    return f"{float(number):g} {prefix}".strip()


def _why(chart: Roofline) -> str:
    reasons = dict.fromkeys([*(entry.reason for entry in chart.unplaced), *([chart.note] if chart.note else [])])
    return "; ".join(reasons) or "no kernels"


def _limits(chart: Roofline) -> tuple[float, float, float, float]:
    x = [point.intensity["DRAM"] for point in chart.points]
    y = [point.rate for point in chart.points]
    bandwidth = chart.bandwidths.get("DRAM")
    if bandwidth:
        x += [peak / bandwidth for peak in chart.peaks.values()]
    roof = max([*y, *chart.peaks.values()])
    return min(x) / LEFT, max(x) * RIGHT, min(y) / DOWN, roof * UP


def _roofs(axes: Axes, chart: Roofline, span: tuple[float, float]) -> None:
    low, high = span
    bandwidth = chart.bandwidths.get("DRAM")
    highest = max(chart.peaks.values(), default=None)
    if bandwidth:
        end = min(high, highest / bandwidth) if highest else high
        axes.plot([low, end], [low * bandwidth, end * bandwidth], color="black", linewidth=1.4)
        axes.annotate(
            f"DRAM {scaled(bandwidth, 'B/s')}", (low, low * bandwidth), xytext=(6, 10), textcoords="offset points",
            rotation=_slope(axes), rotation_mode="anchor", fontsize=8,
        )  # fmt: skip
    for number, (path, peak) in enumerate(sorted(chart.peaks.items(), key=lambda item: -item[1])):
        start = max(low, peak / bandwidth) if bandwidth else low
        axes.plot(
            [start, high], [peak, peak], color="black", linewidth=1.4, linestyle=("-", "--", "-.", ":")[number % 4]
        )
        axes.annotate(
            f"{path} {scaled(peak, 'FLOP/s')}", (high, peak), xytext=(-4, 3), textcoords="offset points", ha="right",
            fontsize=8, zorder=4, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
        )  # fmt: skip


def _slope(axes: Axes) -> float:
    """Angle in degrees of a line of slope 1 on these log axes."""
    box = axes.get_window_extent()
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    return math.degrees(math.atan2(box.height / math.log10(y1 / y0), box.width / math.log10(x1 / x0)))


def _kernel(axes: Axes, point: RooflinePoint, *, named: bool) -> None:
    look, x, y = family_look(point.family), point.intensity["DRAM"], point.rate
    if named and point.measured > 1:
        axes.plot([x, x], [point.rates.low, point.rates.high], color=look.color, linewidth=0.9, alpha=0.7)
    axes.scatter(
        [x], [y], s=_area(point), marker=look.marker, facecolor=look.color, edgecolor=EDGE,
        linewidth=0.5, alpha=0.9 if named else 0.35, zorder=3 if named else 2,
    )  # fmt: skip


def _area(point: RooflinePoint) -> float:
    return SMALL + (LARGE - SMALL) * min(point.share, 1.0)


def _names(picture: Figure, chart: Roofline, top: int) -> None:
    """The list beside the axes: number, name, share of kernel time, part of the ceiling reached."""
    axes = picture.add_axes((0.615, 0.09, 0.38, 0.80))
    axes.set_axis_off()
    shown = chart.points[:top]
    names = fmt.kernels([point.kernel for point in shown], NAME)
    step = min(1.0 / (len(shown) + 4), 0.042)
    head: dict[str, Any] = {"fontsize": 8, "va": "top", "parse_math": False, "transform": axes.transAxes}
    axes.text(0.0, 1.0, "kernel", **head, weight="bold")
    axes.text(0.86, 1.0, "time", **head, weight="bold", ha="right")
    axes.text(1.0, 1.0, "of roof", **head, weight="bold", ha="right")
    for row, (point, name) in enumerate(zip(shown, names, strict=True), 1):
        y = 1.0 - row * step
        axes.text(0.0, y, f"{row}  {name}", **{**head, "fontsize": 7})
        axes.text(0.86, y, fmt.share(point.share), **head, ha="right")
        axes.text(1.0, y, "?" if point.reached is None else fmt.share(point.reached), **head, ha="right")
    y = 1.0 - (len(shown) + 1) * step
    for line in _remarks(chart, top):
        axes.text(0.0, y, line, **{**head, "fontsize": 7.5, "color": "#404040"})
        y -= step
    legend(
        axes, _families(chart.points), loc="lower left", bbox_to_anchor=(-0.02, -0.02), ncols=3, fontsize=7.5,
        title="kernel families (area: share of kernel time)", title_fontsize=7.5, alignment="left",
    )  # fmt: skip


def _remarks(chart: Roofline, top: int) -> list[str]:
    lines = []
    if len(chart.points) > top:
        rest = chart.points[top:]
        lines.append(f"and {len(rest)} more, unnumbered ({fmt.share(sum(p.share for p in rest))} of the time)")
    if chart.unplaced:
        share = fmt.share(sum(entry.share for entry in chart.unplaced))
        lines.append(f"{fmt.count(len(chart.unplaced), 'kernel')} ({share} of the time) not placed, mostly:")
        by_reason: dict[str, float] = {}
        for entry in chart.unplaced:
            by_reason[entry.reason] = by_reason.get(entry.reason, 0.0) + entry.share
        lines.append(f"  {max(by_reason, key=lambda reason: by_reason[reason])}")
    if not chart.peaks:
        lines.append("no compute roof: the peaks of this GPU are not known")
    elif chart.clock_hz:
        lines.append(f"compute roofs at the measured SM clock, {scaled(chart.clock_hz, 'Hz')}")
    return lines


def _families(points: Sequence[RooflinePoint]) -> list[Line2D]:
    times: dict[str, float] = {}
    for point in points:
        times[point.family] = times.get(point.family, 0.0) + point.time_ns
    ranked = sorted(times, key=lambda family: (-times[family], family))
    return [
        Line2D(
            [], [], linestyle="", marker=family_look(family).marker, markersize=6, label=family,
            markerfacecolor=family_look(family).color, markeredgecolor=EDGE, markeredgewidth=0.5,
        )
        for family in ranked
    ]  # fmt: skip
