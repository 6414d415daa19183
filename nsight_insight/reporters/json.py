"""The report as JSON: a contract of its own (``report-v1.schema.json``), not a dump of the model.

Times are nanoseconds, shares fractions, values SI; null is unknown. Keys may be added within version 1,
none is renamed, removed or given another meaning. The same report gives the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nsight_insight.model.text import clean
from nsight_insight.reporters._baseline import baseline_object, mark_object
from nsight_insight.reporters._json_accounts import account_object, ledger_object
from nsight_insight.reporters._json_more import device_object, match_object, what_if_object
from nsight_insight.reporters._machine import json_text, number
from nsight_insight.reporters.format import block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.model.finding import (
        Evidence,
        Finding,
        Member,
        NotEvaluated,
        Quantity,
        Remedy,
        Report,
        Saving,
        Subject,
    )
    from nsight_insight.model.issues import Issue, Location
    from nsight_insight.model.profile import HotLine, Source, VendorFinding
    from nsight_insight.model.totals import Totals
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "json"
EXTENSIONS: Final = (".json",)
SCHEMA_VERSION: Final = 1

Object = dict[str, Any]


def render(report: Report, options: RenderOptions) -> str:
    """The report as indented JSON, UTF-8 text, ending in a newline."""
    return json_text(to_dict(report, options.top, options.assume))


def to_dict(report: Report, top: int | None = None, assume: Sequence[str] = ()) -> Object:
    """The report as plain lists, dictionaries, texts and numbers; the ``top`` findings or all of them.

    ``assume`` names rules whose findings ``what_if`` takes to be fixed.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "nsight-insight", "version": report.version, "rules": report.rules_evaluated},
        "sources": [_source(source) for source in report.sources],
        "devices": [clean(name) for name in report.devices],
        "totals": _totals(report.totals),
        "device_totals": [device_object(device) for device in report.device_totals],
        "potential": _saving(report.potential),
        "what_if": what_if_object(report.what_if(*assume)) if assume else None,
        "ledger": ledger_object(report.ledger),
        "tensor_account": account_object(report.tensor_account),
        "findings": [{**_finding(one), **mark_object(report, at)} for at, one in enumerate(report.findings[:top])],
        "findings_total": len(report.findings),
        "suppressed": report.suppressed,
        "below_threshold": report.below_threshold,
        "collect": report.collect,
        "not_evaluated": [_not_evaluated(gap) for gap in report.not_evaluated],
        "vendor_findings": _vendors(report),
        "issues": [_issue(issue) for issue in report.issues],
        **baseline_object(report.baseline),
    }


def _source(source: Source) -> Object:
    return {
        "path": clean(source.path),
        "reader": source.reader,
        "tool": source.tool,
        "report": source.report,
        "version": clean(source.version),
        "rows": source.rows,
    }


def _totals(totals: Totals) -> Object:
    return {
        "kernel_ns": number(totals.kernel_ns),
        "launches": totals.launches,
        "kernels": totals.kernels,
        "copy_ns": number(totals.copy_ns),
        "gpu_busy_ns": number(totals.gpu_busy_ns),
        "window_ns": number(totals.window_ns),
        "steady_busy_ns": number(totals.steady_busy_ns),
        "steady_window_ns": number(totals.steady_window_ns),
        "steady_steps": totals.steady_steps,
        "steps_basis": totals.steps_basis,
        "api_ns": number(totals.api_ns),
        "basis": totals.basis,
        "families": {name: number(totals.families[name]) for name in sorted(totals.families)},
    }


def _finding(finding: Finding) -> Object:
    return {
        **_judgement(finding),
        "why": finding.why,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
        "explains": [_judgement(consequence) for consequence in finding.explains],
        "false_positives": finding.false_positives,
        "references": list(finding.references),
    }


