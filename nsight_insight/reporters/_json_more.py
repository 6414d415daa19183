"""Devices, assumed cures and matches of NVIDIA's findings as JSON objects; part of the contract of ``json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nsight_insight.model.text import clean
from nsight_insight.reporters._machine import number

if TYPE_CHECKING:
    from nsight_insight.model.compose import Parts
    from nsight_insight.model.totals import DeviceTotals
    from nsight_insight.model.vendor import VendorMatch
    from nsight_insight.model.what_if import WhatIf

Object = dict[str, Any]


def device_object(device: DeviceTotals) -> Object:
    """One device's time line."""
    return {
        "index": device.index,
        "name": clean(device.name),
        "kernel_ns": number(device.kernel_ns),
        "launches": device.launches,
        "steady": device.steady,
        "steps": device.steps,
        "steps_basis": device.basis,
        "window_ns": number(device.window_ns),
        "busy_ns": number(device.busy_ns),
        "idle_ns": number(device.idle_ns),
        "comm_ns": number(device.comm_ns),
        "comm_exposed_ns": number(device.comm_exposed_ns),
        "host_bound_share": number(device.host_bound_share),
        "streams": device.streams,
        "processes": device.processes,
        "clock": device.clock,
        "slowest": device.slowest,
    }


def what_if_object(found: WhatIf) -> Object:
    """The time line with findings assumed to be fixed."""
    shares = found.host_share
    return {
        "patterns": list(found.patterns),
        "unmatched": list(found.unmatched),
        "assumed": [finding.fingerprint for finding in found.assumed],
        "base_ns": number(found.base_ns),
        "expected_ns": number(found.expected_ns),
        "best_ns": number(found.best_ns),
        "parts": _parts(found.parts),
        "expected_parts": _parts(found.expected_parts),
        "host_bound_share": None if shares is None else {"now": number(shares[0]), "then": number(shares[1])},
        "remaining": [
            {
                "rule": left.finding.rule,
                "fingerprint": left.finding.fingerprint,
                "expected_ns": number(left.expected_ns),
                "upper_ns": number(left.upper_ns),
                "pays": left.pays,
                "reason": left.reason,
            }
            for left in found.remaining
        ],
    }


def _parts(parts: Parts) -> Object:
    return {"kernels": number(parts.kernels), "idle": number(parts.idle), "copies": number(parts.copies)}


def match_object(match: VendorMatch | None) -> Object | None:
    """What our rules say about a finding of NVIDIA's."""
    if match is None:
        return None
    return {
        "state": match.state,
        "rules": list(match.rules),
        "reason": clean(match.reason),
        "expected": number(match.expected),
        "upper": number(match.upper),
        "time_ns": number(match.time_ns),
    }
