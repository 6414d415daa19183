"""The sentences that several formats say in the same words: plain text in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.model.issues import Level
from nsight_insight.reporters import _devices
from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, NotEvaluated, Report, Saving
    from nsight_insight.model.issues import Issue
    from nsight_insight.model.totals import Totals

NO_KERNELS: Final = "No GPU kernels recorded: GPU time is unknown"
GRAPHS: Final = 0.1
"""Share of the kernel time in graphs traced as a whole from which on the report says so."""
NOT_ADDED: Final = 0.98
"""Part of the sum of savings from which on the composed one needs no explanation."""
MUCH_IDLE: Final = 0.3
"""Idle share of the window from which on savings of kernel time need a warning."""


def measured(report: Report) -> str:
    """How much was measured."""
    totals = report.totals
    if not totals.launches:
        return NO_KERNELS
    launches = f"{fmt.count(totals.launches, 'launch')} of {fmt.count(totals.kernels, 'kernel')}"
    return f"{fmt.time(totals.kernel_ns)} of GPU kernel time in {launches}"


def headline(report: Report) -> str:
    """All findings in one sentence, or that there is none."""
    number = len(report.findings)
    if not number:
        return nothing(report)
    potential = report.potential
    found = fmt.count(number, "finding")
    if potential.upper_ns <= 0:
        return f"{found}, none with a saving of GPU time of its own"
    together = " together" if number > 1 else ""
    expected = f"about {_of(potential, report.totals.kernel_ns)}{together}"
    return f"{found}, {expected}, at most {fmt.time(potential.upper_ns)}"


def shared(report: Report) -> str:
    """That savings do not add up where findings save the same time, "" where they do add up."""
    alone = sum(finding.saving.expected_ns for finding in report.findings)
    together = report.potential.expected_ns
    if together >= NOT_ADDED * alone:
        return ""
    return f"one by one they promise {fmt.time(alone)}, but some save the same time"


def nothing(report: Report) -> str:
    """That there is no finding, what was checked, and what could not be."""
    totals = report.totals
    if not totals.launches:
        return "No finding: no GPU work was recorded, so nothing could be judged."
    kernels = f"{fmt.count(totals.kernels, 'kernel')} ({fmt.time(totals.kernel_ns)})"
    checked = f"{fmt.count(report.rules_evaluated, 'rule')} checked {kernels}; nothing is above its threshold."
    unjudged = len({gap.rule for gap in report.not_evaluated})
    doubt = f" This is no clean bill: {fmt.count(unjudged, 'rule')} could not be judged." if unjudged else ""
    return f"No finding. {checked}{_in_graphs(totals)}{doubt}"


def _in_graphs(totals: Totals) -> str:
    """That kernels were not recorded one by one, where it matters; "" elsewhere."""
    share = totals.families.get("graph", 0.0) / totals.kernel_ns if totals.kernel_ns else 0.0
    if share < GRAPHS:
        return ""
    return f" {fmt.share(share)} of the time is in CUDA graphs, whose kernels only --cuda-graph-trace=node records."


def hidden(report: Report) -> str:
    """What was found and is not told, "" when that is nothing."""
    parts = []
    if report.below_threshold:
        parts.append(f"{fmt.count(report.below_threshold, 'smaller finding')} below --min-saving")
    if report.suppressed:
        parts.append(f"{fmt.count(report.suppressed, 'finding')} suppressed by the configuration")
    return ", ".join(parts)


def saving(amount: Saving, kernel_ns: float) -> str:
    """How much time of how much: of the kernel time, or of what the saving says it is a share of."""
    if amount.upper_ns <= 0:
        return "no saving of GPU time of its own"
    return f"saves about {_of(amount, kernel_ns)}, at most {fmt.time(amount.upper_ns)}"


def _of(amount: Saving, kernel_ns: float) -> str:
    base_ns = kernel_ns if amount.base_ns is None else amount.base_ns
    return f"{fmt.time(amount.expected_ns)} of {fmt.time(base_ns)} ({fmt.share(amount.share)})"


def verdict(finding: Finding, kernel_ns: float) -> str:
    """A finding's message and saving, for formats with room for one text."""
    message, words = fmt.flow(finding.message), saving(finding.saving, kernel_ns)
    stop = "" if message.endswith((".", "!", "?")) else "."
    return f"{message}{stop} {words[0].upper()}{words[1:]} ({finding.confidence} confidence)."


def remedies(finding: Finding) -> str:
    """Titles of what to do, "" when nothing is known."""
    return "; ".join(fmt.flow(remedy.title) for remedy in finding.remedies)


def unjudged(gap: NotEvaluated) -> str:
    """Why a rule could not be judged, and what collects the missing data."""
    how = f" Collect it with: {fmt.flow(gap.collect)}" if gap.collect else ""
    return f"Could not be judged: {fmt.flow(gap.reason)}.{how}"


def busy(totals: Totals) -> tuple[str, float]:
    """What is known of copies and of the GPU being busy, and its idle share; "" and 0 when nothing is.

    The steady state counts where steps were recognised, the whole capture otherwise.
    """
    facts = [f"copies {fmt.time(totals.copy_ns)}"] if totals.copy_ns else []
    busy_ns, window_ns, steps = totals.steady_busy_ns, totals.steady_window_ns, totals.steady_steps
    where = _devices.steps(steps, totals.steps_basis) if steps else ""
    if busy_ns is None or not window_ns:
        busy_ns, window_ns, where = totals.gpu_busy_ns, totals.window_ns, "whole capture, start-up included"
    idle = 0.0
    if busy_ns is not None and window_ns:
        idle = 1.0 - busy_ns / window_ns
        facts.append(f"GPU busy {fmt.time(busy_ns)} of {fmt.time(window_ns)} ({fmt.share(1.0 - idle)}; {where})")
    return " · ".join(facts), idle


def idle_warning(idle: float) -> str:
    """That faster kernels do not shorten idle time, "" where there is little of it."""
    if idle <= MUCH_IDLE:
        return ""
    return f"GPU idle {fmt.share(idle)} of that time, which faster kernels do not shorten"


def serious(report: Report) -> list[Issue]:
    """Issues that cost data, worst first."""
    found = [issue for issue in report.issues if issue.level > Level.INFO]
    return sorted(found, key=lambda issue: (-issue.level, str(issue.location), issue.text))
