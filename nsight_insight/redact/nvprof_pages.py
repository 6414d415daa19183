"""What nvprof prints: tables and banners stay in their lines, the program's output and command line go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from nsight_insight.readers._nvprof_scan import BANNER, Scan, scan
from nsight_insight.redact.editor import Editor, renamed
from nsight_insight.redact.mask import COMMAND, OUTPUT

_COMMAND: Final = re.compile(r"(?<=, command: ).*|(?<=Profiling application: ).*")
_AROUND: Final = re.compile(r'\s*(?:Device ".*"|Kernel: .+|Range ".*")\s*')
REMOVED: Final = "removed"


def clean_nvprof(lines: Sequence[str], editor: Editor, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """As many lines as were given."""
    kept = _lines(scan(lines))
    for index, line in enumerate(lines):
        shown = line.rpartition("\r")[2]
        if index in kept or _AROUND.fullmatch(shown):
            yield renamed(editor.mask.text(shown, figures=True), pairs)
        elif BANNER.match(shown):
            yield editor.mask.text(_COMMAND.sub(lambda found: _command(found[0], editor), shown))
        elif line.strip():
            editor.mask.drop(OUTPUT, line)
            yield ""
        else:
            yield ""


def _lines(found: Scan) -> set[int]:
    """Lines of tables and remarks, from 0: headings, rows and what stands between a heading and its first row."""
    kept = {note.line - 1 for note in found.notes}
    for part in found.parts:
        first = part.numbers[0] if part.numbers else part.line
        kept.update(range(part.line - 1, min(first, part.line + 2)))
        kept.update(number - 1 for number in (*part.numbers, *part.bad))
    return kept


def _command(text: str, editor: Editor) -> str:
    if text.strip() != REMOVED:
        editor.mask.drop(COMMAND, text)
    return REMOVED
