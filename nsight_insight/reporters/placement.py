"""Places for numbers beside points of a picture, so that they cover neither each other nor the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

Place = tuple[float, float]

_RINGS: Final = (6.0, 12.0, 19.0, 27.0)
_DIRECTIONS: Final = ((1, 0.6), (-1, 0.6), (1, -0.6), (-1, -0.6), (0, 1), (0, -1), (1.2, 0), (-1.2, 0))
WIDTH, HEIGHT = 11.0, 9.0
"""Room of a two-digit number, in points (1/72 inch) or pixels."""


def offsets(points: Sequence[Place], radii: Sequence[float]) -> list[tuple[Place, bool]]:
    """Where to write the number of each point, first come first served.

    Args:
        points: in pixels.
        radii: of their markers, in pixels.

    Returns:
        Offset of the number's middle from its point, and whether that is far enough to need a line.
    """
    found: list[tuple[Place, bool]] = []
    taken: list[Place] = []
    for (x, y), radius in zip(points, radii, strict=True):
        tried = [((ring + radius) * dx, (ring + radius) * dy) for ring in _RINGS for dx, dy in _DIRECTIONS]
        free = (place for place in tried if not _hits((x + place[0], y + place[1]), taken, points))
        chosen = next(free, tried[0])
        taken.append((x + chosen[0], y + chosen[1]))
        found.append((chosen, chosen not in tried[: len(_DIRECTIONS)]))
    return found


def _hits(place: Place, taken: Sequence[Place], points: Sequence[Place]) -> bool:
    near_number = any(abs(place[0] - x) < WIDTH and abs(place[1] - y) < HEIGHT for x, y in taken)
    return near_number or any(abs(place[0] - x) < WIDTH / 2 and abs(place[1] - y) < HEIGHT / 2 for x, y in points)
