"""Compressed files and archives, read in place: nothing is written, no link followed, nothing grows beyond the limits.

A container is known by its first bytes. What is in it may be a container again. Members are named
``archive.zip!folder/raw.csv``; a compressed file (``raw.csv.gz``) keeps its own name.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, Literal, cast

from nsight_insight.errors import EmptyInput, InputError, MissingInput, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.text import clean
from nsight_insight.readers._budget import RATIO_FROM, Budget, too_dense, too_large
from nsight_insight.readers._streams import CHUNK, DAMAGE, Guarded, Pieces, compression_of, open_stream
from nsight_insight.readers.text import PROBE_BYTES, SourceText, from_bytes

if TYPE_CHECKING:
    import zipfile

SEPARATOR: Final = "!"
ENDS_EARLY: Final = "the file ends early: what stood before its end was read, the rest is lost"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_BLOCK: Final = 512
_ENCRYPTED: Final = 0x1
_LINK: Final = 0o120000
_TYPE: Final = 0o170000

Found = SourceText | InputError


def is_container(head: bytes) -> bool:
    """Whether the first bytes (512 at least) are those of a compressed file or an archive."""
    return bool(compression_of(head)) or head.startswith(_ZIP) or _is_tar(head)


def expand(text: SourceText, budget: Budget, depth: int = 0) -> Iterator[Found]:
    """Every file inside a container, or the text itself where it is none.

    Args:
        text: an input.
        budget: what is left of the limits; shared by all inputs of a run.
        depth: containers around this one.

    Yields:
        Files in the order of the archive, and for members that cannot be used the error that says why.

    Raises:
        InputError: the container itself is damaged, cut, or beyond a limit; what was yielded before stands.
    """
    if not is_container(text.magic):
        yield text
        return
    if depth >= budget.limits.depth:
        yield InputError(f"containers inside each other, more than {budget.limits.depth} deep", path=text.path)
        return
    kind = compression_of(text.magic)
    with _opened(text) as source:
        if kind:
            yield from _compressed(text.path, kind, source, budget, depth)
        elif text.magic.startswith(_ZIP):
            yield from _zip(text.path, source, budget, depth)
        else:
            yield from _tar(text.path, source, "r:", budget, depth)


@contextmanager
def _opened(text: SourceText) -> Iterator[IO[bytes]]:
    if text.content is not None or text.file is None:
        yield io.BytesIO(text.data)
        return
    try:
        file = text.file.open("rb")
    except OSError as error:
        raise MissingInput(error.strerror or str(error), path=text.path) from error
    with file:
        yield file


def _compressed(path: str, kind: str, source: IO[bytes], budget: Budget, depth: int) -> Iterator[Found]:
    limits = budget.limits
    stream = Guarded(open_stream(kind, source, path), source, path, limits.total_bytes, limits.ratio)
    if _is_tar(stream.peek(PROBE_BYTES)):
        yield from _tar(path, cast("IO[bytes]", stream), "r|", budget, depth + 1)
        if stream.truncated:
            raise InputError(ENDS_EARLY, path=path)
        return
    data = _content(stream, path, budget)
    yield from expand(_whole_or_cut(path, data, cut=stream.truncated), budget, depth + 1)


def _whole_or_cut(path: str, data: bytes, *, cut: bool) -> SourceText:
    """The text of expanded bytes; one that was cut says so.

    Raises:
        EmptyInput: nothing is in it.
    """
    if cut and not data:
        raise EmptyInput("the file ends early, before anything could be read", path=path)
    text = from_bytes(path, data)
    if cut:
        text.issues.append(Issue(Level.DATA_LOSS, ENDS_EARLY, Location(path)))
    return text


def _zip(path: str, source: IO[bytes], budget: Budget, depth: int) -> Iterator[Found]:
    import zipfile

    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, NotImplementedError, *DAMAGE) as error:
        raise InputError(f"not a whole zip archive ({error})", path=path) from error
    for info in archive.infolist():
        budget.enter(path)
        place = _place(path, info.filename)
        if info.is_dir() or not place:
            continue
        try:
            inner = from_bytes(place, _zip_content(archive, info, place, budget))
        except InputError as error:
            _raise_if_spent(budget, error)
            yield error
            continue
        yield from _nested(inner, budget, depth)


def _zip_content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: str, budget: Budget) -> bytes:
    import zipfile

    if info.external_attr >> 16 & _TYPE == _LINK:
        raise UnrecognizedInput("a link, not followed", path=place)
    if info.flag_bits & _ENCRYPTED:
        raise UnrecognizedInput("encrypted: unpack the archive first", path=place)
    if info.file_size > RATIO_FROM and info.file_size > budget.limits.ratio * max(info.compress_size, 1):
        raise too_dense(place, budget.limits.ratio)
    if info.file_size > budget.limits.member_bytes:
        raise too_large(place, budget.limits.member_bytes)
    try:
        with archive.open(info) as member:
            return _content(cast("Pieces", member), place, budget)
    except NotImplementedError as error:
        raise UnrecognizedInput(f"{error}: unpack the archive first", path=place) from error
    except (zipfile.BadZipFile, EOFError, *DAMAGE) as error:
        raise InputError(f"damaged member ({error})", path=place) from error


def _tar(path: str, source: IO[bytes], mode: Literal["r:", "r|"], budget: Budget, depth: int) -> Iterator[Found]:
    try:
        with tarfile.open(fileobj=source, mode=mode, errors="surrogateescape") as archive:
            for info in archive:
                budget.enter(path)
                place = _place(path, info.name)
                if info.isdir() or not place:
                    continue
                yield from _tar_member(archive, info, place, budget, depth)
    except (tarfile.TarError, OverflowError, ValueError) as error:
        raise InputError(f"the archive is cut or damaged ({error}): what stood before was read", path=path) from error


def _tar_member(
    archive: tarfile.TarFile, info: tarfile.TarInfo, place: str, budget: Budget, depth: int
) -> Iterator[Found]:
    member = archive.extractfile(info) if info.isreg() and not info.issparse() else None
    if member is None:
        yield UnrecognizedInput("a link, device or sparse file, not followed", path=place)
        return
    if info.size > budget.limits.member_bytes:
        yield too_large(place, budget.limits.member_bytes)
        return
    cut = False
    pieces: list[bytes] = []
    try:
        for piece in _pieces(cast("Pieces", member), place, budget):
            pieces.append(piece)  # noqa: PERF402 - what came before an error must stay
    except tarfile.TarError:
        cut = True
    try:
        inner = _whole_or_cut(place, b"".join(pieces), cut=cut)
    except EmptyInput as error:
        yield error
        return
    yield from _nested(inner, budget, depth)


def _nested(inner: SourceText, budget: Budget, depth: int) -> Iterator[Found]:
    """A member and what is in it; trouble inside one member leaves the others alone."""
    try:
        yield from expand(inner, budget, depth + 1)
    except InputError as error:
        _raise_if_spent(budget, error)
        yield error


def _raise_if_spent(budget: Budget, error: InputError) -> None:
    if budget.spent > budget.limits.total_bytes or budget.members > budget.limits.members:
        raise error


def _content(stream: Pieces, path: str, budget: Budget) -> bytes:
    return b"".join(_pieces(stream, path, budget))


def _pieces(stream: Pieces, path: str, budget: Budget) -> Iterator[bytes]:
    size = 0
    while piece := stream.read1(CHUNK):
        size += len(piece)
        if size > budget.limits.member_bytes:
            raise too_large(path, budget.limits.member_bytes)
        budget.spend(len(piece), path)
        yield piece


def _place(path: str, name: str) -> str:
    """The member's name behind the archive's; "" for hidden files and what macOS adds."""
    parts = [part for part in clean(name).split("/") if part not in ("", ".")]
    hidden = any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)
    return f"{path}{SEPARATOR}{'/'.join(parts)}" if parts and not hidden else ""


def _is_tar(head: bytes) -> bool:
    """Whether a tar header with a right checksum comes first; formats older than ``ustar`` have no magic number."""
    if len(head) < _BLOCK or not head[0]:
        return False
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return False
    return True
