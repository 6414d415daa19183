from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight.model.profile import Device
from nsight_insight.views.build import Views, build_all
from nsight_insight.views.facts import KERNEL, LAUNCH
from nsight_insight.views.ledger import precision_ledger
from nsight_insight.views.tensor_account import Verdicts, tensor_account
from tests.unit.make_profile import Row, make_profile

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")
TYPES = ["fp32", "fp16", "bf16", "fp8", ""]
CLASS = st.fixed_dictionaries(
    {
        "family": st.sampled_from(["gemm", "attention", "cast", "layout", "quantize", "norm", "unknown"]),
        "dtype_in": st.sampled_from(TYPES),
        "dtype_out": st.sampled_from(TYPES),
        "tensor_core": st.sampled_from(["yes", "no", "unknown"]),
    }
)
RUN = st.fixed_dictionaries(
    {
        "duration": st.integers(1, 10**9).map(float),
        "count": st.integers(1, 1000),
        "device": st.integers(0, 1),
        "stream": st.integers(0, 1),
        "nvtx": st.sampled_from(["", "step 1/forward", "step 1/forward/x/y"]),
        "tensor_active": st.sampled_from([0.0, 0.01, 0.4, 0.9, float("nan")]),
    }
)
SUFFIX = st.sampled_from(["", "_dequant", "_LoadWithCast<1>"])
ROW = st.builds(
    # What a name says is the same wherever it stands.
    lambda kind, suffix, run: {**kind, **run, "name": "_".join(kind.values()) + suffix},
    CLASS,
    SUFFIX,
    RUN,
)
DEVICES = (Device(0, "NVIDIA H200"), Device(1, "Tesla T4"))


def views_of(rows: list[Row], *, timed: bool, counted: bool = False) -> Views:
    if counted:
        return build_all(make_profile(ncu=[{**row, "count": 1} for row in rows], devices=DEVICES))
    return build_all(
        make_profile(
            [{**row, "start": place * 1e9} if timed else row for place, row in enumerate(rows)], devices=DEVICES
        )
    )


def pick(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(size) < 0.5


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=25), timed=st.booleans())
def test_conversions_ranges_and_flows_add_up(rows: list[Row], timed: bool) -> None:
    found = precision_ledger(views_of(rows, timed=timed))
    converting = [row for row in rows if row["family"] in ("cast", "layout", "quantize")]
    if found is None:
        assert not converting
        return
    pure = [entry for entry in found.conversions if entry.kind != "fused"]
    assert sum(entry.time_ns for entry in pure) == pytest.approx(found.time_ns)
    assert found.time_ns == pytest.approx(sum(row["duration"] for row in converting))
    assert found.launches == sum(entry.launches for entry in pure) == sum(row["count"] for row in converting)
    assert 0 <= found.share <= 1 + 1e-9
    for entry in found.conversions:
        assert sum(flow.time_ns for flow in entry.flows) <= entry.time_ns * (1 + 1e-9)
        assert (entry.flows != ()) == (timed and entry.kind != "fused")
    if found.ranges:
        assert sum(cost.time_ns for cost in found.ranges) == pytest.approx(found.time_ns)
        assert all(cost.time_ns <= cost.range_ns * (1 + 1e-9) for cost in found.ranges)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=25), seed=st.integers(0, 1000), counted=st.booleans())
def test_parts_and_causes_add_up(rows: list[Row], seed: int, counted: bool) -> None:
    views = views_of(rows, timed=False, counted=counted)
    verdicts = [
        Verdicts(f"{scope} {number}", f"r/{number}", scope, pick(len(views[scope]), seed + number))
        for number, scope in enumerate((KERNEL, LAUNCH, KERNEL, LAUNCH))
    ]
    found = tensor_account(views, verdicts)
    matrix = sum(row["duration"] for row in rows if row["family"] in ("gemm", "attention"))
    if found is None:
        assert matrix == 0
        return
    assert sum(part.time_ns for part in found.parts) == pytest.approx(found.time_ns)
    assert sum(cause.time_ns for cause in found.causes) == pytest.approx(found.time_ns)
    assert sum(cause.share for cause in found.causes) == pytest.approx(1.0)
    assert found.time_ns == pytest.approx(matrix)
    assert 0 <= found.tensor_ns + found.unknown_ns <= found.time_ns * (1 + 1e-9)
    assert all(part.peak_share is None or 0 <= part.peak_share <= 1 for part in found.parts)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(ROW, min_size=2, max_size=20), seed=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(rows: list[Row], seed: int) -> None:
    timed = [{**row, "start": place * 1e9} for place, row in enumerate(rows)]
    shuffled = [timed[place] for place in np.random.default_rng(seed).permutation(len(timed))]
    one, other = (build_all(make_profile(entries, devices=DEVICES)) for entries in (timed, shuffled))
    same(precision_ledger(one), precision_ledger(other))
    same(tensor_account(one, []), tensor_account(other, []))


def same(one: object, other: object) -> None:
    """Equal but for the last bits of sums, which differ with the order of their terms."""
    assert NUMBER.sub("#", repr(one)) == NUMBER.sub("#", repr(other))
    numbers = [[float(text) for text in NUMBER.findall(repr(value))] for value in (one, other)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)
