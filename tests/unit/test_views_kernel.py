"""Kernels: rows of one name put together."""

from __future__ import annotations

import numpy as np
import pytest

from nsight_insight.model.profile import Device
from nsight_insight.views.build import build
from nsight_insight.views.facts import KERNEL, LAUNCH
from tests.unit.make_profile import make_profile


def test_rows_of_one_name_are_one_kernel() -> None:
    rows = [
        {"name": "k", "count": 4, "duration": 400.0, "min": 50.0, "max": 190.0, "grid_x": 8.0, "block_x": 32.0},
        {"name": "k", "count": 1, "duration": 100.0, "min": 100.0, "max": 100.0, "grid_x": 33.0, "block_x": 32.0},
        {"name": "other", "count": 2, "duration": 500.0},
    ]
    table = build(make_profile(rows), KERNEL)
    assert list(table.values["name"]) == ["k", "other"]
    np.testing.assert_allclose(table.values["duration"], [500e-9, 500e-9])
    np.testing.assert_allclose(table.values["mean_duration"], [100e-9, 250e-9])
    np.testing.assert_allclose(table.values["min_duration"], [50e-9, np.nan])
    np.testing.assert_allclose(table.values["max_duration"], [190e-9, np.nan])
    np.testing.assert_allclose(table.values["time_share"], [0.5, 0.5])
    assert table.values["grid"][0] == pytest.approx((8 * 400 + 33 * 100) / 500)
    assert table.values["block"][0] == 32
    assert [list(rows) for rows in table.rows] == [[0, 1], [2]]
    assert list(table.lead) == [0, 2]
    assert list(table.launches) == [5, 2]


def test_keys_name_the_device_only_where_it_tells_kernels_apart() -> None:
    assert build(make_profile([{"name": "k", "device": 0}]), KERNEL).keys == ["k"]
    assert build(make_profile([{"name": "k"}]), KERNEL).keys == ["k"]
    two = build(make_profile([{"name": "k", "device": device} for device in (0, 1)]), KERNEL)
    assert two.keys == ["0:k", "1:k"]


def test_grids_come_from_ncu_where_the_time_base_has_none() -> None:
    ncu = [{"name": "k", "duration": 30.0, "grid_x": 66.0, "block_x": 64.0, "registers": 40.0}]
    devices = [Device(0, "NVIDIA H200")]
    table = build(make_profile([{"name": "k", "count": 3, "duration": 90.0}], ncu=ncu, devices=devices), KERNEL)
    assert (table.values["grid"][0], table.values["registers"][0]) == (66, 40)
    assert table.values["grid_fill"][0] == 0.5
    assert table.evidence_rows["registers"][0] == 1


def test_tails_and_fill_are_means_of_launches_not_of_waves() -> None:
    ncu = [{"name": "k", "duration": 100.0, "waves": w, "grid_x": g} for w, g in ((0.5, 66.0), (1.5, 264.0))]
    table = build(make_profile(ncu=ncu, devices=[Device(0, "NVIDIA H200")]), KERNEL)
    assert table.values["waves"][0] == 1.0
    assert table.values["tail_loss"][0] == pytest.approx(0.125)
    assert table.values["grid_fill"][0] == pytest.approx(0.75)


def test_evidence_points_at_the_launch_that_shows_the_metric() -> None:
    ncu = [
        {"name": "k", "duration": 300.0, "ipc_active": 2.0},
        {"name": "k", "duration": 200.0, "waves": 1.5},
        {"name": "k", "duration": 290.0, "waves": 1.2, "ipc_active": 1.0},
    ]
    table = build(make_profile([{"name": "k", "count": 9, "duration": 2700.0}], ncu=ncu), KERNEL)
    rows = {name: int(table.evidence_rows[name][0]) for name in ("ipc_active", "waves", "tail_loss", "wave_count")}
    assert rows == {"ipc_active": 1, "waves": 3, "tail_loss": 3, "wave_count": 3}
    assert table.lead[0] == 0
    assert "mean" in table.combined["tail_loss"]
    assert table.combined["wave_count"] != table.combined["waves"]


def test_launch_facts_without_ncu_come_from_the_rows() -> None:
    rows = [{"name": "k", "count": 2, "duration": 300.0, "grid_x": 4.0, "grid_y": 3.0, "device": 0}]
    table = build(make_profile(rows, devices=[Device(0, "NVIDIA H200")]), LAUNCH)
    assert table.values["grid"][0] == 12
    assert table.values["mean_duration"][0] == pytest.approx(150e-9)
    assert table.values["time_share"][0] == 1.0
    assert np.isnan(table.values["min_duration"][0])
    assert table.keys == ["k@12#0"]
    assert "sm_throughput" not in table.values


def test_texts_are_none_where_unknown() -> None:
    row = {"name": "k", "family": "", "dtype_in": "", "dtype_out": "", "tensor_core": "unknown", "library": ""}
    table = build(make_profile([row]), KERNEL)
    assert table.values["family"][0] == "unknown"
    for name in ("dtype_in", "dtype_out", "tensor_core", "library", "gpu"):
        assert table.values[name][0] is None
