"""Where a report goes: standard output or files, never onto an input."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nsight_insight.errors import OutputError

if TYPE_CHECKING:
    from nsight_insight.model.finding import Report
    from nsight_insight.reporters.options import RenderOptions

STDOUT = Path("-")


@dataclass(frozen=True)
class Target:
    """A place to write to and the format to write."""

    path: Path
    format: str


def targets(outputs: Sequence[Path], format_: str | None) -> list[Target]:
    """What to write where.

    A single file takes the format asked for, else that of its extension; of several files each takes that
    of its own extension, and the format asked for is for those without a known one.
    """
    from nsight_insight.reporters import format_for

    if len(outputs) <= 1 and format_:
        return [Target(path, format_) for path in outputs or [STDOUT]]
    return [Target(path, format_for(path.name) or format_ or "text") for path in outputs or [STDOUT]]


def want_charts(chosen: Iterable[Target]) -> bool:
    """Whether any of the formats draws pictures."""
    from nsight_insight.reporters import reporter

    return any(getattr(reporter(target.format), "CHARTS", False) for target in chosen)


def check(chosen: Iterable[Target], inputs: Sequence[str], *, force: bool) -> None:
    """Refuse what cannot or must not be written, before any time is spent.

    Raises:
        OutputError: a file exists, is an input, is named twice, or its folder is not there.
    """
    named: set[Path] = set()
    for target in chosen:
        path = target.path
        place = path if path == STDOUT else path.resolve()
        if place in named:
            raise OutputError(f"{path}: is named twice as an output")
        named.add(place)
        if path == STDOUT:
            continue
        if path.is_dir():
            raise OutputError(f"{path}: is a folder")
        if not path.parent.is_dir():
            raise OutputError(f"{path}: folder {path.parent} does not exist")
        if any(_is_input(path, Path(source)) for source in inputs if source != "-"):
            raise OutputError(f"{path}: is an input; inputs are never written to")
        if path.is_file() and not force:
            raise OutputError(f"{path}: exists; --force overwrites it")


def _is_input(path: Path, source: Path) -> bool:
    if not path.exists() or not source.exists():
        return False
    if source.is_dir():
        return path.resolve().is_relative_to(source.resolve())
    return path.samefile(source)


def write(report: Report, chosen: Iterable[Target], options: RenderOptions, color: str) -> None:
    """Render and write every target.

    Raises:
        OutputError: a file cannot be written.
    """
    from nsight_insight.reporters import reporter
    from nsight_insight.reporters._public import without_folders

    public = without_folders(report)
    write_with(lambda name, shown: reporter(name).render(public, shown), chosen, options, color)


def write_with(
    render: Callable[[str, RenderOptions], str], chosen: Iterable[Target], options: RenderOptions, color: str
) -> None:
    """As ``write``, for anything that ``render`` turns into a format by its name."""
    from dataclasses import replace

    for target in chosen:
        if target.path == STDOUT:
            console = replace(
                options, width=terminal_width(), color=wants_color(color, os.environ), unicode=stdout_unicode()
            )
            to_stdout(render(target.format, console), utf8=target.format != "text")
        else:
            to_file(target.path, render(target.format, replace(options, color=color == "always")))


def to_stdout(text: str, *, utf8: bool = False) -> None:
    """Write to standard output; a reader that has gone away (``| head``) ends the output, quietly."""
    encoding = "utf-8" if utf8 else sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(encoding, "replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence_stdout()


def json_to_stdout(value: object) -> None:
    """Write a value as indented JSON in UTF-8."""
    from nsight_insight.reporters._machine import json_text

    to_stdout(json_text(value), utf8=True)


def console(color: str, *, verbose: bool = False) -> RenderOptions:
    """How text looks on this standard output."""
    from nsight_insight.reporters.options import RenderOptions

    return RenderOptions(
        width=terminal_width(), color=wants_color(color, os.environ), unicode=stdout_unicode(), verbose=verbose
    )


def silence_stdout() -> None:
    """Point standard output at nothing, so that Python's own flush at exit does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def to_file(path: Path, text: str) -> None:
    try:
        with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error
    print(f"wrote {path}", file=sys.stderr)  # noqa: T201


def wants_color(choice: str, environ: Mapping[str, str]) -> bool:
    """``--color``, else NO_COLOR, FORCE_COLOR (each only when not empty), TERM=dumb, and the terminal."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return environ.get("TERM") != "dumb" and sys.stdout.isatty()


def terminal_width() -> int:
    """Columns of the terminal; COLUMNS or 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def stdout_unicode() -> bool:
    """Whether standard output can show more than ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
