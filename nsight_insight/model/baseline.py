"""What became of the findings of an earlier report: marks for those of this one, and those that are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nsight_insight.model.comparison import State
    from nsight_insight.model.finding import Severity


@dataclass(frozen=True)
class Mark:
    """How a finding of this report stands to the earlier one; ``share`` is its expected share there, None if new."""

    state: State
    share: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Gone:
    """A finding of the earlier report that this one does not have: fixed, or unknown where it cannot be judged now."""

    state: State
    rule: str
    title: str
    severity: Severity
    kernel: str
    share: float
    fingerprint: str
    note: str = ""


@dataclass(frozen=True)
class Baseline:
    """An earlier report beside this one; ``marks`` has one entry per finding of this report, in their order."""

    path: str
    marks: tuple[Mark, ...]
    gone: tuple[Gone, ...]

    def count(self, state: State) -> int:
        """Findings of this state on either side."""
        return sum(one.state == state for one in self.marks) + sum(one.state == state for one in self.gone)
