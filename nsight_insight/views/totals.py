"""Sums over a device's rows, each with the row that contributes most to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nsight_insight.views.facts import Array, Bools, Ints
from nsight_insight.views.groups import single


@dataclass
class Totals:
    """Facts of one device under construction: value and evidence row (-1 where no row holds it)."""

    values: dict[str, float] = field(default_factory=dict)
    evidence: dict[str, int] = field(default_factory=dict)

    def set(self, name: str, value: float, row: int = -1) -> None:
        """A fact that is no plain sum."""
        self.values[name] = value
        self.evidence[name] = row

    def add(self, name: str, rows: Ints, values: Array, mask: Bools | None = None) -> None:
        """The sum of ``values`` over ``rows`` where ``mask`` holds.

        Rows whose value is unknown are left out; unknown if all chosen ones are, 0 if none is chosen.
        """
        if mask is not None:
            rows, values = rows[mask], values[mask]
        known = ~np.isnan(values)
        if len(values) and not known.any():
            self.set(name, float("nan"))
            return
        lead = single(values)
        self.set(name, float(values[known].sum()), int(rows[lead]) if lead >= 0 else -1)
