"""Stall and memory findings name the instructions or source lines where warps wait, if a source page was given."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from nsight_insight.model.finding import Finding
from nsight_insight.model.profile import HotLine, Profile

CATEGORIES: Final = ("latency", "memory", "occupancy", "tensor-core")
SHOWN: Final = 3
_STALL: Final = "latency/stall-"


def with_hot_lines(finding: Finding, profile: Profile) -> Finding:
    """The finding with the hottest lines of its largest kernel; those that wait for its own reason first."""
    members = finding.subject.members
    if finding.category not in CATEGORIES or not members or not profile.hot_lines:
        return finding
    lines = profile.hot_lines_of(members[0].key)
    reason = finding.rule.removeprefix(_STALL).replace("-", "_") if finding.rule.startswith(_STALL) else ""
    ranked = sorted(lines, key=lambda line: (bool(reason) and not _waits_for(line, reason), -line.samples))
    return replace(finding, hot_lines=tuple(ranked[:SHOWN]))


def _waits_for(line: HotLine, reason: str) -> bool:
    return line.stall.startswith(reason)
