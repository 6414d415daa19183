"""All forms of nsys' tables but CSV in one text, and the lines that are left for the CSV scanner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nsight_insight.readers import _nsys_html, _nsys_json, _nsys_text_scan
from nsight_insight.readers._nsys_banners import parse_banner
from nsight_insight.readers._nsys_json import Found
from nsight_insight.readers._nsys_text_scan import READER, Grids, scan_grids
from nsight_insight.readers.text import SourceText

_LOOK_BACK: Final = 8
"""Lines in front of a JSON or HTML table in which its banner may stand."""


def find_grids(text: SourceText) -> tuple[Grids, list[str]]:
    """The printed tables, and the text's lines with those that belong to one made blank."""
    content, lines = text.text, text.lines
    found = Grids()
    for form, finder in ((_nsys_json, _nsys_json.json_grids), (_nsys_html, _nsys_html.html_grids)):
        if form.MAYBE.search(content):
            for item in finder(content, READER):
                _take(found, item, lines)
    rest = without(lines, found.used)
    if _nsys_text_scan.MAYBE.search(content):
        printed = scan_grids(rest)
        found.grids += printed.grids
        found.sections += printed.sections
        found.unknown += printed.unknown
        found.used |= printed.used
        rest = without(rest, printed.used)
    found.grids.sort(key=lambda grid: grid.line)
    return found, rest


def _take(found: Grids, item: Found, lines: Sequence[str]) -> None:
    found.used.update(range(item.first, item.last + 1))
    if not item.grid.candidates:
        found.unknown.append((item.grid.line, item.grid.headings))
        return
    found.grids.append(item.grid)
    for index in range(item.first - 1, max(item.first - 1 - _LOOK_BACK, -1), -1):
        banner = parse_banner(lines[index], index + 1)
        if banner is not None and banner.kind == "report":
            item.grid.banner, item.grid.version = banner.report, banner.version
            return


def without(lines: list[str], used: set[int]) -> list[str]:
    """Lines with some of them made blank; their numbers stay."""
    return ["" if index in used else line for index, line in enumerate(lines)] if used else lines
