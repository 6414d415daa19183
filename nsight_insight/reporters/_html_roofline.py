"""The roofline of the HTML report: a log-log picture, and the same as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nsight_insight.model.text import quantity, scaled
from nsight_insight.model.units import NUMBER
from nsight_insight.reporters import _html_table as cells
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._html_svg import Svg
from nsight_insight.reporters._html_table import Cell, Table
from nsight_insight.reporters.palette import family_look
from nsight_insight.reporters.placement import offsets

if TYPE_CHECKING:
    from markupsafe import Markup

    from nsight_insight.model.charts import Roofline, RooflinePoint, Spread

WIDTH, HEIGHT = 900.0, 480.0
LEFT, RIGHT, TOP, BOTTOM = 84.0, 24.0, 12.0, 48.0
NUMBERED: Final = 15
ROWS: Final = 200
KERNEL: Final = 60
LEVELS: Final = ("DRAM", "L2", "L1")


@dataclass(frozen=True)
class _Axes:
    """Limits of both axes as powers of ten, and where they lie on the picture."""

    x: tuple[float, float]
    y: tuple[float, float]

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(y) - self.y[0]) / (self.y[1] - self.y[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)


def picture(chart: Roofline) -> Markup:
    """Roofs, and kernels as markers whose area is their share of the kernel time."""
    axes = _axes(chart)
    number = fmt.count(len(chart.points), "kernel")
    svg = Svg(
        WIDTH, HEIGHT, f"Roofline: {number} by arithmetic intensity and performance; the table below has the numbers"
    )
    _grid(svg, axes)
    _roofs(svg, axes, chart)
    for rank, point in enumerate(chart.points, 1):
        _point(svg, axes, point, rank)
    _numbers(svg, axes, chart.points[:NUMBERED])
    return svg.markup()


def _axes(chart: Roofline) -> _Axes:
    bandwidth = chart.bandwidths.get("DRAM")
    x = [point.intensity["DRAM"] for point in chart.points]
    y = [*(point.rate for point in chart.points), *chart.peaks.values()]
    if bandwidth:
        x += [peak / bandwidth for peak in chart.peaks.values()]
    low, high = math.log10(min(x)) - 0.6, math.log10(max(x)) + 1.1
    return _Axes((low, high), (math.log10(min(y)) - 0.4, math.log10(max(y)) + 0.3))


def _grid(svg: Svg, axes: _Axes) -> None:
    bottom, top = HEIGHT - BOTTOM, TOP
    for power in _powers(axes.x, 9):
        x, _ = axes.place(10.0**power, 10.0 ** axes.y[0])
        svg.line(x, top, x, bottom, "grid")
        svg.text(x, bottom + 16, f"{10.0**power:g}", "middle")
    for power in _powers(axes.y, 11):
        _, y = axes.place(10.0 ** axes.x[0], 10.0**power)
        svg.line(LEFT, y, WIDTH - RIGHT, y, "grid")
        svg.text(LEFT - 6, y + 4, _rate(10.0**power), "end")
    svg.add("rect", x=LEFT, y=top, width=WIDTH - LEFT - RIGHT, height=bottom - top, class_="frame")
    svg.text((LEFT + WIDTH) / 2, HEIGHT - 8, "arithmetic intensity, FLOP per byte of DRAM traffic", "middle")
    y = (top + bottom) / 2
    svg.add("text", "performance, FLOP/s", x=14.0, y=y, text_anchor="middle", transform=f"rotate(-90 14 {y:g})")


def _powers(limits: tuple[float, float], most: int) -> range:
    first, last = math.ceil(limits[0]), math.floor(limits[1])
    return range(first, last + 1, max(1, math.ceil((last - first + 1) / most)))


def _rate(value: float) -> str:
    number, _, prefix = scaled(value, "").partition(" ")
    return f"{float(number):g} {prefix}".strip()


def _roofs(svg: Svg, axes: _Axes, chart: Roofline) -> None:
    low, high = 10.0 ** axes.x[0], 10.0 ** axes.x[1]
    bandwidth, peaks = chart.bandwidths.get("DRAM"), chart.peaks
    if bandwidth:
        floor = 10.0 ** axes.y[0] / bandwidth
        start, end = max(low, floor), min(high, max(peaks.values(), default=bandwidth * high) / bandwidth)
        (x1, y1), (x2, y2) = axes.place(start, start * bandwidth), axes.place(end, end * bandwidth)
        svg.line(x1, y1, x2, y2, "roof")
        turn = math.degrees(math.atan2(y2 - y1, x2 - x1))
        svg.add("text", f"DRAM {scaled(bandwidth, 'B/s')}", x=x1 + 14, y=y1 - 16, class_="roofname",
                transform=f"rotate({turn:.1f} {x1 + 6:.1f} {y1 - 8:.1f})")  # fmt: skip
    for place, (path, peak) in enumerate(sorted(peaks.items(), key=lambda item: -item[1])):
        (x1, y), (x2, _) = axes.place(max(low, peak / bandwidth) if bandwidth else low, peak), axes.place(high, peak)
        svg.line(x1, y, x2, y, f"roof d{place % 4}")
        svg.text(x2 - 4, y - 4, f"{path} {scaled(peak, 'FLOP/s')}", "end", "roofname")


def _radius(point: RooflinePoint) -> float:
    return 3.0 + 9.0 * math.sqrt(min(point.share, 1.0))


def _point(svg: Svg, axes: _Axes, point: RooflinePoint, rank: int) -> None:
    x, y = axes.place(point.intensity["DRAM"], point.rate)
    if rank <= NUMBERED and point.measured > 1:
        clip = 10.0 ** axes.y[0]
        _, low = axes.place(point.intensity["DRAM"], max(point.rates.low, clip))
        _, high = axes.place(point.intensity["DRAM"], point.rates.high)
        svg.line(x, low, x, high, "spread")
    reached = "" if point.reached is None else f", {fmt.share(point.reached)} of its ceiling"
    tip = f"{rank}. {fmt.kernels([point.kernel], KERNEL)[0]}: {scaled(point.rate, 'FLOP/s')}{reached}"
    svg.marker(x, y, _radius(point), family_look(point.family), "point" if rank <= NUMBERED else "point rest", tip)


def _numbers(svg: Svg, axes: _Axes, points: Sequence[RooflinePoint]) -> None:
    places = [axes.place(point.intensity["DRAM"], point.rate) for point in points]
    for rank, ((x, y), (offset, far)) in enumerate(
        zip(places, offsets(places, [_radius(point) for point in points]), strict=True), 1
    ):
        if far:
            svg.line(x, y, x + offset[0] * 0.8, y + offset[1] * 0.8, "lead")
        svg.text(x + offset[0], y + offset[1] + 4, str(rank), "middle", "number")


def points_table(chart: Roofline, id_: str) -> Table:
    """Every placed kernel, or the first of them."""
    shown = chart.points[:ROWS]
    levels = [level for level in LEVELS if any(level in point.intensity for point in shown)]
    names = fmt.kernels([point.kernel for point in shown], KERNEL)
    rows = [_row(rank, point, name, levels) for rank, (point, name) in enumerate(zip(shown, names, strict=True), 1)]
    head = ["#:", "kernel", "family", "operations", "time share:", *(f"FLOP/{level} byte:" for level in levels)]
    head += ["performance:", "per launch: lowest, median, 95 %, highest:", "ceiling:", "reached:", "limited by"]
    return cells.table("Kernels on the roofline, most time first", "|".join(head), rows, sortable=True, id=id_)


def _row(rank: int, point: RooflinePoint, name: str, levels: Sequence[str]) -> list[Cell]:
    return [
        Cell(str(rank), float(rank)),
        cells.kernel(point.kernel, name),
        Cell(point.family),
        Cell(point.path),
        cells.share(point.share),
        *(_number(point.intensity.get(level)) for level in levels),
        Cell(scaled(point.rate, "FLOP/s"), point.rate),
        Cell(_spread(point.rates) if point.measured > 1 else "one launch", point.rates.median),
        Cell("") if point.ceiling is None else Cell(scaled(point.ceiling, "FLOP/s"), point.ceiling),
        cells.share(point.reached),
        Cell(point.bound),
    ]


def _number(value: float | None) -> Cell:
    return Cell("") if value is None else Cell(quantity(value, NUMBER), value)


def _spread(spread: Spread) -> str:
    return ", ".join(scaled(value, "") for value in (spread.low, spread.median, spread.p95, spread.high))


def remarks(chart: Roofline) -> list[str]:
    """What the picture leaves out, and which clock its roofs hold for."""
    lines = []
    if chart.points and not chart.peaks:
        lines.append("No compute roof: the peaks of this GPU are not known.")
    elif chart.points and chart.clock_hz:
        lines.append(
            f"Compute roofs at the SM clock measured, {scaled(chart.clock_hz, 'Hz')} (median of the launches)."
        )
    by_reason: dict[str, list[float]] = {}
    for entry in chart.unplaced:
        by_reason.setdefault(entry.reason, []).append(entry.share)
    for reason, shares in sorted(by_reason.items(), key=lambda item: -sum(item[1])):
        what = f"{fmt.count(len(shares), 'kernel')} ({fmt.share(sum(shares))} of the kernel time)"
        lines.append(f"{what} not placed: {reason}.")
    return lines
