"""Rules that could not judge: what is missing, on how much time, and the command that collects it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from nsight_insight.catalog.collect import Target, collect_command
from nsight_insight.catalog.function_names import function_name
from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.model.columns import Kind
from nsight_insight.model.finding import NotEvaluated
from nsight_insight.model.profile import Profile
from nsight_insight.model.text import percent
from nsight_insight.rules import vocabulary
from nsight_insight.rules.evaluate import Outcome, expand
from nsight_insight.rules.findings import kernel_name
from nsight_insight.rules.model import Rule
from nsight_insight.views.facts import KERNEL, FactTable, Ints

MIN_SHARE: Final = 0.01
"""Gaps on less than 1 % of the kernel time are not worth another capture."""
UNPROFILED: Final = 0.1
"""Kernels without metrics that take less of the kernel time are not worth another capture."""
TOP_KERNELS: Final = 5
"""Kernels that a proposed ncu command profiles: those that take the most time."""
_GPU_FACTS: Final = ("peak_", "dram_bandwidth", "gain_", "gpu", "sm_count", "ridge", "tensor_cap")
PHRASES: Final = {
    "api": "CUDA API calls",
    "start": "start times (a trace, not a summary)",
    "memcpy": "copies",
    "memcpy_kind": "the kind of host memory of copies",
    "memcpy_bytes": "copy sizes",
    "queue_duration": "queueing times",
    "correlation": "which API call launched which kernel",
    "nvtx": "NVTX ranges around the steps",
    "gpu_faults": "page faults of managed memory (nsys profile --cuda-um-gpu-page-faults=true, SQLite export)",
    "migrations": "why pages of managed memory moved (nsys export --type sqlite)",
    "gpu_metrics": "sampled GPU metrics (nsys profile --gpu-metrics-devices=all, SQLite export)",
    "min": "the shortest launch",
    "duration": "durations",
    "pingpong": "the order of kernels on a stream",
    "next_family": "the order of kernels on a stream",
    "next_dtype_in": "the order of kernels on a stream",
}
"""What needs that are no metric mean to a person."""
NSYS_NEEDS: Final = frozenset(
    {
        "memcpy",
        "memcpy_kind",
        "memcpy_bytes",
        "api",
        "start",
        "queue_duration",
        "min",
        "duration",
        "correlation",
        "nvtx",
        "gpu_faults",
        "migrations",
        "gpu_metrics",
    }
)
"""Needs that only Nsight Systems can fill."""


def gaps_of(
    outcomes: Iterable[Outcome],
    rules: Iterable[Rule],
    profile: Profile,
    views: Mapping[str, FactTable],
    kernel_ns: float,
) -> list[NotEvaluated]:
    """Every rule that lacked data, the gap on the most time first."""
    found = [gap for outcome in outcomes if (gap := not_evaluated(outcome, profile, kernel_ns))]
    told = {gap.rule for gap in found}
    found += [gap for gap in _unmetered(rules, profile, views, kernel_ns) if gap.rule not in told]
    return sorted(found, key=lambda gap: (-gap.time_ns, gap.rule))


def _unmetered(
    rules: Iterable[Rule], profile: Profile, views: Mapping[str, FactTable], kernel_ns: float
) -> list[NotEvaluated]:
    """Rules for Nsight Compute metrics where no input has any, or none of much of the time: one command for all."""
    if not kernel_ns:
        return []
    kernels = views[KERNEL]
    rows = _without_metrics(profile, kernels)
    time_ns = float(kernels.time[rows].sum()) * 1e9
    if not len(rows) or time_ns < UNPROFILED * kernel_ns:
        return []
    reason = "needs Nsight Compute metrics; the input has none"
    if len(rows) < len(kernels):
        reason += f" of the kernels that take {percent(time_ns / kernel_ns)} of the kernel time"
    asking = [rule for rule in rules if rule.applies_to.get("tool") == ("ncu",)]
    top = [int(row) for row in rows[np.argsort(-kernels.time[rows])[:TOP_KERNELS]]]
    needs = {rule.id: _needs(rule) for rule in asking}
    everything = dict.fromkeys(name for names in needs.values() for name in names)
    cc = kernels.values["cc"][top[0]]
    # The kernels of a graph that was traced as a whole have no names to ask for.
    hidden = kernels.values["family"][top[0]] == "graph"
    names = [] if hidden else [function_name(str(kernels.values["name"][row] or "")) for row in top]
    command = collect_command(everything, None if np.isnan(cc) else float(cc), "ncu", kernels=names)
    return [NotEvaluated(rule.id, rule.title, needs[rule.id], reason, len(rows), time_ns, command) for rule in asking]


def _without_metrics(profile: Profile, kernels: FactTable) -> Ints:
    """Rows of the kernels that ncu did not profile."""
    if not any(source.tool == "ncu" for source in profile.sources):
        return np.arange(len(kernels))
    launches = kernels.values.get("ncu_launches")
    return np.zeros(0, dtype=np.int64) if launches is None else np.flatnonzero(launches == 0)


def _needs(rule: Rule) -> tuple[str, ...]:
    """Metrics a rule reads, directly or through facts."""
    facts, metrics = vocabulary.facts(rule.scope), load_metrics()
    expressions = [clause.condition for clause in rule.when] + [rule.saving.upper, rule.saving.expected]
    names = sorted(expand(frozenset[str]().union(*(e.names for e in expressions)), rule))
    needs = [need for name in names if name in facts for need in facts[name].needs]
    return tuple(dict.fromkeys(need for need in needs if need in metrics))


def not_evaluated(outcome: Outcome, profile: Profile, kernel_ns: float) -> NotEvaluated | None:
    """The gap of one rule, or None where it judged everything that matters."""
    rows = np.flatnonzero(outcome.unknown)
    time_ns = float(outcome.table.time[rows].sum()) * 1e9
    if not len(rows) or time_ns < MIN_SHARE * kernel_ns:
        return None
    missing = _not_there(missing_inputs(outcome), profile)
    return NotEvaluated(
        rule=outcome.rule.id,
        title=outcome.rule.title,
        missing=missing,
        reason=_reason(missing, profile),
        kernels=len({kernel_name(outcome, int(row)) for row in rows}),
        time_ns=time_ns,
        collect=_command(outcome, missing),
    )


def collect_all(gaps: Sequence[NotEvaluated], profile: Profile) -> str:
    """The commands that collect what every gap lacks, one a line; "" when none can."""
    metered = [gap for gap in gaps if gap.collect.startswith("ncu")]
    hosts = [gap for gap in gaps if gap.collect and gap not in metered]
    shared = {gap.collect for gap in metered}
    chips = {device.cc for device in profile.devices}
    cc = chips.pop() if len(chips) == 1 else None
    commands = [shared.pop()] if len(shared) == 1 else []
    if len(shared) > 1:
        commands = [collect_command(_wanted(metered), cc, "ncu")]
    if hosts:
        graphs = bool((profile.activities["kind"] == Kind.GRAPH.value).any())
        # One trace serves both, and holds what the metered rules want of it.
        wanted = [*_wanted(hosts), *_wanted(metered)]
        trace = collect_command(wanted, cc, "nsys", target=Target(graph_nodes=graphs)).splitlines()
        commands = [line for command in commands for line in command.splitlines() if line.startswith("ncu")]
        commands += [line for line in trace if line.startswith("nsys")]
    return "\n".join(filter(None, commands))


def _wanted(gaps: Iterable[NotEvaluated]) -> list[str]:
    return [name for gap in gaps for name in gap.missing if not name.startswith(_GPU_FACTS)]


def missing_inputs(outcome: Outcome) -> tuple[str, ...]:
    """Metrics and columns behind the facts that are not there."""
    facts = vocabulary.facts(outcome.rule.scope)
    inputs: list[str] = []
    for name in sorted(outcome.gaps):
        needs = facts[name].needs
        inputs += [need for need in needs if _absent(outcome, need)] or [name]
    return tuple(dict.fromkeys(inputs))


def _absent(outcome: Outcome, need: str) -> bool:
    """True when a need that is itself a fact is unknown; other needs (raw columns, API data) count as absent."""
    fact = vocabulary.facts(outcome.rule.scope).get(need)
    if fact is None or fact.kind == "text":
        return fact is None
    return bool(np.isnan(outcome.scope[need][outcome.unknown]).any())


def _not_there(missing: tuple[str, ...], profile: Profile) -> tuple[str, ...]:
    """``missing`` without start times where every kernel has one and something else is missing, too."""
    frame = profile.activities
    kernels = frame["primary"] & (frame["kind"] == Kind.KERNEL.value)
    timed = kernels.any() and frame.loc[kernels, "start"].notna().all()
    left = tuple(name for name in missing if not (timed and name == "start"))
    return left or missing


def _reason(missing: tuple[str, ...], profile: Profile) -> str:
    if missing and all(name == "cc" or name.startswith(_GPU_FACTS) for name in missing):
        named = any(device.name for device in profile.devices)
        return "this GPU's peaks are not known" if named else "the GPU is not named in the input: pass --gpu NAME"
    return "not in the input: " + ", ".join(PHRASES.get(n, n) for n in missing) if missing else "the inputs do not say"


def _command(outcome: Outcome, missing: tuple[str, ...]) -> str:
    wanted = [name for name in missing if not name.startswith(_GPU_FACTS)]
    if not wanted:
        return ""
    tool = "nsys" if NSYS_NEEDS.intersection(wanted) else "ncu"
    chips = outcome.scope["cc"] if "cc" in vocabulary.facts(outcome.rule.scope) else np.array([np.nan])
    known = chips[~np.isnan(chips)]
    return collect_command(wanted, float(known[0]) if len(known) else None, tool)
