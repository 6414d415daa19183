"""Paths, directories, containers and standard input to texts; what is no profile is noted where it was only found."""

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
from nsight_insight.readers._budget import Budget
from nsight_insight.readers.containers import expand, is_container
from nsight_insight.readers.text import MAX_BYTES, SourceText, from_bytes, open_path

STDIN: Final = "-"
_SHOWN: Final = 8
"""Files of a directory or archive that are no profile: as many are named one by one."""

Input = str | Path | SourceText


@dataclass
class Inputs:
    """What was read and what could not be.

    Attributes:
        results: one per readable input, in the order given; directories in alphabetical order, archives in theirs.
        errors: inputs that the user named and that cannot be used.
        issues: files that were passed over.
        budget: how much containers may still expand to.
    """

    format: str | None = None
    results: list[ReadResult] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)
    _seen: dict[object, Input] = field(default_factory=dict)

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
        self._seen[place] = item  # held, so that no other text gets its id
        text = _text_of(item)
        if is_container(text.magic):
            self._add_container(text)
        else:
            self.results.append(read(text, self.format))

    def _add_container(self, text: SourceText) -> None:
        """Every readable profile in a container; an error of the container itself is the caller's."""
        group = _Group(self, text.path)
        try:
            for found in expand(text, self.budget):
                if isinstance(found, InputError):
                    group.failed(found)
                else:
                    group.read(found)
        except InputError:
            group.note_passed()
            raise
        group.require("archive", "members")
        group.note_passed()

    def _add_directory(self, folder: Path) -> None:
        """Every readable profile below a directory; other files are noted."""
        group = _Group(self, str(folder))
        for path in _files(folder):
            group.read(path)
        try:
            group.require("directory", "files")
        except UnrecognizedInput as error:
            self.errors.append(error)
            return
        group.note_passed()


class _Group:
    """Files that the user did not name one by one: those of a directory or a container."""

    def __init__(self, inputs: Inputs, path: str) -> None:
        self.inputs, self.path = inputs, path
        self.passed: list[Issue] = []
        self._before = len(inputs.results), len(inputs.errors)

    def read(self, item: Path | SourceText) -> None:
        """Read one of the files."""
        try:
            if isinstance(item, SourceText):
                self.inputs.results.append(read(item, self.inputs.format))
            else:
                self.inputs._add_one(item)
        except InputError as error:
            self.failed(error)

    def failed(self, error: InputError) -> None:
        """Pass over what is no profile; keep what is one and cannot be used.

        Raises:
            InputError: it is about what the user named.
        """
        if error.path == self.path:
            raise error
        if isinstance(error, UnrecognizedInput | EmptyInput):
            self.passed.append(Issue(Level.INFO, f"passed over: {error.text}", Location(error.path, error.line)))
        else:
            self.inputs.errors.append(error)

    def require(self, kind: str, members: str) -> None:
        """Complain where nothing was a profile.

        Raises:
            UnrecognizedInput: with the first reasons.
        """
        if (len(self.inputs.results), len(self.inputs.errors)) == self._before:
            raise UnrecognizedInput(_nothing_in(self.passed, kind, members), path=self.path)

    def note_passed(self) -> None:
        """What was passed over, the first files by name."""
        self.inputs.issues += self.passed[:_SHOWN]
        if len(self.passed) > _SHOWN:
            text = f"{len(self.passed) - _SHOWN} more files that are no profile were passed over"
            self.inputs.issues.append(Issue(Level.INFO, text, Location(self.path)))


def _nothing_in(passed: Sequence[Issue], kind: str, members: str) -> str:
    """Why a directory or archive yields nothing, with the first reasons."""
    if not passed:
        return f"the {kind} holds no files"
    reasons = "".join(f"\n  {issue.location}: {issue.text}" for issue in passed[:_SHOWN])
    more = f"\n  and {len(passed) - _SHOWN} more" if len(passed) > _SHOWN else ""
    return f"no profile among the {kind}'s {len(passed)} {members}{reasons}{more}"


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
