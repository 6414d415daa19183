"""Why a device was idle: each gap of its timeline split by what the launching thread did meanwhile.

A gap is the host's doing as far as the call that launched the next piece of work had not returned yet; the rest,
with work already queued, is the GPU's own. Of the host's part, MPI calls (which may copy by themselves), calls that
load code, allocate or copy and ranges that prepare data come first, as far as they cover it. What is left would not
have been there as far as the host had waited for the GPU before (it could have launched ahead instead): that is
synchronization. The rest is launching.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import NS, Activities
from nsight_insight.views.api_calls import purposes
from nsight_insight.views.coverage import Intervals, covered
from nsight_insight.views.facts import Floats, Ints
from nsight_insight.views.launch_calls import lanes, launch_calls, timed_calls
from nsight_insight.views.steps import is_step
from nsight_insight.views.timeline import Window
from nsight_insight.views.totals import Totals

OTHER_WORK: Final = 1e6
"""ns: a single gap longer than this without any call inside is no launch overhead (an eager operation costs 5 to
100 us), the host did something else."""
_OPEN: Final = frozenset({"queued", "unknown"})
"""Parts of gaps that no call of the host is to blame for."""
_COPY: Final = re.compile(r"cu(?:da)?Memcpy")
_WORD: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_DATA: Final = re.compile(
    r"\b(?:data ?load(?:er|ing)?|data ?sets?|(?:load|loading|fetch|fetching|collate|augment|augmentation)"
    r"(?: (?:the )?(?:data|batch|batches|inputs?|samples?|images?))?|data|data time"
    r"|(?:next|get|read|decode|prepare|preprocess) (?:data|batch|inputs?|samples?|images?)|preprocess(?:ing)?)"
    r"(?: \d+)?$|\benumerate data loader\b"
)
_WAITS: Final = re.compile(r"p?read(?:v|64)?|poll|ppoll|select|epoll_wait|recv(?:from|msg)?|fread|fgets")
"""OS calls in which a launching thread waits for files or for worker processes."""


@dataclass(frozen=True)
class Gaps:
    """Idle stretches of a device, clipped to a window, in order.

    Attributes:
        start, end: ns.
        next: activity row of the work that ends each.
    """

    start: Floats
    end: Floats
    next: Ints

    @property
    def length(self) -> Floats:
        """Duration, ns."""
        return self.end - self.start


def find_gaps(acts: Activities, rows: Ints, within: Window) -> Gaps:
    """Stretches of ``within`` in which none of the work at ``rows`` ran."""
    start = acts.column("start")[rows]
    end = start + np.nan_to_num(acts.column("duration")[rows])
    order = np.lexsort((end, start))
    start, reach = start[order], np.maximum.accumulate(end[order])
    first, last = np.maximum(reach[:-1], within.start), np.minimum(start[1:], within.end)
    idle = last > first
    return Gaps(first[idle], last[idle], rows[order][1:][idle])


def idle_facts(acts: Activities, rows: Ints, steady: Window, totals: Totals) -> None:
    """Add how the steady window's idle time splits; ``rows`` are the device's GPU work."""
    gaps = find_gaps(acts, rows, steady)
    totals.set("gaps", float(len(gaps.start)))
    totals.set("idle_share", steady.idle / steady.length if steady.length > 0 else float("nan"))
    if len(gaps.start):
        totals.set("median_gap", float(np.median(gaps.length)) * NS)
    returned, calls = _launched(acts, gaps)
    silent = np.isnan(returned)
    found = _causes(acts, gaps, returned, calls, steady.start)
    if silent.all() and len(silent):
        totals.set("idle_unknown_time", float(found["unknown"].sum()) * NS)
        return
    totals.set("host_bound_share", float((returned - gaps.start)[~silent].sum()) / steady.length)
    known = np.flatnonzero(~silent & (calls >= 0))
    for cause, time in found.items():
        largest = int(gaps.next[known[np.argmax(time[known])]]) if len(known) and cause not in _OPEN else -1
        totals.set(f"idle_{cause}_time", float(time.sum()) * NS, largest)


def gap_causes(acts: Activities, gaps: Gaps, since: float) -> dict[str, Floats]:
    """How each gap splits by cause, ns; the causes of a gap add up to its length.

    Args:
        acts: the profile's activities.
        gaps: all gaps of a window, in order; what the host could have done ahead depends on the earlier ones.
        since: start of the window, ns.

    Returns:
        Cause as in the facts ``idle_<cause>_time`` -> ns per gap.
    """
    return _causes(acts, gaps, *_launched(acts, gaps), since)


def _launched(acts: Activities, gaps: Gaps) -> tuple[Floats, Ints]:
    """Until when in each gap the call that launched the next work had not returned, ns, NaN unknown; its row, or -1."""
    calls = launch_calls(acts, gaps.next)
    return np.clip(calls.end, gaps.start, gaps.end), calls.row


def _causes(acts: Activities, gaps: Gaps, returned: Floats, calls: Ints, since: float) -> dict[str, Floats]:
    silent = np.isnan(returned)
    known = ~silent & (calls >= 0)
    found = {
        "queued": np.where(silent, 0.0, gaps.end - returned),
        "unknown": np.where(silent, gaps.length, np.where(known, 0.0, returned - gaps.start)),
    }
    if len(timed_calls(acts)):
        host = Gaps(gaps.start[known], returned[known], gaps.next[known])
        for cause, time in split(acts, host, calls[known], since).items():
            found[cause] = np.zeros(len(gaps.start))
            found[cause][known] = time
    return found


def split(acts: Activities, host: Gaps, calls: Ints, since: float) -> dict[str, Floats]:
    """The host's part of each gap by cause, ns: mpi, module, allocation, copy, data, sync, launch, host.

    Args:
        acts: the profile's activities.
        host: the host's parts.
        calls: the launching call after each.
        since: from when on waiting counts, ns.
    """
    thread = lanes(acts)
    lane = thread[calls]
    stretch = Intervals(host.start, host.end, lane)
    seen = Intervals(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
    found: dict[str, Floats] = {}
    explained = np.zeros(len(host.start))
    sources = _sources(acts, thread)
    for cause in ("mpi", "module", "allocation", "copy", "data"):
        seen = seen.joined(sources[cause])
        reached = covered(stretch, seen)
        found[cause] = reached - explained
        explained = reached
    rest = np.maximum(host.length - explained, 0.0)
    waits = _on(sources["wait"], np.unique(lane))
    found["sync"] = avoidable(host, rest, waits, since)
    rest = rest - found["sync"]
    found["launch"] = np.where(rest <= OTHER_WORK, rest, 0.0)
    found["host"] = np.where(rest > OTHER_WORK, rest, 0.0)
    return found


def avoidable(gaps: Gaps, length: Floats, waits: Intervals, since: float) -> Floats:
    """How much of ``length`` the host could have avoided by launching ahead instead of waiting before each gap.

    Time waited while the GPU was busy is credit; every gap spends what it can of it (Lindley's recursion).
    """
    before = np.concatenate(([since], gaps.end[:-1]))[: len(length)]
    busy = Intervals(before, np.maximum(gaps.start, before), np.zeros(len(before), dtype=np.int64))
    balance = np.cumsum(covered(busy, waits.on_one_lane()) - length)
    lowest = np.minimum(np.minimum.accumulate(balance), 0.0)
    short = -np.diff(np.concatenate(([0.0], lowest)))
    return np.asarray(np.clip(length - short, 0.0, length), dtype=np.float64)


def _on(intervals: Intervals, chosen: Ints) -> Intervals:
    mine = np.isin(intervals.lane, chosen)
    return Intervals(intervals.start[mine], intervals.end[mine], intervals.lane[mine])


def _sources(acts: Activities, thread: Ints) -> dict[str, Intervals]:
    calls = timed_calls(acts)
    kinds = purposes(acts, calls)
    copies = acts.named(calls, lambda name: bool(_COPY.match(name)))
    ranges = acts.rows(acts.kind(Kind.RANGE) & acts.column("primary") & ~np.isnan(acts.column("start")))
    system = acts.rows(acts.kind(Kind.OSRT) & ~np.isnan(acts.column("start")))
    data = np.concatenate(
        (
            ranges[acts.named(ranges, prepares_data)],
            system[acts.named(system, lambda name: bool(_WAITS.fullmatch(name)))],
        )
    )
    messages = acts.rows(acts.kind(Kind.MPI) & acts.column("primary") & ~np.isnan(acts.column("start")))
    return {
        "mpi": _intervals(acts, messages, thread),
        "module": _intervals(acts, calls[kinds == "load"], thread),
        "allocation": _intervals(acts, calls[kinds == "malloc"], thread),
        "copy": _intervals(acts, calls[copies], thread),
        "data": _intervals(acts, data, thread),
        "wait": _intervals(acts, calls[(kinds == "sync") | copies], thread),
    }


def prepares_data(name: str) -> bool:
    """True for a range that by its name loads or prepares input: ``load``, ``next batch``, ``DataLoader``."""
    if "::" in name or is_step(name) is not None:
        return False
    return bool(_DATA.search(" ".join(_WORD.sub(" ", name).lower().split())))


def _intervals(acts: Activities, rows: Ints, thread: Ints) -> Intervals:
    start = np.asarray(acts.column("start")[rows], dtype=np.float64)
    return Intervals(start, start + np.nan_to_num(acts.column("duration")[rows]), thread[rows])
