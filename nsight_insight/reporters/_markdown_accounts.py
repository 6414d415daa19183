"""The two accounts in Markdown: what conversions cost, and what matrix work ran on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _markdown as md
from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nsight_insight.model.finding import Report
    from nsight_insight.model.ledger import Conversion, PrecisionLedger, TensorAccount, TensorPart

ROWS: Final = 8
MIN_SHARE: Final = 0.005
"""Conversions below half a percent of the kernel time are not told."""


def accounts(report: Report) -> Iterator[list[str]]:
    """A folded block per account that has something to tell."""
    if report.ledger is not None and _worth_telling(report.ledger):
        yield _ledger(report.ledger)
    if report.tensor_account is not None and report.tensor_account.time_ns > 0:
        yield _tensor(report.tensor_account)


def _worth_telling(ledger: PrecisionLedger) -> bool:
    return any(entry.share >= MIN_SHARE for entry in ledger.conversions)


def _ledger(ledger: PrecisionLedger) -> list[str]:
    entries = sorted(ledger.conversions, key=lambda entry: -entry.time_ns)[:ROWS]
    rows = [
        [md.text(_conversion(entry)), fmt.time(entry.time_ns), fmt.share(entry.share), f"{entry.launches:,}"]
        for entry in entries
    ]
    body = md.table(["conversion", "time:", "share:", "launches:"], rows)
    if ledger.inherent_ns is not None and ledger.avoidable_ns is not None:
        needed, rest = fmt.time(ledger.inherent_ns), fmt.time(ledger.avoidable_ns)
        body += ["", f"FP32 master weights need about {needed} of casts; at most {rest} is avoidable."]
    took = f"{fmt.time(ledger.time_ns)}, {fmt.share(ledger.share)} of kernel time"
    return md.details(f"Precision conversions: {took}", body)


def _conversion(entry: Conversion) -> str:
    """``cast down fp32 to fp16``; ``fused`` ones do other work, too."""
    known = [entry.dtype_in] if entry.dtype_in else []
    if entry.dtype_out and entry.dtype_out != entry.dtype_in:
        known.append(f"to {entry.dtype_out}")
    kind = "beside other work" if entry.kind == "fused" else entry.kind
    return " ".join([kind, *known])


def _tensor(account: TensorAccount) -> list[str]:
    entries = sorted(account.parts, key=lambda part: -part.time_ns)[:ROWS]
    rows = [
        [md.text(f"{part.path} {part.dtype}"), fmt.time(part.time_ns), fmt.share(part.share), _peak(part)]
        for part in entries
    ]
    body = md.table(["matrix work", "time:", "share:", "of the peak:"], rows)
    causes = [f"{cause.cause} {fmt.time(cause.time_ns)} ({fmt.share(cause.share)})" for cause in account.causes[:ROWS]]
    if causes:
        body += ["", f"Why not more: {md.text('; '.join(causes))}"]
    on = fmt.share(account.tensor_ns / account.time_ns)
    return md.details(f"Tensor Cores: {on} of {fmt.time(account.time_ns)} of matrix work", body)


def _peak(part: TensorPart) -> str:
    return "not counted" if part.peak_share is None else fmt.share(part.peak_share)
