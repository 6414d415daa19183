"""Outcomes to findings: subjects grouped by cause, with members, evidence, message and remedies."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nsight_insight.catalog.names import normalize
from nsight_insight.model.finding import LOWER, Evidence, Finding, Member, Remedy, Saving, Subject
from nsight_insight.model.profile import Profile
from nsight_insight.model.text import clean, counted, quantity
from nsight_insight.model.units import NUMBER, TIME, Dimension, parse_unit
from nsight_insight.rules import vocabulary
from nsight_insight.rules.evaluate import Outcome, expand
from nsight_insight.rules.evidence import clause_evidence
from nsight_insight.rules.expr import Array
from nsight_insight.rules.grouping import group_value
from nsight_insight.rules.host_bound import note
from nsight_insight.rules.model import Clause, RemedyRule
from nsight_insight.views.facts import TRACE, FactTable, Ints

_PLACEHOLDER: Final = re.compile(r"\{(\w+)(?::([\w -]+))?\}")
"""``{duration}``, or ``{kernels:cast kernel}`` for a number with its noun: 1 cast kernel, 4 cast kernels."""
NS: Final = 1e9


@dataclass(frozen=True)
class Context:
    """What every finding of a run shares: the profile, its trace facts, and the time base in seconds.

    ``copy_bound``: kernels and copies in seconds where copies rule, the base that savings then are a share of.
    """

    profile: Profile
    device_facts: FactTable
    base_seconds: float
    copy_bound: float | None = None


def findings_of(outcome: Outcome, context: Context) -> list[Finding]:
    """One finding per device (``merge``) or per device and kernel of the subjects that fired."""
    rows = np.flatnonzero(outcome.fired)
    return [_Group(outcome, context, members).finding() for members in _groups(outcome, rows)]


def refreshed(finding: Finding, outcomes: Mapping[str, Outcome], context: Context) -> Finding:
    """The finding told anew for the members it has left after folding or suppressing, folded ones included."""
    explains = tuple(refreshed(folded, outcomes, context) for folded in finding.explains)
    members = finding.subject.members
    if not members:
        return replace(finding, explains=explains)
    outcome = outcomes[finding.rule]
    names = {(member.device, member.kernel) for member in members}
    fired = np.flatnonzero(outcome.fired)
    rows = [r for r in fired if (int(outcome.table.devices[r]), kernel_name(outcome, int(r))) in names]
    told = _Group(outcome, context, np.array(rows, dtype=np.int64)).finding()
    return replace(told, explains=explains)


def _groups(outcome: Outcome, rows: Ints) -> list[Ints]:
    grouped: dict[tuple[int, str], list[int]] = {}
    for row in rows:
        name = "" if outcome.rule.merge or outcome.table.scope == TRACE else kernel_name(outcome, int(row))
        grouped.setdefault((int(outcome.table.devices[row]), name), []).append(int(row))
    return [np.array(members, dtype=np.int64) for _, members in sorted(grouped.items())]


def kernel_name(outcome: Outcome, row: int) -> str:
    """The kernel's name as the input wrote it; empty for trace subjects."""
    names = outcome.table.values.get("name")
    return "" if names is None or names[row] is None else clean(str(names[row]))


