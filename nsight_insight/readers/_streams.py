"""Compressed bytes to plain ones, piece by piece, within limits; a stream that ends early ends quietly and says so."""

from __future__ import annotations

import io
import lzma
import zlib
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, Final, Protocol

from nsight_insight.errors import InputError
from nsight_insight.readers._budget import RATIO_FROM, too_dense, too_large

CHUNK: Final = 1 << 20
_ZSTD_INPUT: Final = 4096
"""Bytes fed to zstandard at a time: its blocks hold at most 128 KiB in 4 bytes, so 128 MiB come out at worst."""
_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    *((bytes((low, 0x2A, 0x4D, 0x18)), "zstd") for low in range(0x50, 0x60)),  # skippable frames, as pzstd writes
)
_BZIP2: Final = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
"""What follows ``BZh`` and a digit: a block, or the end of an empty stream. A text may begin with BZh, too."""
DAMAGE: Final = (zlib.error, lzma.LZMAError, OSError, OverflowError, ValueError)
"""What decompressors and archives raise for bytes that cannot be theirs."""


def compression_of(head: bytes) -> str:
    """``gzip``, ``xz``, ``zstd`` or ``bzip2`` by the first bytes, "" for anything else."""
    if head[:3] == b"BZh" and head[3:4].isdigit() and head[4:10] in _BZIP2:
        return "bzip2"
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), "")


class Pieces(Protocol):
    """A stream read piece by piece."""

    def read1(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


@dataclass
class Guarded:
    """A decompressed stream that stops at the limits.

    Attributes:
        stream: what decompresses.
        source: the compressed file, whose position tells the ratio.
        cap: bytes that may come out.
        ratio: how many times longer than the compressed bytes the others may be.
        truncated: True once the compressed bytes have ended too early.
    """

    stream: Pieces
    source: IO[bytes]
    path: str
    cap: int
    ratio: float
    truncated: bool = False
    _out: int = 0
    _ahead: bytes = b""

    def peek(self, size: int) -> bytes:
        """The first bytes, to be read again; less than ``size`` only at the end."""
        while len(self._ahead) < size and (piece := self._next(size)):
            self._ahead += piece
        return self._ahead

    def read1(self, size: int = CHUNK, /) -> bytes:
        """At most ``size`` bytes; none at the end.

        Raises:
            InputError: beyond a limit, or damaged.
        """
        if self._ahead:
            piece, self._ahead = self._ahead[:size], self._ahead[size:]
            return piece
        return self._next(size)

    read = read1

    def _next(self, size: int) -> bytes:
        try:
            piece = self.stream.read1(min(size, CHUNK))
        except EOFError:
            self.truncated = True
            return b""
        except DAMAGE as error:
            raise InputError(f"damaged compressed data ({error})", path=self.path) from error
        self._out += len(piece)
        if self._out > self.cap:
            raise too_large(self.path, self.cap)
        if self._out > RATIO_FROM and self._out > self.ratio * max(self.source.tell(), 1):
            raise too_dense(self.path, self.ratio)
        return piece


def open_stream(kind: str, source: IO[bytes], path: str) -> Pieces:
    """What decompresses ``source``.

    Raises:
        InputError: zstd without a package that reads it.
    """
    if kind == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=source, mode="rb")
    if kind == "xz":
        return lzma.LZMAFile(source)
    if kind == "bzip2":
        import bz2

        return bz2.BZ2File(source)
    return _zstd(source, path)


def _zstd(source: IO[bytes], path: str) -> Pieces:
    for stream in (_StandardZstd, _Zstandard):
        try:
            return io.BufferedReader(stream(source))
        except ImportError:
            continue
    text = "compressed with zstd, which needs a package: pip install 'nsight-insight[zstd]'"
    raise InputError(text, path=path)


class _StandardZstd(io.RawIOBase):
    """The standard library of Python 3.14 and newer; its own errors become those of ``DAMAGE``."""

    def __init__(self, source: IO[bytes]) -> None:
        self._package: Any = import_module("compression.zstd")
        self._stream: Any = self._package.ZstdFile(source)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            piece = self._stream.read1(len(buffer))
        except self._package.ZstdError as error:
            raise ValueError(str(error)) from error
        buffer[: len(piece)] = piece
        return len(piece)


class _Zstandard(io.RawIOBase):
    """The ``zstandard`` package as a raw stream that tells when a frame is cut, which its own reader does not."""

    def __init__(self, source: IO[bytes]) -> None:
        self._package: Any = import_module("zstandard")
        self._source = source
        self._frame: Any = None
        self._ready = memoryview(b"")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._ready and self._more():
            pass
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _more(self) -> bool:
        """Decompress some more; False at the end of the last frame."""
        piece = self._left or self._source.read(_ZSTD_INPUT)
        self._left = b""
        if not piece:
            if self._frame is not None:
                raise EOFError("the last frame is cut")
            return False
        if self._frame is None:
            self._frame = self._package.ZstdDecompressor().decompressobj()
        try:
            self._ready = memoryview(self._frame.decompress(piece))
        except self._package.ZstdError as error:
            raise ValueError(str(error)) from error
        if self._frame.eof:
            self._left, self._frame = self._frame.unused_data, None
        return True
