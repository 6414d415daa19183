"""The lines nsys prints around its tables: which report follows, what was skipped, what may be stale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nsight_insight.model.issues import Issue, Level, Location

_REPORT: Final = re.compile(
    r"Processing \[.*\] with \[(.*[/\\])?([A-Za-z0-9_-]+)\.py\]|\[\d+/\d+\] Executing '([^']+)'"
)
_VERSION: Final = re.compile(r"nsight[- ]?systems(?:-cli)?[-/\\ ](\d{4}\.\d+(?:\.\d+)*)", re.IGNORECASE)
_PATH: Final = re.compile(r"[^\s\[\]]*[/\\](?=[^/\\\s\]])")
_NAMED_FILE: Final = re.compile(r"(SKIPPED: |NOTICE: Existing SQLite export found: )(?:.*[/\\])?(.*)")
_SKIPPED: Final = re.compile(r"SKIPPED: .*?(?:does not contain (?:the required )?)(.*?) ?(?:data)?\.?(?: Does .*)?")
_LOST_REPORT: Final = re.compile(r"ERROR: (?:Report |Database |.*\.(?:sqlite|nsys-rep|qdrep)\b)")
"""The profiled program prints lines that begin with ERROR too."""
_FIRST: Final = frozenset("P[SNWEFG")
_GPU_DATA: Final = ("CUDA kernel", "CUDA trace", "GPU memory", "CUDA memory transfers", "CUDA")
_NOT_JUDGED: Final = "could not be analyzed"
_MAX_WARNINGS: Final = 5


@dataclass(frozen=True)
class Banner:
    """One line that nsys printed and that is not data.

    Attributes:
        kind: ``report``, ``skipped``, ``notice``, ``warning``, ``error`` or ``progress``.
        report: report name for ``report``.
        version: nsys version where the line's path tells it.
        text: the line without directories, which may name users.
    """

    kind: str
    line: int
    text: str
    report: str = ""
    version: str = ""


def parse_banner(line: str, number: int) -> Banner | None:
    """The banner a line is, or None."""
    if line[:1] not in _FIRST:
        return None
    if found := _REPORT.match(line):
        return Banner("report", number, without_paths(line), found[2] or found[3], version_of(found[1] or ""))
    for prefix, kind in (
        ("SKIPPED: ", "skipped"),
        ("NOTICE: ", "notice"),
        ("WARNING: ", "warning"),
        ("ERROR: ", "error" if _LOST_REPORT.match(line) else "warning"),
        ("FATAL ERROR: ", "warning"),
        ("Generating SQLite file ", "progress"),
        ("Exporting ", "progress"),
    ):
        if line.startswith(prefix):
            return Banner(kind, number, without_paths(line)[:300])
    return None


def without_paths(line: str) -> str:
    """The line with every directory cut off; file names stay."""
    if found := _NAMED_FILE.fullmatch(line):
        return f"{found[1]}{found[2]}".strip()
    return _PATH.sub("", line).strip()


def version_of(line: str) -> str:
    """The nsys version that a path in the line tells, "" when none."""
    found = _VERSION.search(line)
    return found[1] if found else ""


def missing_data(banner: Banner) -> str:
    """What a SKIPPED line says is not there: ``CUDA kernel``, ``NV Tools Extension (NVTX)``."""
    found = _SKIPPED.fullmatch(banner.text)
    return found[1] if found else banner.text.removeprefix("SKIPPED: ")


def banner_issues(banners: Sequence[Banner], path: str) -> list[Issue]:
    """What the banners say about the quality of the data."""
    issues = _skipped_issues([banner for banner in banners if banner.kind == "skipped"], path)
    warnings = [banner for banner in banners if banner.kind == "warning"]
    for banner in banners:
        location = Location(path, banner.line)
        if banner.kind == "notice" and "Existing SQLite export" in banner.text:
            text = f"the tables may be stale, nsys used an older export ({banner.text}); --force-export=true renews it"
            issues.append(Issue(Level.INFO, text, location))
        elif banner.kind == "notice" or banner in warnings[:_MAX_WARNINGS]:
            issues.append(Issue(Level.INFO, f"beside the tables: {banner.text}", location))
        elif banner.kind == "error":
            issues.append(Issue(Level.DATA_LOSS, f"a report is missing: {banner.text}", location))
    return issues


def _question(banner: Banner) -> str:
    """What nsys asks behind a SKIPPED line, in brackets."""
    _, does, question = banner.text.partition(" Does ")
    return f" (does {question})" if does else ""


def _skipped_issues(skipped: Sequence[Banner], path: str) -> list[Issue]:
    """One issue for each kind of GPU data that is missing, one for all the rest together."""
    issues: list[Issue] = []
    others: dict[str, int] = {}
    seen: set[str] = set()
    for banner in skipped:
        what = missing_data(banner)
        if _NOT_JUDGED in banner.text:
            text = f"a rule of nsys analyze had nothing to judge: no {what} data{_question(banner)}"
            issues.append(Issue(Level.INFO, text, Location(path, banner.line)))
        elif not what.startswith(_GPU_DATA) or "Unified" in what:
            others.setdefault(what, banner.line)
        elif what not in seen:
            seen.add(what)
            text = f"nsys found no {what} data in the capture: unknown, not zero"
            issues.append(Issue(Level.INFO, text, Location(path, banner.line)))
    if others:
        text = f"nsys skipped reports for lack of data: {', '.join(others)}"
        issues.append(Issue(Level.INFO, text, Location(path, min(others.values()))))
    return issues
