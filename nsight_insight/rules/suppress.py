"""Suppressions of the configuration: applied, counted, and reported when expired or unused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from nsight_insight.config import Config, Suppression
from nsight_insight.model.finding import Finding
from nsight_insight.model.issues import Issue, Level
from nsight_insight.rules.fold import restrict


def suppress(findings: Sequence[Finding], config: Config) -> tuple[list[Finding], list[Issue], int]:
    """Findings that remain, issues about suppressions, and how many findings were hidden or reduced."""
    if not config.suppressions:
        return list(findings), [], 0
    today = datetime.now(tz=UTC).date()
    active = [entry for entry in config.suppressions if not entry.expired(today)]
    used: set[int] = set()
    rests = [_apply(finding, active, used) for finding in findings]
    hidden = sum(rest is not finding for rest, finding in zip(rests, findings, strict=True))
    notes = [_note(e, "has expired and no longer applies") for e in config.suppressions if e.expired(today)]
    notes += [_note(entry, "matched no finding") for index, entry in enumerate(active) if index not in used]
    return [rest for rest in rests if rest is not None], notes, hidden


def _apply(finding: Finding, active: Sequence[Suppression], used: set[int]) -> Finding | None:
    rest: Finding | None = finding
    for index, entry in enumerate(active):
        if rest is None:
            return None
        if entry.covers_finding(rest):
            used.add(index)
            return None
        kept = [m for m in rest.subject.members if not entry.covers(rest.rule, m.kernel, m.base)]
        if kept and len(kept) < len(rest.subject.members):
            used.add(index)
            rest = restrict(rest, kept)
    return rest


def _note(entry: Suppression, text: str) -> Issue:
    return Issue(Level.INFO, f"suppression of {entry.rule} ({entry.reason}) {text}", entry.location)
