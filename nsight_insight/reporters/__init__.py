"""One module per output format, found by scanning.

A reporter module defines

* ``NAME``: the format's name, equal to the module's name;
* ``EXTENSIONS``: file name endings that choose it, such as ``(".json",)``;
* ``render(report: Report, options: RenderOptions) -> str``: the whole output, ending in a newline.

Reporters import what they need to draw inside functions, so that listing them costs nothing.
"""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, cast

from nsight_insight.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nsight_insight.model.finding import Report
    from nsight_insight.reporters.options import RenderOptions


class Reporter(Protocol):
    """What a reporter module offers."""

    NAME: str
    EXTENSIONS: tuple[str, ...]

    def render(self, report: Report, options: RenderOptions) -> str:
        """The whole output, ending in a newline."""


@lru_cache(maxsize=1)
def reporters() -> Mapping[str, Reporter]:
    """Name -> reporter, by scanning this package for modules that define ``render``."""
    found: dict[str, Reporter] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            module = import_module(f"{__name__}.{info.name}")
            if hasattr(module, "render"):
                found[module.NAME] = cast("Reporter", module)
    return found


def reporter(name: str) -> Reporter:
    """The reporter of a format.

    Raises:
        UsageError: there is no such format.
    """
    known = reporters()
    if name not in known:
        raise UsageError(f"unknown format {name!r}; known: {', '.join(sorted(known))}")
    return known[name]


def format_for(path: str) -> str | None:
    """The format with the longest extension that a file name ends with, None when there is none."""
    name = PurePath(path).name.lower()
    endings = [
        (len(ending), known)
        for known, module in sorted(reporters().items())
        for ending in module.EXTENSIONS
        if name.endswith(ending)
    ]
    return max(endings)[1] if endings else None
