"""What all plots share: fonts, titles, labels that are never markup, and files that do not change by themselves."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nsight_insight.errors import EmptyInput, OutputError, UsageError
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.palette import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nsight_insight.model.charts import Breakdown, Charts, Roofline, Timeline

    OfDevice = TypeVar("OfDevice", Roofline, Timeline, Breakdown)

STYLE: Final[Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "nsight-insight",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "path.simplify": True,
}
METADATA: Final[dict[str, dict[str, str | None]]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""What matplotlib writes by itself and what would make two runs differ."""
FILES: Final = 60
"""Columns of the file names in a title."""
EDGE: Final = "#404040"


def style() -> AbstractContextManager[None]:
    """Fonts and names of all plots, whatever the caller's own settings are."""
    return rc_context(STYLE)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, on no screen."""
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def write(figure: Figure, path: Path, format_: str) -> None:
    """Write a figure without dates and with names that do not depend on the run."""
    stream = io.BytesIO()
    with style(), warnings.catch_warnings():
        # A kernel name may hold characters that the font lacks: a box is right, a warning is not.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(stream, format=format_, dpi=150, metadata=METADATA[format_])
    try:
        path.write_bytes(stream.getvalue())
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def choose(charts: Charts, found: Sequence[OfDevice], device: int | None, what: str) -> OfDevice:
    """The entry of a device, by default of the one with most kernel time.

    Raises:
        UsageError: the profile has no such device.
        EmptyInput: the profile has none at all.
    """
    if not found:
        raise EmptyInput(f"nothing to plot: no kernels for a {what}", path=first_file(charts))
    if device is None:
        times = {entry.device: sum(entry.families.values()) for entry in charts.breakdowns}
        return max(found, key=lambda entry: (times.get(entry.device, 0.0), -entry.device))
    for entry in found:
        if entry.device == device:
            return entry
    known = ", ".join(str(entry.device) for entry in found)
    raise UsageError(f"no device {device} in the profile; devices: {known}")


def first_file(charts: Charts) -> str:
    """The input that errors name."""
    return charts.files[0] if charts.files else "-"


def title(charts: Charts, what: str, gpu: str, device: int) -> str:
    """What is shown, of which GPU, from which files (their names only)."""
    names = [fmt.file_name(path) for path in charts.files]
    files = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more" if names else ""
    several = len(charts.breakdowns) > 1
    where = fmt.flow(gpu) or "GPU not named by the input"
    if several:
        where += f", device {device}"
    return f"{what}\n{where} · {fmt.cut(files, FILES)}"


def set_title(axes: Axes, text: str) -> None:
    """A title on the left that is text, not markup."""
    axes.set_title(text, loc="left", parse_math=False)


def patch(look: Look, label: str) -> Patch:
    """A legend entry."""
    return Patch(facecolor=look.color, hatch=look.hatch * 3, edgecolor=EDGE, linewidth=0.4, label=label)


def legend(axes: Axes, entries: Sequence[Any], **place: Any) -> None:
    """A legend whose labels are text, not markup."""
    found = axes.legend(handles=list(entries), frameon=False, **place)
    for text in found.get_texts():
        text.set_parse_math(False)
