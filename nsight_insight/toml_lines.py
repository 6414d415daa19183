"""Where the keys of a TOML text stand; ``tomllib`` tells no positions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nsight_insight.config import ConfigPath

_PART: Final = r"""(?:"[^"]*"|'[^']*'|[\w-]+)"""
_DOTTED: Final = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER: Final = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_KEY: Final = re.compile(rf"\s*({_DOTTED})\s*=")


def key_lines(text: str) -> dict[ConfigPath, int]:
    """Key path -> line, for messages; tables of an array are numbered from 0.

    Line by line, so that a text over several lines that looks like a key can at worst misplace a message.
    """
    lines: dict[ConfigPath, int] = {}
    header: ConfigPath = ()
    counts: dict[ConfigPath, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if found := _HEADER.match(line):
            header = _split(found[2])
            if found[1] == "[[":
                counts[header] = counts.get(header, -1) + 1
                header = (*header, counts[header])
            lines.setdefault(header, number)
        elif found := _KEY.match(line):
            lines.setdefault(header + _split(found[1]), number)
    return lines


def _split(dotted: str) -> ConfigPath:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))
