"""Inputs of every kind to clean copies on disk, each proved before the call ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nsight_insight.errors import InputError, NsightInsightError, OutputError, UnrecognizedInput, UsageError
from nsight_insight.redact.captures import Call, Item, collect, learn, to_rename
from nsight_insight.redact.editor import Editor
from nsight_insight.redact.proof import difference, leaks, unchanged
from nsight_insight.redact.targets import targets
from nsight_insight.redact.writing import write

_SHOWN: Final = 5


class NotClean(NsightInsightError):
    """A clean copy that still held something or read otherwise than its original; it was removed."""


@dataclass(frozen=True)
class CleanFile:
    """One copy: where it came from, where it lies, and the reader that understands both."""

    source: str
    path: Path
    reader: str


@dataclass(frozen=True)
class Summary:
    """What a call did.

    Attributes:
        files: the copies.
        counts: kind of text -> how many were taken out or replaced.
        passed: files that were no capture, or could not be cleaned -> why.
        renamed: kernel and range names that were changed.
    """

    files: tuple[CleanFile, ...]
    counts: Mapping[str, int]
    passed: Mapping[str, str]
    renamed: int


def redact(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    hash_kernels: bool = False,
    hash_nvtx: bool = False,
    force: bool = False,
) -> Summary:
    """Write clean copies of captures; inputs are only read.

    Args:
        paths: files, folders, compressed files and archives.
        output: the copy of a single file, or the folder for the copies of several.
        hash_kernels: replace the words of kernel names that no library gave.
        hash_nvtx: replace the words of NVTX ranges.
        force: overwrite.

    Raises:
        UsageError: no paths.
        InputError: nothing that can be cleaned.
        OutputError: the output exists, is an input, or lies in a folder that does not exist.
        NotClean: a copy still held something private or read otherwise than its original; no copy is left.
    """
    if not paths:
        raise UsageError("no input given")
    call = Call(Editor(hash_kernels, hash_nvtx))
    single = len(paths) == 1 and not Path(paths[0]).is_dir()
    for path in paths:
        collect(call, Path(path))
    if not call.items:
        first = next(iter(call.passed.items()), (str(paths[0]), "no capture"))
        raise UnrecognizedInput(first[1], path=first[0])
    for item in call.items:
        learn(item, call.editor)
    places = targets(call, Path(output), [Path(path) for path in paths], single=single, force=force)
    return _write_all(call, places)


def _write_all(call: Call, places: Sequence[Path]) -> Summary:
    """Write into hidden files first: nothing that is not proved ever has the name that was asked for."""
    drafts: list[Path] = []
    try:
        for item, target in zip(call.items, places, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            drafts.append(_draft(target))
            write(item, drafts[-1], call.editor, end=target.suffix)
        counts = dict(sorted(call.editor.mask.counts.items()))
        for item, draft, target in zip(call.items, drafts, places, strict=True):
            _prove(item, draft, target, call.editor)
        for draft, target in zip(drafts, places, strict=True):
            draft.replace(target)
    except OSError as error:
        raise OutputError(f"{error.filename}: {error.strerror or error}") from error
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
    words = call.editor.words
    return Summary(
        tuple(CleanFile(item.text.path, target, item.reader)
              for item, target in zip(call.items, places, strict=True)),
        counts,
        call.passed,
        sum(old != new for names in (words.kernels, words.ranges) for old, new in names.items()),
    )  # fmt: skip


def _draft(target: Path) -> Path:
    handle, name = tempfile.mkstemp(prefix=".redact-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    return Path(name)


def _prove(item: Item, draft: Path, target: Path, editor: Editor) -> None:
    """Read the copy as anybody would.

    Raises:
        NotClean: something is left, or the copy says something else.
    """
    from nsight_insight.readers import read
    from nsight_insight.readers._budget import Budget
    from nsight_insight.readers.containers import expand
    from nsight_insight.readers.text import SourceText, open_path

    (text,) = (found for found in expand(open_path(draft), Budget()) if isinstance(found, SourceText))
    found = list(dict.fromkeys(leaks(text, editor.mask.removed)))
    if found:
        places = "".join(f"\n  {place}" for place in found[:_SHOWN])
        raise NotClean(f"{item.text.path}: not clean, so no copy is left ({len(found)} places){places}")
    try:
        after = read(text, item.reader or None)
        what = difference(item.result, after)
    except InputError as error:
        what = error.text
    if what:
        raise NotClean(f"{item.text.path}: its copy for {target.name} would read otherwise ({what}); no copy is left")
    if unchanged(item.result, after, to_rename(item.result, editor)):
        raise NotClean(f"{item.text.path}: names cannot be changed in this form of a table; no copy is left")
