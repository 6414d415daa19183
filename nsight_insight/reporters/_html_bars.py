"""Bars of the HTML report: where the time goes, idle time by cause, warp states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from nsight_insight.model.charts import IDLE_CAUSES
from nsight_insight.reporters import _html_table as cells
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._html_svg import Svg, swatch
from nsight_insight.reporters._html_table import Cell, Table
from nsight_insight.reporters.palette import CAUSE, STALL, family_look

if TYPE_CHECKING:
    from markupsafe import Markup

    from nsight_insight.model.charts import Breakdown, StallBar

WIDTH, HEIGHT = 400.0, 16.0
STALLED: Final = 25
KERNEL: Final = 48
REASONS: Final = 2
TRUSTED: Final = (0.8, 1.25)
"""Sum of the stall reasons over the measured latency, outside of which shares are marked as doubtful."""
LEAST: Final = 0.005

Entry = tuple["Markup", str]


def families(times: Mapping[str, float], kernel_ns: float, caption: str) -> Table:
    """Kernel families, most time first, with a bar each."""
    largest = max(times.values(), default=1.0)
    ranked = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    rows = [
        [Cell(name), cells.time(ns), cells.share(ns / kernel_ns if kernel_ns else None), _bar(ns / largest, name)]
        for name, ns in ranked
    ]
    return cells.table(caption, "family|time:|share:|", rows)


def _bar(part: float, family: str) -> Cell:
    svg = Svg(WIDTH, HEIGHT, css="bar")
    svg.rect(0.5, 1, (WIDTH - 1) * part, HEIGHT - 2, family_look(family))
    return Cell("", picture=svg.markup())


def window(chart: Breakdown) -> tuple[Markup, list[Entry]] | None:
    """Busy and idle time of the window as one bar with its legend; None where the input has no window."""
    if not chart.window_ns or chart.busy_ns is None:
        return None
    rest = chart.window_ns - chart.busy_ns
    idle = dict(chart.idle) or ({"unknown": rest} if rest > 0 else {})
    svg = Svg(1000, 26, f"GPU busy {fmt.share(chart.busy_ns / chart.window_ns)} of the window", "bar tall")
    svg.add("rect", x=0.5, y=0.5, width=999.0, height=25.0, class_="frame")
    left = chart.busy_ns / chart.window_ns * 1000
    legend = []
    for cause, ns in idle.items():
        width = ns / chart.window_ns * 1000
        words = IDLE_CAUSES[cause] if chart.steady else "cause not split, start-up included"
        told = f"idle: {words} {fmt.time(ns)} ({fmt.share(ns / chart.window_ns)})"
        svg.rect(left, 0.5, width, 25, CAUSE[cause], told)
        legend.append((swatch(CAUSE[cause]), told))
        left += width
    return svg.markup(), legend


def stalls(bars: Sequence[StallBar]) -> Table:
    """Warp states of the kernels with most time; what is left is told in the caption."""
    shown, rest = bars[:STALLED], bars[STALLED:]
    names = fmt.kernels([bar.kernel for bar in shown], KERNEL)
    rows = [
        [cells.kernel(bar.kernel, name), cells.share(bar.share), _stacked(bar), text_of(bar)]
        for bar, name in zip(shown, names, strict=True)
    ]
    caption = "Share of the cycles between two instructions of a warp, by what the warp waited for"
    if rest:
        caption += (
            f"; left out: {fmt.count(len(rest), 'kernel')} with {fmt.share(sum(bar.share for bar in rest))} of the time"
        )
    return cells.table(caption, "kernel|time share:|warp states|largest", rows)


def text_of(bar: StallBar) -> Cell:
    """The largest reasons in words."""
    ranked = sorted(bar.shares.items(), key=lambda item: -item[1])[:REASONS]
    low, high = TRUSTED
    doubt = "" if low <= bar.coverage <= high else " (doubtful: the reasons do not add up)"
    return Cell(", ".join(f"{name} {fmt.share(part)}" for name, part in ranked) + doubt)


def _stacked(bar: StallBar) -> Cell:
    total = max(1.0, sum(bar.shares.values()))
    svg = Svg(WIDTH, HEIGHT, css="bar")
    left = 0.0
    for name in STALL:
        part = bar.shares.get(name, 0.0) / total
        if part >= LEAST:
            svg.rect(left * WIDTH, 1, part * WIDTH, HEIGHT - 2, STALL[name], f"{name} {fmt.share(part * total)}")
        left += part
    return Cell("", picture=svg.markup())


def stall_legend(bars: Sequence[StallBar]) -> list[Entry]:
    """The reasons that are large enough to be seen."""
    shown = bars[:STALLED]
    return [
        (swatch(look), name) for name, look in STALL.items() if any(bar.shares.get(name, 0.0) >= LEAST for bar in shown)
    ]
