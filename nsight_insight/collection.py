"""What to run to collect what a set of rules needs, or what a profile lacks: commands to be read, never run here."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.collect import LAUNCHES, MAX_KERNELS, PROGRAM, Target, collect_command, nvtx_filter
from nsight_insight.catalog.function_names import function_name
from nsight_insight.errors import UsageError
from nsight_insight.rules.needs import is_metric, needs_of, tools_of
from nsight_insight.views.facts import KERNEL

if TYPE_CHECKING:
    from nsight_insight.config import Config
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
LEAST: Final = 0.5
"""A filter that lets less of the kernel time pass would hide what matters."""
_DURATION: Final = "duration"
_ALWAYS: Final = frozenset({_DURATION, *(f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz")})
"""What every ncu command collects."""
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


def plan(profile: Profile | None, config: Config, wish: Wish) -> Plan:
    """Commands for what the selected rules lack in a profile, or for all they need where there is none.

    Raises:
        RuleErrors: faults in the rule files of ``config.rules``.
        ConfigError: a pattern that matches no rule.
    """
    from nsight_insight.rules.coverage import coverage
    from nsight_insight.rules.engine import choose
    from nsight_insight.rules.loader import load_rules
    from nsight_insight.views.build import build_all

    rules = load_rules(config.rules)
    config.check({rule.id: rule.params.keys() for rule in rules.values()})
    chosen = choose(rules, config)
    if profile is None:
        return for_rules(chosen.values(), wish)
    views = build_all(profile)
    _, gaps = coverage(profile, chosen, views)
    return for_profile(profile, views, gaps, wish)


def for_rules(rules: Iterable[Rule], wish: Wish) -> Plan:
    """Commands for everything the rules read."""
    metrics: dict[str, None] = {}
    others: dict[str, None] = {}
    left_out = 0
    for rule in rules:
        tool = _asks(rule, wish.tool)
        left_out += wish.tool not in (BOTH, tool)
        needs = needs_of(rule)
        if tool == "ncu":
            metrics.update(dict.fromkeys(need for need in needs if need not in _ALWAYS) or {_DURATION: None})
        else:
            others.update(dict.fromkeys(needs))
    target = Target(program=_program(wish))
    functions = _functions(wish.kernels)
    notes = [*_gpu_note(wish.cc, metrics), *_kernel_notes(wish.kernels, functions)]
    if metrics and wish.tool != "nsys":
        notes.append(f"the first {LAUNCHES} launches: skip the warm-up with --launch-skip N, or name a capture of it")
    if left_out:
        notes.append(f"rules that need the other tool, left out: {left_out}")
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
    functions, about = _slowest(views[KERNEL]) if not wish.kernels else (_functions(wish.kernels), [])
    notes = [*_gpu_note(cc, metrics), *_kernel_notes(wish.kernels, functions)]
    target, which = _aim(views, functions, wish)
    notes += [*about, *which] if metrics and wish.tool != "nsys" else []
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


def _slowest(kernels: FactTable) -> tuple[tuple[str, ...], list[str]]:
    """Functions worth a filter, and how much of the time they stand for."""
    functions, share = top_functions(kernels)
    if share < LEAST:
        return (), [
            "no kernel filter: the names of most kernels are cut, or hidden in CUDA graphs"
        ] if functions else []
    return functions, [f"the kernels named take {share:.0%} of the kernel time"] if share < 1.0 else []


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
        why = "the kernels named are in no training step" if typical_step(acts) else "no training steps were found"
        return target, [f"the first {LAUNCHES} matching launches: {why}, skip the warm-up yourself"]
    include = nvtx_filter(step.range) if step.range else ""
    count = min(step.count, MAX_LAUNCHES) or LAUNCHES
    if include:
        return replace(target, nvtx=include, count=count), [f"the launches inside the NVTX range {step.range!r}"]
    if not step.count:
        return target, []
    text = f"step {step.number} of {step.steps}, counted from the first launch of the capture given"
    return replace(target, skip=step.skip, count=count), [text]


def capability_of(gpu: str, cc: float | None) -> float | None:
    """The compute capability a user asked for, by number or by the GPU's name.

    Raises:
        UsageError: an unknown GPU, a number no GPU has, or both that do not agree.
    """
    from nsight_insight.catalog.gpu_choice import chosen_gpu
    from nsight_insight.catalog.gpus import compute_capability

    named = chosen_gpu(gpu).cc if gpu else None
    if cc is not None and compute_capability(cc) is None:
        raise UsageError(f"no GPU of compute capability {cc} is known")
    if named is not None and cc is not None and named != cc:
        raise UsageError(f"{gpu} has compute capability {named}, not {cc}")
    return named if cc is None else cc


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
