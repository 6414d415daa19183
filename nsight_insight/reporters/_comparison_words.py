"""The sentences of a comparison that several formats say in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.model.comparison import (
        Change,
        Comparison,
        FindingChange,
        GroupChange,
        KernelChange,
        KernelPart,
        Run,
    )

SINGLE: Final = "single launches"
TELLING: Final = 0.01
"""Part of the difference that a change in the other direction must have to be worth a word."""
VERDICTS: Final = {"faster": "faster", "slower": "slower", "same": "same", "unknown": "cannot tell"}
MATCHES: Final = {
    "name": "same name",
    "template": "same function, other template arguments",
    "position": "same place in the sequence",
    "family": "what is left of the family",
    "none": "",
}
KINDS: Final = {
    "same": "",
    "recompiled": "recompiled",
    "precision": "other precision",
    "replaced": "replaced",
    "fused": "fused",
    "split": "split",
    "rewritten": "rewritten",
    "new": "new",
    "gone": "gone",
}
STATES: Final = {
    "new": "new", "worse": "worse", "unknown": "open", "fixed": "fixed", "better": "better", "unchanged": "unchanged",
}  # fmt: skip


def signed(ns: float | None) -> str:
    """``+1.27 ms``, ``-35.4 ms``; None is ``unknown``."""
    if ns is None:
        return "unknown"
    return f"{'-' if ns < 0 else '+'}{fmt.time(abs(ns))}" if ns else "0"


def percent(change: Change) -> str:
    """``-71 %``, "" where there is no value before."""
    share = change.share
    if share is None:
        return ""
    return f"{'+' if share > 0 else ''}{fmt.share(share)}"


def per(comparison: Comparison) -> str:
    """What times are given for."""
    return {"step": "a step", "capture": "the whole capture", "": "a launch"}[comparison.unit]


def headline(comparison: Comparison) -> str:
    """The verdict with its numbers, in one sentence."""
    change = comparison.wall or comparison.kernel
    if change is None or change.before is None or change.after is None:
        return f"Cannot tell as a whole: {comparison.reason}"
    owner = "a step" if comparison.unit == "step" else "the capture"
    what = "a step takes" if comparison.measure == "wall" else f"the kernels of {owner} take"
    was = "instead of" if comparison.verdict in ("faster", "slower") else "where it took"
    times = f"{what} {fmt.time(change.after)} {was} {fmt.time(change.before)}"
    head = {"faster": "Faster", "slower": "Slower", "same": "Same", "unknown": "Cannot tell"}[comparison.verdict]
    return f"{head}: {times} ({percent(change) or 'no time before'})"


def why(comparison: Comparison) -> str:
    """The group with the largest part in the difference, and the largest that goes the other way."""
    change = comparison.wall or comparison.kernel
    whole = change.difference if change else None
    if not whole or comparison.verdict not in ("faster", "slower"):
        return ""
    parts = sorted(
        (g for g in comparison.groups if g.name != "all" or g.kind == "idle"), key=lambda g: g.time.difference or 0.0
    )
    with_it = [g for g in parts if (g.time.difference or 0.0) * whole > 0 and g.time.verdict in ("faster", "slower")]
    against = [g for g in parts if (g.time.difference or 0.0) * whole < 0 and g.time.verdict in ("faster", "slower")]
    told = [f"mostly {_part_of(_largest(with_it))}"] if with_it else []
    opposite = _largest(against) if against else None
    if opposite is not None and abs(opposite.time.difference or 0.0) > TELLING * abs(whole):
        told.append(f"against it {_part_of(opposite)}")
    return ", ".join(told)


def _largest(groups: Sequence[GroupChange]) -> GroupChange:
    return max(groups, key=lambda group: abs(group.time.difference or 0.0))


def _part_of(group: GroupChange) -> str:
    new = " (new)" if not group.time.before else " (gone)" if not group.time.after else ""
    return f"{group_name(group)} {signed(group.time.difference)}{new}"


def group_name(group: GroupChange) -> str:
    """``gemm``, ``copies host to device``, ``idle: launch``."""
    if group.kind == "idle":
        return "idle" if group.name == "all" else f"idle: {group.name}"
    if group.kind == "copies" and group.name != "sets":
        return f"copies {group.name}"
    return "other kernels" if group.name == "unknown" else group.name


def noise(comparison: Comparison) -> str:
    """The smallest difference that would have been seen, and what that rests on."""
    change = comparison.wall or comparison.kernel
    if change is None or change.least is None:
        return ""
    share = f" ({fmt.share(change.least / change.before)})" if change.before else ""
    sources = dict.fromkeys((comparison.before.noise, comparison.after.noise))
    least = f"differences below {fmt.time(change.least)}{share}"
    if set(sources) == {SINGLE}:
        return f"{least} do not count: single launches do not show how much they vary"
    return f"{least} are noise, judged by {' and '.join(sources)}"


def kernel_time(comparison: Comparison) -> str:
    """Kernel time, launches and DRAM bytes per unit."""
    parts = []
    change = comparison.kernel
    if change is not None and change.before is not None and change.after is not None and comparison.wall is not None:
        verdict = VERDICTS[change.verdict]
        parts.append(f"kernel time {fmt.time(change.before)} → {fmt.time(change.after)} ({percent(change)}, {verdict})")
    if comparison.launches is not None:
        ours, theirs = comparison.launches
        parts.append(f"launches {number(ours)} → {number(theirs)}")
    if comparison.bytes is not None:
        ours, theirs = comparison.bytes
        parts.append(f"DRAM traffic {size(ours)} → {size(theirs)}")
    return " · ".join(parts)


def number(value: float) -> str:
    """A mean number of launches: whole where it is whole."""
    return f"{value:,.0f}" if abs(value - round(value)) < 0.05 else f"{value:,.1f}"


def size(value: float) -> str:
    """``9.87 GB``."""
    from nsight_insight.model.text import scaled

    return scaled(value, "B")


def side(run: Run) -> str:
    """What was read on one side, in one line."""
    gpu = " and ".join(dict.fromkeys(map(fmt.flow, run.devices))) or "GPU not named"
    steps = f"{fmt.count(run.steps, 'step')}" if run.steps else "no steps known"
    return f"{files(run.paths)} ({fmt.flow(run.tool) or 'no kernels'}) · {gpu} · {steps}"


def files(paths: Sequence[str]) -> str:
    """One path, or the archive or folder that holds all of them."""
    from pathlib import PurePath

    archives = {path.partition("!")[0] for path in paths}
    if len(archives) == 1:
        return fmt.flow(archives.pop())
    folders = {PurePath(path).parent.as_posix() for path in archives}
    return f"{len(archives)} files{f' in {fmt.flow(folders.pop())}' if len(folders) == 1 else ''}"


def launches(change: KernelChange) -> str:
    """``17x → 9x``; one number where they agree."""
    ours, theirs = (sum(part.launches for part in parts) for parts in (change.before, change.after))
    if not change.before or not change.after:
        return f"{number(ours + theirs)}x"
    return f"{number(ours)}x" if abs(ours - theirs) < 0.05 else f"{number(ours)}x → {number(theirs)}x"


def what(change: KernelChange) -> str:
    """``gemm, other precision (fp32 → fp16), same place in the step``."""
    parts = [change.lead.family] if change.lead.family != "unknown" else []
    kind = KINDS[change.what]
    if change.what == "precision":
        kind += f" ({_types(change.before)} → {_types(change.after)})"
    parts += [kind] if kind else []
    if change.match not in ("none", "name"):
        parts.append(MATCHES[change.match])
    return ", ".join(parts)


def _types(parts: Sequence[KernelPart]) -> str:
    return "/".join(sorted({part.dtype for part in parts if part.dtype}))


def finding(change: FindingChange) -> str:
    """What became of a finding's saving, "" where nothing is known of it."""
    before, after = change.saving_before, change.saving_after
    if change.note:
        return fmt.flow(change.note)
    if not before and not after:
        return ""
    if change.state == "fixed":
        return f"promised about {fmt.time(before)}"
    if change.state == "new":
        return f"would save about {fmt.time(after)}"
    return f"would save about {fmt.time(after)}, before {fmt.time(before)}"
