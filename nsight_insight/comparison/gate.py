"""Conditions on a comparison that make the command line return 1."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from nsight_insight.errors import UsageError
from nsight_insight.model.finding import SEVERITY_ORDER

if TYPE_CHECKING:
    from nsight_insight.model.comparison import Comparison
    from nsight_insight.model.finding import Severity

_SHARE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True)
class Condition:
    """``slower`` by more than noise (and at least ``share``), or findings ``new`` or ``worse`` from ``severity`` on."""

    kind: str
    share: float = 0.0
    severity: Severity = "note"

    def failures(self, comparison: Comparison) -> Iterator[str]:
        """A sentence for each way in which the comparison fails."""
        if self.kind == "slower":
            yield from self._slower(comparison)
            return
        for change in comparison.findings:
            if change.state == self.kind and SEVERITY_ORDER[change.severity] >= SEVERITY_ORDER[self.severity]:
                about = f" on {change.kernel}" if change.kernel else ""
                yield f"{self.kind} finding ({change.severity}): {change.title}{about}"

    def _slower(self, comparison: Comparison) -> Iterator[str]:
        change = comparison.wall or comparison.kernel
        if comparison.verdict == "slower" and change is not None and (change.share or 0.0) >= self.share:
            limit = f"; the limit is {self.share * 100:g} %" if self.share else ""
            yield f"slower by {(change.share or 0.0) * 100:.1f} %{limit}"

    def undecided(self, comparison: Comparison) -> str:
        """Why the condition can neither be met nor ruled out; "" where it can."""
        if self.kind != "slower":
            open_ones = [c for c in comparison.findings if c.state == "unknown" and c.before is None]
            return f"{len(open_ones)} findings could not be judged before" if open_ones else ""
        if comparison.verdict != "unknown":
            return ""
        change = comparison.wall or comparison.kernel
        if change is not None and change.least is not None and change.before:
            if self.share and (change.share or 0.0) + change.least / change.before < self.share:
                return ""
            return f"only differences above {change.least / change.before * 100:.1f} % can be told from noise"
        return comparison.reason


def parse_conditions(texts: Sequence[str]) -> list[Condition]:
    """Conditions such as ``slower``, ``slower:3%``, ``new:warning``, ``worse``; several separated by commas.

    Raises:
        UsageError: none of these.
    """
    return [_condition(part.strip()) for text in texts for part in text.split(",") if part.strip()]


def _condition(text: str) -> Condition:
    kind, _, limit = text.partition(":")
    if kind == "slower":
        found = _SHARE.fullmatch(limit)
        if not limit:
            return Condition("slower")
        if found:
            return Condition("slower", share=float(found[1]) / 100)
    elif kind in ("new", "worse") and (not limit or limit in SEVERITY_ORDER):
        return Condition(kind, severity=cast("Severity", limit or "note"))
    raise UsageError(
        f"{text!r} is not slower, slower:3%, new, new:warning or worse; severities are note, warning, error"
    )
