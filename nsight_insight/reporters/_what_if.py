"""The time line if some findings were fixed, in the words that text and Markdown share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from nsight_insight.model.finding import Report
    from nsight_insight.model.what_if import Remaining, WhatIf

HOST_MOVES: Final = 0.02
"""Change of the host's share that is worth a line."""
LISTED: Final = 5
"""Findings that no longer pay, in a report that is not verbose."""


def heading(found: WhatIf) -> str:
    """``If tensor-core/* were fixed (2 findings): 194.3 ms now, about 52.1 ms then (3.7 times as fast), ...``."""
    asked = ", ".join("everything" if pattern == "*" else pattern for pattern in found.patterns)
    if not found.assumed:
        return f"If {asked} were fixed: nothing changes, no finding of that name is listed"
    times = f"{fmt.time(found.base_ns)} now, about {fmt.time(found.expected_ns)} then{_faster(found)}"
    fixed = fmt.count(len(found.assumed), "finding")
    return f"If {asked} were fixed ({fixed}): {times}, {fmt.time(found.best_ns)} at best"


def _faster(found: WhatIf) -> str:
    """How many times as fast, where that is a number."""
    return f" ({found.base_ns / found.expected_ns:.1f} times as fast)" if found.expected_ns > 0 else ""


def lines(found: WhatIf, report: Report, *, verbose: bool) -> list[str]:
    """What the time consists of, what is then largest, and what no longer pays."""
    told = [*_unmatched(found, report), *_parts(found)]
    if not found.assumed:
        return told
    largest = found.largest
    if largest is not None:
        told.append(f"then largest: {_saves(largest)}")
    else:
        told.append("then no finding is left that pays")
    faded = found.faded if verbose else found.faded[:LISTED]
    told += [f"no longer pays: {_saves(left)}: {left.reason}" for left in faded]
    if len(faded) < len(found.faded):
        told.append(f"and {len(found.faded) - len(faded)} more no longer pay (-v shows them)")
    smaller = [left for left in found.remaining if left.pays and left.reason]
    told += [f"pays less: {_saves(left)}: {left.reason}" for left in (smaller if verbose else smaller[:LISTED])]
    return told


def _saves(left: Remaining) -> str:
    finding = left.finding
    now = "" if not left.reason else f" instead of {fmt.time(finding.saving.expected_ns)}"
    return f"{fmt.flow(finding.title)} ({finding.rule}), about {fmt.time(left.expected_ns)}{now}"


def _parts(found: WhatIf) -> list[str]:
    pairs = zip(("kernels", "idle", "copies"), _times(found), strict=True)
    told = [f"{name} {fmt.time(now)} to {fmt.time(then)}" for name, (now, then) in pairs if now and now != then]
    if found.host_share is not None and abs(found.host_share[1] - found.host_share[0]) > HOST_MOVES:
        now, then = found.host_share
        told.append(
            f"the GPU waits for the host {fmt.share(now)} of the steady window, then at least {fmt.share(then)}"
        )
    return ["; ".join(told)] if told else []


def _times(found: WhatIf) -> list[tuple[float, float]]:
    now, then = found.parts, found.expected_parts
    return [(now.kernels, then.kernels), (now.idle, then.idle), (now.copies, then.copies)]


def _unmatched(found: WhatIf, report: Report) -> list[str]:
    """Patterns without a listed finding; those of a consequence name the finding it stands under."""
    from fnmatch import fnmatchcase

    told = []
    for pattern in found.unmatched:
        causes = [f.rule for f in report.findings if any(fnmatchcase(one.rule, pattern) for one in f.explains)]
        under = f"; it is a consequence of {', '.join(dict.fromkeys(causes))}" if causes else ""
        told.append(f"no finding of {pattern} is listed{under}")
    return told
