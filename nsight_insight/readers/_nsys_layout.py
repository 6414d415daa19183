"""How the lines of one printed table of nsys fall into cells: columns under dashes, boxes, tabs."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

Spans = tuple[tuple[int, int], ...]

_MARKS: Final = re.compile(r"[ \t]*(?:(?:#|//|>|;|\*)+[ \t]*)?")
_DASHES: Final = re.compile(r"-{2,}(?: +-{2,})+ *")
_BORDER: Final = re.compile(r"\+(?:-+\+){2,}[ \t]*")
_GAP: Final = re.compile(r" {2,}")
_TABS: Final = 2


class Layout(Protocol):
    """Splits lines of one table."""

    def headings(self, line: str) -> list[str]:
        """The texts of the heading line."""

    def cells(self, line: str) -> list[str] | None:
        """As many cells as there are headings; None for a line that does not fit."""


@dataclass(frozen=True)
class Columns:
    """Columns under a line of dashes, which gives their exact places.

    Attributes:
        mark: what stands before every line: blanks, and a comment sign where the table was pasted into a program.
        loose: every column but the last holds numbers, so that a line that lost blanks can still be split.
    """

    spans: Spans
    mark: str = ""
    loose: bool = False

    def headings(self, line: str) -> list[str]:
        """By the blanks between them: the heading line may be shifted against the dashes."""
        texts = _GAP.split(self._unmarked(line).strip())
        if len(texts) == len(self.spans):
            return texts
        starts = [start for start, _ in self.spans]
        return [line[a:b].strip() for a, b in zip(starts, [*starts[1:], len(line)], strict=True)]

    def cells(self, line: str) -> list[str] | None:
        line = self._unmarked(line)
        return self._cut(line) or self._cut(self._shifted(line))

    def first(self, line: str) -> str:
        """What stands under the first heading, "" when the line is not divided there."""
        (start, end), (following, _) = self.spans[:2]
        line = self._unmarked(line)
        return "" if line[:start].strip() or line[end:following].strip() else line[start:end].strip()

    def split(self, line: str) -> list[str] | None:
        """Cells of a line whose blanks are not those of the table."""
        if not self.loose:
            return None
        parts = line.split(None, len(self.spans) - 1)
        parts += [""] * (len(self.spans) - 1 == len(parts))  # a name may be empty
        return parts if len(parts) == len(self.spans) else None

    def _unmarked(self, line: str) -> str:
        sign = self.mark.strip()
        if not sign:
            return line
        return line.replace(sign, " " * len(sign), 1) if line.lstrip().startswith(sign) else line

    def _cut(self, line: str) -> list[str] | None:
        found = self._pattern.fullmatch(line.ljust(self.spans[-1][0]))
        return [cell.strip() for cell in found.groups()] if found else None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Cells at their places and nothing but blanks between them; the last one reaches to the end of the line."""
        parts, end = [], 0
        for start, stop in self.spans[:-1]:
            parts.append(f" {{{start - end}}}(.{{{stop - start}}})")
            end = stop
        return re.compile("".join([*parts, f" {{{self.spans[-1][0] - end}}}(.*)"]), re.DOTALL)

    def _shifted(self, line: str) -> str:
        """A line without its leading blanks, moved so that its first number ends where the first column does."""
        line = line.lstrip()
        width = len(line.split(" ", 1)[0])
        return " " * (self.spans[0][1] - width) + line


@dataclass(frozen=True)
class Boxes:
    """Cells between bars."""

    spans: Spans

    def headings(self, line: str) -> list[str]:
        return [cell.strip() for cell in line.strip().strip("|").split("|")]

    def cells(self, line: str) -> list[str] | None:
        if all(line[start - 1 : start] == "|" for start, _ in self.spans) and line.rstrip().endswith("|"):
            ends = [stop for _, stop in self.spans[:-1]]
            return [line[a:b].strip() for (a, _), b in zip(self.spans, [*ends, line.rindex("|")], strict=True)]
        inner = line.strip()
        if not (inner.startswith("|") and inner.endswith("|") and len(inner) > 1):
            return None
        parts = inner[1:-1].split("|", len(self.spans) - 1)
        return [part.strip() for part in parts] if len(parts) == len(self.spans) else None


@dataclass(frozen=True)
class Tabs:
    """Cells between tabs."""

    count: int

    def headings(self, line: str) -> list[str]:
        return split_tabs(line)

    def cells(self, line: str) -> list[str] | None:
        cells = split_tabs(line)
        if len(cells) != self.count:
            cells = line.split("\t")
        return cells if len(cells) == self.count else None


def split_tabs(line: str) -> list[str]:
    """The cells of a line of TSV; quotes that do not pair are part of the text."""
    if '"' in line:
        try:
            return next(csv.reader([line], delimiter="\t", strict=True), [])
        except csv.Error:
            pass
    return line.split("\t")


def rule_line(line: str) -> Columns | Boxes | None:
    """The layout that a line of dashes shows, or None."""
    if "--" not in line:
        return None
    found = _MARKS.match(line)
    start = found.end() if found else 0
    if _DASHES.fullmatch(line, start):
        return Columns(_spans(line, "-", start), line[:start])
    if _BORDER.fullmatch(line, start):
        return Boxes(_spans(line, "-", start))
    return None


def tabbed(line: str) -> Tabs | None:
    """The layout of a line with tabs, or None for one with too few of them."""
    count = line.count("\t") + 1
    return Tabs(count) if count > _TABS else None


def _spans(line: str, sign: str, start: int) -> Spans:
    return tuple(found.span() for found in re.compile(f"{re.escape(sign)}+").finditer(line, start))


def all_but_last(figures: Sequence[int], count: int) -> bool:
    """True when only the last of ``count`` columns is no figure."""
    return set(range(count)) - set(figures) == {count - 1}
