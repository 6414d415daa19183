"""Everything of the text report that is not a finding: what was read, where time goes, what is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from rich.text import Text

from nsight_insight.model.finding import NotEvaluated, Report
from nsight_insight.model.issues import Issue, Level
from nsight_insight.model.profile import Source
from nsight_insight.reporters import _devices
from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._layout import Page, bar, indented, styled, wrap

FAMILIES: Final = 6
FILES: Final = 3
DEVICES: Final = 4
ISSUES: Final = 5
GAP_LINES: Final = 3
NEEDS: Final = 3


def header(report: Report, page: Page) -> list[Text]:
    """How much was measured, on what, and the files it was read from."""
    totals = report.totals
    measured = styled((words.NO_KERNELS, "title"))
    if totals.launches:
        measured = styled(
            (f"{fmt.time(totals.kernel_ns)} of GPU kernel time", "title"),
            f" in {fmt.count(totals.launches, 'launch')} of {fmt.count(totals.kernels, 'kernel')}",
        )
    lines = wrap(measured, page.width)
    devices = " and ".join(fmt.flow(name) for name in dict.fromkeys(report.devices))
    lines += wrap(Text(f"  {devices or 'GPU not named by the input (say it with --gpu)'}"), page.width, 4)
    lines += _files(report.sources, page)
    if " " in totals.basis:
        lines += indented(wrap(styled((fmt.flow(totals.basis), "faint")), page.width - 2), 2)
    return lines


def _files(sources: Sequence[Source], page: Page) -> list[Text]:
    """A line per file, or one for all of them where there are many."""
    reports: dict[str, list[str]] = {}
    for source in sources:
        reports.setdefault(source.path, []).append(f"{source.tool} {source.report}".strip())
    if len(reports) > FILES and not page.verbose:
        tools = ", ".join(sorted({source.tool for source in sources}))
        folders = {PurePath(path).parent.as_posix() for path in reports}
        place = f" in {fmt.flow(folders.pop())}" if len(folders) == 1 else ""
        return wrap(styled((f"  {len(reports)} files{place} ({tools})", "faint")), page.width, 4)
    lines = []
    for path, names in reports.items():
        unique = list(dict.fromkeys(names))
        what = f" ({', '.join(unique)})" if len(unique) <= 2 or page.verbose else f" ({len(unique)} reports)"
        lines += wrap(styled((f"  {fmt.flow(path)}{what}", "faint")), page.width, 4)
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
    for (name, time), shown_time in zip(rows, fmt.times([time for _, time in rows]), strict=True):
        part = time / totals.kernel_ns
        lines.append(
            styled(
                f"  {name:<{label}}  ", (bar(part, width).ljust(width), "bar"), f"{shown_time:>11}{part * 100:>7.1f} %"
            )
        )
    return [*lines, *_device(report, page)]


def device_lines(report: Report, page: Page) -> list[Text]:
    """Each device's time line, slowest first; empty for a single device."""
    if not (heading := _devices.heading(report)):
        return []
    told = _devices.lines(report)
    shown = told if page.verbose else told[:DEVICES]
    lines = wrap(styled((heading, "title")), page.width)
    for text in shown:
        lines += indented(wrap(Text(text), page.width - 2, 2), 2)
    if len(shown) < len(told):
        lines.append(styled((f"  and {len(told) - len(shown)} more (-v shows them)", "faint")))
    return lines


def _device(report: Report, page: Page) -> list[Text]:
    facts, idle = words.busy(report.totals)
    lines = wrap(styled((facts, "faint")), page.width - 2) if facts else []
    if warning := words.idle_warning(idle):
        lines += wrap(styled(warning), page.width - 2)
    return indented(lines, 2)


def summary(report: Report, page: Page) -> list[Text]:
    """One sentence about all findings, or about there being none."""
    hidden = words.hidden(report)
    and_more = f" (and {hidden})" if hidden else ""
    if not report.findings:
        return _nothing(report, page, hidden)
    potential = report.potential
    line = styled((fmt.count(len(report.findings), "finding"), "title"))
    if potential.upper_ns > 0:
        line += styled(
            ", about ",
            (fmt.time(potential.expected_ns), "saving"),
            f" of {fmt.time(potential.base_ns or report.totals.kernel_ns)} (",
            (fmt.share(potential.share), "saving"),
            f"){' together' if len(report.findings) > 1 else ''}, at most {fmt.time(potential.upper_ns)}",
        )
        if overlap := words.shared(report):
            line += styled((f"; {overlap}", "faint"))
    return wrap(line + styled((and_more, "faint")), page.width)


def _nothing(report: Report, page: Page, hidden: str) -> list[Text]:
    left_out = f" Left out: {hidden}." if hidden else ""
    return wrap(styled((words.nothing(report), "title"), (left_out, "faint")), page.width)


def not_judged(report: Report, page: Page) -> list[Text]:
    """Rules that lack data, grouped by what they lack, and the commands that collect all of it."""
    gaps = report.not_evaluated
    if not gaps:
        return []
    groups: dict[object, list[NotEvaluated]] = {}
    for gap in gaps:
        groups.setdefault(gap.missing if page.verbose else gap.reason, []).append(gap)
    lines = [styled((f"{fmt.count(len({gap.rule for gap in gaps}), 'rule')} could not be judged", "title"))]
    for members in groups.values():
        lines += _gap(members, page)
    commands = report.collect.splitlines()
    if commands:
        lines.append(styled("  This collects what is missing:"))
    # Not wrapped: a command is there to be copied.
    return [*lines, *(styled("  $ ", (fmt.flow(command), "code")) for command in commands)]


def _gap(members: Sequence[NotEvaluated], page: Page) -> list[Text]:
    first = members[0]
    titles = "; ".join(dict.fromkeys(fmt.flow(gap.title) for gap in members))
    if first.missing and (page.verbose or first.reason.endswith(first.missing[-1])):
        names = list(first.missing if page.verbose else first.missing[:NEEDS])
        left = len(first.missing) - len(names)
        text = styled(titles, (f" (without {', '.join(names)}{f' and {left} more' if left else ''})", "faint"))
    else:
        text = styled(f"{fmt.flow(first.reason)}: ", (titles, "faint"))
    lines = wrap(text, page.width - 2, 2)
    if len(lines) > GAP_LINES and not page.verbose:
        lines = lines[:GAP_LINES]
        lines[-1].truncate(page.width - 4)
        lines[-1].append(" …", "dim")
    return indented(lines, 2)


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


def hint(report: Report, page: Page) -> list[Text]:
    """Where to read on."""
    if page.verbose or not report.findings:
        return []
    return wrap(styled(("-v tells more; nsight-insight explain RULE tells all about a rule", "faint")), page.width)
