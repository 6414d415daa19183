"""What the rules, and NVIDIA's own, say about one capture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nsight_insight import api

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.config import Config
    from nsight_insight.model.finding import Finding, Report, Saving
    from nsight_insight.model.profile import Profile

CAPTURES = Path(__file__).resolve().parent / "captures"
US = 1e3


@dataclass(frozen=True)
class Found:
    """One finding: savings as shares of the program's time.

    Attributes:
        rule: rule id, or NVIDIA's name of the rule.
        expected: share of the time that is expected to go.
        upper: largest share that could go.
        remedies: remedy id -> its own (expected, upper), where it has some.
        text: the message.
        folded: rules whose findings this one explains.
        scope: of NVIDIA's: ``global``, an estimate for the run time, or ``local``, for the metric alone.
    """

    rule: str
    expected: float
    upper: float
    remedies: dict[str, tuple[float, float]]
    text: str
    folded: tuple[str, ...] = ()
    scope: str = ""


@dataclass(frozen=True)
class Judged:
    """Findings of one capture, ranked; ``vendor`` are NVIDIA's with an estimated speedup."""

    found: tuple[Found, ...]
    vendor: tuple[Found, ...]


def judge(names: Sequence[str], range_us: float | None, *, config: Config | None = None) -> Judged:
    """Analyse ``captures/<name>.tar.xz``, several together.

    Args:
        names: case and variant, ``P21-bad``.
        range_us: length of the traced range in us; None for ncu captures, whose time is that of their kernels.
        config: parameters to try.
    """
    profile = api.load(*(CAPTURES / f"{name}.tar.xz" for name in names))
    report = api.analyze(profile, config)
    return Judged(tuple(_found(one, report, range_us) for one in report.findings), _vendor(profile))


def _found(finding: Finding, report: Report, range_us: float | None) -> Found:
    whole = report.totals.kernel_ns if range_us is None else range_us * US
    base = _base(finding.saving, report, whole)
    remedies = {
        remedy.id: (remedy.saving.expected_ns / base, remedy.saving.upper_ns / base)
        for remedy in finding.remedies
        if remedy.saving is not None
    }
    folded = tuple(dict.fromkeys(one.rule for one in finding.explains))
    return Found(
        finding.rule,
        finding.saving.expected_ns / base,
        finding.saving.upper_ns / base,
        remedies,
        finding.message,
        folded,
    )


def _base(saving: Saving, report: Report, whole: float) -> float:
    """Savings of idle time are parts of the steady window, all others of the whole range."""
    steady = report.totals.steady_window_ns
    if steady and saving.base_ns is not None and abs(saving.base_ns - steady) < 1:
        return steady
    return whole


def _vendor(profile: Profile) -> tuple[Found, ...]:
    """NVIDIA's estimates for the kernel's run time first (global), then those for a single metric (local)."""
    rows = [one for one in profile.vendor if one.estimated_speedup and one.tool == "ncu"]
    rows.sort(key=lambda one: (one.scope != "global", -(one.estimated_speedup or 0.0)))
    return tuple(
        Found(one.rule, share, share, {}, one.text, scope=one.scope) for one in rows if (share := one.estimated_speedup)
    )
