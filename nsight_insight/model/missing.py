"""Why a value is not there. Missing is never zero."""

from __future__ import annotations

from enum import IntEnum


class Missing(IntEnum):
    """Reason codes kept beside NaN cells (uint8); 0 means the value is there."""

    PRESENT = 0
    ABSENT = 1
    """Not in the file: the metric was not collected."""
    EMPTY = 2
    """The cell is blank."""
    UNSUPPORTED = 3
    """``n/a``: the tool does not know the metric on this chip."""
    FAILED = 4
    """``(!) nan``, ``nan``, ``inf``, ``no data``: collection failed."""
    UNPARSABLE = 5
    """Text where a number should be."""
    WRONG_UNIT = 6
    """The unit's dimension is not the metric's."""
    IMPOSSIBLE = 7
    """A value the metric cannot have (above 100 % where that cannot be)."""

    @property
    def text(self) -> str:
        """A phrase for messages."""
        return _TEXT[self]


_TEXT = {
    Missing.PRESENT: "present",
    Missing.ABSENT: "not collected",
    Missing.EMPTY: "empty cell",
    Missing.UNSUPPORTED: "not available on this GPU (n/a)",
    Missing.FAILED: "collection failed",
    Missing.UNPARSABLE: "not a number",
    Missing.WRONG_UNIT: "unexpected unit",
    Missing.IMPOSSIBLE: "impossible value",
}
