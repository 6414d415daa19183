"""What must not change a fact: the order of rows, and how finely a summary is split."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight.model.profile import Device, Profile
from nsight_insight.views.build import build
from nsight_insight.views.facts import KERNEL, LAUNCH, SCOPES, TRACE, FactTable
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
CLASSES: list[Row] = [
    {"name": "sgemm", "family": "gemm", "dtype_in": "fp32", "dtype_out": "fp32", "tensor_core": "no"},
    {"name": "hgemm", "family": "gemm", "dtype_in": "fp16", "dtype_out": "fp16", "tensor_core": "yes"},
    {"name": "down", "family": "cast", "dtype_in": "fp32", "dtype_out": "fp16", "tensor_core": "no"},
    {"name": "up", "family": "cast", "dtype_in": "", "dtype_out": "fp32", "tensor_core": "no"},
    {"name": "mine", "family": "unknown", "tensor_core": "unknown"},
]
DEVICES = (Device(0, "NVIDIA H200"), Device(1, "NVIDIA GeForce RTX 4090"))

kernel = st.fixed_dictionaries(
    {
        "class": st.sampled_from(CLASSES),
        "duration": st.integers(1, 10**6).map(float),
        "device": st.integers(0, 1),
        "stream": st.integers(1, 2),
        "grid_x": st.sampled_from([1.0, 8.0, float("nan")]),
    }
).map(lambda row: {**row.pop("class"), **row})
metered = st.fixed_dictionaries(
    {"waves": st.floats(0.1, 5.0), "dram_bytes": st.floats(0, 1e6), "sm_throughput": st.sampled_from([0.1, np.nan])}
)
kernels = st.lists(kernel, min_size=1, max_size=12)


def _same(ours: FactTable, theirs: FactTable) -> None:
    assert ours.values.keys() == theirs.values.keys()
    for name in ours.values:
        left, right = ours.values[name], theirs.values[name]
        if left.dtype == object:
            assert list(left) == list(right), name
        else:
            np.testing.assert_allclose(left, right, rtol=1e-12, err_msg=name)
    assert ours.keys == theirs.keys
    np.testing.assert_allclose(ours.time, theirs.time, rtol=1e-12)
    np.testing.assert_array_equal(ours.launches, theirs.launches)


def _profiles(rows: list[Row], metrics: list[Row]) -> list[Profile]:
    timed = [{**row, "start": 50.0 * place} for place, row in enumerate(rows)]
    ncu = [
        {**row, "correlation": place, **extra} for place, (row, extra) in enumerate(zip(rows, metrics, strict=False))
    ]
    return [
        make_profile(rows, ncu=ncu, devices=DEVICES),
        make_profile(timed, ncu=ncu, devices=DEVICES, report="cuda_gpu_trace"),
        make_profile(ncu=ncu or rows, devices=DEVICES),
    ]


@given(kernels, st.lists(metered, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_row_order_changes_nothing(rows: list[Row], metrics: list[Row], random: Any) -> None:
    for profile in _profiles(rows, metrics):
        order = list(range(len(profile.activities)))
        random.shuffle(order)
        shuffled = replace(profile, activities=profile.activities.iloc[order].reset_index(drop=True))
        for scope in SCOPES:
            ours, theirs = build(profile, scope), build(shuffled, scope)
            _same(ours, theirs)
            assert [order[row] for row in theirs.lead] == list(ours.lead)


@given(kernels, st.lists(st.integers(1, 5), min_size=12, max_size=12))
@settings(max_examples=60, deadline=None)
def test_splitting_summary_rows_changes_no_total(rows: list[Row], parts: list[int]) -> None:
    rows = [{**row, "min": row["duration"], "max": row["duration"]} for row in rows]
    whole = [{**row, "count": n, "duration": n * row["duration"]} for row, n in zip(rows, parts, strict=False)]
    split = [
        {**row, "count": n // k + (place < n % k), "duration": (n // k + (place < n % k)) * row["duration"]}
        for row, n in zip(rows, parts, strict=False)
        for k in [min(n, 3)]
        for place in range(k)
    ]
    ours, theirs = make_profile(whole, devices=DEVICES), make_profile(split, devices=DEVICES)
    _same(build(ours, TRACE), build(theirs, TRACE))
    _same(build(ours, KERNEL), build(theirs, KERNEL))


@given(kernels, st.lists(metered, max_size=6))
@settings(max_examples=60, deadline=None)
def test_time_is_conserved(rows: list[Row], metrics: list[Row]) -> None:
    for profile in _profiles(rows, metrics):
        total = float(build(profile, TRACE).values["kernel_time"].sum())
        kernel_table, launch_table = build(profile, KERNEL), build(profile, LAUNCH)
        assert kernel_table.time.sum() == pytest.approx(total, rel=1e-9)
        assert launch_table.time.sum() <= total * (1 + 1e-9)
        shares = kernel_table.values["time_share"]
        for device in np.unique(kernel_table.devices):
            assert shares[kernel_table.devices == device].sum() == pytest.approx(1.0)


@given(kernels, st.lists(metered, max_size=6))
@settings(max_examples=60, deadline=None)
def test_fractions_stay_fractions(rows: list[Row], metrics: list[Row]) -> None:
    names = ("tail_loss", "grid_fill", "time_share", "excess_sectors", "max_throughput")
    for profile in _profiles(rows, metrics):
        for scope in (LAUNCH, KERNEL):
            values = build(profile, scope).values
            for name in names:
                known = values[name][~np.isnan(values[name])] if name in values else np.zeros(0)
                assert ((known >= 0) & (known <= 1 + 1e-12)).all(), name
