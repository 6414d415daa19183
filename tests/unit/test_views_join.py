"""nsys time and ncu metrics of one program brought together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nsight_insight.views.build import build
from nsight_insight.views.facts import KERNEL, LAUNCH, FactTable
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
ADD = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::AddFunctor<float>>(int, T2, T3)"
ADD_NCU = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int, T2, T3)"
MUL_NCU = ADD_NCU.replace("Add", "Mul")


def _both(nsys: list[Row], ncu: list[Row]) -> tuple[FactTable, FactTable]:
    profile = make_profile(nsys, ncu=ncu)
    return build(profile, LAUNCH), build(profile, KERNEL)


def _shape(grid: float) -> Row:
    return {"grid_x": grid, "grid_y": 1.0, "grid_z": 1.0, "block_x": 128.0, "block_y": 1.0, "block_z": 1.0}


def test_a_summary_is_matched_by_name_in_every_dialect() -> None:
    launch, kernel = _both(
        [{"name": ADD, "count": 10, "duration": 20_000.0}],
        [
            {"name": ADD_NCU, "duration": 3000.0, "sm_throughput": 0.2, **_shape(8)},
            {"name": ADD_NCU, "duration": 1000.0, "sm_throughput": 0.6, **_shape(8)},
            {"name": MUL_NCU, "duration": 9000.0, "sm_throughput": 0.9, **_shape(8)},
        ],
    )
    np.testing.assert_allclose(launch.time, [15e-6, 5e-6, 0.0])
    np.testing.assert_array_equal(launch.launches, [5, 5, 0])
    assert list(launch.values["join"]) == ["name", "name", None]
    assert "1 of 3" in launch.assumptions["time"]
    np.testing.assert_allclose(launch.values["duration"], [3e-6, 1e-6, 9e-6])
    np.testing.assert_allclose(launch.values["time_share"], [0.75, 0.25, 0.0])
    assert kernel.values["sm_throughput"][0] == pytest.approx(0.3)
    assert kernel.values["ncu_launches"][0] == 2
    assert kernel.values["duration"][0] == pytest.approx(20e-6)
    assert kernel.evidence_rows["sm_throughput"][0] == 1, "the longest launch that has the metric"


def test_a_trace_is_matched_by_grid_only() -> None:
    launch, kernel = _both(
        [
            {"name": ADD, "start": 0.0, "duration": 700.0, **_shape(1)},
            {"name": ADD, "start": 900.0, "duration": 90_000.0, **_shape(2048)},
        ],
        [{"name": ADD_NCU, "duration": 800.0, "sm_throughput": 0.01, **_shape(1)}],
    )
    np.testing.assert_allclose(launch.time, [700e-9])
    assert launch.values["join"][0] == "launch"
    assert np.isnan(kernel.values["sm_throughput"][0]), "one block says nothing about 99 % of the kernel's time"


def test_functors_of_one_template_are_not_mixed_up() -> None:
    _, kernel = _both([{"name": ADD, "duration": 5.0}], [{"name": MUL_NCU, "duration": 5.0, "sm_throughput": 0.9}])
    assert np.isnan(kernel.values["sm_throughput"][0])
    assert kernel.values["join"][0] is None


def test_bare_function_names_match_where_only_one_kernel_has_them() -> None:
    full, bare = "void my::stencil<float, (int)3>(const float *, float *)", "stencil"
    launch, _ = _both(
        [{"name": full, "duration": 500.0, "base": "stencil"}], [{"name": bare, "duration": 600.0, "base": "stencil"}]
    )
    assert launch.values["join"][0] == "base"
    np.testing.assert_allclose(launch.time, [500e-9])
    two = [{"name": full.replace("3", str(n)), "duration": 500.0, "base": "stencil"} for n in (3, 5)]
    launch, _ = _both(two, [{"name": bare, "duration": 600.0, "base": "stencil"}])
    assert launch.values["join"][0] is None


def test_metrics_of_one_device_explain_the_same_kernel_on_the_others() -> None:
    launch, kernel = _both(
        [{"name": ADD, "device": device, "count": 2, "duration": 1000.0} for device in (0, 1)],
        [{"name": ADD_NCU, "device": 0, "duration": 600.0, "sm_throughput": 0.5, "dram_bytes": 8.0}],
    )
    np.testing.assert_allclose(launch.time, [1000e-9])
    np.testing.assert_array_equal(kernel.values["sm_throughput"], [0.5, 0.5])
    np.testing.assert_array_equal(kernel.values["dram_bytes"], [16.0, 16.0])


def test_device_numbers_that_never_meet_are_ignored() -> None:
    launch, _ = _both(
        [{"name": ADD, "device": 3, "duration": 1000.0}], [{"name": ADD_NCU, "device": 0, "duration": 900.0}]
    )
    np.testing.assert_allclose(launch.time, [1000e-9])


@pytest.mark.parametrize(("duration", "matched"), [(66.0, False), (67.0, True), (250.0, True), (251.0, False)])
def test_without_grids_launches_must_take_about_as_long(duration: float, matched: bool) -> None:
    nsys, ncu = [{"name": ADD, "count": 7, "duration": 700.0}], [{"name": ADD_NCU, "duration": duration}]
    launch, kernel = _both(nsys, ncu)
    assert (launch.values["join"][0] == "name") is matched
    assert kernel.values["ncu_launches"][0] == matched


def test_sums_are_scaled_so_that_rates_stay_measured() -> None:
    _, kernel = _both(
        [
            {"name": ADD, "count": 6, "duration": 6000.0, **_shape(8)},
            {"name": ADD, "count": 2, "duration": 3000.0, **_shape(16)},
        ],
        [{"name": ADD_NCU, "duration": 1000.0, "dram_bytes": 50.0, **_shape(8)} for _ in range(3)],
    )
    assert kernel.values["duration"][0] == pytest.approx(9e-6)
    assert kernel.values["dram_bytes"][0] == pytest.approx(6 * 50 * 9000 / 6000)
    assert kernel.values["dram_bytes_moved"][0] == kernel.values["dram_bytes"][0]


def test_launches_are_split_into_whole_numbers() -> None:
    launch, _ = _both(
        [{"name": ADD, "count": 11, "duration": 11_000.0}], [{"name": ADD_NCU, "duration": 1000.0} for _ in range(3)]
    )
    np.testing.assert_array_equal(launch.launches, [4, 4, 3])


def test_ncu_alone_is_its_own_time_base() -> None:
    rows = [
        {"name": ADD_NCU, "duration": d, "sm_throughput": s, "dram_bytes": 4.0} for d, s in ((100.0, 0.1), (300.0, 0.5))
    ]
    profile = make_profile(ncu=rows)
    launch, kernel = build(profile, LAUNCH), build(profile, KERNEL)
    np.testing.assert_allclose(launch.time, [100e-9, 300e-9])
    assert "time" not in launch.assumptions
    assert kernel.values["sm_throughput"][0] == pytest.approx(0.4)
    assert kernel.values["dram_bytes"][0] == 8.0
    assert kernel.values["join"][0] == "same"
    assert kernel.values["launches"][0] == 2


def test_ncu_launches_of_another_program_stand_for_themselves() -> None:
    nsys, ncu = [{"name": ADD, "duration": 900.0}], [{"name": MUL_NCU, "duration": 100.0, "primary": True}]
    launch, kernel = _both(nsys, ncu)
    np.testing.assert_allclose(launch.time, [100e-9])
    assert launch.values["time_share"][0] == pytest.approx(0.1)
    np.testing.assert_allclose(kernel.time, [900e-9, 100e-9])
    assert list(kernel.values["join"]) == [None, "same"]


def test_a_launch_on_two_pages_counts_once() -> None:
    ncu = [{"name": ADD_NCU, "correlation": place, "duration": 500.0} for place in (0, 1)]
    profile = make_profile([{"name": ADD, "count": 2, "duration": 900.0}], ncu=[*ncu, *ncu[:1]])
    frame = profile.activities.copy()
    frame.loc[3, "source"] = 2
    details = replace(profile.sources[1], report="details", rows=1, first_row=3)
    both = replace(profile, activities=frame, sources=(*profile.sources, details))
    np.testing.assert_allclose(build(both, LAUNCH).time, [450e-9, 450e-9])


def test_half_of_the_time_must_carry_a_metric() -> None:
    def kernel(known: float) -> float:
        rows = [{"name": ADD_NCU, "duration": known, "ipc_active": 2.0}, {"name": ADD_NCU, "duration": 100.0}]
        return float(build(make_profile(ncu=rows), KERNEL).values["ipc_active"][0])

    assert kernel(100.0) == 2.0
    assert np.isnan(kernel(99.0))
