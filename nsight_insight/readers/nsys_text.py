"""Tables that nsys prints for people, in every release since 2019.

``nsys profile --stats=true``, ``nsys stats`` in its column, table, TSV, JSON and HTML forms, the ``nsys nvprof``
wrapper, and ``nsys analyze``; alone, or inside job logs and documents with anything around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nsight_insight.catalog.nsys_reports import fitting_reports
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers import _nsys_html, _nsys_json
from nsight_insight.readers._nsys_grid import headings_of
from nsight_insight.readers._nsys_layout import rule_line, tabbed
from nsight_insight.readers._nsys_read import read_tables
from nsight_insight.readers._nsys_text_scan import READER, maybe, shown
from nsight_insight.readers.text import SourceText

NAME: Final = READER
_CERTAIN: Final = 0.95
_LIKELY: Final = 0.6
_TITLE: Final = re.compile(r"^ \*\* .+ \([a-z0-9_]+\):", re.MULTILINE)
_KEY: Final = re.compile(r'"[A-Z][A-Za-z/ ]* \((?:ns|us|ms|s|%|MB)\)": ')
_CELL: Final = re.compile(r"<t[hd][^>]*>\s*[A-Z][A-Za-z/ ]* ?\((?:ns|us|ms|s|%|MB)\)", re.IGNORECASE)
_BANNER: Final = re.compile(r"^\[\d+/\d+\] Executing '\w+' stats report|^Generating .* Statistics\.\.\.", re.MULTILINE)


def sniff(text: SourceText) -> float:
    """0.95 where a table of nsys is printed in the text, less for what nsys writes around them."""
    content = text.text
    if any(_fits(texts) for texts in _suspects(text)):
        return _CERTAIN
    if _nsys_json.MAYBE.search(content) and _KEY.search(content):
        return _CERTAIN
    if _nsys_html.MAYBE.search(content) and _CELL.search(content):
        return _CERTAIN
    titled = " ** " in content and _TITLE.search(content)
    announced = ("Executing '" in content or "Statistics..." in content) and _BANNER.search(content)
    return _LIKELY if titled or announced else 0.0


def read(text: SourceText) -> ReadResult:
    """Every table of the text, those in CSV form included.

    Raises:
        EmptyInput: nsys had nothing to report, or only reports that are not analysed.
        UnrecognizedInput: no table of nsys.
    """
    return read_tables(text)


def _fits(texts: list[str]) -> bool:
    return bool(fitting_reports(headings_of(texts)))


def _suspects(text: SourceText) -> Iterator[list[str]]:
    """Texts of lines that may be headings: those above a line of dashes, and those with tabs."""
    if not maybe(text.text):
        return
    above = ""
    for raw in text.lines:
        line = shown(raw)
        if rule := rule_line(line):
            yield rule.headings(above)
        elif layout := tabbed(line):
            yield layout.headings(line)
        if line.strip():
            above = line
