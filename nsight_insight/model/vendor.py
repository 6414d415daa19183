"""How findings of NVIDIA's own tools stand to ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nsight_insight.model.profile import VendorFinding

VendorState = Literal["agrees", "refines", "contradicted", "vendor-only"]


@dataclass(frozen=True)
class VendorMatch:
    """What our rules say about a finding of NVIDIA's own tool.

    Attributes:
        finding: NVIDIA's.
        state: ``agrees``: a rule of ours says the same; ``refines``: ours names a cause behind it, or another saving;
            ``contradicted``: ours looked at it and does not follow, for ``reason``; ``vendor-only``: no rule of ours.
        rules: ours, the one that decided first.
        reason: one sentence, "" where nothing is to be said.
        expected: share of the kernel's time our first rule expects to save, None where it did not fire.
        upper: the same, at most.
        time_ns: time of the kernel's launch in the profile, 0 where it stands for none.
    """

    finding: VendorFinding
    state: VendorState
    rules: tuple[str, ...] = ()
    reason: str = ""
    expected: float | None = None
    upper: float | None = None
    time_ns: float = 0.0
