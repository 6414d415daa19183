"""The two accounts of the text report: what conversions cost, and what matrix work ran on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from nsight_insight.model.finding import Report
from nsight_insight.model.ledger import (
    Balance,
    Comparison,
    Conversion,
    Instructions,
    PrecisionLedger,
    RangeCost,
    TensorAccount,
    TensorPart,
)
from nsight_insight.reporters import _devices
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._layout import Page, indented, styled, wrap

MIN_SHARE: Final = 0.005
"""Conversions below half a percent of the kernel time are told only when asked for."""
KINDS: Final = 3
PARTS: Final = 4
CAUSES: Final = 4
RANGES: Final = 3
KERNEL: Final = 40
LEAST_REMARK: Final = 12
ALMOST_ALL: Final = 0.95

_VERDICTS: Final = {
    "pays": "the casts pay",
    "costs more": "the casts cost more",
    "undecided": "open whether the casts pay",
}

Row = tuple[str, int, float, float, str]
"""Label, launches, time in ns, share, remark."""


def ledger_lines(report: Report, page: Page) -> list[Text]:
    """Conversions by kind, what surrounds them, what is needed, and whether they pay."""
    ledger = report.ledger
    if ledger is None or not (page.verbose or _worth_telling(ledger)):
        return []
    lines = [styled(("Precision conversions", "title")), *_wrapped([_sum(ledger, report.totals.steps_basis)], page)]
    pure = [entry for entry in ledger.conversions if entry.kind != "fused"]
    lines += _table([_row(entry) for entry in pure], KINDS, page)
    remarks = [
        *(_fused(entry) for entry in ledger.conversions if entry.kind == "fused"),
        _needed(ledger),
        _repeated(ledger),
        _ranges(ledger.ranges, page),
        _instructions(ledger.instructions),
        _balance(ledger.balance),
    ]
    return lines + _wrapped(remarks, page)


def _worth_telling(ledger: PrecisionLedger) -> bool:
    fused = sum(entry.share for entry in ledger.conversions if entry.kind == "fused")
    return max(ledger.share, fused) >= MIN_SHARE or ledger.instructions is not None


def _sum(ledger: PrecisionLedger, basis: str) -> str:
    text = (
        f"{fmt.time(ledger.time_ns)} ({fmt.share(ledger.share)} of kernel time) "
        f"in {fmt.count(ledger.launches, 'launch')}"
    )
    if not ledger.steps:
        return text
    per_step = sum(entry.step_ns or 0.0 for entry in ledger.conversions if entry.kind != "fused")
    return f"{text}, {fmt.time(per_step)} a {_devices.each(basis)}"


def _row(entry: Conversion) -> Row:
    if entry.dtype_in and entry.dtype_in != entry.dtype_out:
        types = f"{entry.dtype_in} → {entry.dtype_out}" if entry.dtype_out else entry.dtype_in
    else:
        types = f"to {entry.dtype_out}" if not entry.dtype_in and entry.dtype_out else entry.dtype_in
    return (f"{entry.kind} {types}".strip(), entry.launches, entry.time_ns, entry.share, _remark(entry))


def _remark(entry: Conversion) -> str:
    if entry.flows:
        flow = entry.flows[0]
        before, after = flow.producer or "start", flow.consumer or "end"
        part = f" {fmt.share(flow.time_ns / entry.time_ns)}" if len(entry.flows) > 1 and entry.time_ns else ""
        return f"{before} → {entry.kind.split()[0]} → {after}{part}"
    return f"{_bytes(entry)} of DRAM traffic" if entry.bytes is not None else ""


def _bytes(entry: Conversion) -> str:
    from nsight_insight.model.text import scaled

    least = "" if entry.measured_ns >= ALMOST_ALL * entry.time_ns else "at least "
    return f"{least}{scaled(entry.bytes or 0.0, 'B')}"


def _table(rows: Sequence[Row], limit: int, page: Page) -> list[Text]:
    """Aligned columns; what does not fit in ``limit`` rows is summed up in one."""
    shown = list(rows) if page.verbose or len(rows) <= limit + 1 else list(rows[:limit])
    rest = rows[len(shown) :]
    if rest:
        sums = [sum(row[column] for row in rest) for column in (1, 2, 3)]  # type: ignore[misc]
        shown.append((f"{len(rest)} others", int(sums[0]), sums[1], sums[2], ""))
    label = max((len(row[0]) for row in shown), default=0)
    return [_line(row, label, page) for row in shown]


def _line(row: Row, label: int, page: Page) -> Text:
    name, launches, time, share, remark = row
    head = f"  {name:<{label}}{launches:>7,}x{fmt.time(time):>10}{share * 100:>7.1f} %"
    room = page.width - len(head) - 2
    if len(remark) > room:
        remark = remark.replace(f"→ {name.split()[0]} →", "→ · →")
    return styled(head, (f"  {fmt.cut(remark, room)}" if remark and room > LEAST_REMARK else "", "faint"))


def _fused(entry: Conversion) -> str:
    return (
        f"{fmt.count(entry.launches, 'launch')} ({fmt.time(entry.time_ns)}, {fmt.share(entry.share)}) convert beside "
        "other work; not counted above"
    )


def _needed(ledger: PrecisionLedger) -> str:
    if ledger.inherent_ns is None or ledger.avoidable_ns is None:
        return ""
    return (
        f"FP32 master weights need about {fmt.time(ledger.inherent_ns)} of casts; at most "
        f"{fmt.time(ledger.avoidable_ns)} is avoidable"
    )


def _repeated(ledger: PrecisionLedger) -> str:
    parts = []
    if ledger.weight_casts is not None:
        times = "once" if ledger.weight_casts == 1 else f"{ledger.weight_casts} times"
        parts.append(f"weights are cast {times} per step")
    if ledger.pingpong_launches:
        undone = f"{fmt.count(ledger.pingpong_launches, 'cast')} ({fmt.time(ledger.pingpong_ns)}) undone soon after"
        parts.append(undone)
    return "; ".join(parts)


def _ranges(ranges: Sequence[RangeCost], page: Page) -> str:
    shown = ranges if page.verbose else ranges[:RANGES]
    texts = [
        f"{fmt.cut(fmt.flow(entry.name), KERNEL) or 'outside'} {fmt.time(entry.time_ns)} "
        f"({fmt.share(entry.time_ns / entry.range_ns) if entry.range_ns else '0 %'} of it)"
        for entry in shown
    ]
    return f"by NVTX range: {', '.join(texts)}" if texts else ""


def _instructions(found: Instructions | None) -> str:
    if found is None:
        return ""
    kernel = fmt.kernels([found.top], KERNEL)[0]
    return (
        f"at least {fmt.share(found.converting / found.executed)} of the thread instructions convert "
        f"(counted for {fmt.share(found.covered)} of the time), most in {kernel} ({fmt.share(found.top_share)})"
    )


def _balance(balance: Balance | None) -> str:
    """What the narrow products save over each type, and whether the casts are worth it."""
    if balance is None or not balance.comparisons:
        return ""
    texts = "; over ".join(_compared(entry) for entry in balance.comparisons)
    guess = ", for an assumed GPU" if any(";" in entry.assumption for entry in balance.comparisons) else ""
    return f"low-precision matrix kernels save, by peaks{guess}, over {texts}"


def _compared(entry: Comparison) -> str:
    gain = fmt.time(entry.gain_ns)
    if entry.verdict != "pays":
        gain = f"{gain} to {fmt.time(entry.best_ns)}"
    return f"{entry.baseline} about {gain}: {_VERDICTS[entry.verdict]}"


def tensor_lines(report: Report, page: Page) -> list[Text]:
    """Matrix work by path and operand type, the share of the peak reached, and why not more."""
    account = report.tensor_account
    if account is None:
        return []
    rows = [_part(part) for part in account.parts]
    lines = [styled(("Tensor Cores", "title")), *_wrapped([_on_tensor_cores(account)], page)]
    lines += _table(rows, PARTS, page)
    return lines + _wrapped([_causes(account, page)], page)


def _on_tensor_cores(account: TensorAccount) -> str:
    whole = account.time_ns
    basis = _basis(account.counted_ns / whole if whole else 0.0)
    unknown = f", {fmt.share(account.unknown_ns / whole)} not known" if account.unknown_ns else ""
    return (
        f"{fmt.time(whole)} of matrix work ({fmt.share(account.share)} of kernel time): "
        f"{fmt.share(account.tensor_ns / whole)} of it on Tensor Cores{unknown} ({basis})"
    )


def _basis(counted: float) -> str:
    if counted >= ALMOST_ALL:
        return "as ncu counted"
    return f"ncu counted {fmt.share(counted)}, the rest by name" if counted else "by kernel name"


def _part(part: TensorPart) -> Row:
    remark = ""
    if part.peak_share is not None:
        whole = part.measured_ns >= ALMOST_ALL * part.time_ns
        where = "" if whole or not part.time_ns else f" in {fmt.share(part.measured_ns / part.time_ns)} of it"
        remark = f"{fmt.share(part.peak_share)} of the peak{where}"
    return (f"{part.path} {part.dtype}".strip(), part.launches, part.time_ns, part.share, remark)


def _causes(account: TensorAccount, page: Page) -> str:
    shown = account.causes if page.verbose else account.causes[:CAUSES]
    texts = [f"{cause.cause} {fmt.time(cause.time_ns)} ({fmt.share(cause.share)})" for cause in shown]
    return f"why not more: {'; '.join(texts)}" if texts else ""


def _wrapped(texts: Iterable[str], page: Page) -> list[Text]:
    """Each text as lines of its own, empty ones left out."""
    lines: list[Text] = []
    for text in texts:
        if text:
            lines += indented(wrap(Text(text), page.width - 2, 2), 2)
    return lines
