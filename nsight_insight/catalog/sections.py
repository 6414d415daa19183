"""ncu's sections: identifiers, the titles the details page prints for them, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from nsight_insight.catalog.yamlio import load_data


@dataclass(frozen=True)
class Section:
    """One section file of ncu.

    Attributes:
        identifier: what ``--section`` takes and rule rows of the details page carry.
        names: titles the details page printed over time, newest first.
        bulky: collecting the whole section costs many passes; single metrics of it are asked for by name.
    """

    identifier: str
    names: tuple[str, ...]
    bulky: bool


@lru_cache(maxsize=1)
def load_sections() -> Mapping[str, Section]:
    """Section identifier -> section, in ncu's display order."""
    return {
        identifier: Section(identifier, tuple(entry["names"]), entry.get("bulky", False))
        for identifier, entry in load_data("sections.yaml").items()
    }


def display_names(identifier: str) -> tuple[str, ...]:
    """Titles of a section on the details page, newest first.

    Raises:
        KeyError: no such section.
    """
    return load_sections()[identifier].names
