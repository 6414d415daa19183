"""Lines that ncu itself writes around its tables: warnings, errors, progress."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from nsight_insight.errors import EmptyInput
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import Table

SHOWN: Final = 20
"""Banners and damaged records of one input that are told one by one."""
_BANNER: Final = re.compile(r"==(WARNING|ERROR)== (.*)")
_PATH: Final = re.compile(r"(?<![\w:/])(?:[A-Za-z]:)?[/\\](?:[^\s'\"/\\:]+[/\\])*(?=[^/\\\s'\"])")
_REMEDIES: Final = {
    "ERR_NVGPUCTRPERM": "ncu may not read GPU performance counters (ERR_NVGPUCTRPERM): run it as root or with "
    "CAP_SYS_ADMIN (containers: --cap-add=SYS_ADMIN), or load the nvidia module with "
    "NVreg_RestrictProfilingToAdminUsers=0",
    "No kernels were profiled": "ncu profiled no kernel: check its filters (--kernel-name, --launch-skip, "
    "--launch-count, --nvtx-include), and add --target-processes all when the GPU work runs in a child process",
}


@dataclass(frozen=True)
class Banner:
    """A warning or error of ncu, without directories, which may name users.

    Attributes:
        start: where it begins in its line; other output may stand in front of it.
    """

    line: int
    level: str
    text: str
    start: int = 0


def banner_of(line: str, number: int) -> Banner | None:
    """The banner a line holds."""
    found = _BANNER.search(line) if "==" in line else None
    return Banner(number, found[1], without_directories(found[2]), found.start()) if found else None


def without_directories(text: str) -> str:
    """A text with files, but not the directories they are in, which may name users."""
    return _PATH.sub("", text).strip()


def banner_issues(banners: Sequence[Banner], path: str) -> list[Issue]:
    """Errors of ncu, each once: a capture that went wrong may still hold a table."""
    errors = {banner.text: banner.line for banner in reversed(banners) if banner.level == "ERROR"}
    shown = sorted(errors.items(), key=lambda item: item[1])[:SHOWN]
    return [Issue(Level.INFO, f"ncu reported: {text}", Location(path, line)) for text, line in shown]


def with_banners(table: Table, banners: Sequence[Banner]) -> Table:
    """The table, its source with the banners of its input."""
    texts = tuple(dict.fromkeys(f"=={banner.level}== {banner.text}" for banner in banners))[:SHOWN]
    return replace(table, source=replace(table.source, banners=texts)) if texts else table


def nothing_printed(banners: Sequence[Banner], path: str) -> EmptyInput | None:
    """Why ncu printed no table, if its banners tell."""
    for sign, remedy in _REMEDIES.items():
        for banner in banners:
            if sign in banner.text:
                return EmptyInput(remedy, path=path, line=banner.line)
    if not banners:
        return None
    banner = next((banner for banner in banners if banner.level == "ERROR"), banners[0])
    return EmptyInput(f"ncu printed no table: {banner.text}", path=path, line=banner.line)
