"""A comparison for a terminal or a log, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from nsight_insight.reporters import _comparison_words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._layout import Page, indented, styled, to_string, wrap

if TYPE_CHECKING:
    from nsight_insight.model.comparison import Change, Comparison, FindingChange, GroupChange, KernelChange, Run
    from nsight_insight.reporters.options import RenderOptions

WIDTHS: Final = (60, 120)
GROUPS: Final = 8
KERNELS: Final = 6
FINDINGS: Final = 12
SMALL: Final = 0.005
"""Differences below this share of the kernel time are told together."""
STYLES: Final = {"faster": "saving", "slower": "error", "same": "faint", "unknown": "warning"}
_STATES: Final = {
    "new": "error", "worse": "error", "unknown": "warning", "fixed": "saving", "better": "saving", "unchanged": "faint",
}  # fmt: skip


def text(comparison: Comparison, options: RenderOptions) -> str:
    """The comparison as text; ANSI colours only when ``options.color``."""
    low, high = WIDTHS
    page = Page(min(max(options.width, low), high), options.verbose)
    blocks = [
        _head(comparison, page),
        cautions(comparison.cautions, page),
        _groups(comparison, page),
        _kernels(comparison, page, options),
        _findings(comparison.findings, page),
    ]
    return to_string(joined(blocks), color=options.color, unicode=options.unicode)


def joined(blocks: Sequence[list[Text]]) -> list[Text]:
    """Blocks with an empty line between them."""
    lines: list[Text] = []
    for block in blocks:
        if block and lines:
            lines.append(styled(""))
        lines += block
    return lines


def _head(comparison: Comparison, page: Page) -> list[Text]:
    style = {**STYLES, "same": "title"}[comparison.verdict]
    lines = wrap(styled((words.headline(comparison), style)), page.width, 2)
    for fact in (words.why(comparison), words.kernel_time(comparison), words.noise(comparison)):
        if fact:
            lines += indented(wrap(Text(fact), page.width - 2, 2), 2)
    return [*lines, *side_lines(comparison.before, comparison.after, page)]


def side_lines(before: Run, after: Run, page: Page) -> list[Text]:
    """A line for each side."""
    lines = []
    for label, run in (("before", before), ("after", after)):
        lines += indented(wrap(styled((f"{label:<8}{words.side(run)}", "faint")), page.width - 2, 8), 2)
    return lines


def cautions(texts: Sequence[str], page: Page) -> list[Text]:
    """What to beware of."""
    lines = [styled(("What to beware of", "title"))] if texts else []
    for told in texts:
        lines += indented(wrap(styled((fmt.flow(told), "warning")), page.width - 2, 2), 2)
    return lines


def _groups(comparison: Comparison, page: Page) -> list[Text]:
    whole = max(_value(comparison.kernel), 1.0)
    told = [group for group in comparison.groups if page.verbose or _large(group, whole)]
    shown = told if page.verbose else told[:GROUPS]
    rest = [group for group in comparison.groups if group not in shown and group.kind == "family"]
    if not comparison.groups:
        return []
    lines = [styled((f"Where the difference is ({words.per(comparison)})", "title"))]
    width = max([len(_name(group)) for group in shown] + [10])
    rows = [(_name(group), group.time, _launches(group)) for group in shown]
    lines += [line for name, time, note in rows for line in _row(name, time, note, width, page)]
    if rest:
        difference = sum(group.time.difference or 0.0 for group in rest)
        lines.append(
            styled(
                (
                    f"  {fmt.count(len(rest), 'other'):<{width}}  {'':>21} {words.signed(difference):>10}",
                    "faint",
                )
            )
        )
    return lines


def _value(change: Change | None) -> float:
    return max(change.before or 0.0, change.after or 0.0) if change else 0.0


def _large(group: GroupChange, whole: float) -> bool:
    return abs(group.time.difference or 0.0) > SMALL * whole


def _name(group: GroupChange) -> str:
    return f"{'  ' if group.kind == 'idle' and group.name != 'all' else ''}{words.group_name(group)}"


def _launches(group: GroupChange) -> str:
    before, after = group.launches_before, group.launches_after
    if before is None or after is None or abs(before - after) < 0.05:
        return ""
    return f"{words.number(before)}x → {words.number(after)}x"


def _row(name: str, time: Change, note: str, width: int, page: Page) -> list[Text]:
    verdict = words.VERDICTS[time.verdict]
    if time.verdict == "unknown" and time.least is not None:
        verdict = f"in noise ({fmt.time(time.least)})"
    elif not time.before and time.after:
        verdict = "new"
    elif time.before and not time.after:
        verdict = "gone"
    sides = f"{fmt.time(time.before):>9} → {fmt.time(time.after):>9}"
    numbers = f"  {name:<{width}}  {sides} {words.signed(time.difference):>10}  "
    line = styled(numbers, (verdict, STYLES[time.verdict]), (f"  {note}" if note else "", "faint"))
    return [line] if line.cell_len <= page.width else wrap(line, page.width, width + 4)


def _kernels(comparison: Comparison, page: Page, options: RenderOptions) -> list[Text]:
    told = [one for one in comparison.kernels if page.verbose or one.time.verdict in ("faster", "slower")]
    if not told:
        return []
    shown = told if page.verbose else told[: options.top or KERNELS]
    title = f"Kernels, largest difference first ({words.per(comparison)})"
    lines = [styled((title, "title"))]
    for change in shown:
        lines += _kernel(change, page)
    if len(told) > len(shown):
        lines.append(styled((f"  and {len(told) - len(shown)} more that changed (-v shows all)", "faint")))
    return lines


def _kernel(change: KernelChange, page: Page) -> list[Text]:
    time, verdict = change.time, words.VERDICTS[change.time.verdict]
    amount = words.signed(time.difference) if time.difference is not None else "?"
    facts = [f"{fmt.time(time.before)} → {fmt.time(time.after)}", words.launches(change), words.what(change)]
    if change.bytes_before is not None and change.bytes_after is not None:
        facts.append(f"DRAM {words.size(change.bytes_before)} → {words.size(change.bytes_after)}")
    if time.verdict == "unknown":
        facts.append(f"{verdict}: {time.reason}")
    head = styled("  ", (f"{amount:>10}", STYLES[time.verdict]), "  ", " · ".join(filter(None, facts)))
    lines = wrap(head, page.width, 14)
    names = [change.before, change.after] if change.what != "same" else [change.after]
    for arrow, parts in zip(("", "→ ") if len(names) == 2 else ("",), names, strict=True):
        if parts:
            lead = max(parts, key=lambda part: part.time_ns)
            more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
            room = page.width - 14 - len(arrow) - len(more)
            lines.append(styled(" " * 14, (f"{arrow}{fmt.kernels([lead.name], room)[0]}{more}", "faint")))
    return lines


def _findings(changes: Sequence[FindingChange], page: Page) -> list[Text]:
    if not changes:
        return []
    told = [change for change in changes if page.verbose or change.state != "unchanged"]
    quiet = len(changes) - len(told)
    shown = told if page.verbose else told[:FINDINGS]
    lines = [styled(("Findings", "title"))]
    for change in shown:
        kernel = f" · {fmt.kernels([change.kernel], 40)[0]}" if change.kernel else ""
        said = words.finding(change)
        line = styled(
            "  ", (f"{words.STATES[change.state]:<10}", _STATES[change.state]), fmt.flow(change.title),
            (kernel, "faint"), f": {said}" if said else "",
        )  # fmt: skip
        lines += wrap(line, page.width, 12)
    rest = [f"{len(told) - len(shown)} more"] if len(told) > len(shown) else []
    rest += [f"{quiet} unchanged"] if quiet else []
    return [*lines, *([styled((f"  and {' and '.join(rest)} (-v shows them)", "faint"))] if rest else [])]
