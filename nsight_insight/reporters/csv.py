"""The findings as a table: one row per kernel of a finding, one for a finding about a whole device.

The rows of a finding add up to its time and saving. Times are nanoseconds, shares fractions: of the kernel
time, for savings of idle time of the window that idles.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from nsight_insight.model.finding import Member
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._machine import number, path_of

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "csv"
EXTENSIONS: Final = (".csv",)
COLUMNS: Final = (
    "rank", "rule", "title", "category", "severity", "confidence", "scope", "kernel", "device", "launches",
    "time_ns", "time_share", "expected_saving_ns", "upper_saving_ns", "saving_share", "message", "file", "line",
    "column", "field", "fingerprint",
)  # fmt: skip

Cell = str | float | None

_FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - spreadsheets take these, too
"""A text that begins so is a formula to a spreadsheet."""


def render(report: Report, options: RenderOptions) -> str:
    """A heading line and the rows; RFC 4180 quoting, lines end in a line feed."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for rank, finding in enumerate(report.findings[: options.top], 1):
        for member in finding.subject.members or (_whole(finding),):
            row = {"rank": rank, **_finding(finding), **_member(member, finding, report.totals.kernel_ns)}
            writer.writerow({column: _safe(cell) for column, cell in row.items()})
    return out.getvalue()


def _finding(finding: Finding) -> dict[str, Cell]:
    return {
        "rule": finding.rule,
        "title": finding.title,
        "category": finding.category,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "scope": finding.subject.scope,
        "message": finding.message,
        "fingerprint": finding.fingerprint,
    }


def _member(member: Member, finding: Finding, kernel_ns: float) -> dict[str, Cell]:
    location, base_ns = member.location, finding.saving.base_ns
    return {
        "kernel": member.kernel,
        "device": member.device,
        "launches": member.launches,
        "time_ns": number(member.time_ns),
        "time_share": _share(member.time_ns, kernel_ns),
        "expected_saving_ns": number(member.expected_ns),
        "upper_saving_ns": number(member.upper_ns),
        "saving_share": _share(member.expected_ns, kernel_ns if base_ns is None else base_ns),
        "file": path_of(location),
        "line": location.line,
        "column": location.column,
        "field": location.field,
    }


def _share(part: float, whole: float) -> float | None:
    return number(part / whole) if whole > 0 else None


def _whole(finding: Finding) -> Member:
    """A finding about a whole device as a row."""
    subject, saving = finding.subject, finding.saving
    return Member(
        kernel=subject.kernel,
        base=subject.kernel,
        device=subject.device,
        launches=subject.launches,
        time_ns=subject.time_ns,
        expected_ns=saving.expected_ns,
        upper_ns=saving.upper_ns,
        location=finding.location,
    )


def _safe(cell: Cell) -> Cell:
    """Texts in one line; one that a spreadsheet would calculate begins with an apostrophe."""
    if not isinstance(cell, str):
        return cell
    line = fmt.flow(cell)
    return f"'{line}" if line.startswith(_FORMULA) else line