def _judgement(finding: Finding) -> Object:
    return {
        "rule": finding.rule,
        "title": finding.title,
        "category": finding.category,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "scope": finding.subject.scope,
        "subject": _subject(finding.subject),
        "saving": _saving(finding.saving),
        "message": clean(finding.message),
        "location": _location(finding.location),
        "fingerprint": finding.fingerprint,
        "hot_lines": [_hot_line(line) for line in finding.hot_lines],
    }


def _hot_line(line: HotLine) -> Object:
    return {
        "place": clean(line.place),
        "text": clean(line.text),
        "stall": line.stall,
        "samples": line.samples,
        "total": line.total,
        "location": _location(line.location),
    }


def _subject(subject: Subject) -> Object:
    return {
        "kernel": clean(subject.kernel),
        "device": subject.device,
        "launches": subject.launches,
        "time_ns": number(subject.time_ns),
        "time_share": number(subject.time_share),
        "members": [_member(member) for member in subject.members],
    }


def _member(member: Member) -> Object:
    return {
        "kernel": clean(member.kernel),
        "base": clean(member.base),
        "device": member.device,
        "launches": member.launches,
        "time_ns": number(member.time_ns),
        "expected_ns": number(member.expected_ns),
        "upper_ns": number(member.upper_ns),
        "location": _location(member.location),
    }


def _saving(saving: Saving) -> Object:
    return {
        "expected_ns": number(saving.expected_ns),
        "upper_ns": number(saving.upper_ns),
        "base_ns": None if saving.base_ns is None else number(saving.base_ns),
        "share": number(saving.share),
        "resource": saving.resource,
        "basis": saving.basis,
        "assumptions": list(saving.assumptions),
    }


def _evidence(evidence: Evidence) -> Object:
    return {
        "clause": evidence.clause,
        "text": clean(evidence.text),
        "values": [_quantity(quantity) for quantity in evidence.values],
    }


def _quantity(quantity: Quantity) -> Object:
    value = quantity.value
    return {
        "name": quantity.name,
        "value": clean(value) if isinstance(value, str) else number(value),
        "unit": quantity.unit,
        "combined": quantity.combined,
        "cell": number(quantity.cell),
        "location": _location(quantity.location),
    }


def _remedy(remedy: Remedy) -> Object:
    return {
        "id": remedy.id,
        "title": remedy.title,
        "effort": remedy.effort,
        "risk": remedy.risk,
        "note": remedy.note,
        "code": {name: "\n".join(block(remedy.code[name])) for name in sorted(remedy.code)},
        "saving": _saving(remedy.saving) if remedy.saving else None,
    }


def _not_evaluated(gap: NotEvaluated) -> Object:
    return {
        "rule": gap.rule,
        "title": gap.title,
        "missing": list(gap.missing),
        "reason": gap.reason,
        "kernels": gap.kernels,
        "time_ns": number(gap.time_ns),
        "collect": gap.collect,
    }


def _vendors(report: Report) -> list[Object]:
    """NVIDIA's findings, each with what ours says about it; null where the report does not compare them."""
    matches = report.vendor_matches or (None,) * len(report.vendor_findings)
    pairs = zip(report.vendor_findings, matches, strict=True)
    return [{**_vendor(finding), "match": match_object(match)} for finding, match in pairs]


def _vendor(finding: VendorFinding) -> Object:
    return {
        "tool": finding.tool,
        "rule": clean(finding.rule),
        "kind": clean(finding.kind),
        "text": clean(" ".join(finding.text.split())),
        "section": clean(finding.section),
        "kernel": clean(finding.kernel),
        "scope": clean(finding.scope),
        "estimated_speedup": number(finding.estimated_speedup),
        "location": _location(finding.location),
    }


def _issue(issue: Issue) -> Object:
    return {"level": issue.level.label, "text": clean(issue.text), "location": _location(issue.location)}


def _location(location: Location | None) -> Object | None:
    if location is None:
        return None
    return {
        "file": clean(location.path),
        "line": location.line,
        "column": location.column,
        "field": clean(location.field),
        "table": clean(location.table),
    }
