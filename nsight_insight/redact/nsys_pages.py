"""What nsys prints, in whatever form: tables, their banners and rules stay in their lines, the rest goes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.catalog.nsys_reports import Heading, ReportFormat
from nsight_insight.readers._nsys_banners import parse_banner, version_of, without_paths
from nsight_insight.readers._nsys_forms import find_grids
from nsight_insight.readers._nsys_grid import Grid
from nsight_insight.readers._nsys_scan import Block, scan
from nsight_insight.readers._nsys_text_scan import Section
from nsight_insight.readers.text import SourceText
from nsight_insight.redact.editor import Editor, renamed
from nsight_insight.redact.mask import OUTPUT, PATH

_LETTER: Final = re.compile(r"[A-Za-z_/~\\]")
_RANGES: Final = frozenset({"range", "nvtx range", "rangestack", "nametree", "name", "text"})
_BRACKETS: Final = re.compile(r"(?<=Processing \[)[^\]]*(?=\])")
_GENERATING: Final = re.compile(r"(Generating SQLite file )(.*) from (.*)")


@dataclass
class _Lines:
    """Which lines of a text belong to nsys; numbers from 0.

    Attributes:
        rows: lines of tables, where numbers stand in front of names.
        ranges: lines of rows -> the cells in them that name NVTX ranges.
    """

    rows: set[int] = field(default_factory=set)
    words: set[int] = field(default_factory=set)
    records: dict[int, tuple[int, frozenset[int]]] = field(default_factory=dict)
    ranges: dict[int, list[str]] = field(default_factory=dict)


def clean_nsys(text: SourceText, editor: Editor, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """As many lines as the text has."""
    found = _lines(text)
    index, lines = 0, text.lines
    while index < len(lines):
        line = lines[index]
        if index in found.records:
            count, places = found.records[index]
            yield from _record("\n".join(lines[index : index + count]), places, editor, pairs).split("\n")
            index += count
            continue
        if index in found.rows:
            yield _row(line, found.ranges.get(index, ()), editor, pairs)
        elif index in found.words or parse_banner(_shown(line), 1):
            yield renamed(_banner(_shown(line), editor), pairs)
        else:
            yield _dropped(line, editor)
        index += 1


def _lines(text: SourceText) -> _Lines:
    grids, rest = find_grids(text)
    found = _Lines(rows=set(grids.used))
    csv_tables = scan(rest)
    for section in grids.sections:
        found.words |= _prose(section, text.lines)
    for grid in grids.grids:
        _take_grid(grid, found)
    for block in csv_tables.blocks:
        _take_block(block, found)
    return found


def _take_grid(grid: Grid, found: _Lines) -> None:
    places = _range_places(grid.headings, grid.candidates)
    for number, cells in zip(grid.numbers, grid.rows, strict=True):
        if places and not grid.spread:
            found.ranges[number - 1] = [cells[place].strip() for place in sorted(places)]


def _take_block(block: Block, found: _Lines) -> None:
    found.words.add(block.line - 1)
    for first, last in block.bad:
        found.rows.update(range(first - 1, last))
    places = _range_places(block.headings, block.candidates)
    for number, record in zip(block.numbers, block.records, strict=True):
        found.records[number - 1] = record.count("\n") + 1, places


def _range_places(headings: Sequence[Heading], candidates: Sequence[ReportFormat]) -> frozenset[int]:
    """Columns that name NVTX ranges."""
    if not any(report.name.startswith("nvtx") for report in candidates):
        return frozenset()
    return frozenset(place for place, heading in enumerate(headings) if heading.key in _RANGES)


def _prose(section: Section, lines: Sequence[str]) -> set[int]:
    """Lines in which ``nsys analyze`` speaks about a rule, up to its table and behind it."""
    said = {text for text in section.prose if text}
    last = min(section.line + 2 * len(section.prose) + 8, len(lines))
    own = {index for index in range(section.line, last) if lines[index].strip() in said}
    return own | {index for index in range(section.line, len(lines)) if section.note and section.note in lines[index]}


def _record(record: str, places: frozenset[int], editor: Editor, pairs: Sequence[tuple[str, str]]) -> str:
    """A CSV record of a table."""
    if not (places and editor.hash_ranges):
        return "\n".join(_row(line, (), editor, pairs) for line in record.split("\n"))
    cells = next(csv.reader([record]))
    new = [editor.range(cell) if place in places else renamed(editor.mask.text(cell, figures=True), pairs)
           for place, cell in enumerate(cells)]  # fmt: skip
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(new)
    return out.getvalue()


def _row(line: str, ranges: Sequence[str], editor: Editor, pairs: Sequence[tuple[str, str]]) -> str:
    """A line of a table: numbers as they are, words without what identifies."""
    start = _LETTER.search(line)
    if start is None:
        return line
    head, tail = line[: start.start()], line[start.start() :]
    if editor.hash_ranges and ranges:
        for cell in ranges:
            head, tail = head.replace(cell, editor.range(cell)), tail.replace(cell, editor.range(cell), 1)
        return head + renamed(tail, pairs)
    return head + renamed(editor.mask.text(tail, figures=True), pairs)


def _banner(line: str, editor: Editor) -> str:
    """A line of nsys around its tables: files without the folders they are in, which may hold blanks."""
    found = parse_banner(line, 1)
    if found is None or found.kind == "report":
        line = _BRACKETS.sub(lambda match: _file(match[0], editor), line)
    elif generated := _GENERATING.fullmatch(line):
        line = f"{generated[1]}{_file(generated[2], editor)} from {_file(generated[3], editor)}"
    else:
        short = without_paths(line)
        if short != line.strip():
            editor.mask.drop(PATH, line)
        line = short
    return editor.mask.text(line)


def _file(path: str, editor: Editor) -> str:
    """The name of a file."""
    name = re.split(r"[/\\]", path)[-1]
    if name != path:
        editor.mask.drop(PATH, path)
    return name


def _dropped(line: str, editor: Editor) -> str:
    """Nothing of a line that is not nsys' own, but the release of nsys where it tells it."""
    if not line.strip():
        return ""
    version = version_of(line)
    if line.strip() == f"nsight-systems-{version}":
        return line
    editor.mask.drop(OUTPUT, line)
    return f"nsight-systems-{version}" if version else ""


def _shown(line: str) -> str:
    """What a terminal shows of a progress line that was redrawn."""
    return line.rpartition("\r")[2]
