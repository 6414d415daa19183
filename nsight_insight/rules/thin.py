"""Inputs too thin for certainty: whatever the names say, confidence stays below high.

A summary holds no order of events: whether the GPU limits the program or waits for the host is unknown, and with it how
much of a kernel's saving the program would notice (Amdahl over the step, as in ``host_bound``). Where rows are known to
be lost, shares of the whole are unknown as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.model.finding import LOWER, Finding
from nsight_insight.model.totals import DeviceTotals
from nsight_insight.views.steps import REPEATING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nsight_insight.views.activity import Activities
    from nsight_insight.views.facts import FactTable

SUMMARY: Final = "a summary without start times: whether the GPU limits the program or waits for the host is not known"
LOSS: Final = "rows of the input are lost, so that shares of the whole are not known"
LAYERS: Final = "the repeated kernels cover a small part of the capture and may be layers of one step, of a first one"
SMALL_PART: Final = 0.2
"""Below it a repetition is not what the program does most of the time: a first step in a capture of start-up, say."""


def doubt(acts: Activities) -> str:
    """Why nothing can be certain, "" where nothing speaks against it."""
    if any(source.incomplete for source in acts.profile.sources):
        return LOSS
    timed = acts.base[acts.tool[acts.base] != "ncu"]
    return SUMMARY if len(timed) and np.isnan(acts.column("start")[timed]).all() else ""


def doubted(finding: Finding, reason: str) -> Finding:
    """The finding with at most medium confidence and the reason among its assumptions; unchanged without a reason."""
    if not reason:
        return finding
    explains = tuple(doubted(folded, reason) for folded in finding.explains)
    if finding.confidence != "high":
        return replace(finding, explains=explains)
    saving = replace(finding.saving, assumptions=(*finding.saving.assumptions, reason))
    return replace(finding, confidence="medium", saving=saving, explains=explains)


def partial(devices: Iterable[DeviceTotals], trace: FactTable) -> dict[int, str]:
    """Devices whose steady window is a small part of theirs and known by repeated kernels only, each with the doubt."""
    repeated = [device for device in devices if device.basis.startswith(REPEATING)]
    whole = dict(zip(trace.devices.tolist(), trace.values["window"], strict=True)) if repeated else {}
    return {
        device.index: LAYERS
        for device in repeated
        if (device.window_ns or 0.0) < SMALL_PART * 1e9 * float(whole[device.index])
    }


def lowered(finding: Finding, reason: str) -> Finding:
    """The finding with one step less confidence and the reason among its assumptions; unchanged without a reason."""
    if not reason:
        return finding
    saving = replace(finding.saving, assumptions=(*finding.saving.assumptions, reason))
    return replace(finding, confidence=LOWER[finding.confidence], saving=saving)
