"""The causes of each idle gap, where ``idle`` gives their sums: what a picture of the timeline needs."""

from __future__ import annotations

import numpy as np

from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Floats
from nsight_insight.views.idle import Gaps, split
from nsight_insight.views.launch_calls import launch_calls, timed_calls


def gap_causes(acts: Activities, gaps: Gaps, since: float) -> dict[str, Floats]:
    """How each gap splits by cause, ns; the causes of a gap add up to its length.

    Args:
        acts: the profile's activities.
        gaps: all gaps of a window, in order; what the host could have done ahead depends on the earlier ones.
        since: start of the window, ns.

    Returns:
        Cause as in the facts ``idle_<cause>_time`` -> ns per gap.
    """
    calls = launch_calls(acts, gaps.next)
    returned = np.clip(calls.end, gaps.start, gaps.end)
    silent = np.isnan(returned)
    known = ~silent & (calls.row >= 0)
    found = {
        "queued": np.where(silent, 0.0, gaps.end - returned),
        "unknown": np.where(silent, gaps.length, np.where(known, 0.0, returned - gaps.start)),
    }
    if known.any() and len(timed_calls(acts)):
        host = Gaps(gaps.start[known], returned[known], gaps.next[known])
        for cause, time in split(acts, host, calls.row[known], since).items():
            found[cause] = np.zeros(len(gaps.start))
            found[cause][known] = time
    return found
