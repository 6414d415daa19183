"""Paths, directories and standard input to texts; what is no profile is noted where it was only found."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers import read
from nsight_insight.readers.text import MAX_BYTES, SourceText, from_bytes, open_path

STDIN: Final = "-"
_SHOWN: Final = 8
"""Files of a directory that are no profile: as many are named one by one."""

Input = str | Path | SourceText


@dataclass
class Inputs:
    """What was read and what could not be.

    Attributes:
        results: one per readable input, in the order given; directories in alphabetical order.
        errors: inputs that the user named and that cannot be used.
        issues: files that were passed over.
    """

    format: str | None = None
    results: list[ReadResult] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    _seen: set[object] = field(default_factory=set)

    def add(self, item: Input) -> None:
        """Read one thing the user named.

        Raises:
            UsageError: the format is not one we know.
        """
        if not isinstance(item, SourceText) and str(item) != STDIN and Path(item).is_dir():
            self._add_directory(Path(item))
            return
        try:
            self._add_one(item)
        except InputError as error:
            self.errors.append(error)

    def _add_one(self, item: Input) -> None:
        place = id(item) if isinstance(item, SourceText) else STDIN if str(item) == STDIN else os.path.realpath(item)
        if place in self._seen:
            path = item.path if isinstance(item, SourceText) else str(item)
            self.issues.append(Issue(Level.INFO, "given twice, read once", Location(path)))
            return
        self._seen.add(place)
        self.results.append(read(_text_of(item), self.format))

    def _add_directory(self, folder: Path) -> None:
        """Every readable profile below a directory; other files are noted."""
        before, passed = len(self.results), []
        for path in _files(folder):
            try:
                self._add_one(path)
            except (UnrecognizedInput, EmptyInput) as error:
                passed.append(Issue(Level.INFO, f"passed over: {error.text}", Location(str(path), error.line)))
            except InputError as error:
                self.errors.append(error)
        if len(self.results) == before and not any(Path(error.path).is_relative_to(folder) for error in self.errors):
            self.errors.append(UnrecognizedInput(_nothing_in(passed), path=str(folder)))
            return
        self.issues += passed[:_SHOWN]
        if len(passed) > _SHOWN:
            text = f"{len(passed) - _SHOWN} more files that are no profile were passed over"
            self.issues.append(Issue(Level.INFO, text, Location(str(folder))))


def _nothing_in(passed: Sequence[Issue]) -> str:
    """Why a directory yields nothing, with the first reasons."""
    if not passed:
        return "the directory holds no files"
    reasons = "".join(f"\n  {issue.location}: {issue.text}" for issue in passed[:_SHOWN])
    more = f"\n  and {len(passed) - _SHOWN} more" if len(passed) > _SHOWN else ""
    return f"no profile among the directory's {len(passed)} files{reasons}{more}"


def _files(folder: Path) -> Iterator[Path]:
    """Files below a directory in a fixed order, hidden ones left out, links to directories not followed."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(parent) / name


def _text_of(item: Input) -> SourceText:
    if isinstance(item, SourceText):
        return item
    if str(item) == STDIN:
        return from_bytes(STDIN, sys.stdin.buffer.read())
    text = open_path(item)
    if not text.binary and Path(item).stat().st_size > MAX_BYTES:
        raise UnrecognizedInput(f"larger than {MAX_BYTES >> 30} GiB", path=str(item))
    return text
