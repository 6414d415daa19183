"""All rules over one profile: findings folded and ranked, gaps, totals, the composed bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from nsight_insight._version import __version__
from nsight_insight.config import Config, Threshold
from nsight_insight.model.compose import compose
from nsight_insight.model.finding import SEVERITY_ORDER, Finding, Report
from nsight_insight.model.profile import Profile
from nsight_insight.model.units import parse_unit
from nsight_insight.rules.accounts import accounts
from nsight_insight.rules.device_totals import device_totals
from nsight_insight.rules.evaluate import Outcome, evaluate
from nsight_insight.rules.expr import Array
from nsight_insight.rules.findings import Context, findings_of, refreshed
from nsight_insight.rules.fold import fold
from nsight_insight.rules.gaps import collect_all, gaps_of
from nsight_insight.rules.host_bound import discounted
from nsight_insight.rules.hot_lines import with_hot_lines
from nsight_insight.rules.model import Param, Rule
from nsight_insight.rules.suppress import suppress
from nsight_insight.rules.thin import doubt, doubted, lowered, partial
from nsight_insight.rules.totals import copy_bound_seconds, device_names, totals_of
from nsight_insight.rules.unseen import unseen
from nsight_insight.rules.vendor import vendor_matches
from nsight_insight.views.build import Views, build_all
from nsight_insight.views.facts import TRACE, FactTable

MIN_SAVING: Final = Threshold(share=0.005)
"""Expected savings below 0.5 % of the kernel time are not worth reading unless asked for."""


def analyze_profile(profile: Profile, rules: Mapping[str, Rule], config: Config) -> Report:
    """Judge a profile.

    Args:
        profile: what was read.
        rules: rule id -> rule, already the user's choice of files.
        config: selection, thresholds, overrides and suppressions.
    """
    chosen = choose(rules, config)
    views = build_all(profile)
    devices = device_totals(views)
    totals = totals_of(profile, views[TRACE], devices)
    outcomes = {outcome.rule.id: outcome for outcome in outcomes_of(profile, chosen.values(), views)}
    context = Context(profile, views[TRACE], totals.kernel_ns / 1e9, copy_bound_seconds(views[TRACE]))
    findings = [finding for outcome in outcomes.values() for finding in findings_of(outcome, context)]
    kept, notes, hidden = suppress(fold(findings, chosen), config)
    reason = doubt(views.activities)
    layers = partial(devices, views[TRACE])
    told = [
        lowered(
            doubted(refreshed(f, outcomes, context), reason),
            layers.get(f.subject.device, "") if _steady(f, chosen) else "",
        )
        for f in kept
    ]
    gaps = gaps_of(outcomes.values(), chosen.values(), profile, views, totals.kernel_ns)
    gaps += unseen(profile, chosen.values(), views, totals.kernel_ns)
    limit = config.min_saving or MIN_SAVING
    ranked = [with_hot_lines(f, profile) for f in rank(f for f in told if _worth_telling(f, limit))]
    ledger, tensor_account = accounts(views, outcomes)
    return Report(
        version=__version__,
        sources=profile.sources,
        devices=device_names(profile),
        totals=totals,
        findings=tuple(ranked[: config.top] if config.top else ranked),
        not_evaluated=tuple(gaps),
        vendor_findings=profile.vendor,
        issues=(*profile.issues, *notes),
        potential=compose(ranked, totals.kernel_ns, totals.idle_ns, totals.copy_ns or 0.0),
        rules_evaluated=len(outcomes),
        rules=tuple(chosen),
        judged=frozenset(rule.id for rule in chosen.values() if _judged(rule, outcomes.get(rule.id), profile)),
        suppressed=hidden,
        collect=collect_all(gaps, profile),
        below_threshold=len(told) - len(ranked),
        ledger=ledger,
        tensor_account=tensor_account,
        vendor_matches=vendor_matches(profile.vendor, views, outcomes, told, ranked),
        device_totals=devices,
    )


def _steady(finding: Finding, rules: Mapping[str, Rule]) -> bool:
    return rules[finding.rule].saving.base == "steady" and finding.saving.base_ns is not None


def _judged(rule: Rule, outcome: Outcome | None, profile: Profile) -> bool:
    """Whether a rule could tell of any subject, or could have told that there is none of its kind."""
    traced = any(source.tool != "ncu" for source in profile.sources)
    metered = any(source.tool == "ncu" for source in profile.sources)
    tool = rule.applies_to.get("tool")
    if outcome is None or (tool == ("nsys",) and not traced) or (tool == ("ncu",) and not metered):
        return False
    return not outcome.applies.any() or bool((outcome.applies & ~outcome.unknown).any())


def outcomes_of(profile: Profile, rules: Iterable[Rule], views: Views) -> Iterator[Outcome]:
    """Every rule on every subject of its scope; none for a scope without subjects."""
    for rule in rules:
        table = views[rule.scope]
        if len(table):
            yield discounted(evaluate(rule, table, views[TRACE], _tools(profile, table)), views[TRACE])


def choose(rules: Mapping[str, Rule], config: Config) -> dict[str, Rule]:
    """The rules to run, severities and parameters overridden as configured."""
    chosen = {}
    for rule_id, rule in sorted(rules.items()):
        if rule.status == "deprecated" or not config.wants(rule_id):
            continue
        chosen[rule_id] = _override(rule, config)
    return chosen


def _override(rule: Rule, config: Config) -> Rule:
    severity = config.severity.get(rule.id, rule.severity)
    values = config.params.get(rule.id, {})
    params = {name: _with_value(param, values.get(name)) for name, param in rule.params.items()}
    return replace(rule, severity=severity, params=params)


def _with_value(param: Param, value: float | None) -> Param:
    """The parameter with a value of the configuration, which is written in the parameter's own unit."""
    unit = parse_unit(param.unit)
    return param if value is None or unit is None else replace(param, value=value * unit.scale)


def rank(findings: Iterable[Finding]) -> list[Finding]:
    """Expected saving times confidence weight; ties by severity, rule and kernel."""
    return sorted(
        findings, key=lambda f: (-f.rank, -SEVERITY_ORDER[f.severity], f.rule, f.subject.kernel, f.fingerprint)
    )


def _worth_telling(finding: Finding, limit: Threshold) -> bool:
    """Whether a finding reaches the limit; a note that promises nothing is measured by what it leaves open."""
    saving = finding.saving
    if finding.severity == "note" and not saving.expected_ns and saving.base_ns:
        saving = replace(saving, expected_ns=saving.upper_ns, share=saving.upper_ns / saving.base_ns)
    return limit.reached(saving, finding.severity)


def _tools(profile: Profile, table: FactTable) -> Array:
    sources = profile.activities["source"].to_numpy()
    names = np.array([source.tool for source in profile.sources], dtype=object)
    tools: Array = names[sources[table.lead]]
    return tools
