"""Writes a report to files, each in the format of its name, as ``-o`` of the command line does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nsight_insight.errors import OutputError, UsageError

if TYPE_CHECKING:
    from nsight_insight.model.finding import Report


def write(report: Report, *paths: str | Path, force: bool = False, framework: str = "") -> tuple[Path, ...]:
    """Write a report.

    Args:
        report: what was found.
        paths: files; the ending chooses the format (``.md``, ``.json``, ``.sarif`` ...).
        force: overwrite files.
        framework: show remedies' code for this framework only.

    Returns:
        The files.

    Raises:
        UsageError: no path, or an ending that no format has.
        OutputError: a file exists, is named twice, or cannot be written; nothing was written then, but for files that
            were written before one that could not be.
    """
    from nsight_insight.reporters import format_for, reporter
    from nsight_insight.reporters._public import without_folders
    from nsight_insight.reporters.options import RenderOptions

    files = _checked([Path(path) for path in paths], force=force)
    formats = [format_for(file.name) for file in files]
    for file, name in zip(files, formats, strict=True):
        if name is None:
            raise UsageError(f"{file}: no format has this ending")
    public, options = without_folders(report), RenderOptions(framework=framework)
    texts = [reporter(name).render(public, options) for name in formats if name is not None]
    for file, text in zip(files, texts, strict=True):
        try:
            with file.open("w", encoding="utf-8", errors="replace", newline="\n") as handle:
                handle.write(text)
        except OSError as error:
            raise OutputError(f"{file}: {error.strerror or error}") from error
    return tuple(files)


def _checked(files: Sequence[Path], *, force: bool) -> list[Path]:
    if not files:
        raise UsageError("no file to write to")
    for place, file in enumerate(files):
        if file.resolve() in {other.resolve() for other in files[:place]}:
            raise OutputError(f"{file}: is named twice")
        if file.exists() and not force:
            raise OutputError(f"{file}: exists; force=True overwrites it")
        if not file.absolute().parent.is_dir():
            raise OutputError(f"{file}: folder {file.parent} does not exist")
    return list(files)
