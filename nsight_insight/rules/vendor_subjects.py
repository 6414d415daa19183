"""Which launches, kernels and devices of our views a finding of NVIDIA's is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nsight_insight.catalog.names import normalize
from nsight_insight.views.activity import codes_of
from nsight_insight.views.facts import KERNEL, LAUNCH, TRACE, FactTable

if TYPE_CHECKING:
    from nsight_insight.model.profile import VendorFinding
    from nsight_insight.views.build import Views


@dataclass(frozen=True)
class Subjects:
    """The subjects of each scope that a finding of NVIDIA's is about."""

    of: Mapping[str, tuple[int, ...]]

    def in_scope(self, scope: str) -> tuple[int, ...]:
        """Those of one scope, the one that counts first."""
        return self.of.get(scope, ())


class SubjectFinder:
    """Finds subjects by the activity row that NVIDIA's finding belongs to."""

    def __init__(self, views: Views) -> None:
        self.views = views

    def of(self, finding: VendorFinding) -> Subjects:
        """What a finding of NVIDIA's is about: its launch and kernel, or the devices."""
        if finding.row is None:
            return Subjects({TRACE: tuple(range(len(self.views[TRACE])))})
        row = self._same_launch.get(finding.row, finding.row)
        launch = self._by_row.get(row)
        if launch is None:
            return Subjects({})
        table = self.views[LAUNCH]
        kernel = self._by_key.get((int(table.devices[launch]), kernel_key(table, launch)))
        return Subjects({LAUNCH: (launch,), KERNEL: () if kernel is None else (kernel,)})

    @cached_property
    def _by_row(self) -> dict[int, int]:
        return {int(row): subject for subject, rows in enumerate(self.views[LAUNCH].rows) for row in rows}

    @cached_property
    def _by_key(self) -> dict[tuple[int, str], int]:
        table = self.views[KERNEL]
        return {(int(table.devices[s]), kernel_key(table, s)): s for s in range(len(table))}

    @cached_property
    def _same_launch(self) -> dict[int, int]:
        """Row of another page of a launch -> the row that the facts are about."""
        acts, subjects = self.views.activities, self._by_row
        rows = acts.rows(acts.runs & (acts.tool == "ncu"))
        if not len(rows):
            return {}
        codes, _ = codes_of(acts.column("process")[rows], acts.column("correlation")[rows], acts.name_codes[0][rows])
        judged = {int(code): int(row) for code, row in zip(codes, rows, strict=True) if int(row) in subjects}
        return {int(r): judged[int(c)] for c, r in zip(codes, rows, strict=True) if int(c) in judged}


def kernel_key(table: FactTable, subject: int) -> str:
    """The kernel's name in one dialect, as ``Member.key``; "" for a device."""
    names = table.values.get("name") if table.scope != TRACE else None
    return "" if names is None or names[subject] is None else normalize(str(names[subject]))
