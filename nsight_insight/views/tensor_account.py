"""The Tensor Core account: what matrix work ran on, at what share of the peak, and what rules say holds it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.names import normalize
from nsight_insight.model.ledger import TensorAccount, TensorCause, TensorPart
from nsight_insight.views.activity import codes_of
from nsight_insight.views.facts import KERNEL, LAUNCH, Array, Bools, FactTable, Floats, Ints
from nsight_insight.views.kernel_totals import MATRIX, one_of
from nsight_insight.views.precision import own_type
from nsight_insight.views.work import IDLE_TENSOR, Columns

if TYPE_CHECKING:
    from nsight_insight.views.build import Views

NS: Final = 1e9
PATHS: Final = {"yes": "Tensor Cores", "no": "CUDA cores"}
WELL_USED: Final = 0.6
"""Share of the peak from which NVIDIA calls the tensor pipe well used (60 %, Nsight Compute's stock rules)."""
BELOW_RIDGE: Final = "below the ridge: bound by memory"
AT_PEAK: Final = "none: the peak is well used"
NOTHING: Final = "no rule names a cause"
NOT_COUNTED: Final = "not counted by ncu"


@dataclass(frozen=True)
class Verdicts:
    """What one rule says: ``fired`` marks subjects of the table of ``scope`` (``kernel`` or ``launch``)."""

    cause: str
    rule: str
    scope: str
    fired: Bools


def tensor_account(views: Views, verdicts: Sequence[Verdicts]) -> TensorAccount | None:
    """The account of a profile; None without matrix kernels.

    Args:
        views: the profile's facts.
        verdicts: why matrix work may be slow, the first that holds counts.
    """
    table = views[KERNEL]
    chosen = np.flatnonzero(one_of(table.values["family"], MATRIX)) if len(table) else np.zeros(0, dtype=np.int64)
    time = table.time[chosen]
    if not time.any():
        return None
    path, counted = _paths(table)
    causes = _Causes(views, chosen, path[chosen]).split(verdicts)
    return TensorAccount(
        time_ns=float(time.sum()) * NS,
        launches=int(table.launches[chosen].sum()),
        share=float(time.sum() / table.time.sum()),
        tensor_ns=float(time[path[chosen] == PATHS["yes"]].sum()) * NS,
        unknown_ns=float(time[path[chosen] == "unknown"].sum()) * NS,
        counted_ns=float(time[counted[chosen]].sum()) * NS,
        parts=_parts(table, chosen, path),
        causes=causes,
    )


def _paths(table: FactTable) -> tuple[Array, Bools]:
    """Where each kernel computes, and whether counters say so: a busy tensor pipe is more than a name."""
    columns = Columns(table.values, len(table))
    active, name = columns("tensor_active"), columns.text("tensor_core")
    busy, idle = active > IDLE_TENSOR, (active == 0) | ((active <= IDLE_TENSOR) & (name != "yes"))
    by_name = np.array([PATHS.get(text or "", "unknown") for text in name], dtype=object)
    return np.where(busy, PATHS["yes"], np.where(idle, PATHS["no"], by_name)), busy | idle


def _peak_share(table: FactTable) -> Floats:
    """Share of the dense peak: counted operations over time and peak, else the tensor pipe's busy share."""
    columns = Columns(table.values, len(table))
    with np.errstate(all="ignore"):
        by_operations = columns("tensor_flops_rate") / columns("peak_own")
    by_operations = np.where(by_operations > 0, np.minimum(by_operations, 1.0), np.nan)
    return np.where(np.isnan(by_operations), columns("tensor_utilization"), by_operations)


def _operands(table: FactTable) -> Array:
    """Operand type per kernel: the one counters saw, else the one the name says; "" unknown."""
    unnamed = np.full(len(table), None, dtype=object)
    counted = own_type(unnamed, unnamed, Columns(table.values, len(table)))
    named = table.values["dtype_in"]
    found = np.where(counted == None, named, counted)  # noqa: E711  elementwise
    return np.where(found == None, "", found)  # noqa: E711  elementwise


def _parts(table: FactTable, chosen: Ints, path: Array) -> tuple[TensorPart, ...]:
    """One entry per path and operand type, most time first."""
    time, reached, dtype = table.time[chosen], _peak_share(table)[chosen], _operands(table)[chosen]
    path = path[chosen]
    reached = np.where(path == PATHS["yes"], reached, np.nan)
    codes, first = codes_of(path, dtype)
    parts = []
    for code, at in enumerate(first):
        here = codes == code
        known = here & ~np.isnan(reached) & (time > 0)
        parts.append(
            TensorPart(
                path=str(path[at]),
                dtype=str(dtype[at]),
                launches=int(table.launches[chosen][here].sum()),
                time_ns=float(time[here].sum()) * NS,
                share=float(time[here].sum() / time.sum()),
                peak_share=float(np.average(reached[known], weights=time[known])) if known.any() else None,
                measured_ns=float(time[known].sum()) * NS,
            )
        )
    return tuple(sorted(parts, key=lambda part: (-round(part.time_ns), part.path, part.dtype)))


class _Causes:
    """The matrix time of ``chosen`` kernels, handed out to the first cause that holds."""

    def __init__(self, views: Views, chosen: Ints, path: Array) -> None:
        self.kernels, self.launches = views[KERNEL], views[LAUNCH]
        self.chosen, self.path = chosen, path
        self.left = self.kernels.time[chosen].copy()
        self.total = float(self.left.sum())
        self.found: dict[tuple[str, str], float] = {}

    def split(self, verdicts: Sequence[Verdicts]) -> tuple[TensorCause, ...]:
        """Every cause with its time, most first; what no rule explains is told apart by what ncu counted."""
        for verdict in verdicts:
            if verdict.scope == KERNEL:
                self._take(verdict.cause, verdict.rule, np.where(verdict.fired[self.chosen], self.left, 0.0))
        self._by_launch([verdict for verdict in verdicts if verdict.scope == LAUNCH])
        self._rest()
        named = [
            TensorCause(cause, rule, time * NS, time / self.total) for (cause, rule), time in self.found.items() if time
        ]
        return tuple(sorted(named, key=lambda cause: (-round(cause.time_ns), cause.cause, cause.rule)))

    def _take(self, cause: str, rule: str, time: Floats) -> None:
        time = np.minimum(time, self.left)
        self.left = self.left - time
        if time.any():
            self.found[cause, rule] = self.found.get((cause, rule), 0.0) + float(time.sum())

    def _by_launch(self, verdicts: Sequence[Verdicts]) -> None:
        """Rules on ncu launches, each of which stands for some of its kernel's time and has one cause at most."""
        if not verdicts:
            return
        place = {key: at for at, key in enumerate(self._keys(self.kernels, self.chosen))}
        kernel = np.array([place.get(key, -1) for key in self._keys(self.launches, np.arange(len(self.launches)))])
        open_ = kernel >= 0
        for verdict in verdicts:
            held = open_ & verdict.fired
            time = np.bincount(kernel[held], weights=self.launches.time[held], minlength=len(self.chosen))
            self._take(verdict.cause, verdict.rule, time.astype(np.float64))
            open_ &= ~held

    @staticmethod
    def _keys(table: FactTable, rows: Ints) -> list[tuple[int, str]]:
        names = {name: normalize(str(name)) for name in set(table.values["name"][rows])}
        return [(int(table.devices[row]), names[table.values["name"][row]]) for row in rows]

    def _rest(self) -> None:
        """What is left: well used, bound by memory, or without an explanation."""
        columns = Columns(self.kernels.values, len(self.kernels))
        reached = _peak_share(self.kernels)[self.chosen]
        intensity, ridge = columns("arithmetic_intensity")[self.chosen], columns("ridge")[self.chosen]
        tensor = self.path == PATHS["yes"]
        for cause, mask in (
            (AT_PEAK, tensor & (reached >= WELL_USED)),
            (BELOW_RIDGE, tensor & (intensity < ridge)),
            (NOT_COUNTED, tensor & np.isnan(reached)),
            (NOTHING, np.ones(len(self.left), dtype=bool)),
        ):
            self._take(cause, "", np.where(mask, self.left, 0.0))
