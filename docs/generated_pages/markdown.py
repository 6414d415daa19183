"""Small pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_<>\[\]|#~$])")


def prose(text: str) -> str:
    r"""Text that means itself in Markdown.

    >>> prose("a*b <c>")
    'a\\*b \\<c\\>'
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A code span, whatever it holds.

    >>> code("a`b")
    '`` a`b ``'
    """
    text = " ".join(text.split())
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def sentence(text: str) -> str:
    """A rule's sentence, with the names of what is filled in as code.

    >>> sentence("{launches:launch} take {duration}")
    '`launches` take `duration`'
    """
    parts = re.split(r"(\{\w+[^}]*\})", text)
    return "".join(
        f"`{re.split('[{:}]', part)[1]}`" if place % 2 else _escaped(part) for place, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text).replace("\n", " ")


def cell(text: str) -> str:
    r"""A code span that may stand in a table.

    >>> cell("a|b")
    '`a\\|b`'
    """
    return code(text).replace("|", "\\|")


def fence(text: str, language: str) -> str:
    """A fenced block, with more marks than the text has."""
    marks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}\n"


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
