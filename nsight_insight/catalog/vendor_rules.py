"""What NVIDIA's own rules speak about: rules of ours on the same mechanism, and when theirs are known to be wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nsight_insight.catalog.yamlio import load_data
from nsight_insight.model.units import Dimension, parse_unit

if TYPE_CHECKING:
    from nsight_insight.model.vendor import VendorState


@dataclass(frozen=True)
class Reading:
    """One mechanism that a rule of NVIDIA's speaks about.

    Attributes:
        rule: NVIDIA's name of the rule.
        text: what its message must contain.
        same: our rules on that mechanism.
        finer: our rules, shell patterns, on causes behind it.
        note: why no rule of ours says the same, "" where one does.
    """

    rule: str
    text: re.Pattern[str]
    same: tuple[str, ...]
    finer: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Objection:
    """Why a finding of NVIDIA's is not followed.

    Attributes:
        rules: NVIDIA's names, shell patterns.
        text: what the message must contain.
        time_only: only where the estimate is for the run time.
        condition: expression over the facts of ``scope``; "" always holds.
        state: what the finding then is, ``contradicted`` or ``vendor-only``.
        say: the reason, with ``{fact}`` for values.
    """

    id: str
    rules: tuple[str, ...]
    text: re.Pattern[str]
    time_only: bool
    scope: str
    condition: str
    state: VendorState
    say: str


@dataclass(frozen=True)
class VendorRules:
    """The whole table; ``params`` are SI values with their dimension, ``let`` expressions over scope launch."""

    readings: tuple[Reading, ...]
    objections: tuple[Objection, ...]
    params: Mapping[str, tuple[float, Dimension]]
    let: Mapping[str, str]


@lru_cache(maxsize=1)
def load_vendor_rules() -> VendorRules:
    """The table of ``vendor_rules.yaml``.

    Raises:
        ValueError: a parameter's unit is not known.
    """
    data = load_data("vendor_rules.yaml")
    return VendorRules(
        tuple(_reading(entry) for entry in data["readings"]),
        tuple(_objection(entry) for entry in data["objections"]),
        {name: _param(entry) for name, entry in data["params"].items()},
        data["let"],
    )


def readings_of(rule: str, text: str) -> list[Reading]:
    """What a finding of NVIDIA's speaks about; empty where the table does not know the rule or its text."""
    return [reading for reading in load_vendor_rules().readings if reading.rule == rule and reading.text.search(text)]


def _reading(entry: Mapping[str, Any]) -> Reading:
    return Reading(
        entry["rule"],
        re.compile(str(entry.get("text", ""))),
        tuple(entry.get("same", ())),
        tuple(entry.get("finer", ())),
        entry.get("note", ""),
    )


def _objection(entry: Mapping[str, Any]) -> Objection:
    return Objection(
        entry["id"],
        tuple(entry["rules"]),
        re.compile(entry.get("text", "")),
        entry.get("time_only", False),
        entry.get("scope", "launch"),
        entry.get("if", ""),
        entry["state"],
        entry["say"],
    )


def _param(entry: Mapping[str, Any]) -> tuple[float, Dimension]:
    unit = parse_unit(entry["unit"])
    if unit is None:
        raise ValueError(f"unknown unit {entry['unit']!r}")
    return float(entry["value"]) * unit.scale, unit.dimension
