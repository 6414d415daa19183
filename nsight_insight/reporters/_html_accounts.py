"""The two accounts of the HTML report: what conversions cost, and what matrix work ran on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _html_table as cells
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._html_table import Cell

if TYPE_CHECKING:
    from nsight_insight.model.ledger import Balance, Conversion, PrecisionLedger, TensorAccount, TensorPart
    from nsight_insight.reporters._html_table import Table

FLOWS: Final = 3


def ledger_table(ledger: PrecisionLedger) -> Table:
    """Conversions by kind and types, their sum in the foot."""
    rows = [_conversion(entry) for entry in sorted(ledger.conversions, key=lambda entry: -entry.time_ns)]
    foot = [
        Cell("conversions alone"),
        Cell(""),
        cells.count(ledger.launches),
        cells.time(ledger.time_ns),
        cells.share(ledger.share),
    ]
    foot += [Cell(""), Cell("")]
    head = "kind|types|launches:|time:|share of kernel time:|DRAM traffic:|between"
    return cells.table("Conversions by kind and types", head, rows, foot=foot)


def _conversion(entry: Conversion) -> list[Cell]:
    types = entry.dtype_in
    if entry.dtype_out and entry.dtype_out != entry.dtype_in:
        types = f"{types} → {entry.dtype_out}".strip()
    kind = "beside other work" if entry.kind == "fused" else entry.kind
    flows = [f"{flow.producer or 'start'} → {flow.consumer or 'end'} {fmt.time(flow.time_ns)}" for flow in entry.flows]
    moved = Cell("") if entry.bytes is None else Cell(_bytes(entry), entry.bytes)
    return [
        Cell(kind), Cell(types), cells.count(entry.launches), cells.time(entry.time_ns), cells.share(entry.share),
        moved, Cell("; ".join(flows[:FLOWS])),
    ]  # fmt: skip


def _bytes(entry: Conversion) -> str:
    from nsight_insight.model.text import scaled

    least = "" if entry.measured_ns >= entry.time_ns * 0.95 else "at least "
    return f"{least}{scaled(entry.bytes or 0.0, 'B')}"


def ledger_notes(ledger: PrecisionLedger) -> list[str]:
    """What is needed, what is repeated, and whether the conversions pay."""
    notes = []
    if ledger.inherent_ns is not None and ledger.avoidable_ns is not None:
        needed, rest = fmt.time(ledger.inherent_ns), fmt.time(ledger.avoidable_ns)
        notes.append(f"FP32 master weights need about {needed} of casts; at most {rest} is avoidable.")
    if ledger.weight_casts is not None:
        times = "once" if ledger.weight_casts == 1 else f"{ledger.weight_casts} times"
        notes.append(f"Weights are cast {times} per step.")
    if ledger.pingpong_launches:
        casts = fmt.count(ledger.pingpong_launches, "cast")
        notes.append(f"{casts} ({fmt.time(ledger.pingpong_ns)}) are undone soon after.")
    if ledger.instructions is not None:
        found = ledger.instructions
        part = fmt.share(found.converting / found.executed) if found.executed else "0 %"
        notes.append(
            f"At least {part} of the thread instructions convert, counted for {fmt.share(found.covered)} of the time."
        )
    return notes + _balance(ledger.balance)


def _balance(balance: Balance | None) -> list[str]:
    if balance is None:
        return []
    notes = []
    for entry in balance.comparisons:
        gain = fmt.time(entry.gain_ns)
        if entry.verdict != "pays":
            gain = f"{gain} to {fmt.time(entry.best_ns)}"
        verdict = {"pays": "they pay", "costs more": "they cost more", "undecided": "open whether they pay"}[
            entry.verdict
        ]
        notes.append(
            f"Over {entry.baseline}, low-precision matrix kernels save about {gain} by peaks; casts take "
            f"{fmt.time(balance.cost_ns)}: {verdict}."
        )
    return notes


def tensor_table(account: TensorAccount) -> Table:
    """Matrix work by path and operand type."""
    rows = [
        [
            Cell(part.path), Cell(part.dtype), cells.count(part.launches), cells.time(part.time_ns),
            cells.share(part.share), _peak(part),
        ]
        for part in sorted(account.parts, key=lambda part: -part.time_ns)
    ]  # fmt: skip
    head = "path|operands|launches:|time:|share of matrix work:|of the peak:"
    return cells.table("Matrix work by path and operand type", head, rows)


def _peak(part: TensorPart) -> Cell:
    return Cell("not counted", -1.0) if part.peak_share is None else cells.share(part.peak_share)


def causes_table(account: TensorAccount) -> Table | None:
    """Why matrix work is not at its peak, by what the rules said."""
    if not account.causes:
        return None
    rows = [[cells.text(cause.cause), Cell(cause.rule), cells.time(cause.time_ns), cells.share(cause.share)]
            for cause in account.causes]  # fmt: skip
    return cells.table("Why matrix work is not at its peak", "cause|rule|time:|share of matrix work:", rows)


def tensor_words(account: TensorAccount) -> str:
    """How much matrix work there is and how much of it runs on Tensor Cores."""
    whole = account.time_ns
    counted = account.counted_ns / whole if whole else 0.0
    basis = "as ncu counted" if counted >= 0.95 else f"ncu counted {fmt.share(counted)}, the rest by kernel name"
    unknown = f", {fmt.share(account.unknown_ns / whole)} not known" if account.unknown_ns and whole else ""
    return (
        f"{fmt.time(whole)} of matrix work ({fmt.share(account.share)} of the kernel time): "
        f"{fmt.share(account.tensor_ns / whole if whole else 0.0)} of it on Tensor Cores{unknown} "
        f"({basis if counted else 'by kernel name'})."
    )
