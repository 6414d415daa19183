"""Reports and profiles as pandas frames for other tools: plain columns, units in their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pandas as pd

    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.model.profile import Profile

FINDING_COLUMNS: Final = {
    "rank": "place in the report, from 1; that of the finding above for one that stands under another",
    "under": "fingerprint of the finding it stands under, empty for one of its own",
    "rule": "id of the rule",
    "category": "first part of the id",
    "severity": "note, warning or error",
    "confidence": "low, medium or high",
    "title": "the finding in a few words",
    "kernel": "kernel it is about, empty for several kernels or a whole device",
    "device": "index of the device, -1 unknown",
    "launches": "launches it is about",
    "time_ns": "their time in the profile",
    "time_fraction": "the same as a part of the kernel time",
    "expected_saving_ns": "what is expected to be saved",
    "most_saving_ns": "what could be saved at most",
    "saving_fraction": "expected saving as a part of the finding's time base",
    "resource": "what the saving relieves",
    "message": "the finding in full sentences",
    "file": "file of the cell that shows it best",
    "line": "line or row of that cell, <NA> without one",
    "field": "heading or metric of that cell",
    "fingerprint": "stays the same from run to run",
}
"""Columns of ``findings_frame`` and what they hold."""
_SUFFIXES: Final = {"ns": "_ns", "byte": "_bytes", "byte/s": "_bytes_per_s", "Hz": "_hz", "fraction": "_fraction"}


def findings_frame(report: Report) -> pd.DataFrame:
    """One row per finding, in the report's order, those under it right below; columns are ``FINDING_COLUMNS``."""
    import pandas as pd

    rows = [row for rank, one in enumerate(report.findings, 1) for row in _rows(rank, "", one)]
    frame = pd.DataFrame(rows, columns=list(FINDING_COLUMNS))
    return frame.astype({"rank": "int64", "device": "int64", "launches": "int64", "line": "Int64"})


def activities_frame(profile: Profile) -> pd.DataFrame:
    """The activity frame as a copy: ``file`` for the source's number, units in the names of columns.

    Columns are those of ``ACTIVITY_COLUMNS`` and every metric that the profile holds; a column with a unit ends in
    ``_ns``, ``_bytes``, ``_bytes_per_s``, ``_hz`` or ``_fraction``, others are plain counts and texts. ``kind`` tells
    launches from copies, calls and ranges; rows with ``primary`` False stand for work that another row counts.
    """
    frame = profile.activities.copy()
    names = [source.path.replace("\\", "/").rpartition("/")[2] for source in profile.sources]
    frame.insert(0, "file", [names[number] for number in frame.pop("source").tolist()])
    return frame.rename(columns={name: column_name(name) for name in frame.columns})


def column_name(name: str) -> str:
    """The name of an activity column or metric with its unit."""
    from nsight_insight.catalog.metrics import load_metrics
    from nsight_insight.model.columns import ACTIVITY_COLUMNS

    column = ACTIVITY_COLUMNS.get(name)
    metric = load_metrics().get(name)
    unit = column.unit if column is not None else metric.unit if metric is not None else ""
    suffix = _SUFFIXES.get(unit, "")
    return name if f"_{name}".endswith(suffix) else f"{name}{suffix}"


def _rows(rank: int, under: str, finding: Finding) -> Iterator[dict[str, Any]]:
    yield _row(rank, under, finding)
    for inner in finding.explains:
        yield from _rows(rank, finding.fingerprint, inner)


def _row(rank: int, under: str, finding: Finding) -> dict[str, Any]:
    subject, saving, place = finding.subject, finding.saving, finding.location
    return {
        "rank": rank,
        "under": under,
        "rule": finding.rule,
        "category": finding.category,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "title": finding.title,
        "kernel": subject.kernel,
        "device": subject.device,
        "launches": subject.launches,
        "time_ns": subject.time_ns,
        "time_fraction": subject.time_share,
        "expected_saving_ns": saving.expected_ns,
        "most_saving_ns": saving.upper_ns,
        "saving_fraction": saving.share,
        "resource": saving.resource,
        "message": finding.message,
        "file": place.path.replace("\\", "/").rpartition("/")[2],
        "line": place.line,
        "field": place.field,
        "fingerprint": finding.fingerprint,
    }
