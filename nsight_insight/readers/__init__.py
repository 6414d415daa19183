"""One module per input format, found by scanning; detection is by content, never by file name.

A reader module defines

* ``NAME``: the format's name, equal to the module's name;
* ``sniff(text: SourceText) -> float``: 0 (certainly not) to 1 (certainly), cheap;
* ``read(text: SourceText) -> ReadResult``: every table of the input, and what was lost.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from nsight_insight.errors import UnrecognizedInput, UsageError

if TYPE_CHECKING:
    from nsight_insight.model.profile import ReadResult
    from nsight_insight.readers.text import SourceText


class Reader(Protocol):
    """What a reader module offers."""

    NAME: str

    def sniff(self, text: SourceText) -> float:
        """How sure the reader is that the content is its format, 0 to 1."""

    def read(self, text: SourceText) -> ReadResult:
        """Every table of the input."""


_CERTAIN = 1.0
_HELPERS = frozenset({"text", "assemble"})


@lru_cache(maxsize=1)
def readers() -> dict[str, Reader]:
    """Name -> reader, by scanning this package for modules that define ``sniff``."""
    found: dict[str, Reader] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_") or info.name in _HELPERS:
            continue
        module = import_module(f"{__name__}.{info.name}")
        if hasattr(module, "sniff"):
            found[module.NAME] = cast("Reader", module)
    return found


def read(text: SourceText, format_name: str | None = None) -> ReadResult:
    """Read one input with the readers that recognise it, or with the one named.

    Raises:
        UnrecognizedInput: no reader recognises the content.
        UsageError: ``format_name`` is not a reader.
        InputError: the reader recognised it and found it unusable.
    """
    if format_name is not None:
        if format_name not in readers():
            raise UsageError(f"unknown format {format_name!r}; known: {', '.join(sorted(readers()))}")
        return readers()[format_name].read(text)
    from nsight_insight.readers._mixed import others, read_all

    scores = list(_scores(text))
    best, name = max(scores, default=(0.0, ""))
    if best <= 0.0:
        raise UnrecognizedInput(f"not a profile this tool understands ({text.describe()})", path=text.path, line=1)
    beside = others(name, scores) if best < _CERTAIN else []
    if not beside:
        return readers()[name].read(text)
    return read_all([name, *beside], lambda chosen: readers()[chosen].read(text), text.path)


def _scores(text: SourceText) -> Iterator[tuple[float, str]]:
    """How sure each reader is, until one is certain."""
    for name, reader in readers().items():
        score = reader.sniff(text)
        yield score, name
        if score >= _CERTAIN:
            return
