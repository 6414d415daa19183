"""What NVIDIA's rules write: markup of their messages, and which rule a text is from where the page does not say."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from nsight_insight.catalog.sections import load_sections

_LINK: Final = re.compile(r"@(section|sass|url|source):([^@]*)@")
_RULES: Final = (
    ("SpeedOfLight", "", "SOLBottleneck"),
    ("SpeedOfLight_RooflineChart", "", "SOLFPRoofline"),
    ("ComputeWorkloadAnalysis", "different pipeline", "SlowPipeLimiter"),
    ("ComputeWorkloadAnalysis", "", "HighPipeUtilization"),
    ("MemoryWorkloadAnalysis_Chart", "L2 Compression", "MemoryL2Compression"),
    ("MemoryWorkloadAnalysis_Chart", "gcomp", "MemoryL2Compression"),
    ("MemoryWorkloadAnalysis_Chart", "", "MemoryApertureUsage"),
    ("MemoryWorkloadAnalysis_Tables", "bank conflict", "SharedMemoryConflicts"),
    ("MemoryWorkloadAnalysis_Tables", "", "MemoryCacheAccessPattern"),
    ("SchedulerStats", "", "IssueSlotUtilization"),
    ("WarpStateStats", "groups of 32 threads", "ThreadDivergence"),
    ("WarpStateStats", "", "CPIStall"),
    ("InstructionStats", "", "FPInstructions"),
    ("LaunchStats", "", "LaunchConfiguration"),
    ("Occupancy", "theoretical warps per scheduler", "TheoreticalOccupancy"),
    ("Occupancy", "This kernel's theoretical occupancy", "Occupancy"),
    ("Occupancy", "The difference between calculated", "AchievedOccupancy"),
    ("Occupancy", "", "Occupancy"),
    ("SourceCounters", "uncoalesced global", "UncoalescedGlobalAccess"),
    ("SourceCounters", "uncoalesced shared", "UncoalescedSharedAccess"),
    ("SourceCounters", "ampling", "PCSamplingData"),
    ("WorkloadDistribution", "", "WorkloadImbalance"),
    ("PmSampling", "", "PMSamplingData"),
)
"""Section, words of the message, rule; the first that fits. Text pages leave the rule's name out. Compared with the
details page as CSV of the same reports (ncu 2020 to 2025)."""
_TITLES: Final = {"PM Sampling": "PmSampling"}


@lru_cache(maxsize=1)
def _identifiers() -> dict[str, str]:
    titles = {title: section.identifier for section in load_sections().values() for title in section.names}
    return {**_TITLES, **titles}


def section_identifier(title: str) -> str:
    """The identifier of a section under which rules name it; the title where it is not known."""
    return _identifiers().get(title, title)


def rule_of(section: str, text: str) -> str:
    """The rule that writes such a text into a section; the section where that is not known."""
    return next((rule for home, words, rule in _RULES if home == section and words in text), section)


def plain_message(message: str) -> str:
    """A rule's message as ncu prints it: ``@section:LaunchStats:Launch Statistics@`` reads ``Launch Statistics``."""
    return _LINK.sub(_link, message)


def _link(found: re.Match[str]) -> str:
    kind, parts = found[1], found[2]
    if kind == "url":
        text, _, target = parts.partition(":")
        return f"{text} ({target})" if target else text
    return parts.rpartition(":")[2] if kind == "source" else parts.partition(":")[2]
