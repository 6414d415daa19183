"""Host names in pages of ncu, where their place says what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from nsight_insight.readers._ncu_layout import fields

LOOKED_AT: Final = 400
"""Records of a table that are looked at: hosts do not change in the middle of one."""
_PROCESS: Final = re.compile(r"\[\d+\] \S.*@(\S+)\s*")
_ATTRIBUTE: Final = re.compile(r'"?(?:Host|Target) Name"?[ ,]+"?([^"\s]+)"?\s*')


def hosts_in(lines: Sequence[str]) -> Iterator[str]:
    """Names of machines, some of them several times."""
    place, seen = -1, 0
    for line in lines:
        if found := _PROCESS.fullmatch(line) or _ATTRIBUTE.fullmatch(line):
            yield found[1]
        elif line.startswith('"') and seen < LOOKED_AT:
            cells = fields(line) or []
            seen += 1
            if "Host Name" in cells:
                place = cells.index("Host Name")
            elif 0 <= place < len(cells):
                yield cells[place]
