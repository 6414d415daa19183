"""The precision ledger and the Tensor Core account as JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nsight_insight.model.text import clean
from nsight_insight.reporters._machine import number

if TYPE_CHECKING:
    from nsight_insight.model.ledger import (
        Balance,
        Conversion,
        Instructions,
        PrecisionLedger,
        TensorAccount,
    )

Object = dict[str, Any]


def ledger_object(ledger: PrecisionLedger | None) -> Object | None:
    """The ledger; null where nothing converts."""
    if ledger is None:
        return None
    return {
        "time_ns": number(ledger.time_ns),
        "launches": ledger.launches,
        "share": number(ledger.share),
        "steps": ledger.steps,
        "pingpong_launches": ledger.pingpong_launches,
        "pingpong_ns": number(ledger.pingpong_ns),
        "weight_casts": ledger.weight_casts,
        "inherent_ns": number(ledger.inherent_ns),
        "avoidable_ns": number(ledger.avoidable_ns),
        "conversions": [_conversion(entry) for entry in ledger.conversions],
        "instructions": _instructions(ledger.instructions),
        "ranges": [
            {
                "name": clean(entry.name),
                "launches": entry.launches,
                "time_ns": number(entry.time_ns),
                "range_ns": number(entry.range_ns),
            }
            for entry in ledger.ranges
        ],
        "balance": _balance(ledger.balance),
    }


def _conversion(entry: Conversion) -> Object:
    return {
        "kind": entry.kind,
        "dtype_in": entry.dtype_in,
        "dtype_out": entry.dtype_out,
        "launches": entry.launches,
        "time_ns": number(entry.time_ns),
        "share": number(entry.share),
        "step_launches": number(entry.step_launches),
        "step_ns": number(entry.step_ns),
        "bytes": number(entry.bytes),
        "measured_ns": number(entry.measured_ns),
        "flows": [
            {
                "producer": flow.producer,
                "consumer": flow.consumer,
                "launches": flow.launches,
                "time_ns": number(flow.time_ns),
            }
            for flow in entry.flows
        ],
    }


def _instructions(found: Instructions | None) -> Object | None:
    if found is None:
        return None
    return {
        "converting": number(found.converting),
        "executed": number(found.executed),
        "covered": number(found.covered),
        "top": clean(found.top),
        "top_share": number(found.top_share),
    }


def _balance(balance: Balance | None) -> Object | None:
    if balance is None:
        return None
    return {
        "cost_ns": number(balance.cost_ns),
        "narrow_ns": number(balance.narrow_ns),
        "other_ns": number(balance.other_ns),
        "comparisons": [
            {
                "baseline": entry.baseline,
                "gain_ns": number(entry.gain_ns),
                "best_ns": number(entry.best_ns),
                "assumption": entry.assumption,
                "verdict": entry.verdict,
            }
            for entry in balance.comparisons
        ],
    }


def account_object(account: TensorAccount | None) -> Object | None:
    """The account; null without matrix work."""
    if account is None:
        return None
    return {
        "time_ns": number(account.time_ns),
        "launches": account.launches,
        "share": number(account.share),
        "tensor_ns": number(account.tensor_ns),
        "unknown_ns": number(account.unknown_ns),
        "counted_ns": number(account.counted_ns),
        "parts": [
            {
                "path": part.path,
                "dtype": part.dtype,
                "launches": part.launches,
                "time_ns": number(part.time_ns),
                "share": number(part.share),
                "peak_share": number(part.peak_share),
                "measured_ns": number(part.measured_ns),
            }
            for part in account.parts
        ],
        "causes": [
            {
                "cause": entry.cause,
                "rule": entry.rule,
                "time_ns": number(entry.time_ns),
                "share": number(entry.share),
            }
            for entry in account.causes
        ],
    }
