"""Where the GPU waits for the host most of the time, faster kernels mostly lengthen the wait.

Domain rule (Amdahl over the steady window): above a host-bound share of one half, what GPU-side work is expected to
save is scaled by the rest of the window. The upper bound stays, for the day the host is no longer the limit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsight_insight.model.text import percent
from nsight_insight.model.what_if import GPU_SIDE, HOST_LIMIT
from nsight_insight.rules.evaluate import Outcome
from nsight_insight.views.facts import FactTable, Floats, Ints


def discounted(outcome: Outcome, device_facts: FactTable) -> Outcome:
    """The outcome with expected savings of kernel time scaled down on devices that wait for the host."""
    left = 1.0 - _limiting(outcome.table.devices, device_facts)
    if (left == 1.0).all():
        return outcome
    own, rule = outcome.rule.saving.resource, outcome.rule
    resources = {remedy.id: remedy.saving.resource for remedy in rule.remedies if remedy.saving is not None}
    remedies = {
        name: (expected * left if resources[name] in GPU_SIDE else expected, upper)
        for name, (expected, upper) in outcome.remedies.items()
    }
    expected = outcome.expected * left if own in GPU_SIDE else outcome.expected
    return replace(outcome, expected=expected, remedies=remedies)


def note(resource: str, device: int, device_facts: FactTable) -> str:
    """What a finding says about the scaling, "" where there was none."""
    share = float(_limiting(np.array([device]), device_facts)[0])
    if resource not in GPU_SIDE or share == 0.0:
        return ""
    return f"the GPU waits for the host {percent(share)} of the steady window; expected saving scaled by the rest"


def _limiting(devices: Ints, device_facts: FactTable) -> Floats:
    """Host-bound share per subject's device; 0 where it is not above the limit or not known."""
    shares = device_facts.values.get("host_bound_share")
    if shares is None:
        return np.zeros(len(devices))
    of = {int(d): float(s) for d, s in zip(device_facts.devices, shares, strict=True) if s > HOST_LIMIT}
    return np.array([min(of.get(int(device), 0.0), 1.0) for device in devices])
