"""Rules that could not judge: what is missing, on how much time, and the command that collects it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nsight_insight.catalog.collect import collect_command
from nsight_insight.model.finding import NotEvaluated
from nsight_insight.model.profile import Profile
from nsight_insight.rules import vocabulary
from nsight_insight.rules.evaluate import Outcome
from nsight_insight.rules.expr import Array
from nsight_insight.rules.findings import kernel_name
from nsight_insight.views.facts import LAUNCH

MIN_SHARE: Final = 0.01
"""Gaps on less than 1 % of the kernel time are not worth another capture."""
NSYS_NEEDS: Final = frozenset(
    {"memcpy", "memcpy_kind", "memcpy_bytes", "api", "start", "queue_duration", "min", "duration"}
)
"""Needs that only Nsight Systems can fill."""


def not_evaluated(outcome: Outcome, profile: Profile, kernel_ns: float) -> NotEvaluated | None:
    """The gap of one rule, or None where it judged everything that matters."""
    rows = np.flatnonzero(outcome.unknown)
    time_ns = float(outcome.table.time[rows].sum()) * 1e9
    if not len(rows) or time_ns < MIN_SHARE * kernel_ns:
        return None
    missing = missing_inputs(outcome)
    cc = outcome.scope.get("cc")
    return NotEvaluated(
        rule=outcome.rule.id,
        title=outcome.rule.title,
        missing=missing,
        reason=_reason(outcome, missing, profile),
        kernels=len({kernel_name(outcome, int(row)) for row in rows}),
        time_ns=time_ns,
        collect=_command(outcome, missing, cc),
    )


def collect_all(gaps: Sequence[NotEvaluated], profile: Profile) -> str:
    """The commands that collect what every gap lacks, one a line; "" when none can."""
    wanted = [name for gap in gaps if gap.collect for name in gap.missing if not name.startswith(("peak_", "gain_"))]
    chips = {device.cc for device in profile.devices}
    tool = "ncu" if any(gap.collect.startswith("ncu") for gap in gaps) else "nsys"
    return collect_command(wanted, chips.pop() if len(chips) == 1 else None, tool) if wanted else ""


def missing_inputs(outcome: Outcome) -> tuple[str, ...]:
    """Metrics and columns behind the facts that are not there."""
    facts = vocabulary.facts(outcome.rule.scope)
    inputs: list[str] = []
    for name in sorted(outcome.gaps):
        needs = facts[name].needs
        inputs += [need for need in needs if _absent(outcome, need)] or [name]
    return tuple(dict.fromkeys(inputs))


def _absent(outcome: Outcome, need: str) -> bool:
    values = outcome.scope.get(need)
    if values is None or values.dtype == object:
        return values is None
    return bool(np.isnan(values[outcome.unknown]).any())


def _reason(outcome: Outcome, missing: tuple[str, ...], profile: Profile) -> str:
    metered = any(source.tool == "ncu" for source in profile.sources)
    if outcome.rule.scope == LAUNCH and not metered:
        return "needs Nsight Compute metrics; the input is from Nsight Systems"
    if missing and all(
        name.startswith(("peak_", "dram_bandwidth", "gain_", "gpu", "sm_count", "ridge")) for name in missing
    ):
        return "the GPU is not known: pass --gpu NAME"
    return "not in the input: " + ", ".join(missing) if missing else "the inputs do not say"


def _command(outcome: Outcome, missing: tuple[str, ...], cc: Array | None) -> str:
    wanted = [name for name in missing if not name.startswith(("peak_", "gain_"))]
    if not wanted:
        return ""
    tool = "nsys" if NSYS_NEEDS.intersection(wanted) else "ncu"
    known = cc[outcome.unknown] if cc is not None else np.array([np.nan])
    known = known[~np.isnan(known)]
    return collect_command(wanted, float(known[0]) if len(known) else None, tool)
