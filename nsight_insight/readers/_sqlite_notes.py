"""What an export says about itself: its versions, what the profiler warned of, what profiling cost."""

from __future__ import annotations

import re
from typing import Final

from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.text import clean, duration
from nsight_insight.readers._nsys_banners import version_of
from nsight_insight.readers._sqlite_database import Database, number_of

_EXPORTS: Final = ("META_DATA_EXPORT", "EXPORT_META_DATA")
"""The second name up to 2023.2."""
_ENVIRONMENT: Final = "TARGET_INFO_SYSTEM_ENV"
_DIAGNOSTICS: Final = "DIAGNOSTIC_EVENT"
_OVERHEADS: Final = {
    "PROFILER_OVERHEAD": "the profiler's own work",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "CUDA's own overhead (module loading, full command buffers, profiling)",
}
_PARTIAL: Final = ("EXPORT_PARAM_TABLES_TO_EXPORT", "EXPORT_PARAM_TIMES_TO_EXPORT")
_WARNING: Final = 2
_LOST: Final = re.compile(r"\b(?:dropped|lost)\b|Not all CUDA events might have been collected", re.IGNORECASE)
_GPU: Final = re.compile(r"\b(?:CUDA|CUPTI|GPU|NVTX|driver)\b", re.IGNORECASE)
_USUAL: Final = re.compile(
    r"No \w+ events collected|might have not been started correctly|Not all \w+ events|cuBLAS|cuDNN"
)
"""Said of every library the program does not use, and of every process without GPU work."""
_NO_LOSS: Final = re.compile(r"dropped:\s*0\b")
_MAX_WARNINGS: Final = 5
_MAX_LENGTH: Final = 200


def product_version(database: Database) -> str:
    """Release of nsys that wrote the export, "" where nothing says; up to 2021 nothing does."""
    return _release(_meta(database).get("EXPORT_PRODUCT_VERSION", "")) or _capture_version(database)


def version_issues(database: Database) -> list[Issue]:
    """An export by another release than the capture's, an unknown release, an export of a part."""
    meta = _meta(database)
    export, capture = _release(meta.get("EXPORT_PRODUCT_VERSION", "")), _capture_version(database)
    place = Location(database.path)
    texts = []
    if not export and not capture:
        texts.append("the export does not say which release of nsys wrote it (2021 or older)")
    elif export and capture and export != capture:
        texts.append(
            f"captured by nsys {capture}, exported by {export}: "
            "columns that are newer than the capture are empty, tables that are newer than the export are not there"
        )
    if any(meta.get(key) for key in _PARTIAL):
        texts.append("only some tables or times of the capture were exported")
    return [Issue(Level.INFO, text, place) for text in texts]


def _meta(database: Database) -> dict[str, str]:
    """The export's notes about itself, those of a few keys: they also hold user, host and paths."""
    keys = ("EXPORT_PRODUCT_VERSION", *_PARTIAL)
    for table in _EXPORTS:
        if database.has(table, "name", "value"):
            rows = database.fetch(f"SELECT name, value FROM {table} WHERE name IN (?, ?, ?)", table, keys)  # noqa: S608
            return {str(name): str(value or "") for name, value in rows}
    return {}


def _release(version: str) -> str:
    """``2025.3.2.474-253235331789v0`` -> ``2025.3.2``."""
    found = re.match(r"\d{4}\.\d+(?:\.\d+)?", version)
    return found[0] if found else ""


def _capture_version(database: Database) -> str:
    """By the folder that the profiler ran from; nothing else of the environment is looked at."""
    if not database.has(_ENVIRONMENT, "name", "value"):
        return ""
    sql = f"SELECT value FROM {_ENVIRONMENT} WHERE name = 'TargetInstallDir'"  # noqa: S608
    return version_of(str(database.first(sql, _ENVIRONMENT) or ""))


def diagnostic_issues(database: Database) -> list[Issue]:
    """What the profiler said about the capture: lost events as data loss, warnings about GPU and NVTX as remarks."""
    if not database.has(_DIAGNOSTICS, "text", "severity"):
        return []
    sql = f"SELECT rowid, severity, text FROM {_DIAGNOSTICS} ORDER BY rowid"  # noqa: S608
    lost: dict[str, Issue] = {}
    warned: dict[str, Issue] = {}
    for row, severity, text in database.fetch(sql, _DIAGNOSTICS):
        said = _said(str(text))
        place = Location(database.path, int(row), table=_DIAGNOSTICS, field="text")
        if _LOST.search(said) and not _NO_LOSS.search(said):
            lost.setdefault(said, Issue(Level.DATA_LOSS, f"nsys says: {said}", place))
        elif _is_warning(severity) and _GPU.search(said) and not _USUAL.search(said):
            warned.setdefault(said, Issue(Level.INFO, f"nsys says: {said}", place))
    return [*lost.values(), *list(warned.values())[:_MAX_WARNINGS]]


def _is_warning(severity: object) -> bool:
    return isinstance(severity, int) and severity >= _WARNING


def _said(text: str) -> str:
    """The first sentences of a message, up to anything that looks like a path: paths name users."""
    words = []
    for word in clean(text.partition("\n")[0]).split():
        if "/" in word or "\\" in word:
            break
        words.append(word)
    return " ".join(words)[:_MAX_LENGTH]


def overhead_issues(database: Database) -> list[Issue]:
    """How much time profiling took in the capture: a trace is slower than the program alone."""
    issues = []
    for table, what in _OVERHEADS.items():
        if not database.has(table, "start", "end"):
            continue
        sql = f'SELECT COUNT(*), SUM("end" - "start") FROM {table} WHERE "end" >= "start"'  # noqa: S608
        for number, total in database.fetch(sql, table):
            if number:
                text = f"{number_of(number, 'interval')} of {what}, {duration(total / 1e9)} in all"
                issues.append(Issue(Level.INFO, text, Location(database.path, table=table)))
    return issues
