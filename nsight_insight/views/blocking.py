"""Launch calls that return only when their kernel has ended, as with CUDA_LAUNCH_BLOCKING=1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.columns import Kind
from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import Ints
from nsight_insight.views.launch_calls import matching, timed_calls

if TYPE_CHECKING:
    from nsight_insight.views.totals import Totals

LONG: Final = 20e3
"""ns; a launch call takes 3 to 10 us, so that a shorter kernel may end before its call returns without waiting."""
ENOUGH: Final = 10
"""Kernels that long needed before their calls say something."""
SAMPLE: Final = 2000
"""Kernels looked at, evenly over the capture: blocking is a setting of the whole process."""


def blocking_facts(acts: Activities, rows: Ints, totals: Totals) -> None:
    """Add which part of the launch calls waited for their kernel; nothing without a list of API calls."""
    duration = np.nan_to_num(acts.column("duration")[rows])
    own = rows[(duration >= LONG) & (acts.column("kind")[rows] == Kind.KERNEL.value)]
    own = own[:: max(1, len(own) // SAMPLE)]
    calls = timed_calls(acts)
    if not len(calls):
        return
    finish = acts.column("start") + np.nan_to_num(acts.column("duration"))
    correlation = acts.column("correlation")
    row = matching(acts, own, calls[np.isin(correlation[calls], correlation[own])])
    known = row >= 0
    if len(own) and not known.any():
        return
    late = finish[row[known]] >= finish[own[known]]
    totals.set("blocking_launches", float(late.mean()) if known.sum() >= ENOUGH else 0.0)
