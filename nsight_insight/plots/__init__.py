"""Pictures of a profile, drawn with matplotlib without its global state.

Every kind has a function that draws on an ``Axes`` and one that returns a ``Figure``; ``figure`` and ``save`` are what
the command line uses.

>>> from nsight_insight import api, plots
>>> charts = api.charts(api.load("raw.csv"))          # doctest: +SKIP
>>> plots.save(plots.figure("roofline", charts), "roofline.png")   # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from nsight_insight.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nsight_insight.model.charts import Charts

KINDS: Final = ("roofline", "timeline", "stalls", "breakdown")
FORMATS: Final = ("png", "svg", "pdf")


def figure(kind: str, charts: Charts, *, device: int | None = None, top: int | None = None) -> Figure:
    """The picture of one device.

    Args:
        kind: one of ``KINDS``.
        charts: what ``api.charts`` returned.
        device: its index; the one with most kernel time where None.
        top: kernels that are named; the kind's own choice where None.

    Raises:
        UsageError: no such kind or device.
        EmptyInput: the profile does not hold what the picture shows; the text says what does.
    """
    if kind not in KINDS:
        raise UsageError(f"unknown plot {kind!r}; known: {', '.join(KINDS)}")
    return cast("Figure", import_module(f"{__name__}.{kind}").figure(charts, device=device, top=top))


def save(picture: Figure, path: str | Path) -> None:
    """Write a figure; the same figure gives the same bytes.

    Raises:
        UsageError: the file name ends with none of ``FORMATS``.
        OutputError: it cannot be written.
    """
    from nsight_insight.plots._figure import write

    write(picture, Path(path), format_of(path))


def format_of(path: str | Path) -> str:
    """The format of a file name's extension.

    Raises:
        UsageError: it ends with none of ``FORMATS``.
    """
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise UsageError(f"{path}: a plot is written as {', '.join(f'.{name}' for name in FORMATS)}")
    return ending
