"""What to run to collect what a set of rules needs, or what a profile lacks: commands to be read, never run here."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.collect import LAUNCHES, MAX_KERNELS, PROGRAM, Target, collect_command, nvtx_filter
from nsight_insight.catalog.function_names import function_name
from nsight_insight.rules.needs import is_metric, needs_of, tools_of
from nsight_insight.views.facts import KERNEL

if TYPE_CHECKING:
    from nsight_insight.model.finding import NotEvaluated
    from nsight_insight.model.profile import Profile
    from nsight_insight.rules.model import Rule
    from nsight_insight.views.build import Views
    from nsight_insight.views.facts import FactTable

BOTH: Final = "both"
TOOLS: Final = ("ncu", "nsys", BOTH)
MAX_LAUNCHES: Final = 1000
"""Launches of a training step that are profiled at most: at a tenth of a second to a second each, minutes."""
MOST: Final = 0.9
"""Kernels are asked for until they make up this share of the kernel time."""
_GPU_FACTS: Final = ("peak_", "dram_bandwidth", "gain_", "gpu", "sm_count", "ridge", "tensor_cap")
"""Missing inputs that the name of the GPU gives, no capture."""


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        commands: shell commands in their order; none when there is nothing to collect.
        notes: what they assume, a sentence each.
    """

    commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Notes as shell comments, then the commands."""
        return "".join(f"{line}\n" for line in (*(f"# {note}" for note in self.notes), *self.commands))


@dataclass(frozen=True)
class Wish:
    """What the user said about the capture to come.

    Attributes:
        tool: ``ncu``, ``nsys`` or ``both``.
        cc: compute capability of the GPU, None unknown.
        kernels: names of the kernels to profile, in any spelling; empty: those that matter.
        program: the program and its arguments, empty when not given.
    """

    tool: str = BOTH
    cc: float | None = None
    kernels: tuple[str, ...] = ()
    program: tuple[str, ...] = ()


def for_rules(rules: Iterable[Rule], wish: Wish) -> Plan:
    """Commands for everything the rules read."""
    metrics: dict[str, None] = {}
    others: dict[str, None] = {}
    for rule in rules:
        for need in needs_of(rule):
            wanted = metrics if _asks(rule, wish.tool) == "ncu" else others
            wanted.setdefault(need)
    target = Target(program=_program(wish))
    functions = _functions(wish.kernels)
    notes = [*_gpu_note(wish.cc, metrics), *_kernel_notes(wish.kernels, functions)]
    if metrics:
        notes.append(f"the first {LAUNCHES} launches: skip the warm-up with --launch-skip N, or name a capture of it")
    return _plan(metrics, others, wish, functions, target, notes)


def _asks(rule: Rule, tool: str) -> str:
    """The profiler to ask for a rule's needs: the usual one unless only the other is wanted and will do."""
    tools = tools_of(rule)
    return tool if tool in tools else tools[0]


def for_profile(profile: Profile, views: Views, gaps: Sequence[NotEvaluated], wish: Wish) -> Plan:
    """Commands for what rules lacked in a profile, aimed at its slowest kernels and at one of its steady steps."""
    missing = dict.fromkeys(
        name for gap in gaps if gap.collect for name in gap.missing if not name.startswith(_GPU_FACTS)
    )
    metrics = [name for name in missing if is_metric(name)]
    others = [name for name in missing if not is_metric(name)]
    cc = wish.cc if wish.cc is not None else _capability(profile)
    wish = replace(wish, cc=cc)
    functions, share = _functions(wish.kernels), 1.0
    if not wish.kernels:
        functions, share = top_functions(views[KERNEL])
    notes = [*_gpu_note(cc, metrics), *_kernel_notes(wish.kernels, functions)]
    if metrics and functions and not wish.kernels and share < 1.0:
        notes.append(f"the kernels named take {share:.0%} of the kernel time")
    target, about = _aim(views, functions, wish)
    notes += about if metrics else []
    return _plan(metrics, others, wish, functions, target, notes)


def _plan(
    metrics: Iterable[str],
    others: Iterable[str],
    wish: Wish,
    functions: Sequence[str],
    target: Target,
    notes: Sequence[str],
) -> Plan:
    commands: list[str] = []
    if wish.tool != "nsys":
        commands += collect_command(metrics, wish.cc, "ncu", kernels=functions, target=target).splitlines()
    if wish.tool != "ncu":
        commands += collect_command(others, wish.cc, "nsys", target=target).splitlines()
    if not commands:
        return Plan()
    program = () if wish.program else (f"`{PROGRAM}` stands for your program: give it behind --",)
    return Plan(tuple(commands), (*notes, *program))


def _program(wish: Wish) -> str:
    return shlex.join(wish.program) if wish.program else PROGRAM


def _functions(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(function_name, names))))


def top_functions(kernels: FactTable) -> tuple[tuple[str, ...], float]:
    """Functions that take most of the time, the slowest first, and the share they take together."""
    total = float(kernels.time.sum())
    found: dict[str, None] = {}
    covered = 0.0
    for row in np.argsort(-kernels.time, kind="stable").tolist():
        if covered >= MOST * total:
            break
        function = function_name(str(kernels.values["name"][row] or ""))
        if not function or (function not in found and len(found) == MAX_KERNELS):
            continue
        found.setdefault(function)
        covered += float(kernels.time[row])
    return tuple(found), covered / total if total else 0.0


def _aim(views: Views, functions: Sequence[str], wish: Wish) -> tuple[Target, list[str]]:
    """Which launches to profile, and why these."""
    from nsight_insight.model.columns import Kind
    from nsight_insight.views.typical_step import typical_step

    acts = views.activities
    graphs = bool(acts.kind(Kind.GRAPH).any())
    target = Target(program=_program(wish), graph_nodes=graphs)
    step = typical_step(acts, functions)
    if step is None:
        text = f"the first {LAUNCHES} matching launches: no training steps were found, skip the warm-up yourself"
        return target, [text]
    include = nvtx_filter(step.range) if step.range else ""
    count = min(step.count, MAX_LAUNCHES) or LAUNCHES
    if include:
        return replace(target, nvtx=include, count=count), [f"the launches inside the NVTX range {step.range!r}"]
    if not step.count:
        return target, []
    text = f"step {step.number} of {step.steps}, counted from the first launch of the capture given"
    return replace(target, skip=step.skip, count=count), [text]


def _capability(profile: Profile) -> float | None:
    chips = {device.cc for device in profile.devices}
    return chips.pop() if len(chips) == 1 else None


def _gpu_note(cc: float | None, metrics: Iterable[str]) -> list[str]:
    if cc is not None or not any(True for _ in metrics):
        return []
    return ["the GPU is not known: whole sections stand for metrics whose names differ; --gpu NAME asks for less"]


def _kernel_notes(named: Sequence[str], functions: Sequence[str]) -> list[str]:
    left = [name for name in named if not function_name(name)]
    notes = [f"no function name, so not filtered for: {name!r}" for name in left]
    if len(functions) > MAX_KERNELS:
        notes.append(f"only the first {MAX_KERNELS} kernels are filtered for")
    return notes
