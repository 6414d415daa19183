"""The findings as SARIF 2.1.0, for code scanning and editors: one result per finding, best first.

Locations point into the analysed files: the line, and the character column where the column counts
characters (that of a CSV cell is its field's number, which is told as a property). Texts have no
arguments, so braces in them are literal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nsight_insight.model.issues import Level
from nsight_insight.model.text import clean
from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._baseline import SARIF, baseline_object
from nsight_insight.reporters._machine import Places, as_posix, fingerprints, json_text, number, path_of
from nsight_insight.reporters._sarif_rules import descriptors, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nsight_insight.model.finding import Finding, Member, Report, Saving
    from nsight_insight.model.issues import Issue, Location
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "sarif"
EXTENSIONS: Final = (".sarif", ".sarif.json")
SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RESULTS: Final = 5_000
"""GitHub shows no more of one run."""
ISSUES: Final = 1_000
MEMBERS: Final = 20
"""Kernels of a finding that get a location of their own."""

Object = dict[str, Any]

_LEVELS: Final = {Level.INFO: "note", Level.DATA_LOSS: "warning", Level.ERROR: "error"}
_DRIVE: Final = re.compile(r"[A-Za-z]:/")


@dataclass(frozen=True)
class _Context:
    report: Report
    places: Places
    rules: Mapping[str, int]


def render(report: Report, options: RenderOptions) -> str:
    """A log of one run, ending in a newline."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report, options.top)]}
    return json_text(log)


def _run(report: Report, top: int | None) -> Object:
    findings = report.findings[: min(top or RESULTS, RESULTS)]
    rules = descriptors(report, findings)
    context = _Context(report, Places(report.sources), {rule["id"]: index for index, rule in enumerate(rules)})
    return {
        "tool": {
            "driver": {
                "name": "nsight-insight",
                "semanticVersion": report.version,
                "shortDescription": {"text": "Performance advice from NVIDIA Nsight profiles"},
                "rules": rules,
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(context, len(findings))],
        "artifacts": [
            {"location": {"uri": _uri(path)}, "roles": ["analysisTarget"]}
            for path in sorted({as_posix(source.path) for source in report.sources})
        ],
        "results": [
            {**_result(finding, name, context), **_state(report, at)}
            for at, (finding, name) in enumerate(zip(findings, fingerprints(findings), strict=True))
        ],
        "properties": {
            "potential": _saving(report.potential),
            "kernel_ns": number(report.totals.kernel_ns),
            **baseline_object(report.baseline),
        },
    }


def _result(finding: Finding, fingerprint: str, context: _Context) -> Object:
    result: Object = {
        "ruleId": finding.rule,
        "ruleIndex": context.rules[finding.rule],
        "level": finding.severity,
        "rank": number(min(max(finding.saving.share, 0.0), 1.0) * 100),
        "message": {"text": _message(finding, context.report.totals.kernel_ns)},
        "locations": [_located(finding.location, context, finding.subject.kernel)],
        # The second is the one that GitHub compares; both stay the same while line numbers move.
        "partialFingerprints": {"nsightInsight/v1": fingerprint, "primaryLocationLineHash": f"{fingerprint}:1"},
        "properties": _properties(finding),
    }
    members = finding.subject.members
    if len(members) > 1:
        related = enumerate(members[:MEMBERS], 1)
        result["relatedLocations"] = [_related(index, member, context) for index, member in related]
    return result


def _state(report: Report, at: int) -> Object:
    """How the finding stands to the baseline. Those that are gone are no results: viewers would show them as alerts."""
    return {"baselineState": SARIF[report.baseline.marks[at].state]} if report.baseline else {}


def _message(finding: Finding, kernel_ns: float) -> str:
    what = words.remedies(finding)
    text = f"{words.verdict(finding, kernel_ns)}{f' What to do: {what}.' if what else ''}"
    return plain(text)


def _properties(finding: Finding) -> Object:
    subject = finding.subject
    return {
        "category": finding.category,
        "confidence": finding.confidence,
        "scope": subject.scope,
        "device": subject.device,
        "kernels": len(subject.members),
        "launches": subject.launches,
        "time_ns": number(subject.time_ns),
        "time_share": number(subject.time_share),
        "saving": _saving(finding.saving),
        "explains": sorted({consequence.rule for consequence in finding.explains}),
    }


def _saving(saving: Saving) -> Object:
    return {
        "expected_ns": number(saving.expected_ns),
        "upper_ns": number(saving.upper_ns),
        "share": number(saving.share),
        "base_ns": number(saving.base_ns),
        "resource": saving.resource,
        "basis": saving.basis,
        "assumptions": [fmt.flow(text) for text in saving.assumptions],
    }


def _located(location: Location, context: _Context, kernel: str = "") -> Object:
    physical: Object = {"artifactLocation": {"uri": _uri(path_of(location))}}
    line, column = context.places.line(location), context.places.column(location)
    if line is not None:
        physical["region"] = {"startLine": line, **({"startColumn": column} if column else {})}
    located: Object = {"physicalLocation": physical}
    if kernel:
        located["logicalLocations"] = [{"fullyQualifiedName": clean(kernel), "kind": "function"}]
    cell = {
        "field": clean(location.field),
        "field_number": None if column else location.column,
        "table": clean(location.table),
        "row": location.line if line is None else None,
    }
    if kept := {key: value for key, value in cell.items() if value}:
        located["properties"] = kept
    return located


def _related(index: int, member: Member, context: _Context) -> Object:
    text = f"{clean(member.base)}: {fmt.time(member.time_ns)} in {fmt.count(member.launches, 'launch')}"
    return {"id": index, **_located(member.location, context, member.kernel), "message": {"text": plain(text)}}


def _invocation(context: _Context, shown: int) -> Object:
    """How the analysis went: what was lost while reading, what could not be judged, what was left out."""
    report = context.report
    issues = sorted(report.issues, key=lambda issue: (-issue.level, str(issue.location), issue.text))
    notes = [_issue(issue, context) for issue in issues[:ISSUES]]
    notes += _left_out("issue", len(issues[:ISSUES]), len(issues))
    notes += _left_out("finding", shown, len(report.findings))
    for gap in report.not_evaluated:
        rule = {"id": gap.rule, "index": context.rules[gap.rule]}
        notes.append(_note("not-judged", "note", words.unjudged(gap), associatedRule=rule))
    return {
        "executionSuccessful": not any(issue.level is Level.ERROR for issue in issues),
        "toolExecutionNotifications": notes,
    }


def _issue(issue: Issue, context: _Context) -> Object:
    return _note(
        f"input-{issue.level.label}", _LEVELS[issue.level], issue.text, locations=[_located(issue.location, context)]
    )


def _left_out(noun: str, shown: int, total: int) -> Sequence[Object]:
    if shown >= total:
        return []
    return [_note("left-out", "note", f"{fmt.count(total - shown, noun)} of {total:,} left out of this file.")]


def _note(kind: str, level: str, text: str, **more: object) -> Object:
    return {"descriptor": {"id": kind}, "level": level, "message": {"text": plain(text)}, **more}


def _uri(path: str) -> str:
    """A path as a URI reference: relative paths stay relative, so that they resolve against the repository."""
    from urllib.parse import quote

    if _DRIVE.match(path):
        return f"file:///{path[:2]}{quote(path[2:])}"
    return f"file://{quote(path)}" if path.startswith("/") else quote(path)
