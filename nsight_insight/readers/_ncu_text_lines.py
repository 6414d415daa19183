"""The lines of ncu's text pages, one grammar for 2019 to 2026.

A table is sliced by the dashes above and below it: units may be blank, labels and values hold blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_PROCESS: Final = re.compile(r"\[(\d{1,10})\] \S.*@\S+\s*")
_SIZE: Final = r"\((\d{1,12}), (\d{1,12}), (\d{1,12})\)"
_DEVICE: Final = r"Device (?P<device>\d{1,4}), CC (?P<cc>\d{1,2}\.\d)"
_TAIL: Final = (
    rf"(?:Context (?P<context>\d{{1,10}}), Stream (?P<stream>\d{{1,10}})(?:, {_DEVICE})?"
    rf"|(?:{_DEVICE.replace('device', 'device2').replace('P<cc>', 'P<cc2>')}, )?Invocations (?P<count>\d{{1,12}}))"
)
_LAUNCH: Final = re.compile(
    rf"(?P<indent>\s*)(?P<name>\S.*?)(?: (?P<grid>{_SIZE})x(?P<block>{_SIZE}))?"
    rf"(?:, (?P<time>\d{{4}}-[A-Z][a-z]{{2}}-\d{{2}} \d{{2}}:\d{{2}}:\d{{2}}))?, {_TAIL}\s*"
)
_OF_DEVICE: Final = re.compile(rf"  {_DEVICE}\s*")
_SECTION: Final = re.compile(r"\s{2,}Section: (\S.*?)\s*")
_DASHES: Final = re.compile(r"\s*-+(?: -+)*\s*")
_RUN: Final = re.compile(r"-+")
_RULE: Final = re.compile(r"\s{4,8}(OPT|WRN|INF|OK|ERR) {2,4}(\S.*?)\s*")
_STACK: Final = re.compile(r"\s{2,}NVTX Push/Pop Stack for Thread (\d{1,18}):\s*")
_RANGE: Final = re.compile(r"\s{6,}<\d+,(.*)>\s*")
LABELS: Final = ("Metric Name", "Metric Unit")
VALUES: Final = ("Metric Value",)
SUMMARY: Final = ("Minimum", "Maximum", "Average")


@dataclass(frozen=True)
class LaunchLine:
    """The line that opens a launch, or a kernel's launches in a summary.

    Attributes:
        columns: heading of its parts -> character column, from 1.
        count: launches in a summary, "" elsewhere.
    """

    name: str
    grid: str
    block: str
    context: str
    stream: str
    device: str
    cc: str
    count: str
    columns: dict[str, int]


@dataclass(frozen=True)
class TextCell:
    """A slice of a line, stripped, and the character column it begins in, from 1."""

    text: str
    column: int


def process_of(line: str) -> str:
    """The process id of ``[963] python3@host``, "" for any other line."""
    found = _PROCESS.fullmatch(line) if line.startswith("[") else None
    return found[1] if found else ""


def launch_of(line: str) -> LaunchLine | None:
    """The launch a line opens."""
    if ", Context " not in line and "Invocations " not in line:
        return None
    found = _LAUNCH.fullmatch(line)
    if found is None or not (found["grid"] or found["time"] or found["device"]):
        return None
    parts = {"name": "name", "grid": "grid", "block": "block", "context": "context", "stream": "stream"}
    parts["device"], parts["cc"] = ("device", "cc") if found["device"] else ("device2", "cc2")
    texts = {part: found[group] or "" for part, group in parts.items()}
    columns = {part: found.start(group) + 1 for part, group in parts.items() if found[group]}
    return LaunchLine(**texts, count=found["count"] or "", columns=columns)


def device_of(line: str) -> tuple[str, str]:
    """Device and compute capability of the line above a device's launches in a summary; empty for other lines."""
    found = _OF_DEVICE.fullmatch(line)
    return (found["device"], found["cc"]) if found else ("", "")


def section_of(line: str) -> str:
    """The title of the section a line opens, "" for any other line."""
    found = _SECTION.fullmatch(line) if "Section: " in line else None
    return found[1] if found else ""


def dashes_of(line: str) -> list[tuple[int, int]]:
    """Start and end of each run of dashes, for a line of nothing else."""
    if "--" not in line or not _DASHES.fullmatch(line):
        return []
    return [run.span() for run in _RUN.finditer(line)]


def rule_of_line(line: str) -> tuple[str, TextCell] | None:
    """Type and first words of a rule result."""
    found = _RULE.fullmatch(line)
    return (found[1], TextCell(found[2], found.start(2) + 1)) if found else None


def stack_of(line: str) -> str:
    """The thread of a line that opens a stack of NVTX ranges, "" for any other line."""
    found = _STACK.fullmatch(line) if "NVTX" in line else None
    return found[1] if found else ""


def range_of(line: str) -> str | None:
    """The name in ``<0,name>``, a line of such a stack."""
    found = _RANGE.fullmatch(line)
    return found[1] if found else None


def cells_of(line: str, spans: Sequence[tuple[int, int]]) -> list[TextCell] | None:
    """The cells of a table's line, some of them maybe empty; None when the line is no row of the table."""
    line = line.rstrip()
    if line[: spans[0][0]].strip():
        return None
    if any(line[end:start].strip() for (_, end), (start, _) in pairwise(spans)):
        return _overflowing(line, len(spans))
    return [_cell(line, start, end) for start, end in spans[:-1]] + [_cell(line, spans[-1][0], len(line))]


def continued(cells: Sequence[TextCell], more: Sequence[TextCell], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a line holds what was wrapped of the row above it: pages of a fixed width wrap cells."""
    rest = not any(cell.text for cell in more[1:])
    return not more[0].text or (rest and len(cells[0].text) == spans[0][1] - spans[0][0])


def joined(cells: Sequence[TextCell], more: Sequence[TextCell], spans: Sequence[tuple[int, int]]) -> list[TextCell]:
    """A row out of two lines; a word that fills its column was cut, not wrapped."""
    row = []
    for cell, rest, (start, end) in zip(cells, more, spans, strict=True):
        between = "" if len(cell.text) == end - start else " "
        row.append(TextCell((cell.text + between + rest.text).strip(), cell.column) if rest.text else cell)
    return row


def _cell(line: str, start: int, end: int) -> TextCell:
    text = line[start:end]
    return TextCell(text.strip(), start + len(text) - len(text.lstrip()) + 1)


def _overflowing(line: str, count: int) -> list[TextCell] | None:
    """Names of metrics hold no blanks, so that one wider than its column can be told from its unit and value."""
    words = [TextCell(word[0], word.start() + 1) for word in re.finditer(r"\S+", line)]
    if "__" not in words[0].text or not count - 1 <= len(words) <= count:
        return None
    return words if len(words) == count else [words[0], TextCell("", 0), *words[1:]]
