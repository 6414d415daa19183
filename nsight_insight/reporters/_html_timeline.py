"""The timeline of the HTML report: lanes of work, and the idle part of each moment by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.model.charts import IDLE_CAUSES
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._html_svg import Svg, swatch
from nsight_insight.reporters.palette import CAUSE, family_look

if TYPE_CHECKING:
    from markupsafe import Markup

    from nsight_insight.model.charts import Block, Lane, Timeline

WIDTH: Final = 1000.0
LEFT, RIGHT = 124.0, 10.0
ROW, BAR = 30.0, 22.0
TIPPED: Final = 3.0
"""Blocks at least this wide (pixels) can be pointed at, and have a tip."""
TICKS: Final = 8
KERNEL: Final = 60

Entry = tuple["Markup", str]


def picture(chart: Timeline) -> Markup:
    """One row per lane, one for idle time, and a time axis."""
    rows = len(chart.lanes) + 1
    height = rows * ROW + 40
    svg = Svg(WIDTH, height, f"Timeline of {chart.title}: {fmt.time(chart.window_ns)}")
    scale = (WIDTH - LEFT - RIGHT) / chart.window_ns
    _axis(svg, chart.window_ns, scale, rows * ROW + 4)
    for row, lane in enumerate(chart.lanes):
        svg.text(LEFT - 6, row * ROW + 20, lane.label, "end")
        _lane(svg, lane, row * ROW + 4, scale)
    svg.text(LEFT - 6, (rows - 1) * ROW + 20, "idle", "end")
    _idle(svg, chart, (rows - 1) * ROW + 4 + BAR, scale)
    return svg.markup()


def _axis(svg: Svg, window_ns: float, scale: float, y: float) -> None:
    unit, factor = ("ms", 1e6) if window_ns >= 1e6 else ("us", 1e3)
    step = _step(window_ns / factor / TICKS)
    tick = 0
    while tick * step * factor <= window_ns:
        x = LEFT + tick * step * factor * scale
        svg.line(x, 0, x, y, "grid")
        svg.text(x, y + 14, f"{tick * step:g}", "middle")
        tick += 1
    svg.line(LEFT, y, WIDTH - RIGHT, y, "axis")
    svg.text((LEFT + WIDTH) / 2, y + 32, f"time since the start of the window, {unit}", "middle")


def _step(least: float) -> float:
    """The next round number: 1, 2 or 5 times a power of ten."""
    power = float(f"1e{f'{least:e}'.split('e')[1]}")
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)


def _lane(svg: Svg, lane: Lane, y: float, scale: float) -> None:
    narrow: dict[str, list[tuple[float, float, float, float]]] = {}
    for block in lane.blocks:
        x, width = LEFT + block.start_ns * scale, (block.end_ns - block.start_ns) * scale
        if width >= TIPPED:
            svg.rect(x, y, width, BAR, family_look(block.family), _tip(block))
        else:
            narrow.setdefault(block.family, []).append((x, y, width, BAR))
    for family in sorted(narrow):
        svg.boxes(narrow[family], family_look(family), "thin")


def _tip(block: Block) -> str:
    name = fmt.kernels([block.label], KERNEL)[0] if block.label else fmt.count(block.count, "launch")
    return f"{name} ({block.family}): {fmt.time(block.busy_ns)}"


def _idle(svg: Svg, chart: Timeline, bottom: float, scale: float) -> None:
    floor = [0.0] * max((len(parts) for parts in chart.cells.values()), default=0)
    for cause, parts in chart.cells.items():
        width = chart.window_ns / len(parts) * scale
        boxes = [
            (LEFT + cell * width, bottom - BAR * (low + part), width, BAR * part)
            for cell, (low, part) in enumerate(zip(floor, parts, strict=True))
            if part > 0
        ]
        svg.boxes(boxes, CAUSE[cause], "thin")
        floor = [low + part for low, part in zip(floor, parts, strict=True)]


def families(chart: Timeline) -> list[Entry]:
    """Legend of the work, most time first."""
    times: dict[str, float] = {}
    for lane in chart.lanes:
        for block in lane.blocks:
            times[block.family] = times.get(block.family, 0.0) + block.busy_ns
    ranked = sorted(times, key=lambda family: (-times[family], family))
    return [(swatch(family_look(family)), f"{family} {fmt.time(times[family])}") for family in ranked]


def causes(chart: Timeline) -> list[Entry]:
    """Legend of the idle time, most first."""
    return [
        (swatch(CAUSE[cause]), f"{IDLE_CAUSES[cause]} {fmt.time(ns)} ({fmt.share(ns / chart.window_ns)})")
        for cause, ns in chart.idle.items()
    ]
