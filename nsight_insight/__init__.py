"""Ranked, evidence-backed performance advice from NVIDIA Nsight profiles.

>>> import nsight_insight as ni
>>> profile = ni.load("profile_cuda_gpu_kern_sum.csv", "ncu_raw.csv")   # doctest: +SKIP
>>> report = ni.analyze(profile)                                         # doctest: +SKIP
>>> for finding in report.findings:                                      # doctest: +SKIP
...     print(finding.title, finding.saving.expected_ns)

Importing the package costs nothing: names are resolved when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nsight_insight._version import __version__

if TYPE_CHECKING:
    from nsight_insight.api import analyze, compare, load, verify
    from nsight_insight.config import Config
    from nsight_insight.errors import CheckFailed, InputError, NsightInsightError, RuleError, UsageError
    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.model.profile import Profile

_PLACES = {
    "analyze": "api",
    "compare": "api",
    "load": "api",
    "verify": "api",
    "Config": "config",
    "Finding": "model.finding",
    "Report": "model.finding",
    "Profile": "model.profile",
    "CheckFailed": "errors",
    "InputError": "errors",
    "NsightInsightError": "errors",
    "RuleError": "errors",
    "UsageError": "errors",
}

__all__ = [
    "CheckFailed",
    "Config",
    "Finding",
    "InputError",
    "NsightInsightError",
    "Profile",
    "Report",
    "RuleError",
    "UsageError",
    "__version__",
    "analyze",
    "compare",
    "load",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
