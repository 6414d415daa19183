"""Input bytes to numbered lines: encodings, limits, nothing lost."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from nsight_insight.errors import EmptyInput, MissingInput
from nsight_insight.model.issues import Issue, Level, Location

MAX_BYTES: Final = 4 << 30
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


PROBE_BYTES: Final = 4096
MAGIC_NUMBERS: Final = (
    b"NVR\x00",
    b"NVIDIA Tegra Profiler Report",
    b"SQLite format 3\x00",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\x7fELF",
    b"PAR1",
)
"""Reports of Nsight Compute and Nsight Systems, SQLite, gzip, zip, xz, zstd, bzip2, ELF, Parquet."""


@dataclass
class SourceText:
    """One input with its content, decoded when it is asked for, physical line numbers kept.

    Attributes:
        path: as the user gave it; "-" is standard input.
        content: the raw bytes where they are in memory already; None for a file that is read when needed.
        file: the file on disk, for readers that open it themselves (databases); None for other inputs.
        issues: decoding problems, to be passed on by the reader.
    """

    path: str
    content: bytes | None = None
    file: Path | None = None
    issues: list[Issue] = field(default_factory=list)

    @cached_property
    def magic(self) -> bytes:
        """The first bytes, enough to recognise binary formats without reading a large file whole."""
        if self.content is not None:
            return self.content[:PROBE_BYTES]
        assert self.file is not None  # noqa: S101 - one of the two is always set
        with self.file.open("rb") as handle:
            return handle.read(PROBE_BYTES)

    @cached_property
    def data(self) -> bytes:
        """The raw bytes, read on first use.

        Raises:
            MissingInput: the file cannot be read.
        """
        if self.content is not None:
            return self.content
        try:
            return self.file.read_bytes() if self.file else b""
        except OSError as error:
            raise MissingInput(error.strerror or str(error), path=self.path) from error

    @property
    def binary(self) -> bool:
        """True for content that is no text: a known magic number, or many NUL bytes without a UTF-16 mark."""
        if self.magic.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return False
        return self.magic.startswith(MAGIC_NUMBERS) or self.magic.count(0) > len(self.magic) // 10

    @cached_property
    def text(self) -> str:
        """The decoded content; undecodable bytes become U+FFFD and one issue; empty for binary content."""
        if self.binary:
            return ""
        for bom, encoding in _BOMS:
            if self.data.startswith(bom):
                return self.data[len(bom) :].decode(encoding, errors="replace")
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            location = Location(self.path, line)
            self.issues.append(Issue(Level.INFO, "bytes that are not UTF-8 were replaced", location))
            return self.data.decode("utf-8", errors="replace")

    @cached_property
    def lines(self) -> list[str]:
        r"""Physical lines without their ends (``\n`` or ``\r\n``; a lone ``\r`` stays in the line)."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    @cached_property
    def head(self) -> list[str]:
        """The first 400 lines, for sniffing."""
        return self.lines[:400]

    def describe(self) -> str:
        """A phrase about what the content looks like, for error messages."""
        if self.magic[:4] == b"NVR\x00":
            return "an Nsight Compute binary report: run `ncu --import FILE --csv --page raw`"
        if self.magic[:15] == b"SQLite format 3":
            return "an SQLite database, but not one that Nsight Systems exported"
        if self.magic.startswith(b"version https://git-lfs"):
            return "a Git LFS pointer, not the file itself: run `git lfs pull`"
        if self.binary:
            return "binary data"
        first = next((line.strip() for line in self.head if line.strip()), "")
        return f"first line: {first[:80]!r}"


def open_path(path: str | Path) -> SourceText:
    """An input on disk, never written to or beside; its content is read when a reader asks for it.

    Raises:
        MissingInput: no such file, a directory, or not readable.
        EmptyInput: no bytes, or only white space.
    """
    source = SourceText(str(path), None, Path(path))
    try:
        empty = not source.magic.strip() and not source.data.strip()
    except OSError as error:
        raise MissingInput(error.strerror or str(error), path=str(path)) from error
    if empty:
        raise EmptyInput("the file is empty", path=str(path))
    return source


def from_bytes(path: str, data: bytes) -> SourceText:
    """Wrap bytes that were read elsewhere (standard input, a member of an archive).

    Raises:
        EmptyInput: no bytes, or only white space.
    """
    if not data.strip():
        raise EmptyInput("the file is empty", path=path)
    return SourceText(path, data)
