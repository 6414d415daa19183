"""The findings as a GitLab code quality report (``artifacts: reports: codequality``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._machine import Places, fingerprints, json_text, path_of

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "gitlab"
EXTENSIONS: Final = (".codequality.json", "code-quality-report.json")

_SEVERITIES: Final = {"note": "info", "warning": "minor", "error": "major"}
_FIRST_LINE: Final = 1
"""GitLab wants a line even where the input has none (databases, binary reports)."""


def render(report: Report, options: RenderOptions) -> str:
    """A JSON array with one object per finding, ending in a newline."""
    places = Places(report.sources)
    findings = report.findings[: options.top]
    pairs = zip(findings, fingerprints(findings), strict=True)
    issues = [_issue(finding, name, report, places) for finding, name in pairs]
    return json_text(issues)


def _issue(finding: Finding, fingerprint: str, report: Report, places: Places) -> dict[str, Any]:
    return {
        "description": f"{fmt.flow(finding.title)}: {words.verdict(finding, report.totals.kernel_ns)}",
        "check_name": finding.rule,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": path_of(finding.location),
            "lines": {"begin": places.line(finding.location) or _FIRST_LINE},
        },
    }
