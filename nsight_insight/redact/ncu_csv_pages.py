"""Pages that ncu prints as CSV: every record stays in its line, cells that identify are changed, the rest goes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.readers._ncu_banners import banner_of
from nsight_insight.readers._ncu_layout import ID, fields, heading_of, other_page
from nsight_insight.redact.editor import Editor, renamed
from nsight_insight.redact.mask import COMMAND, HOST, OUTPUT, PROCESS

MAX_RECORD_LINES: Final = 64
"""As many lines may one record have (``readers/_ncu_scan.py``)."""
SOURCE_CODE: Final = "line of source code"
REMOVED: Final = "removed"
_KERNEL, _HOST, _PROCESS, _FILE = "Kernel Name", "Host Name", "Process Name", "File Name"
_RANGES: Final = ("thread Domain:", "Id:Domain:", "Range:PL_Type", "Domain")
_PROGRESS: Final = re.compile(r"==PROF== [A-Z][a-z]+")
_BEHIND: Final = re.compile(r'"\d+","\d+","')
_LETTER: Final = re.compile(r"[A-Za-z]")
_SESSION: Final = ("Launch Attribute", "Session Attribute", "Device Attribute")
_SESSION_KEPT: Final = frozenset({"Nsight Compute Target", "CUDA Version", "PerfWorks"})
_NUMBERED: Final = ("Line No", "#")


@dataclass
class CsvPages:
    """Goes through the lines of one input."""

    editor: Editor
    pairs: Sequence[tuple[str, str]] = ()
    heading: Sequence[str] = ()
    bare: bool = False
    _places: dict[int, str] = field(default_factory=dict)
    _code: int = -1

    def clean(self, lines: Sequence[str]) -> Iterator[str]:
        """As many lines as were given."""
        index = 0
        while index < len(lines):
            record, end = _record(lines, index)
            new = self._line(record)
            yield from (new.split("\n") + [""] * (end - index))[: end - index]
            index = end

    def _line(self, line: str) -> str:
        if line.startswith('"'):
            return self._quoted(line)
        if (said := said_by_ncu(line, self.editor, self.pairs)) is not None:
            return said
        if found := self._behind(line):
            self.editor.mask.drop(OUTPUT, line[: line.find(found)])
            return self._quoted(found)
        if bare := heading_of(line, 1):
            self._open([cell.strip() for cell in bare.headings], bare=True)
            return line
        if self.bare and line.count(",") >= len(self.heading) - 1:
            return self._bare(line)
        if line.strip():
            self.editor.mask.drop(OUTPUT, line)
        return ""

    def _behind(self, line: str) -> str:
        """The record or heading that stands behind other output in a line."""
        if (at := line.find(f'"{ID}",')) > 0:
            return line[at:]
        found = _BEHIND.search(line) if self.heading else None
        return line[found.start() :] if found else ""

    def _open(self, cells: Sequence[str], *, bare: bool = False) -> None:
        self.heading, self.bare = cells, bare
        self._places = {
            place: heading
            for place, heading in enumerate(cells)
            if heading in (_KERNEL, _HOST, _PROCESS) or heading.startswith(_RANGES)
        }
        self._code = cells.index("Source") if "Source" in cells and any(name in cells for name in _NUMBERED) else -1

    def _quoted(self, line: str) -> str:
        cells = fields(line)
        if cells is None:
            self.editor.mask.drop("damaged record", line)
            return ""
        if _is_heading(cells):
            self._open(cells)
            return line
        if len(cells) <= 3 and cells[0] in (_KERNEL, _FILE):
            self._open(())
            what = self.editor.kernel(cells[1]) if cells[0] == _KERNEL else self.editor.mask.text(cells[1])
            return line if what == cells[1] else _joined([cells[0], what, *cells[2:]], line)
        if not self.heading:
            self.editor.mask.drop(OUTPUT, line)
            return ""
        new = self._cells(cells)
        return line if new == cells else _joined(new, line)

    def _bare(self, line: str) -> str:
        cells = fields(line)
        if cells is None:
            return ""
        new = self._cells(cells)
        if new == cells:
            return line
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow(new)
        return out.getvalue()

    def _cells(self, cells: Sequence[str]) -> list[str]:
        if self.heading[0] in _SESSION and self.heading[0] != "Device Attribute":
            return self._session(cells)
        return [self._cell(place, cell, cells) for place, cell in enumerate(cells)]

    def _cell(self, place: int, cell: str, cells: Sequence[str]) -> str:
        if not cell or not _LETTER.search(cell):
            return cell
        heading = self._places.get(place, "")
        if heading == _KERNEL:
            return self.editor.kernel(cell)
        if heading in (_HOST, _PROCESS):
            return self.editor.mask.name(HOST if heading == _HOST else PROCESS, cell) if cell != "127.0.0.1" else cell
        if heading:
            return ranges(self.editor, cell)
        if place == self._code and not any(other.startswith("0x") for other in cells[:place]):
            self.editor.mask.drop(SOURCE_CODE, cell)
            return REMOVED if cell.strip() and cell != REMOVED else cell
        return self.editor.mask.text(cell, figures=True)

    def _session(self, cells: Sequence[str]) -> list[str]:
        """The run in words: command line, host, system, processes. Only releases stay."""
        if cells[0] in _SESSION_KEPT or len(cells) < 2 or cells[1] in (REMOVED, "Value"):
            return list(cells)
        if cells[1]:
            self.editor.mask.drop(PROCESS if cells[0].isdigit() else attribute_kind(cells[0]), cells[1])
        return [cells[0], REMOVED, *cells[2:]]


def attribute_kind(name: str) -> str:
    """What a session attribute is about."""
    return HOST if "Name" in name else COMMAND if "Command" in name else "session attribute"


def ranges(editor: Editor, cell: str) -> str:
    """The NVTX cell of a launch: names of ranges change, the marks around them stay."""
    if not editor.hash_ranges:
        return editor.mask.text(cell)
    return re.sub(r"[^:\"]+", lambda found: found[0] if _mark(found[0]) else editor.range(found[0]), cell)


def _mark(text: str) -> bool:
    """What ncu writes between the colons of a state: types, colours, the default domain, the thread."""
    return bool(re.fullmatch(r"\s*(?:\d+\s+)?|<default domain>|none|RGB|ARGB|ASCII|UNICODE|REGISTERED|0x[0-9a-fA-F]+|"
                             r"\d+|[A-Z][A-Z0-9_]*", text))  # fmt: skip


def _is_heading(cells: Sequence[str]) -> bool:
    if ID in cells and _KERNEL in cells:
        return True
    return bool(other_page(_joined(cells, ""))) and not (cells[0] == _KERNEL and len(cells) <= 3)


def _joined(cells: Sequence[str], line: str) -> str:
    """Cells as ncu quotes them; a record that ended with a comma still does."""
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    return ",".join([*quoted[:-1], ""] if line.endswith(",") and not cells[-1] else quoted)


def said_by_ncu(line: str, editor: Editor, pairs: Sequence[tuple[str, str]]) -> str | None:
    """A warning, an error, or the first words of a progress line of ncu; None for other lines."""
    if banner := banner_of(line, 1):
        return renamed(editor.mask.text(line[banner.start :]), pairs)
    found = _PROGRESS.search(line)
    return f"{found[0]} " if found else None


def _record(lines: Sequence[str], index: int) -> tuple[str, int]:
    """The line at ``index``, with those behind it as long as a quote is open."""
    line = lines[index]
    if not line.startswith('"') or line.count('"') % 2 == 0:
        return line, index + 1
    parts = [line]
    for end in range(index + 1, min(index + MAX_RECORD_LINES, len(lines))):
        if lines[end].startswith("=="):
            break
        parts.append(lines[end])
        if lines[end].count('"') % 2:
            return "\n".join(parts), end + 1
    return line, index + 1
