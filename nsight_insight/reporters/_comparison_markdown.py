"""A comparison as GitHub-flavoured Markdown, for a comment on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _comparison_words as words
from nsight_insight.reporters import _markdown as md
from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from nsight_insight.model.comparison import Change, Comparison, KernelChange
    from nsight_insight.reporters.options import RenderOptions

GROUPS: Final = 10
KERNELS: Final = 10
FINDINGS: Final = 20
NAME: Final = 60


def markdown(comparison: Comparison, options: RenderOptions) -> str:
    """The comparison, ending in a newline."""
    blocks = [
        [f"## {md.text(words.headline(comparison))}"],
        _facts(comparison),
        [f"> {md.text(text)}" for text in comparison.cautions],
        _findings(comparison),
        _groups(comparison),
        _kernels(comparison, options.top or KERNELS),
        md.details(f"nsight-insight {comparison.version}, read from", _sides(comparison)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _facts(comparison: Comparison) -> list[str]:
    told = (words.why(comparison), words.kernel_time(comparison), words.noise(comparison))
    facts = [md.text(text) for text in told if text]
    return "  \n".join(facts).split("\n") if facts else []


def _sides(comparison: Comparison) -> list[str]:
    return [f"- {label}: {md.text(words.side(run))}" for label, run in
            (("before", comparison.before), ("after", comparison.after))]  # fmt: skip


def _findings(comparison: Comparison) -> list[str]:
    told = [change for change in comparison.findings if change.state != "unchanged"][:FINDINGS]
    if not told:
        return []
    rows = [
        [
            words.STATES[change.state],
            f"{md.text(change.title)}{_kernel(change.kernel)}",
            change.severity,
            md.text(words.finding(change)),
        ]
        for change in told
    ]
    quiet = len(comparison.findings) - len(told)
    more = ["", f"and {quiet} more or unchanged"] if quiet else []
    return [*md.table(["", "finding", "severity", "saving"], rows), *more]


def _kernel(name: str) -> str:
    return f"<br>{md.code(fmt.kernels([name], NAME)[0])}" if name else ""


def _groups(comparison: Comparison) -> list[str]:
    rows = [
        [md.text(words.group_name(group)), *_cells(group.time)]
        for group in sorted(comparison.groups, key=lambda one: -abs(one.time.difference or 0.0))[:GROUPS]
    ]
    if not rows:
        return []
    head = [f"time of {words.per(comparison)}", "before:", "after:", "difference:", ""]
    return md.details("Where the difference is", md.table(head, rows))


def _kernels(comparison: Comparison, limit: int) -> list[str]:
    told = [one for one in comparison.kernels if one.time.verdict in ("faster", "slower") or not comparison.unit]
    rows = [[_names(change), md.text(words.what(change)), *_cells(change.time)] for change in told[:limit]]
    if not rows:
        return []
    more = len(told) - len(rows)
    table = md.table([f"kernel ({words.per(comparison)})", "", "before:", "after:", "difference:", ""], rows)
    return md.details("Kernels", [*table, *(["", f"and {more} more"] if more > 0 else [])])


def _names(change: KernelChange) -> str:
    parts = [change.before, change.after] if change.what != "same" else [change.after]
    shown = []
    for side in parts:
        if side:
            lead = max(side, key=lambda part: part.time_ns)
            more = f" and {len(side) - 1} more" if len(side) > 1 else ""
            shown.append(f"{md.code(fmt.kernels([lead.name], NAME)[0])}{more}")
    return " →<br>".join(shown)


def _cells(time: Change) -> list[str]:
    difference = words.signed(time.difference) if time.difference is not None else "unknown"
    share = words.percent(time)
    return [
        fmt.time(time.before),
        fmt.time(time.after),
        f"{difference}{f' ({share})' if share else ''}",
        words.VERDICTS[time.verdict],
    ]
