"""What nvprof prints, the profiler before Nsight: traces, summaries, metrics, unified memory; as text and as CSV.

nvprof knows GPUs up to compute capability 7.x. Its output may stand anywhere in a log, several runs or processes after
each other; each is a table of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.readers._ncu_banners import without_directories
from nsight_insight.readers._nvprof_lines import Part, heading_form
from nsight_insight.readers._nvprof_metrics import metrics_table
from nsight_insight.readers._nvprof_scan import Note, Scan, scan
from nsight_insight.readers._nvprof_tables import READER, timed_table
from nsight_insight.readers.text import SourceText

NAME: Final = READER
_CERTAIN: Final = 0.95
_BANNER: Final = re.compile(r"^==+\d*==+ (?:NVPROF is profiling|Profiling (?:result|application):)", re.MULTILINE)
_HEADING: Final = re.compile(
    r'^ *"?(?:Start"?(?:,| +)"?Duration|(?:Type"?(?:,| +)"?)?Time\(%\)"?(?:,| +)"?Time\b|Invocations +|'
    r'Device","Kernel","Invocations)',
    re.MULTILINE,
)
_BANNERS: Final = ("NVPROF is profiling", "Profiling result:", "Profiling application:")
_HEADINGS: Final = ("Duration", "Time(%)", "Invocations ", 'Device","Kernel","Invocations')
"""One of these is in every match of the two above; looking for them first is quicker."""
_SHOWN: Final = 5
_TOO_NEW: Final = (
    "nvprof does not support GPUs of compute capability 8.0 and later: there, nsys gives the times and ncu the metrics"
)


_UNJUDGED: Final = (
    "metrics are listed, but no rule judges by them: every one also needs a throughput as a share of its peak, where "
    "nvprof has levels from 0 to 10"
)


def sniff(text: SourceText) -> float:
    """0.95 where a table or a banner of nvprof is in the text."""
    content = text.text
    if any(piece in content for piece in _BANNERS) and _BANNER.search(content):
        return _CERTAIN
    if not any(piece in content for piece in _HEADINGS):
        return 0.0
    return _CERTAIN if any(heading_form(line) for line in _suspects(content)) else 0.0


def _suspects(content: str) -> Iterator[str]:
    for found in _HEADING.finditer(content):
        end = content.find("\n", found.start())
        yield content[found.start() : end if end >= 0 else len(content)].rstrip("\r")


def read(text: SourceText) -> ReadResult:
    """Every table of the text.

    Raises:
        EmptyInput: nvprof saw nothing.
        UnrecognizedInput: no table of nvprof.
    """
    found = scan(text.lines)
    result = ReadResult(issues=[*text.issues, *_notes(found, text.path)])
    for part in found.parts:
        table, issues = _read(part, text.path)
        result.issues += issues
        if len(table):
            result.tables.append(table)
    if not result.tables:
        raise _nothing(found, text)
    metrics = next((part for part in found.parts if part.form == "metrics"), None)
    if metrics is not None:
        result.issues.append(Issue(Level.INFO, _UNJUDGED, Location(text.path, metrics.line)))
    result.issues.append(Issue(Level.INFO, _TOO_NEW, Location(text.path, found.parts[0].line)))
    result.issues = list({(issue.level, issue.text): issue for issue in reversed(result.issues)}.values())[::-1]
    return result


def _read(part: Part, path: str) -> tuple[Table, list[Issue]]:
    return metrics_table(part, path) if part.form == "metrics" else timed_table(part, path)


def _notes(found: Scan, path: str) -> list[Issue]:
    """What nvprof says about the quality of the data; each remark once."""
    issues: list[Issue] = []
    firsts: dict[str, Note] = {}
    for note in found.notes:
        text = without_directories(note.text)
        firsts.setdefault(text, Note(note.kind, note.line, text))
    for note in firsts.values():
        place = Location(path, note.line)
        if note.kind == "nothing":
            issues.append(Issue(Level.INFO, f"nvprof says: {note.text} Unknown, not zero", place))
        elif note.kind == "error" or "invalid timestamps" in note.text:
            issues.append(Issue(Level.DATA_LOSS, f"nvprof says: {note.text}", place))
    others = [note for note in firsts.values() if note.kind in ("warning", "total")]
    others = [note for note in others if "invalid timestamps" not in note.text]
    issues += [Issue(Level.INFO, f"nvprof says: {note.text}", Location(path, note.line)) for note in others[:_SHOWN]]
    return issues


def _nothing(found: Scan, text: SourceText) -> EmptyInput | UnrecognizedInput:
    silent = next((note for note in found.notes if note.kind == "nothing"), None)
    if silent is not None:
        return EmptyInput(f"nvprof says: {silent.text}", path=text.path, line=silent.line)
    if found.parts:
        return EmptyInput("a table of nvprof without rows", path=text.path, line=found.parts[0].line)
    return UnrecognizedInput(
        "nvprof ran, but its tables are not here; nvprof --import-profile FILE --csv --print-gpu-trace prints them",
        path=text.path,
        line=1,
    )
