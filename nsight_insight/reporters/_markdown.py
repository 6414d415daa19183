"""Texts made harmless for GitHub-flavoured Markdown, which forges add mentions, issue links, emoji and math to.

Kernel names go into code spans, where none of that applies; sentences are escaped.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]~]")
_AT_THE_START: Final = re.compile(r"[-+=#]|\d+(?=[.)](?:\s|$))")
_SPLIT: Final = re.compile(
    r"[$]"  # math
    r"|@(?=\w)"  # mentions
    r"|#(?=\d)"  # issues
    r"|:(?=[\w+-]+:)"  # emoji
    r"|\b(?:https?|ftp)(?=://)|\bwww(?=\.)",  # links that nobody wrote as links
    re.IGNORECASE,
)
_APART: Final = "<!-- -->"
"""Invisible, and it keeps a forge from seeing the two sides as one word."""


def text(value: str) -> str:
    """A sentence that renders as it is written, in one line."""
    line = _MARKUP.sub(lambda found: "\\" + found[0], fmt.flow(value))
    if start := _AT_THE_START.match(line):
        mark = start.end() if start[0].isdigit() else 0
        line = f"{line[:mark]}\\{line[mark:]}"
    return _html(line).replace("|", "&#124;")


def _html(line: str) -> str:
    return _SPLIT.sub(lambda found: found[0] + _APART, html.escape(line, quote=False))


def code(value: str) -> str:
    """A code span that shows exactly ``value``, in one line."""
    line = fmt.flow(value)
    if not line:
        return ""
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def code_block(lines: Sequence[str], language: str) -> list[str]:
    """A fenced block that nothing inside it can end."""
    fence = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    return [f"{fence}{language}", *lines, fence]


def _longest_run(value: str) -> int:
    return max((len(run) for run in re.findall(r"`+", value)), default=0)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of finished Markdown cells; a heading that ends with ``:`` makes a right-aligned column."""
    rule = ["---:" if heading.endswith(":") else "---" for heading in headings]
    head = [heading.rstrip(":") for heading in headings]
    return [_row(head), _row(rule), *(_row([_cell(cell) for cell in row]) for row in rows)]


def _cell(markdown: str) -> str:
    """Pipes end a cell even inside a code span unless escaped; ``text`` leaves none."""
    # A backslash of the name itself must not swallow the one that is added.
    return markdown.replace("\\|", "\\ |").replace("|", "\\|")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def details(summary: str, body: Sequence[str]) -> list[str]:
    """A part that opens on a click; the empty lines make its content Markdown again."""
    return [f"<details><summary>{_html(fmt.flow(summary))}</summary>", "", *body, "", "</details>"]
