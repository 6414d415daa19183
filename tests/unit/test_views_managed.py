"""Page faults, migrations, MPI calls and GPU samples, on timelines small enough to check by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nsight_insight.catalog.gpu_samples import load_gpu_samples, sampled_metric
from nsight_insight.model.issues import Location
from nsight_insight.model.profile import GpuSamples, Profile
from nsight_insight.rules.vocabulary import facts
from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE
from nsight_insight.views.samples import MIN_SAMPLES, means, samples_of
from tests.unit.make_profile import make_profile
from tests.unit.test_views_idle import PAIR, call, only
from tests.unit.test_views_idle import facts as idle

Row = dict[str, Any]
KERNEL: Row = {"name": "k", "start": 1000.0, "duration": 1000.0, "device": 0}


def moved(start: float, length: float, size: float, cause: str) -> Row:
    return {
        "kind": "memcpy", "name": "[CUDA memcpy Unified Host-to-Device]", "direction": "unified", "start": start,
        "duration": length, "bytes": size, "cause": cause, "device": 0,
    }  # fmt: skip


def fault(start: float, length: float, count: int = 1, where: str = "GPU", **more: Any) -> Row:
    return {"kind": "fault", "name": f"[{where} page fault read]", "start": start, "duration": length, "count": count,
            "device": 0 if where == "GPU" else -1, **more}  # fmt: skip


def values(*rows: Row) -> dict[str, float]:
    table = build(make_profile([KERNEL, *rows], report="cuda_gpu_trace"), TRACE)
    return {name: float(column[0]) for name, column in table.values.items() if column.dtype.kind == "f"}


# --- managed memory --------------------------------------------------------------------------------------------------


def test_faults_count_while_a_kernel_runs() -> None:
    found = values(moved(1100.0, 50.0, 4096.0, "page fault"), fault(900.0, 300.0, 7), fault(1150.0, 100.0, 5),
                   fault(2500.0, 100.0), fault(1300.0, 0.0, 3, "CPU"))  # fmt: skip
    assert found["fault_kernel_time"] == pytest.approx(250e-9), "1000 to 1250, the overlap of two groups once"
    assert found["gpu_faults"] == 13
    assert found["cpu_faults"] == 3
    assert found["migration_kernel_time"] == pytest.approx(50e-9)


def test_prefetches_beside_kernels_are_no_migrations_on_demand() -> None:
    found = values(moved(1100.0, 500.0, 1e6, "user prefetch"), moved(1700.0, 10.0, 4096.0, "page fault"))
    assert found["migration_kernel_time"] == pytest.approx(10e-9)
    assert found["migration_time"] == pytest.approx(510e-9)
    assert found["bulk_migration_time"] == pytest.approx(4096 / (1e6 / 500e-9)), "at the rate of the prefetch"


def test_small_migrations_do_not_show_what_the_link_can_do() -> None:
    assert np.isnan(values(moved(1100.0, 10.0, 4096.0, "page fault"))["bulk_migration_time"])


def test_without_causes_nothing_is_said_about_demand() -> None:
    found = values(moved(1100.0, 500.0, 1e6, ""), moved(1700.0, 10.0, 4096.0, "page fault"))
    assert "migration_kernel_time" not in found
    assert found["migrated_bytes"] == 1e6 + 4096


def test_without_managed_memory_there_are_no_migrations() -> None:
    found = values()
    assert found["migrated_bytes"] == 0
    assert found["migration_kernel_time"] == 0
    assert "fault_kernel_time" not in found


def test_summaries_do_not_say_what_ran_beside() -> None:
    rows = [{"name": "k", "duration": 1000.0, "device": 0}, {**moved(0.0, 10.0, 1e6, "page fault"), "start": np.nan}]
    table = build(make_profile(rows, report="cuda_gpu_sum"), TRACE)
    assert "migration_kernel_time" not in table.values


# --- MPI -------------------------------------------------------------------------------------------------------------


def mpi(start: float, end: float, thread: int = 7) -> Row:
    return {**call("MPI_Waitall", start, end, thread=thread), "kind": "mpi", "device": -1}


def test_an_mpi_call_of_the_launching_thread_is_the_cause() -> None:
    found = idle([*PAIR, call("cudaLaunchKernel", 430, 450, 2), mpi(120, 320)])
    only({name: value for name, value in found.items() if name != "idle_mpi_time"} | {"idle_queued_time": 250.0},
         launch=150, queued=250)  # fmt: skip
    assert found["idle_mpi_time"] == pytest.approx(200)


def test_copies_inside_an_mpi_call_belong_to_it() -> None:
    found = idle([*PAIR, call("cudaLaunchKernel", 430, 450, 2), mpi(120, 320), call("cudaMemcpy", 150, 200)])
    assert found["idle_mpi_time"] == pytest.approx(200)
    assert found["idle_copy_time"] == 0


def test_another_threads_mpi_calls_explain_nothing() -> None:
    found = idle([*PAIR, call("cudaLaunchKernel", 430, 450, 2), mpi(120, 320, thread=8)])
    assert found["idle_mpi_time"] == 0


# --- samples ---------------------------------------------------------------------------------------------------------


def samples(device: int = 0, number: int = 40) -> GpuSamples:
    times = np.arange(1, number + 1) * 100.0
    shares = np.where(times <= 2000, 0.25, 0.75)
    shares[0] = np.nan
    return GpuSamples(device, times, {"sm_active": shares}, {"sm_active": "SMs Active"}, Location("x"))


def profile_with(*found: GpuSamples) -> Profile:
    return replace(make_profile([KERNEL, {**KERNEL, "start": 2500.0, "duration": 500.0}], report="cuda_gpu_trace"),
                   samples=found)  # fmt: skip


def test_a_sample_belongs_to_the_time_before_it() -> None:
    assert means(samples(), 1000.0, 2000.0) == {"sm_active": pytest.approx(0.25)}
    assert means(samples(), 0.0, 4000.0) == {"sm_active": pytest.approx((19 * 0.25 + 20 * 0.75) / 39)}


def test_too_few_samples_say_nothing() -> None:
    assert means(samples(), 1000.0, 1000.0 + 100 * (MIN_SAMPLES - 1)) == {}
    assert means(samples(), 1000.0, 1000.0 + 100 * MIN_SAMPLES) != {}


def test_the_window_of_the_device_counts() -> None:
    table = build(profile_with(samples()), TRACE)
    assert table.values["sampled_sm_active"][0] == pytest.approx(0.5), "from 1000 to 3000"
    assert "steady_sampled_sm_active" not in table.values


def test_samples_of_another_device_or_of_two_captures_are_not_taken() -> None:
    assert "sampled_sm_active" not in build(profile_with(samples(device=1)), TRACE).values
    assert samples_of(profile_with(samples(), samples()), 0) is None


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("SMs Active [Throughput %]", "sm_active"),
        ("SM Active", "sm_active"),
        ("Tensor Active / FP16 Active [Throughput %]", "tensor_active"),
        ("GPC Clock Frequency [MHz]", "gpc_clock"),
        ("Compute Warps in Flight [Throughput %]", "warps_in_flight"),
    ],
)
def test_names_of_nsys(label: str, name: str) -> None:
    metric = sampled_metric(label)
    assert metric is not None
    assert metric.name == name


@pytest.mark.parametrize(
    "label", ["Compute Warps in Flight [Avg]", "Compute Warps in Flight [Avg Warps per Cycle]", "Pixel Warps in Flight"]
)
def test_other_units_and_metrics_are_left(label: str) -> None:
    assert sampled_metric(label) is None


def test_every_sampled_metric_is_a_fact() -> None:
    known = facts(TRACE)
    assert {f"{prefix}sampled_{name}" for prefix in ("", "steady_") for name in load_gpu_samples()} <= known.keys()
