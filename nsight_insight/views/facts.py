"""What a fact is and how a scope's facts are handed over; the vocabulary itself is in ``vocabulary``.

A fact is a column of a view's table. Its declaration is what rules are checked against when they are
loaded, and what the rule documentation prints. Canonical metrics (``catalog/metrics.yaml``) are facts of
the scopes ``launch`` and ``kernel`` without being declared again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from nsight_insight.model.units import BANDWIDTH, FLOP_RATE, NUMBER, Dimension

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LAUNCH: Final = "launch"
KERNEL: Final = "kernel"
SEQUENCE: Final = "sequence"
TRACE: Final = "trace"
SCOPES: Final = (LAUNCH, KERNEL, SEQUENCE, TRACE)
"""launch: rows that carry metrics (ncu launches), else the primary kernel rows. kernel: device and kernel
name. sequence: time-ordered kernel rows per stream. trace: one row per device, summaries of everything."""

INTENSITY = FLOP_RATE / BANDWIDTH

STALLS: Final = (
    "long_scoreboard", "short_scoreboard", "mio_throttle", "lg_throttle", "tex_throttle", "math_pipe_throttle",
    "wait", "barrier", "membar", "branch_resolving", "no_instruction", "dispatch_stall", "drain", "imc_miss",
    "sleeping", "not_selected", "selected", "gmma", "misc",
)  # fmt: skip
"""Warp states of Nsight Compute's Warp State Statistics; metric ``stall_<name>`` in cycles per issue."""

FAMILIES: Final = (
    "gemm", "gemv", "conv", "attention", "elementwise", "cast", "layout", "quantize", "copy", "fill", "reduction",
    "norm", "softmax", "loss", "optimizer", "amp", "collective", "embedding", "rng", "sort", "scan", "gather",
    "pooling", "fft", "rnn", "splitk", "graph", "unknown",
)  # fmt: skip
"""Kernel families of ``catalog/kernels.yaml``."""

DTYPES: Final = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp64")
"""Operand types a GPU peak is known for."""


@dataclass(frozen=True)
class Fact:
    """One name of the vocabulary.

    Attributes:
        kind: ``number`` or ``text``.
        needs: canonical metrics or activity columns without which the fact is unknown; used to say what
            to collect.
        column: activity column a finding's evidence points at, "" when the fact is derived.
    """

    name: str
    doc: str
    dimension: Dimension = NUMBER
    kind: str = "number"
    scopes: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    column: str = ""


@dataclass
class FactTable:
    """Facts of one scope: arrays of equal length in SI units (NaN unknown) or texts (None unknown).

    Attributes:
        values: fact name -> array; a fact of the scope that is not there is unknown for every subject.
        keys: identity of each subject, stable across exports (device, kernel name, grid ...).
        rows: activity row positions each subject stands for.
        lead: the activity row that evidence points at, the longest of ``rows``.
        time: seconds of the profile's time base each subject stands for; differs from ``duration`` where
            ncu metrics explain nsys time. Never NaN: 0 where nothing of the time base belongs to it.
        devices: device index per subject, the same for a device in every scope.
        launches: launches of the time base per subject.
        evidence_rows: fact name -> activity row per subject, where another row than ``lead`` holds it.
        combined: fact name -> how launches were combined ("duration-weighted mean of ncu launches").
        assumptions: fact name -> what was assumed where the profile does not say (same for all rows).
    """

    scope: str
    values: dict[str, Array]
    keys: list[str]
    rows: list[Ints]
    lead: Ints
    time: Array
    devices: Ints
    launches: Array
    evidence_rows: dict[str, Ints] = field(default_factory=dict)
    combined: dict[str, str] = field(default_factory=dict)
    assumptions: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)


def without(texts: Array, unknown: Array) -> Array:
    """``texts`` with None where ``unknown`` holds."""
    found = np.asarray(texts, dtype=object).copy()
    found[unknown] = None
    return found


def empty_table(scope: str) -> FactTable:
    """A scope the profile has no subjects for."""
    none = np.zeros(0, dtype=np.int64)
    return FactTable(scope, {}, [], [], none, np.zeros(0), none, none)


@lru_cache(maxsize=8)
def facts_of(scope: str) -> Mapping[str, Fact]:
    """Every fact of a scope, canonical metrics included."""
    from nsight_insight.catalog.metrics import load_metrics
    from nsight_insight.views.vocabulary import METERED, declared_facts

    declared = {fact.name: fact for fact in declared_facts() if scope in fact.scopes}
    if scope in METERED:
        for metric in load_metrics().values():
            fact = Fact(metric.name, metric.doc, metric.dimension, "number", METERED, (metric.name,), metric.name)
            declared.setdefault(metric.name, fact)
    return declared
