"""A comparison of two captures as text for a terminal, as JSON and as Markdown.

The JSON is a contract (``comparison-v1.schema.json``): times in ns per ``unit``, bytes, shares as fractions, null
unknown. Keys may be added within version 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nsight_insight.errors import UsageError
from nsight_insight.model.text import clean
from nsight_insight.reporters._machine import json_text, number

if TYPE_CHECKING:
    from nsight_insight.model.comparison import (
        Change,
        Comparison,
        FindingChange,
        GroupChange,
        KernelChange,
        KernelPart,
        Run,
    )
    from nsight_insight.reporters.options import RenderOptions

FORMATS: Final = ("text", "json", "markdown")
SCHEMA_VERSION: Final = 1
Object = dict[str, Any]


def comparison_output(comparison: Comparison, format_: str, options: RenderOptions) -> str:
    """The comparison in one of ``FORMATS``, ending in a newline.

    Raises:
        UsageError: another format.
    """
    if format_ == "json":
        return json_text(comparison_dict(comparison))
    if format_ == "markdown":
        from nsight_insight.reporters._comparison_markdown import markdown

        return markdown(comparison, options)
    if format_ == "text":
        from nsight_insight.reporters._comparison_text import text

        return text(comparison, options)
    raise UsageError(f"a comparison is written as {', '.join(FORMATS)}, not as {format_}")


def comparison_dict(comparison: Comparison) -> Object:
    """The comparison as plain lists, dictionaries, texts and numbers."""
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "comparison",
        "tool": {"name": "nsight-insight", "version": comparison.version},
        "before": run_object(comparison.before),
        "after": run_object(comparison.after),
        "unit": comparison.unit or None,
        "verdict": comparison.verdict,
        "measure": comparison.measure or None,
        "reason": clean(comparison.reason),
        "wall": change_object(comparison.wall),
        "kernel": change_object(comparison.kernel),
        "launches": _pair(comparison.launches),
        "dram_bytes": _pair(comparison.bytes),
        "groups": [_group(group) for group in comparison.groups],
        "kernels": [_kernel(kernel) for kernel in comparison.kernels],
        "findings": [_finding(finding) for finding in comparison.findings],
        "cautions": [clean(text) for text in comparison.cautions],
    }


def run_object(run: Run) -> Object:
    """One side as plain data."""
    return {
        "paths": [clean(path) for path in run.paths],
        "tool": run.tool,
        "devices": [clean(name) for name in run.devices],
        "steps": run.steps,
        "launches": number(run.launches),
        "kernels": run.kernels,
        "noise": run.noise,
    }


def _pair(pair: tuple[float, float] | None) -> Object | None:
    return None if pair is None else {"before": number(pair[0]), "after": number(pair[1])}


def change_object(change: Change | None) -> Object | None:
    """A change as plain data."""
    if change is None:
        return None
    return {
        "before": number(change.before),
        "after": number(change.after),
        "difference": number(change.difference),
        "share": number(change.share),
        "least": number(change.least),
        "verdict": change.verdict,
        "reason": clean(change.reason),
    }


def _group(group: GroupChange) -> Object:
    return {
        "kind": group.kind,
        "name": group.name,
        "time": change_object(group.time),
        "launches_before": number(group.launches_before),
        "launches_after": number(group.launches_after),
    }


def _kernel(kernel: KernelChange) -> Object:
    return {
        "what": kernel.what,
        "match": kernel.match,
        "before": [_part(part) for part in kernel.before],
        "after": [_part(part) for part in kernel.after],
        "time": change_object(kernel.time),
        "dram_bytes_before": number(kernel.bytes_before),
        "dram_bytes_after": number(kernel.bytes_after),
    }


def _part(part: KernelPart) -> Object:
    return {
        "kernel": clean(part.name),
        "base": clean(part.base),
        "family": part.family,
        "dtype": part.dtype,
        "time_ns": number(part.time_ns),
        "launches": number(part.launches),
    }


def _finding(finding: FindingChange) -> Object:
    return {
        "state": finding.state,
        "rule": finding.rule,
        "title": finding.title,
        "severity": finding.severity,
        "kernel": clean(finding.kernel),
        "saving_before_ns": number(finding.saving_before),
        "saving_after_ns": number(finding.saving_after),
        "fingerprint_before": finding.before.fingerprint if finding.before else None,
        "fingerprint_after": finding.after.fingerprint if finding.after else None,
        "note": clean(finding.note),
    }
