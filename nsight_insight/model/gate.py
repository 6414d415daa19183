"""Reports as gates: what fails a limit, and how much of the time a group of rules could save."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from nsight_insight.errors import CheckFailed, UsageError
from nsight_insight.model.compose import EXPECTED, Parts, base_of, saved
from nsight_insight.model.text import clean, duration, percent

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, NotEvaluated, Report


def failing(report: Report, fail_on: str) -> tuple[Finding, ...]:
    """Findings at or above a limit, as ``--fail-on`` of the command line counts them.

    Raises:
        ConfigError: ``fail_on`` is no limit.
        UsageError: ``new`` for a report without a baseline.
    """
    from nsight_insight.config import parse_fail_on

    limit = parse_fail_on(fail_on)
    if limit.only_new and report.baseline is None:
        raise UsageError("a limit on new findings needs a report with a baseline")
    counted = report.new_findings() if limit.only_new else report.findings
    return tuple(finding for finding in counted if limit.reached(finding.saving, finding.severity))


def check(report: Report, fail_on: str) -> None:
    """Nothing, or an error that names the findings at or above a limit.

    Raises:
        CheckFailed: with the findings.
    """
    found = failing(report, fail_on)
    if found:
        lines = "\n".join(f"  {_line(finding)}" for finding in found)
        number = "1 finding" if len(found) == 1 else f"{len(found)} findings"
        raise CheckFailed(f"{number} at or above {fail_on}:\n{lines}", findings=found)


def share(report: Report, pattern: str) -> float:
    """Part of the report's time base that the findings of some rules could save together, 0 to 1.

    Findings that stand under another one count by their own rule. NaN where nothing was found and most of the rules
    lacked the data to judge anything: unknown is no zero, and no comparison with NaN is true.

    Args:
        report: what was found.
        pattern: a category, a rule's name or id, or a shell pattern of ids.

    Raises:
        UsageError: no rule of the analysis matches.
    """
    from nsight_insight.config import matches_rule, suggestion

    matching = {rule for rule in report.rules if matches_rule(pattern, rule)}
    found = list(_matching(report.findings, lambda rule: matches_rule(pattern, rule)))
    if not matching and not found:
        words = {word for rule in report.rules for word in (rule, *rule.split("/"))}
        raise UsageError(f"no rule matches {pattern!r}{suggestion(pattern, words)}")
    if not found and 2 * len(matching & report.judged) < len(matching):
        return float("nan")
    there = Parts(report.totals.kernel_ns, report.totals.idle_ns, report.totals.copy_ns or 0.0)
    base = base_of(report.findings, there).total
    return saved(found, there, EXPECTED).total / base if base > 0 else 0.0


def not_judged(report: Report, pattern: str) -> tuple[NotEvaluated, ...]:
    """Rules that match and that lacked data for some of the kernels or for all, with the command that collects it."""
    from nsight_insight.config import matches_rule

    return tuple(gap for gap in report.not_evaluated if matches_rule(pattern, gap.rule))


def _matching(findings: Iterable[Finding], wanted: Callable[[str], bool]) -> Iterator[Finding]:
    """Findings of some rules, and those under findings of others; what stands under a wanted one is its consequence."""
    for finding in findings:
        if wanted(finding.rule):
            yield finding
        else:
            yield from _matching(finding.explains, wanted)


def _line(finding: Finding) -> str:
    saving = f"saves about {duration(finding.saving.expected_ns / 1e9)} ({percent(finding.saving.share)})"
    return clean(f"{finding.rule}: {finding.title}, {saving} [{finding.severity}]")
