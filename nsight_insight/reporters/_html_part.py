"""What a section of the HTML report is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from markupsafe import Markup

    from nsight_insight.reporters._html_table import Table

Legend = list[tuple["Markup", str]]


@dataclass
class Part:
    """One piece of a section, shown in this order: heading, texts, picture, legends, tables, folded tables, code."""

    title: str = ""
    texts: list[str] = field(default_factory=list)
    picture: Markup | None = None
    legends: list[tuple[str, Legend]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    folded: list[Table] = field(default_factory=list)
    code: str = ""


@dataclass
class Section:
    """One section; where ``parts`` is empty, ``empty`` says why."""

    id: str
    title: str
    parts: list[Part] = field(default_factory=list)
    empty: str = ""


def sentences(lines: Iterable[str]) -> str:
    """Each line as a sentence."""
    return " ".join(f"{line[:1].upper()}{line[1:].rstrip('.')}." for line in map(fmt.flow, lines))
