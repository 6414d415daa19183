"""What converting between precisions costs, and what matrix work runs on; times in ns, shares fractions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ConversionKind = Literal["cast down", "cast up", "cast", "layout", "quantize", "dequantize", "fused"]
"""By width: down to a narrower type, up to a wider one, ``cast`` where they are as wide or neither is known.
``fused``: a kernel with other work that also converts its operands or its result."""
Verdict = Literal["pays", "costs more", "undecided"]


@dataclass(frozen=True)
class Flow:
    """What ran before and after conversions on their stream, other conversions skipped; "" at the ends."""

    producer: str
    consumer: str
    launches: int
    time_ns: float


@dataclass(frozen=True)
class Conversion:
    """All conversions of one kind and pair of types.

    Attributes:
        dtype_in: source type, "" where no name says.
        share: of the kernel time.
        step_launches: launches per training step; None without steps.
        bytes: DRAM bytes moved; None where ncu measured none of them.
        measured_ns: the part of ``time_ns`` that ``bytes`` is known for.
        flows: between what, most time first; empty where the order of kernels is not known.
    """

    kind: ConversionKind
    dtype_in: str
    dtype_out: str
    launches: int
    time_ns: float
    share: float
    step_launches: float | None = None
    step_ns: float | None = None
    bytes: float | None = None
    measured_ns: float = 0.0
    flows: tuple[Flow, ...] = ()


@dataclass(frozen=True)
class RangeCost:
    """Conversions inside one NVTX range; ``range_ns`` is all kernel time in it."""

    name: str
    launches: int
    time_ns: float
    range_ns: float


@dataclass(frozen=True)
class Instructions:
    """Conversion instructions that ncu counted, weighted by how often the kernels run.

    Attributes:
        converting: thread instructions that convert; a lower bound, some conversions use other opcodes.
        executed: all thread instructions of the same kernels.
        covered: share of the kernel time they were counted for.
        top: kernel with the most of them, and its own share of them.
    """

    converting: float
    executed: float
    covered: float
    top: str = ""
    top_share: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """What narrow matrix kernels save over another type; None where this GPU's peaks are not known.

    Attributes:
        baseline: ``FP32`` (CUDA cores) or ``TF32``.
        gain_ns: time they would take longer, at the part of the peak ratio that is usually realised.
        best_ns: the same at the whole ratio.
    """

    baseline: str
    gain_ns: float | None
    best_ns: float | None
    assumption: str
    verdict: Verdict


@dataclass(frozen=True)
class Balance:
    """Time in casts against what narrow operands save; quantizing is not counted, it saves memory too.

    Attributes:
        cost_ns: casts.
        narrow_ns: matrix kernels with operands of at most 16 bits.
        other_ns: other kernels with such operands, which is also what they save at most: half the bytes.
    """

    cost_ns: float
    narrow_ns: float
    other_ns: float
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class PrecisionLedger:
    """Everything about conversions; ``conversions`` without ``fused`` add up to ``time_ns`` and ``launches``.

    Attributes:
        steps: training steps the averages are over; None without.
        pingpong_launches: casts undone soon after, per ``views.sequence.pingpong``; None without an order.
        weight_casts: times each weight is cast per step; None where weights cannot be told from activations.
        inherent_ns: what FP32 master weights need; None where no optimizer shows their size.
        avoidable_ns: casts beyond that.
    """

    conversions: tuple[Conversion, ...]
    launches: int
    time_ns: float
    share: float
    steps: int | None = None
    pingpong_launches: int | None = None
    pingpong_ns: float | None = None
    weight_casts: int | None = None
    inherent_ns: float | None = None
    avoidable_ns: float | None = None
    instructions: Instructions | None = None
    ranges: tuple[RangeCost, ...] = ()
    balance: Balance | None = None


@dataclass(frozen=True)
class TensorPart:
    """Matrix work on one path in one operand type.

    Attributes:
        path: ``Tensor Cores``, ``CUDA cores`` or ``unknown``.
        dtype: operand type, "" where neither counters nor names say.
        share: of the matrix time.
        peak_share: share of this GPU's dense peak reached, time-weighted; None where ncu did not count.
        measured_ns: the part of ``time_ns`` that ``peak_share`` is known for.
    """

    path: str
    dtype: str
    launches: int
    time_ns: float
    share: float
    peak_share: float | None = None
    measured_ns: float = 0.0


@dataclass(frozen=True)
class TensorCause:
    """Why part of the matrix time is not at the peak; ``rule`` that says so, "" for none."""

    cause: str
    rule: str
    time_ns: float
    share: float


@dataclass(frozen=True)
class TensorAccount:
    """Matrix work (gemm, conv, attention): ``parts`` and ``causes`` each add up to ``time_ns``.

    Attributes:
        share: of the kernel time.
        tensor_ns: on Tensor Cores; ``unknown_ns`` cannot be told.
        counted_ns: time whose path counters say; the rest is by name.
    """

    time_ns: float
    launches: int
    share: float
    tensor_ns: float
    unknown_ns: float
    counted_ns: float
    parts: tuple[TensorPart, ...]
    causes: tuple[TensorCause, ...]
