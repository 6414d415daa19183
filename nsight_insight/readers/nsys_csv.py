"""Tables of ``nsys stats --format csv``: one file per report, or everything on standard output.

Tables are found by their headings anywhere in the text, so banners, blank lines and program output around them do
no harm; columns are found by heading, never by position. See ``catalog/nsys_reports.yaml`` for the reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nsight_insight.catalog.nsys_reports import fitting_reports
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers._nsys_banners import parse_banner
from nsight_insight.readers._nsys_read import read_tables
from nsight_insight.readers._nsys_scan import TIME_UNITS, heading_of, other_format
from nsight_insight.readers.text import SourceText

NAME: Final = "nsys_csv"
_CERTAIN: Final = 0.95
_BANNERS_ONLY: Final = 0.5
_OTHER: Final = 0.2
_UNKNOWN: Final = 0.15
_HINTS: Final = ("(ns)", "(us)", "(ms)", "(s)", "(%)", "(MB)", "SKIPPED: ")
"""One of these is in every match of ``_HINT``; looking for them first is quicker."""
_HINT: Final = re.compile(r"\((?:ns|us|ms|s|%|MB)\)|^SKIPPED: ", re.MULTILINE)


def sniff(text: SourceText) -> float:
    """0.95 where a table of nsys is in the text, less for its banners or its other formats."""
    best = 0.0
    for line in _suspects(text):
        headings = heading_of(line)
        if fitting_reports(headings):
            return _CERTAIN
        if any(item.unit in TIME_UNITS for item in headings):
            best = max(best, _UNKNOWN)
        banner = parse_banner(line, 1)
        if banner and banner.kind == "skipped":
            best = max(best, _BANNERS_ONLY)
        elif other_format(line):
            best = max(best, _OTHER)
    return best


def _suspects(text: SourceText) -> Iterator[str]:
    """Lines that may tell: the first ones, then those further down that hold a unit or a banner."""
    yield from text.head
    content = text.text
    if not any(piece in content for piece in _HINTS):
        return
    for found in _HINT.finditer(content):
        start = content.rfind("\n", 0, found.start()) + 1
        end = content.find("\n", found.start())
        yield content[start : end if end >= 0 else len(content)].rstrip("\r")


def read(text: SourceText) -> ReadResult:
    """Every table of the text, those that are printed in another form included.

    Raises:
        EmptyInput: nsys had nothing to report, or only reports that are not analysed.
        UnrecognizedInput: no table of nsys.
    """
    return read_tables(text)
