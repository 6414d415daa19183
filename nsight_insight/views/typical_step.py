"""One steady training step of a trace as ncu would count its launches: what to skip, how many to profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from nsight_insight.catalog.function_names import function_name
from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities, codes_of
from nsight_insight.views.facts import Bools, Ints
from nsight_insight.views.steps import find_steps, is_step


@dataclass(frozen=True)
class TypicalStep:
    """A step after the warm-up.

    Attributes:
        number: which one, from 1.
        steps: how many the trace holds.
        skip: matching launches before it, from the first one in the trace.
        count: matching launches in it; 0 when the profile holds a part of the step only.
        range: NVTX range that all of them carry, "" when there is none.
    """

    number: int
    steps: int
    skip: int
    count: int
    range: str = ""


def typical_step(acts: Activities, functions: Collection[str] = ()) -> TypicalStep | None:
    """The steady step of median length.

    Args:
        acts: the profile's activities.
        functions: function names of the launches that count; empty: all.

    Returns:
        None without steps, and where launches cannot be counted as ncu counts them: several devices or processes
        (their launches interleave), CUDA graphs traced as a whole, summaries.
    """
    rows = acts.base
    if not len(rows) or _ambiguous(acts, rows):
        return None
    if (acts.tool[rows] == "ncu").all():
        return _profiled_step(acts, rows)
    steps = find_steps(acts, rows)
    steady = steps.steady() if steps is not None else None
    if steps is None or steps.edges is None or steady is None:
        return None
    first, last = steady
    lengths = np.diff(steps.edges)[first:last]
    chosen = first + int(np.argsort(lengths, kind="stable")[(len(lengths) - 1) // 2])
    start = acts.column("start")[rows]
    matching = _matching(acts, rows, functions)
    before = matching & (start < steps.edges[chosen])
    inside = matching & (start >= steps.edges[chosen]) & (start < steps.edges[chosen + 1])
    count = int(inside.sum())
    if not count:
        return None
    return TypicalStep(chosen + 1, steps.count, int(before.sum()), count, _common_range(acts, rows, inside))


def _ambiguous(acts: Activities, rows: Ints) -> bool:
    process = acts.column("process")[rows]
    several = len(np.unique(acts.device[rows])) > 1 or len(np.unique(process)) > 1
    return bool(several or acts.kind(Kind.GRAPH).any() or (acts.column("count")[rows] != 1).any())


def _matching(acts: Activities, rows: Ints, functions: Collection[str]) -> Bools:
    if not functions:
        return np.ones(len(rows), dtype=bool)
    names = acts.column("name")[rows]
    codes, first = codes_of(names)
    wanted = np.array([function_name(str(names[place])) in functions for place in first], dtype=bool)
    found: Bools = wanted[codes]
    return found


def _common_range(acts: Activities, rows: Ints, inside: Bools) -> str:
    """The step range around every launch inside and none outside.

    Ranges belong to threads: launches from a thread without ranges (as autograd's) would be filtered out.
    """
    labels = np.array([_step_range(text) for text in acts.column("nvtx")[rows]], dtype=object)
    found = set(labels[inside])
    if len(found) != 1:
        return ""
    [label] = found
    return "" if label in labels[~inside] else str(label)


def _step_range(nvtx: str) -> str:
    """The part of nested ranges (``step 3/forward``) that is a numbered training step."""
    return next((part for part in nvtx.split("/") if is_step(part)), "")


def _profiled_step(acts: Activities, rows: Ints) -> TypicalStep | None:
    """The range that the launches of an ncu profile were taken from."""
    labels = Counter(_step_range(text) for text in acts.column("nvtx")[rows])
    labels.pop("", None)
    if not labels:
        return None
    label, _ = labels.most_common(1)[0]
    return TypicalStep(1, len(labels), 0, 0, label)
