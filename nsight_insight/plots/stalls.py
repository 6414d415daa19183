"""Why warps wait, kernel by kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import PercentFormatter

from nsight_insight.errors import EmptyInput
from nsight_insight.plots._figure import EDGE, choose, first_file, legend, new_figure, patch, set_title, style, title
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.palette import STALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nsight_insight.model.charts import Charts, StallBar

TOP: Final = 20
NAME: Final = 48
LEAST: Final = 0.005
"""Reasons below half a percent everywhere get no legend entry."""
TRUSTED: Final = (0.8, 1.25)
"""Sum of the reasons over the measured latency, outside of which a bar is marked."""


def figure(charts: Charts, *, device: int | None = None, top: int | None = None) -> Figure:
    """Stall reasons of the kernels with most time, the rest as one bar.

    Raises:
        UsageError: no such device.
        EmptyInput: no kernel has warp states.
    """
    chosen = choose(charts, charts.breakdowns, device, "stall breakdown")
    bars = [bar for bar in charts.stalls if bar.device == chosen.device]
    if not bars:
        raise EmptyInput(charts.stalls_note or "no kernel of this device has warp states", path=first_file(charts))
    count = TOP if top is None else top
    rows = min(len(bars), count) + (len(bars) > count)
    with style():
        height = 1.9 + 0.27 * rows
        picture = new_figure(11.0, height)
        axes = picture.add_axes((0.34, 1.25 / height, 0.64, 1 - 1.85 / height))
        draw(axes, bars, top=count)
        set_title(
            axes, title(charts, "Warp states: where warps wait between two instructions", chosen.gpu, chosen.device)
        )
    return picture


def draw(axes: Axes, bars: Sequence[StallBar], *, top: int = TOP) -> None:
    """Stacked bars on an axes, most time on top."""
    rows = _rows(bars, top)
    reasons = [name for name in STALL if any(shares.get(name, 0.0) >= LEAST for _, shares in rows)]
    left = [0.0] * len(rows)
    for name in reasons:
        parts, look = [shares.get(name, 0.0) for _, shares in rows], STALL[name]
        axes.barh(
            range(len(rows)), parts, left=left, height=0.74, color=look.color, hatch=look.hatch * 3, edgecolor=EDGE,
            linewidth=0.3,
        )  # fmt: skip
        left = [start + part for start, part in zip(left, parts, strict=True)]
    axes.set_yticks(range(len(rows)), [label for label, _ in rows], fontsize=7)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel(
        "share of the cycles between two instructions of a warp (kernel's share of kernel time in brackets)"
    )
    axes.set_xlim(0, max(1.0, *(sum(shares.values()) for _, shares in rows)))
    legend(
        axes, [patch(STALL[name], name) for name in reasons], loc="upper center", ncols=6, fontsize=7.5,
        bbox_to_anchor=(0.25, -0.42 / (0.27 * max(len(rows), 1)) - 0.02),
    )  # fmt: skip


def _rows(bars: Sequence[StallBar], top: int) -> list[tuple[str, Mapping[str, float]]]:
    shown, rest = bars[:top], bars[top:]
    names = fmt.kernels([bar.kernel for bar in shown], NAME)
    rows: list[tuple[str, Mapping[str, float]]] = [
        (f"{name}{_doubt(bar)} ({fmt.share(bar.share)})", bar.shares) for name, bar in zip(names, shown, strict=True)
    ]
    if rest:
        label = f"{len(rest)} others, mean by time ({fmt.share(sum(bar.share for bar in rest))})"
        rows.append((label, _mean(rest)))
    return rows


def _doubt(bar: StallBar) -> str:
    low, high = TRUSTED
    return "" if low <= bar.coverage <= high else " (?)"


def _mean(bars: Sequence[StallBar]) -> dict[str, float]:
    time = sum(bar.time_ns for bar in bars) or 1.0
    return {name: sum(bar.shares.get(name, 0.0) * bar.time_ns for bar in bars) / time for name in STALL}
