"""What Nsight Systems recorded: whether it is whole, and whether it shows the program at work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.model.inspection import Caution, Weight
from nsight_insight.model.issues import Level, Location
from nsight_insight.model.text import duration
from nsight_insight.views.facts import TRACE

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.views.build import Views

OVERHEAD: Final = 0.05
"""Share of the window in which the profiler worked that is worth knowing."""
MUCH_OVERHEAD: Final = 0.15
"""Above this, times on the host and gaps between kernels are the profiler's as much as the program's."""
START_UP: Final = 0.5
"""Share of the window outside the steady steps from which on totals are mostly start-up."""
MODULE_LOADING: Final = 0.2
FEW_LAUNCHES: Final = 50
FEW_STEPS: Final = 3
GRAPH_SHARE: Final = 0.05
UNKNOWN_SHARE: Final = 0.3
_DIAGNOSTICS: Final = "DIAGNOSTIC_EVENT"
_PERHAPS: Final = "might have"
_STALE: Final = "Existing SQLite export"


def no_kernels(profile: Profile, views: Views) -> Iterator[Caution]:
    """Calls without GPU work: the GPU was not seen, which is not the same as idle."""
    acts = views.activities
    calls = acts.rows(acts.kind(Kind.API))
    if len(calls) and not acts.runs.any():
        text = "CUDA API calls but no kernels: GPU time is unknown, not zero"
        remedy = "give a kernel report of the same capture, too; where it is empty, use an nsys as new as the driver"
        yield Caution("no-kernels", "invalid", text, remedy, Location(profile.sources[0].path))


def lost_events(profile: Profile, views: Views) -> Iterator[Caution]:  # noqa: ARG001 - a check takes both
    """Events the profiler says it lost."""
    for issue in profile.issues:
        if issue.level >= Level.DATA_LOSS and issue.location.table == _DIAGNOSTICS:
            remedy = "capture a shorter time, and end the program before the profiler"
            weight: Weight = "doubt" if _PERHAPS in issue.text else "invalid"
            yield Caution("events-lost", weight, issue.text, remedy, issue.location)


def stale_export(profile: Profile, views: Views) -> Iterator[Caution]:  # noqa: ARG001
    """Tables from an export that may be older than the report."""
    for source in profile.sources:
        if any(_STALE in banner for banner in source.banners):
            text = "printed from an SQLite export that was there already and may belong to an older capture"
            remedy = "print again: nsys stats --force-export=true"
            yield Caution("stale-export", "doubt", text, remedy, Location(source.path))
            return


def overhead(profile: Profile, views: Views) -> Iterator[Caution]:
    """Time in which the profiler itself worked."""
    window = _sum(views, "window")
    for source in profile.sources:
        spent = float(source.facts.get("overhead_ns", 0.0)) / 1e9
        if window and spent > OVERHEAD * window:
            share = min(spent / window, 1.0)
            text = f"the profiler itself worked in {duration(spent)} of the {duration(window)} window ({share:.0%})"
            remedy = "gaps and host times include it; trace less (--trace=cuda,nvtx --sample=none), or a shorter time"
            yield Caution("overhead", "doubt" if share > MUCH_OVERHEAD else "note", text, remedy, Location(source.path))
            return


def start_up(profile: Profile, views: Views) -> Iterator[Caution]:
    """A window that is mostly warm-up, module loading or waiting."""
    if not profile.sources:
        return
    place = Location(profile.sources[0].path)
    window, steady, idle = (_sum(views, name) for name in ("window", "steady_window", "idle"))
    loading, busy = _sum(views, "module_load_time"), _sum(views, "steady_busy")
    if window and steady and window - steady > START_UP * window:
        text = f"{duration(window - steady)} of the {duration(window)} window lie outside the steady training steps"
        if busy is not None:
            text += f", in which the GPU is busy {busy / steady:.0%}"
        yield Caution(
            "start-up", "note", text, "totals include start-up: capture more steps, or only steady ones", place
        )
    elif window and idle is not None and steady is None and idle > START_UP * window:
        text = f"the GPU is idle {idle / window:.0%} of the window, and no steps tell start-up from waiting"
        yield Caution("idle", "doubt", text, "mark training steps with NVTX ranges called `step N`", place)
    if window and loading and loading > MODULE_LOADING * window:
        text = f"{duration(loading)} of loading modules and libraries in a window of {duration(window)}"
        yield Caution("module-loading", "note", text, "warm up before the capture begins", place)


def few_launches(profile: Profile, views: Views) -> Iterator[Caution]:
    """Too little to call anything typical."""
    acts = views.activities
    rows = acts.base[acts.tool[acts.base] != "ncu"]
    launches = int(acts.launches(rows).sum())
    steps = _largest(views, "steps")
    place = Location(profile.sources[0].path) if profile.sources else None
    if 0 < launches < FEW_LAUNCHES:
        text = f"{launches} kernel launch{'' if launches == 1 else 'es'} in the trace"
        yield Caution("few-launches", "doubt", text, "capture several training steps", place)
    elif len(rows) and steps is not None and steps < FEW_STEPS:
        text = f"{int(steps)} training step{'' if steps == 1 else 's'}: the first one is warm-up"
        yield Caution("few-steps", "doubt", text, "capture five steps or more", place)


def whole_graphs(profile: Profile, views: Views) -> Iterator[Caution]:
    """CUDA graphs recorded as a whole, without the kernels in them."""
    acts = views.activities
    graphs = acts.rows(acts.kind(Kind.GRAPH) & acts.column("primary"))
    total = float(acts.time(acts.base).sum())
    time = float(acts.time(graphs).sum())
    if total and time > GRAPH_SHARE * total:
        text = f"CUDA graphs take {time / total:.0%} of the GPU time and are recorded as a whole: no kernel in them is"
        remedy = "capture with --cuda-graph-trace=node"
        yield Caution("whole-graphs", "doubt", text, remedy, profile.locate(int(graphs[0]), "duration"))


def summaries_only(profile: Profile, views: Views) -> Iterator[Caution]:
    """No start times: no order, no gaps, no steps."""
    acts = views.activities
    rows = acts.base[acts.tool[acts.base] != "ncu"]
    if len(rows) and np.isnan(acts.column("start")[rows]).all():
        text = "summaries only: the order of kernels, gaps between them and the first steps cannot be told apart"
        yield Caution(
            "summaries", "note", text, "add the report cuda_gpu_trace", profile.locate(int(rows[0]), "duration")
        )


def unknown_kernels(profile: Profile, views: Views) -> Iterator[Caution]:
    """Kernels whose names say nothing to the catalogue."""
    acts = views.activities
    rows = acts.base
    time = acts.time(rows)
    unknown = acts.family(rows) == "unknown"
    total, dark = float(time.sum()), float(time[unknown].sum())
    if total and dark > UNKNOWN_SHARE * total:
        text = f"{dark / total:.0%} of the kernel time is in kernels whose names say nothing about what they do"
        worst = int(rows[unknown][np.argmax(time[unknown])])
        yield Caution("unknown-kernels", "note", text, "Nsight Compute metrics judge them all the same",
                      profile.locate(worst, "name"))  # fmt: skip


def _values(views: Views, fact: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = views[TRACE].values.get(fact)
    if values is None:
        return np.zeros(0)
    known: np.ndarray[tuple[int], np.dtype[np.float64]] = values[~np.isnan(values)]
    return known


def _sum(views: Views, fact: str) -> float | None:
    values = _values(views, fact)
    return float(values.sum()) if len(values) else None


def _largest(views: Views, fact: str) -> float | None:
    values = _values(views, fact)
    return float(values.max()) if len(values) else None
