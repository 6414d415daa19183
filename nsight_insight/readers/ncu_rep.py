"""Binary reports of Nsight Compute (``.ncu-rep``, and ``.nsight-cuprof-report`` of 2019), through NVIDIA's library.

The library is the package ``ncu-report``, which is not free software and therefore an extra of ours; everything else in
this tool works without it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from nsight_insight.errors import EmptyInput, MissingInput, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._ncu_rep_blocks import MAGIC, Blocks, read_blocks
from nsight_insight.readers._ncu_rep_page import REPORT, actions_of, hot_lines, page_of
from nsight_insight.readers._ncu_table import build_table
from nsight_insight.readers.text import SourceText

NAME: Final = "ncu_rep"
_EXPORT: Final = "ncu --import FILE --csv --page raw"
_INSTALL: Final = (
    'reading an Nsight Compute report takes NVIDIA\'s library: pip install "nsight-insight[ncu-rep]"; '
    f"or print the report and give that instead: {_EXPORT}"
)


def sniff(text: SourceText) -> float:
    """1 for a report, whatever its extension."""
    return 1.0 if text.magic.startswith(MAGIC) else 0.0


def read(text: SourceText) -> ReadResult:
    """Every result of a report. Places are numbers of results, from 1, and names of metrics.

    Raises:
        UnrecognizedInput: no report, or NVIDIA's library is not installed.
        EmptyInput: a report without results, or cut off before the first.
        MissingInput: the file cannot be read.
    """
    if not sniff(text):
        raise UnrecognizedInput(f"not an Nsight Compute report ({text.describe()})", path=text.path)
    library = _library(text.path)
    with _on_disk(text) as file:
        return _read(library, file, text.path)


def _library(path: str) -> Any:
    try:
        import ncu_report
    except (ImportError, OSError) as error:
        raise UnrecognizedInput(_INSTALL, path=path) from error
    return ncu_report


@contextmanager
def _on_disk(text: SourceText) -> Iterator[Path]:
    """The report as a file: the library opens nothing else. A copy lies in a private folder until this ends."""
    if text.file is not None:
        yield text.file
        return
    with tempfile.TemporaryDirectory(prefix="nsight-insight-") as folder:
        copy = Path(folder) / "report.ncu-rep"
        copy.write_bytes(text.data)
        yield copy


def _read(library: Any, file: Path, path: str) -> ReadResult:
    try:
        blocks = read_blocks(file)
        actions = actions_of(library.load_report(str(file)))
    except OSError as error:
        raise MissingInput(error.strerror or str(error), path=path) from error
    except RuntimeError as error:
        raise UnrecognizedInput(f"NVIDIA's library cannot read the report: {error}", path=path) from error
    if not actions:
        why = "the report holds no results" if blocks.whole else "the report is cut off before its first result"
        raise EmptyInput(why, path=path)
    known = len(blocks.processes) == len(actions)
    page = page_of(actions, blocks.processes if known else [-1] * len(actions))
    table, issues = build_table(page, path, NAME)
    source = replace(table.source, report=REPORT, version=blocks.version)
    table = replace(table, source=source, hot_lines=hot_lines(actions, path))
    return ReadResult([table], [*_lost(blocks, len(actions), path), *issues])


def _lost(blocks: Blocks, read: int, path: str) -> list[Issue]:
    """What of the file is not among the results."""
    if not blocks.whole:
        text = f"the report is cut off, or of a kind that is not known: its first {read} results were read"
        return [Issue(Level.DATA_LOSS, text, Location(path))]
    if len(blocks.processes) > read:
        text = f"{len(blocks.processes) - read} of {len(blocks.processes)} results are of a kind that cannot be read"
        return [Issue(Level.DATA_LOSS, text, Location(path))]
    return []
