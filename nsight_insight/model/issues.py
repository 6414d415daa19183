"""What was dropped or doubted while reading, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How much an issue matters; ``--strict`` turns DATA_LOSS into exit code 3."""

    INFO = 0
    DATA_LOSS = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """Spelling in reports: ``info``, ``data-loss``, ``error``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Location:
    """A place in an input.

    ``line`` and ``column`` count from 1; for CSV, ``column`` is the field's number in the record and
    ``field`` its heading. For a database, ``line`` is the rowid and ``table`` the table.
    """

    path: str
    line: int | None = None
    column: int | None = None
    field: str = ""
    table: str = ""

    def __str__(self) -> str:
        parts = [self.path]
        if self.table:
            parts.append(self.table)
        parts += [str(number) for number in (self.line, self.column) if number is not None]
        return ":".join(parts)


@dataclass(frozen=True)
class Issue:
    """One thing that was dropped or doubted."""

    level: Level
    text: str
    location: Location

    def __str__(self) -> str:
        return f"{self.location}: {self.level.label}: {self.text}"
