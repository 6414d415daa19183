"""One cause, one finding: consequences are folded under the finding that explains them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from nsight_insight.model.finding import Finding, Member
from nsight_insight.rules.model import Rule


def fold(findings: Sequence[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """Findings without those that another one explains on the same kernels.

    A consequence whose kernels are only partly explained keeps the rest, its saving reduced to theirs.
    Nothing is dropped: what is folded stands in ``explains`` of its cause.
    """
    remaining: dict[int, Finding] = dict(enumerate(sorted(findings, key=lambda f: (-f.rank, f.rule, f.fingerprint))))
    for index in list(remaining):
        cause = remaining.get(index)
        if cause is None:
            continue
        for other in [key for key in remaining if key != index]:
            if not _explains(rules[cause.rule], remaining[other].rule):
                continue
            explained, rest = _split(remaining[other], cause)
            if explained is None:
                continue
            cause = replace(cause, explains=(*cause.explains, explained))
            if rest is None:
                del remaining[other]
            else:
                remaining[other] = rest
        remaining[index] = cause
    return list(remaining.values())


def _explains(rule: Rule, other: str) -> bool:
    return rule.id != other and any(fnmatchcase(other, pattern) for pattern in rule.explains)


def _split(consequence: Finding, cause: Finding) -> tuple[Finding | None, Finding | None]:
    """The part of ``consequence`` on the cause's kernels, and the rest."""
    if consequence.subject.device != cause.subject.device:
        return None, consequence
    if not cause.subject.members or not consequence.subject.members:
        whole = not cause.subject.members and not consequence.subject.members
        return (consequence, None) if whole or not cause.subject.members else (None, consequence)
    keys = {(member.device, member.key) for member in cause.subject.members}
    inside = [m for m in consequence.subject.members if (m.device, m.key) in keys]
    outside = [m for m in consequence.subject.members if (m.device, m.key) not in keys]
    if not inside:
        return None, consequence
    if not outside:
        return consequence, None
    return restrict(consequence, inside), restrict(consequence, outside)


def restrict(finding: Finding, members: Iterable[Member]) -> Finding:
    """The finding for some of its members only: time and savings are theirs."""
    kept = tuple(members)
    old = finding.saving
    share = old.share / old.expected_ns if old.expected_ns else 0.0
    expected = sum(member.expected_ns for member in kept)
    subject = finding.subject
    time = sum(member.time_ns for member in kept)
    return replace(
        finding,
        subject=replace(
            subject,
            members=kept,
            kernel=kept[0].kernel if len(kept) == 1 else "",
            launches=sum(member.launches for member in kept),
            time_ns=time,
            time_share=subject.time_share * time / subject.time_ns if subject.time_ns else 0.0,
        ),
        saving=replace(
            old, expected_ns=expected, upper_ns=sum(member.upper_ns for member in kept), share=share * expected
        ),
    )
