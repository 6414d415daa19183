"""Lines of styled text for a terminal: wrapping, columns, rendering. Nothing here reads markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

INDENT: Final = 3
LABEL: Final = 12
_UNITS: Final = r"(?:ns|us|ms|s|min|%|[kMGTP]?B(?:/s)?|[kMGT]?Hz|[kMGTP]?FLOP/s)"
_NUMBER_SPACE_UNIT: Final = re.compile(rf"(?<=\d) (?={_UNITS}(?:[\s,.;:)]|$))")
_NO_BREAK: Final = "\u00a0"
_ASCII: Final = str.maketrans("█▉▊▋▌▍▎▏…·→●▲■", "#|||||||~->*!X")

STYLES: Final = {
    "note": "cyan",
    "warning": "yellow",
    "error": "red",
    "title": "bold",
    "saving": "bold green",
    "label": "dim",
    "faint": "dim",
    "code": "cyan",
    "bar": "blue",
}
"""Sixteen-colour styles only, so that the user's own theme decides how they look."""


@dataclass(frozen=True)
class Page:
    """Columns there are and how much to say in them."""

    width: int
    verbose: bool = False

    @property
    def body(self) -> int:
        """Columns right of the label column."""
        return self.width - INDENT - LABEL


def styled(*parts: str | tuple[str, str]) -> Text:
    """Text of plain and (text, style name) parts."""
    line = Text()
    for part in parts:
        if isinstance(part, str):
            line.append(part)
        else:
            line.append(part[0], STYLES[part[1]])
    return line


def wrap(text: Text, width: int, hang: int = 0) -> list[Text]:
    """Lines of at most ``width`` columns, broken at spaces, never between a number and its unit.

    ``hang`` indents every line but the first.
    """
    plain = _NUMBER_SPACE_UNIT.sub(_NO_BREAK, text.plain)
    lines: list[Text] = []
    start = 0
    while start < len(plain):
        indent = hang if lines else 0
        end = _line_end(plain, start, max(width - indent, 1))
        line = text[start:end]
        line.rstrip()
        lines.append(Text(" " * indent) + line)
        start = end
        while start < len(plain) and plain[start] == " ":
            start += 1
    return lines or [Text()]


def _line_end(plain: str, start: int, width: int) -> int:
    """Where the line that begins at ``start`` ends."""
    end = min(start + width, len(plain))
    while end > start and cell_len(plain[start:end]) > width:
        end -= 1
    if end == len(plain):
        return end
    space = plain.rfind(" ", start, end + 1)
    return space if space > start else max(end, start + 1)


def unbreakable(text: str) -> str:
    """A text that ``wrap`` keeps on one line; ``to_string`` turns its blanks back."""
    return text.replace(" ", _NO_BREAK)


def labelled(label: str, body: Iterable[Text]) -> list[Text]:
    """Lines with a label in front of the first one."""
    lines = []
    for index, line in enumerate(body):
        shown = label if index == 0 else ""
        lines.append(styled(" " * INDENT, (shown.ljust(LABEL), "label")) + line)
    return lines


def indented(lines: Iterable[Text], columns: int) -> list[Text]:
    """Lines moved to the right."""
    return [Text(" " * columns) + line for line in lines]


def both_ends(left: Text, right: Text, width: int) -> list[Text]:
    """``left`` and, flush right on its last line, ``right``; on a line of its own where there is no room."""
    lines = wrap(left, width)
    gap = width - lines[-1].cell_len - right.cell_len
    if gap >= 2:
        lines[-1] = lines[-1] + Text(" " * gap) + right
        return lines
    return [*lines, Text(" " * max(0, width - right.cell_len)) + right]


def bar(fraction: float, width: int) -> str:
    """A bar of eighths of a character; anything above zero shows."""
    eighths = round(min(max(fraction, 0.0), 1.0) * width * 8)
    eighths = max(eighths, 1) if fraction > 0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[rest]


def to_string(lines: Sequence[Text], *, color: bool, unicode: bool) -> str:
    """The lines as text with or without ANSI colours, without trailing blanks."""
    for line in lines:
        line.rstrip()
    text = _ansi(Text("\n").join(lines)) if color else "".join(f"{line.plain}\n" for line in lines)
    text = text.replace(_NO_BREAK, " ")
    return text if unicode else text.translate(_ASCII)


def _ansi(text: Text) -> str:
    out = StringIO()
    # Everything is said explicitly: what the environment asks for has been weighed by the caller.
    console = Console(
        file=out,
        force_terminal=True,
        color_system="standard",
        no_color=False,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
    console.print(text, soft_wrap=True)
    return out.getvalue()