class _Group:
    """The subjects of one finding; ``lead`` is the one with the largest expected saving."""

    def __init__(self, outcome: Outcome, context: Context, rows: Ints) -> None:
        self.outcome, self.context, self.rows = outcome, context, rows
        self.rule, self.table = outcome.rule, outcome.table
        order = np.lexsort((self.table.time[rows], outcome.expected[rows]))
        self.lead = int(rows[order[-1]])

    def finding(self) -> Finding:
        rule, members = self.rule, self._members()
        assumptions = self._assumptions()
        saving = self._saving(
            self.outcome.expected, self.outcome.upper, rule.saving.resource, rule.saving.basis, assumptions
        )
        confidence = rule.confidence
        for _ in assumptions:
            confidence = LOWER[confidence]
        subject = self._subject(members)
        return Finding(
            rule=rule.id, title=rule.title, category=rule.category, severity=rule.severity, confidence=confidence,
            subject=subject, saving=saving, message=self._text(rule.message, saving), why=rule.why,
            evidence=tuple(self._evidence(clause, saving) for clause in rule.when),
            remedies=self._remedies(assumptions), explains=(), false_positives=rule.false_positives,
            references=rule.references, fingerprint=_fingerprint(rule.id, subject),
            location=self.context.profile.locate(int(self.table.lead[self.lead]), "duration"),
        )  # fmt: skip

    def _evidence(self, clause: Clause, saving: Saving) -> Evidence:
        text, context = self._text(clause.text, saving), self.context
        return clause_evidence(clause, text, self.outcome, self.lead, self.rows, context.profile, context.device_facts)

    def _members(self) -> tuple[Member, ...]:
        """Members by kernel name, launches of one kernel added up, largest expected saving first."""
        if self.table.scope == TRACE:
            return ()
        by_name: dict[str, list[int]] = {}
        for row in self.rows:
            by_name.setdefault(kernel_name(self.outcome, int(row)), []).append(int(row))
        members = [self._member(name, np.array(rows, dtype=np.int64)) for name, rows in by_name.items()]
        return tuple(sorted(members, key=lambda member: (-member.expected_ns, -member.time_ns, member.kernel)))

    def _member(self, name: str, rows: Ints) -> Member:
        outcome, table = self.outcome, self.table
        lead = int(rows[np.argmax(table.time[rows])])
        bases = table.values.get("base")
        return Member(
            kernel=name,
            base=clean(str(bases[lead])) if bases is not None and bases[lead] is not None else name,
            device=int(table.devices[lead]),
            launches=int(np.nansum(table.launches[rows])),
            time_ns=float(table.time[rows].sum()) * NS,
            expected_ns=float(outcome.expected[rows].sum()) * NS,
            upper_ns=float(outcome.upper[rows].sum()) * NS,
            location=self.context.profile.locate(int(table.lead[lead]), "duration"),
            key=normalize(name),
        )

    def _subject(self, members: Sequence[Member]) -> Subject:
        time = float(self.table.time[self.rows].sum())
        single = members[0].kernel if len(members) == 1 else ""
        return Subject(
            scope=self.table.scope,
            kernel=single,
            device=int(self.table.devices[self.lead]),
            launches=int(np.nansum(self.table.launches[self.rows])),
            time_ns=time * NS,
            time_share=_ratio(time, self.context.base_seconds),
            members=tuple(members),
        )

    def _saving(self, expected: Array, upper: Array, resource: str, basis: str,
                assumptions: tuple[str, ...]) -> Saving:  # fmt: skip
        total = float(np.nansum(expected[self.rows]))
        own = self._own_base()
        base = self.context.base_seconds if own is None else own
        # Time of the host may be longer than all that it can be a share of.
        most = base if self.table.scope == TRACE and base > 0 else float("inf")
        total = min(total, most)
        return Saving(
            expected_ns=total * NS,
            upper_ns=min(float(np.nansum(upper[self.rows])), most) * NS,
            share=_ratio(total, base),
            resource=resource,
            basis=basis,
            assumptions=assumptions,
            base_ns=None if own is None else own * NS,
        )

    def _own_base(self) -> float | None:
        """Seconds that the rule's savings are a share of; None for the profile's kernel time where kernels rule."""
        scope, rows = self.outcome.scope, self.rows
        steady = float(np.nansum(scope["steady_window"][rows])) if self.rule.saving.base == "steady" else 0.0
        if steady > 0:
            return steady
        if self.rule.saving.base in ("steady", "copies"):
            loop, total = scope["loop_copy_time"][rows], scope["copy_time"][rows]
            return float(np.nansum(scope["kernel_time"][rows]) + np.nansum(np.where(np.isnan(loop), total, loop)))
        # What a rule says of the whole device may be idle time, which is no part of this base.
        return None if self.table.scope == TRACE else self.context.copy_bound

    def _assumptions(self) -> tuple[str, ...]:
        """Texts of assumed facts the saving rests on, and of doubts that hold; each lowers confidence."""
        saving = self.rule.saving
        used = expand(saving.upper.names | saving.expected.names, self.rule)
        texts = [text for name, text in self.table.assumptions.items() if name in used]
        for doubt in self.rule.doubts:
            held = doubt.condition(self.outcome.scope)
            if held[self.lead if len(held) > 1 else 0] == 1.0:
                texts.append(self._text(doubt.text, None))
        texts += filter(None, [note(saving.resource, int(self.table.devices[self.lead]), self.context.device_facts)])
        return tuple(dict.fromkeys(texts))

    def _remedies(self, assumptions: tuple[str, ...]) -> tuple[Remedy, ...]:
        return tuple(self._remedy(remedy, assumptions) for remedy in self.rule.remedies if self._fits(remedy))

    def _fits(self, remedy: RemedyRule) -> bool:
        if remedy.when is None:
            return True
        truth = remedy.when(self.outcome.scope)
        return bool(truth[self.lead if len(truth) > 1 else 0] != 0.0)

    def _remedy(self, remedy: RemedyRule, assumptions: tuple[str, ...]) -> Remedy:
        saving = None
        if remedy.saving is not None:
            expected, upper = self.outcome.remedies[remedy.id]
            saving = self._saving(expected, upper, remedy.saving.resource, remedy.saving.basis, assumptions)
        return Remedy(
            remedy.id, remedy.title, remedy.effort, remedy.risk, remedy.code, self._text(remedy.note, None), saving
        )

    def _text(self, template: str, saving: Saving | None) -> str:
        def fill(found: re.Match[str]) -> str:
            value, noun = self._value(found[1], saving), found[2]
            return f"{value} {counted(value, noun)}" if noun else value

        return _PLACEHOLDER.sub(fill, template)

    def _value(self, name: str, saving: Saving | None) -> str:
        if name == "kernels":
            return str(len({kernel_name(self.outcome, int(row)) for row in self.rows}))
        if name in ("expected", "upper") and saving is not None:
            return quantity((saving.expected_ns if name == "expected" else saving.upper_ns) / NS, TIME)
        values = self.outcome.scope[name]
        return quantity(self.aggregate(name, values), self._dimension(name))

    def aggregate(self, name: str, values: Array) -> float | str | None:
        """Sum of what adds up, the lead's text, the time-weighted mean of anything else."""
        if values.dtype == object:
            value = values[self.lead]
            return None if value is None else str(value)
        return group_value(name, values, self.rows, self.table)

    def _dimension(self, name: str) -> Dimension:
        if name in self.rule.params:
            unit = parse_unit(self.rule.params[name].unit)
            return unit.dimension if unit else NUMBER
        if name in self.rule.let:
            return self.rule.let[name].type.dimension
        return vocabulary.facts(self.rule.scope)[name].dimension


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _fingerprint(rule: str, subject: Subject) -> str:
    """Identity of a finding across runs: the rule, the device and the kernels, not the numbers."""
    bases = sorted({member.base for member in subject.members})
    text = "\n".join([rule, str(subject.device), *(bases if subject.kernel else ())])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
