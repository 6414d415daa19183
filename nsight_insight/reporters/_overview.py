"""Everything of the text report that is not a finding: what was read, where time goes, what is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from nsight_insight.model.finding import NotEvaluated, Report
from nsight_insight.model.issues import Issue, Level
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._layout import Page, bar, indented, styled, wrap

FAMILIES: Final = 6
FILES: Final = 3
ISSUES: Final = 5


def header(report: Report, page: Page) -> list[Text]:
    """How much was measured, on what, and the files it was read from."""
    totals = report.totals
    device = " and ".join(fmt.flow(name) for name in dict.fromkeys(report.devices))
    first = styled(
        (fmt.time(totals.kernel_ns), "title"),
        (" of GPU kernel time", "title"),
        f" in {fmt.count(totals.launches, 'launch')} of {fmt.count(totals.kernels, 'kernel')}",
        f" on {device}" if device else "",
    )
    lines = wrap(first, page.width)
    sources = {}
    for source in report.sources:
        sources.setdefault(source.path, []).append(f"{source.tool} {source.report}".strip())
    shown = list(sources.items()) if page.verbose else list(sources.items())[:FILES]
    for path, what in shown:
        tail = f" ({', '.join(dict.fromkeys(what))})"
        room = max(20, page.width - len(tail) - 2)
        lines.append(styled((f"  {fmt.cut(fmt.flow(path), room)}{tail}", "faint")))
    if len(shown) < len(sources):
        lines.append(styled((f"  and {fmt.count(len(sources) - len(shown), 'more file')}", "faint")))
    if " " in totals.basis:
        lines += indented(wrap(styled((fmt.flow(totals.basis), "faint")), page.width - 2), 2)
    return lines


def where_time_goes(report: Report, page: Page) -> list[Text]:
    """A bar per kernel family, then copies and idle time where they are known."""
    totals = report.totals
    ranked = sorted(totals.families.items(), key=lambda item: (-item[1], item[0]))
    if not ranked or totals.kernel_ns <= 0:
        return []
    shown = ranked if page.verbose or len(ranked) <= FAMILIES + 1 else ranked[:FAMILIES]
    rows = list(shown)
    if len(shown) < len(ranked):
        rest = ranked[len(shown) :]
        rows.append((f"{len(rest)} others", sum(time for _, time in rest)))
    label = max(len(name) for name, _ in rows)
    width = min(40, page.width - label - 27)
    lines = [styled(("Where the time goes", "title"))]
    for name, time in rows:
        part = time / totals.kernel_ns
        lines.append(
            styled(
                f"  {name:<{label}}  ",
                (bar(part, width).ljust(width), "bar"),
                f"{fmt.time(time):>10}{fmt.percent(part):>9}",
            )
        )
    return [*lines, *_device(report, page)]


def _device(report: Report, page: Page) -> list[Text]:
    totals = report.totals
    facts = []
    if totals.copy_ns:
        facts.append(f"copies {fmt.time(totals.copy_ns)}")
    if totals.gpu_busy_ns is not None and totals.window_ns:
        busy = fmt.share(totals.gpu_busy_ns / totals.window_ns)
        facts.append(f"GPU busy {fmt.time(totals.gpu_busy_ns)} of {fmt.time(totals.window_ns)} ({busy})")
    return indented(wrap(styled((" · ".join(facts), "faint")), page.width - 2), 2) if facts else []


def summary(report: Report, page: Page) -> list[Text]:
    """One sentence about all findings, or about there being none."""
    hidden = f" {fmt.count(report.suppressed, 'finding')} suppressed by the configuration." if report.suppressed else ""
    if not report.findings:
        return _nothing(report, page, hidden)
    potential = report.potential
    line = styled((fmt.count(len(report.findings), "finding"), "title"))
    if potential.upper_ns > 0:
        together = " together" if len(report.findings) > 1 else ""
        line += styled(
            f"{together} could save about " if len(report.findings) > 1 else " could save about ",
            (fmt.time(potential.expected_ns), "saving"),
            f" of {fmt.time(report.totals.kernel_ns)} (",
            (fmt.share(potential.share), "saving"),
            f"), at most {fmt.time(potential.upper_ns)}.",
        )
    return wrap(line + styled(hidden), page.width)


def _nothing(report: Report, page: Page, hidden: str) -> list[Text]:
    open_ = len({gap.rule for gap in report.not_evaluated})
    checked = (
        f"No finding. {fmt.count(report.rules_evaluated, 'rule')} checked "
        f"{fmt.count(report.totals.kernels, 'kernel')} ({fmt.time(report.totals.kernel_ns)}); nothing is above its threshold."
    )
    if open_:
        checked += f" This is no clean bill: {fmt.count(open_, 'rule')} could not be judged."
    return wrap(styled((checked, "title"), hidden), page.width)


def not_judged(gaps: Sequence[NotEvaluated], page: Page) -> list[Text]:
    """Rules that lack data, grouped by what they lack; each command once."""
    if not gaps:
        return []
    groups: dict[tuple[tuple[str, ...], str], list[NotEvaluated]] = {}
    for gap in gaps:
        groups.setdefault((gap.missing, gap.collect), []).append(gap)
    lines = [styled((f"{fmt.count(len({gap.rule for gap in gaps}), 'rule')} could not be judged", "title"))]
    for (missing, command), members in groups.items():
        lines += _gap(missing, command, members, page)
    return lines


def _gap(missing: tuple[str, ...], command: str, members: Sequence[NotEvaluated], page: Page) -> list[Text]:
    names = list(missing) if page.verbose else list(missing[:4])
    if len(names) < len(missing):
        names.append(f"{len(missing) - len(names)} more")
    what = f"without {', '.join(names)}: " if names else f"{fmt.flow(members[0].reason)}: "
    titles = "; ".join(dict.fromkeys(fmt.flow(gap.title) for gap in members))
    lines = indented(wrap(styled(what, (titles, "faint")), page.width - 2), 2)
    if command:
        # Not wrapped: a command is there to be copied.
        lines.append(styled("  $ ", (fmt.flow(command), "code")))
    return lines


def issue_lines(issues: Sequence[Issue], page: Page) -> list[Text]:
    """What was dropped or doubted, worst first; plain information only when asked for."""
    ranked = sorted(issues, key=lambda issue: (-issue.level, str(issue.location), issue.text))
    serious = [issue for issue in ranked if issue.level > Level.INFO]
    shown = ranked if page.verbose else serious[:ISSUES]
    hidden = len(ranked) - len(shown)
    if not ranked:
        return []
    if not shown:
        return [styled((f"{fmt.count(hidden, 'remark')} about the input (-v shows them)", "faint"))]
    lines = [styled(("Input problems", "title"))]
    for issue in shown:
        style = {Level.ERROR: "error", Level.DATA_LOSS: "warning"}.get(issue.level, "faint")
        text = styled((issue.level.label, style), f" {fmt.place(issue.location, full=True)}: {fmt.flow(issue.text)}")
        lines += indented(wrap(text, page.width - 2), 2)
    if hidden:
        lines.append(styled((f"  and {hidden} more (-v shows them)", "faint")))
    return lines


def vendor_lines(report: Report, page: Page) -> list[Text]:
    """NVIDIA's own findings: counted, or listed when asked for."""
    findings = report.vendor_findings
    if not findings:
        return []
    counted = f"NVIDIA's tools wrote {fmt.count(len(findings), 'finding')} of their own into the input"
    if not page.verbose:
        return [styled((f"{counted} (-v shows them)", "faint"))]
    lines = [styled((counted, "title"))]
    for finding in findings:
        speedup = finding.estimated_speedup
        estimate = f" (their estimate: {fmt.share(speedup)} of the kernel)" if speedup is not None else ""
        kernel = f" {fmt.flow(finding.kernel)}" if finding.kernel else ""
        head = f"{fmt.flow(finding.rule)}{kernel}{estimate}: "
        text = styled(head, fmt.flow(finding.text), (f"  {fmt.place(finding.location)}", "faint"))
        lines += indented(wrap(text, page.width - 2), 2)
    return lines
