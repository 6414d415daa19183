"""Neighbours on a stream, gaps, and casts that are undone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.views.build import build
from nsight_insight.views.facts import SEQUENCE, FactTable
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
DOWN = {"name": "down", "family": "cast", "dtype_in": "fp32", "dtype_out": "fp16"}
UP = {"name": "up", "family": "cast", "dtype_in": "fp16", "dtype_out": "fp32"}
UP_FROM = {**UP, "dtype_in": ""}
BLANK = {"name": "blank", "family": "cast", "dtype_in": "", "dtype_out": ""}
NORM = {"name": "norm", "family": "norm", "dtype_in": "fp32", "dtype_out": "fp32"}
GEMM = {"name": "gemm", "family": "gemm", "dtype_in": "fp16", "dtype_out": "fp16"}


def _sequence(*rows: Row) -> FactTable:
    timed = [{"start": 100.0 * place, "duration": 40.0, "stream": 7, **row} for place, row in enumerate(rows)]
    return build(make_profile(timed, report="cuda_gpu_trace"), SEQUENCE)


def _facts(name: str, *rows: Row) -> list[Any]:
    return list(_sequence(*rows).values[name])


def test_neighbours_and_gaps_stay_on_their_stream() -> None:
    table = _sequence(NORM, {**GEMM, "stream": 8}, UP, {**DOWN, "start": 230.0})
    assert list(table.values["name"]) == ["norm", "up", "down", "gemm"]
    assert list(table.values["prev_family"]) == [None, "norm", "cast", None]
    assert list(table.values["next_family"]) == ["cast", "cast", None, None]
    assert list(table.values["prev_dtype_out"]) == [None, "fp32", "fp32", None]
    assert list(table.values["next_dtype_in"]) == ["fp16", "fp32", None, None]
    np.testing.assert_allclose(table.values["gap_before"], [np.nan, 160e-9, 0.0, np.nan])


def test_order_comes_from_time_not_from_rows() -> None:
    table = _sequence({**NORM, "start": 900.0}, {**GEMM, "start": 5.0})
    assert list(table.values["name"]) == ["gemm", "norm"]
    assert list(table.lead) == [1, 0]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((UP, DOWN), [1, 0]),
        ((UP, NORM, NORM, DOWN), [1, 0, 0, 0]),
        ((UP, NORM, NORM, NORM, DOWN), [0, 0, 0, 0, 0]),
        ((UP, UP, DOWN), [1, 1, 0]),
        ((UP, {**DOWN, "stream": 9}), [0, 0]),
        ((UP, {**DOWN, "dtype_out": "bf16"}), [0, 0]),
        ((DOWN, UP_FROM), [1, 0]),
        ((UP_FROM, DOWN), [1, 0]),
        ((UP_FROM, {**UP_FROM}), [0, 0]),
        ((NORM, GEMM), [0, 0]),
    ],
)
def test_pingpong(rows: tuple[Row, ...], expected: list[int]) -> None:
    assert _facts("pingpong", *rows) == expected


def test_casts_of_different_sizes_are_of_different_tensors() -> None:
    up, down = ({**row, "block_x": 128.0, "grid_x": grid} for row, grid in ((UP, 8192.0), (DOWN, 4096.0)))
    assert _facts("pingpong", up, down) == [1, 0]
    assert _facts("pingpong", up, {**down, "grid_x": 4095.0}) == [0, 0]
    assert _facts("pingpong", {**up, "grid_x": 2000.0}, down) == [0, 0]
    sgemm = {**GEMM, "dtype_in": "fp32"}
    assert _facts("pingpong", up, sgemm, {**down, "grid_x": 5.0}) == [1, 0, 0], "a matrix kernel changes sizes"


def test_casts_of_unknown_types_are_unknown() -> None:
    found = _facts("pingpong", BLANK, DOWN)
    assert np.isnan(found[0])
    assert found[1] == 0


def test_casting_down_for_a_narrow_matrix_kernel_is_mixed_precision() -> None:
    assert _facts("pingpong", DOWN, GEMM, UP) == [0, 0, 0]
    assert _facts("pingpong", UP, GEMM, DOWN) == [0, 0, 0], "the kernel did not use what was cast"
    assert _facts("pingpong", UP, {**GEMM, "dtype_in": ""}, DOWN) == [0, 0, 0]


def test_casting_up_for_a_wide_matrix_kernel_is_not() -> None:
    sgemm = {**GEMM, "dtype_in": "fp32"}
    assert _facts("pingpong", UP, sgemm, DOWN) == [1, 0, 0]
    assert _facts("pingpong_matrix", UP, sgemm, DOWN) == [1, 0, 0]
    assert _facts("pingpong", UP, sgemm, GEMM, DOWN) == [0, 0, 0, 0]
    assert _facts("pingpong_matrix", UP, NORM, DOWN) == [0, 0, 0]


def test_summaries_have_no_sequence() -> None:
    table = build(make_profile([{**NORM, "count": 3, "duration": 5.0}]), SEQUENCE)
    assert len(table) == 0
    assert table.values == {}


def test_ncu_launches_run_in_the_order_of_their_ids() -> None:
    rows = [{**UP, "correlation": 10, "duration": 5.0}, {**NORM, "correlation": 9, "duration": 7.0}]
    table = build(make_profile(ncu=rows), SEQUENCE)
    assert list(table.values["name"]) == ["norm", "up"]
    assert np.isnan(table.values["gap_before"]).all()
    assert "skipped" in table.assumptions["prev_family"]
    np.testing.assert_allclose(table.time, [7e-9, 5e-9])


def test_ncu_sequences_beside_a_summary_stand_for_its_time() -> None:
    ncu = [{**UP, "correlation": place, "duration": 90.0} for place in (2, 1)]
    profile = make_profile([{**UP, "count": 8, "duration": 800.0}], ncu=ncu)
    table = build(profile, SEQUENCE)
    np.testing.assert_allclose(table.time, [400e-9, 400e-9])
    np.testing.assert_array_equal(table.launches, [4, 4])
    np.testing.assert_allclose(table.values["time_share"], [0.5, 0.5])


def test_keys_tell_equal_launches_apart() -> None:
    keys = _sequence(NORM, NORM, {**NORM, "grid_x": 4.0}).keys
    assert len(set(keys)) == 3
    assert keys[0].startswith("norm")
