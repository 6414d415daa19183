"""Numbers beside the points of an axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nsight_insight.reporters.placement import Place, offsets

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def place_labels(axes: Axes, points: Sequence[Place], radii: Sequence[float]) -> None:
    """Number points from 1 at the nearest free place around each; limits and scales must be set.

    Args:
        axes: where to write.
        points: in data coordinates.
        radii: of their markers, in points (1/72 inch).
    """
    scale = 72.0 / axes.figure.dpi
    pixels = [axes.transData.transform(point) * scale for point in points]
    places = [(float(x), float(y)) for x, y in pixels]
    for number, (point, (offset, far)) in enumerate(zip(points, offsets(places, radii), strict=True), 1):
        axes.annotate(
            str(number), point, xytext=offset, textcoords="offset points", ha="center", va="center", fontsize=7.5,
            zorder=5, arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "#606060"} if far else None,
        )  # fmt: skip
