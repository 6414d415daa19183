"""What the formats for machines share: rounded numbers, unique fingerprints, places in text files."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from nsight_insight.model.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nsight_insight.model.finding import Finding
    from nsight_insight.model.issues import Location
    from nsight_insight.model.profile import Source

STDIN: Final = "-"
_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]")


def number(value: float | None) -> float | int | None:
    """Twelve significant digits, so that the last bit of a sum cannot change the bytes; None when unknown."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.12g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def json_text(value: object) -> str:
    """A JSON document, ending in a newline; the same value gives the same bytes.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def seconds(ns: float) -> float | int | None:
    """Nanoseconds as seconds, rounded as ``number``."""
    return number(ns / 1e9)


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """One identity per finding, each different from the others.

    Findings on kernels of one short name (two instances of a template) share ``Finding.fingerprint``; they
    are told apart by the whole name, in one dialect.
    """
    shared = Counter(finding.fingerprint for finding in findings)
    seen: Counter[str] = Counter()
    unique = []
    for finding in findings:
        name = finding.fingerprint
        if shared[name] > 1:
            name = f"{name}-{_digest(member.key or member.kernel for member in finding.subject.members)}"
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return unique


def _digest(texts: Iterable[str]) -> str:
    joined = "\n".join(sorted(texts))
    return hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()[:8]


def path_of(location: Location) -> str:
    """As ``as_posix``, of a location."""
    return as_posix(location.path)


def as_posix(path: str) -> str:
    """The path with forward slashes, relative where the user gave it so; ``-`` is standard input."""
    printable = clean(path)
    return printable.replace("\\", "/") if _WINDOWS.match(printable) else PurePath(printable).as_posix()


class Places:
    """Which locations are lines, and columns, that an editor could jump to.

    A database gives a rowid and a binary report the number of a result; the column of a CSV cell is its
    field's number. Only plain text has columns that count characters.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self._binary: set[str] = set()
        self._characters: set[str] = set()
        for source in sources:
            origins = [origin for column in source.columns.values() for origin in column]
            if origins and all(origin.column is None and origin.columns is None for origin in origins):
                self._binary.add(source.path)
            if any(origin.columns is not None for origin in origins):
                self._characters.add(source.path)

    def line(self, location: Location) -> int | None:
        """The line of a text file, None where the location has none."""
        if location.table or location.path in self._binary or (location.line or 0) < 1:
            return None
        return location.line

    def column(self, location: Location) -> int | None:
        """The character on that line, None where the column counts fields or is unknown."""
        known = location.path in self._characters and self.line(location) is not None
        return location.column if known and (location.column or 0) >= 1 else None
