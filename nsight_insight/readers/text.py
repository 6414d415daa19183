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


@dataclass
class SourceText:
    """One text input, decoded, with physical line numbers kept.

    Attributes:
        path: as the user gave it; "-" is standard input.
        data: the raw bytes.
        issues: decoding problems, to be passed on by the reader.
    """

    path: str
    data: bytes
    issues: list[Issue] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """The decoded content; undecodable bytes become U+FFFD and one issue."""
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
        if self.data[:4] == b"NVR\x00":
            return "an Nsight Compute binary report: run `ncu --import FILE --csv --page raw`"
        if self.data[:15] == b"SQLite format 3":
            return "an SQLite database: export with `nsys stats --format csv --report cuda_gpu_kern_sum`"
        if self.data.startswith(b"version https://git-lfs"):
            return "a Git LFS pointer, not the file itself: run `git lfs pull`"
        if b"\x00" in self.data[:4096] and not self.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "binary data"
        first = next((line.strip() for line in self.head if line.strip()), "")
        return f"first line: {first[:80]!r}"


def open_path(path: str | Path) -> SourceText:
    """Read a file whole, never writing to or beside it.

    Raises:
        MissingInput: no such file, a directory, or not readable.
        EmptyInput: no bytes.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise MissingInput(error.strerror or str(error), path=str(path)) from error
    return from_bytes(str(path), data)


def from_bytes(path: str, data: bytes) -> SourceText:
    """Wrap bytes that were read elsewhere (standard input).

    Raises:
        EmptyInput: no bytes, or only white space.
    """
    if not data.strip():
        raise EmptyInput("the file is empty", path=path)
    return SourceText(path, data)
