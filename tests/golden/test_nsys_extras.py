"""MPI, managed memory and sampled GPU metrics of real captures, against the tables that ``nsys stats`` printed of them
and against plain SQL."""

from __future__ import annotations

import csv
import shutil
import sqlite3
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.inspection import inspect_files
from nsight_insight.model.profile import Profile
from nsight_insight.views.build import build_all
from tests.paths import FIXTURES

MANAGED = FIXTURES / "nsys-sqlite/2025.3-h200-managed"
RANKS = FIXTURES / "nsys-sqlite/2025.3-h200-mpi/ranks.sqlite"
PHASES = FIXTURES / "nsys-sqlite/2025.3-h200-gpu-metrics/phases.sqlite"
PRINTED_MPI = FIXTURES / "nsys-csv/2025.3-h200-mpi"
PRINTED_MANAGED = FIXTURES / "nsys-csv/2025.3-h200-managed"


@cache
def profile_of(path: Path) -> Profile:
    return api.load(path)


@cache
def facts_of(path: Path) -> dict[str, float]:
    """Facts of the one device."""
    return {
        name: float(values[0])
        for name, values in build_all(profile_of(path))["trace"].values.items()
        if values.dtype.kind == "f"
    }


def printed(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def asked(path: Path, sql: str) -> list[tuple[float, ...]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


# --- MPI -------------------------------------------------------------------------------------------------------------


def test_mpi_calls_are_those_that_nsys_sums_up() -> None:
    frame = profile_of(RANKS).activities
    rows = frame[frame["kind"] == "mpi"].groupby("name")["duration"].agg(["size", "sum"])
    table = {
        row["Name"]: (int(row["Instances"]), int(row["Total Time (ns)"]))
        for row in printed(PRINTED_MPI / "ranks_mpi_event_sum.csv")
    }
    assert {name: (int(row["size"]), int(row["sum"])) for name, row in rows.iterrows()} == table


def test_a_wait_for_two_requests_is_one_call() -> None:
    (file,) = inspect_files(RANKS)
    assert {calls.name: calls.calls for calls in file.mpi}["MPI_Waitall"] == 60
    (row,) = [row for row in printed(PRINTED_MPI / "ranks_mpi_event_sum.csv") if row["Name"] == "MPI_Waitall"]
    assert int(row["Instances"]) == 120


@pytest.mark.parametrize("beside", ["ranks_mpi_event_trace.csv", "ranks_mpi_event_sum.csv"])
def test_the_printed_table_adds_no_calls(beside: str) -> None:
    profile = api.load(RANKS, PRINTED_MPI / beside)
    frame = profile.activities
    mpi = frame[(frame["kind"] == "mpi") & frame["primary"]]
    assert len(mpi) == 260
    assert int(mpi["count"].sum()) == 260


def one_gpu_per_rank(folder: Path) -> Path:
    """The capture as if rank 1 had a GPU of its own."""
    path = folder / "two.sqlite"
    shutil.copy(RANKS, path)
    path.chmod(0o644)
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM TARGET_INFO_CUDA_DEVICE")
    for what in ("KERNEL", "MEMCPY", "MEMSET"):
        last = "(SELECT MAX(globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL)"
        connection.execute(f"UPDATE CUPTI_ACTIVITY_KIND_{what} SET deviceId = 1 WHERE globalPid = {last}")  # noqa: S608
    connection.commit()
    connection.close()
    return path


def test_idle_time_in_mpi_calls_is_named(tmp_path: Path) -> None:
    """Per device, the union of the rank's MPI calls while neither kernel nor copy ran, worked out by itself."""
    path = one_gpu_per_rank(tmp_path)
    profile = api.load(path)
    trace = build_all(profile)["trace"]
    kinds = [name for name in trace.values if name.startswith("idle_") and name.endswith("_time")]
    for place in range(2):
        steady = trace.values["steady_idle"][place]
        parts = sum(trace.values[name][place] for name in kinds)
        assert parts == pytest.approx(steady, rel=1e-9)
        assert 0.2 * steady < trace.values["idle_mpi_time"][place] < 0.7 * steady
    # The rank whose kernels take half as long waits for the other one.
    quick = int(np.argmin(trace.values["kernel_time"]))
    waits = asked(path, 'SELECT globalTid, SUM("end" - start) FROM MPI_START_WAIT_EVENTS GROUP BY 1 ORDER BY 1')
    assert len(waits) == 2
    assert trace.values["idle_mpi_time"][quick] > 0


def test_calls_without_gpu_work_are_said_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "host.sqlite"
    shutil.copy(RANKS, path)
    path.chmod(0o644)
    connection = sqlite3.connect(path)
    for what in ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME"):
        connection.execute(f"DROP TABLE CUPTI_ACTIVITY_KIND_{what}")
    connection.commit()
    connection.close()
    (file,) = inspect_files(path)
    assert "no CUDA activity" in file.error
    assert file.error.count("MPI calls") == 1


# --- managed memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["faults", "prefetch"])
def test_faults_and_migrations_are_those_that_nsys_totals(name: str) -> None:
    (row,) = printed(PRINTED_MANAGED / f"{name}_um_total_sum.csv")
    facts = facts_of(MANAGED / f"{name}.sqlite")
    moved = float(row["Total HtoD Migration Size (MB)"]) + float(row["Total DtoH Migration Size (MB)"])
    assert facts["cpu_faults"] == int(row["Total CPU Page Faults"])
    assert facts["gpu_faults"] == int(row["Total GPU PageFaults"])
    assert facts["migrated_bytes"] == pytest.approx(moved * 1e6, abs=1001)


def test_prefetched_pages_are_no_migrations_on_demand() -> None:
    assert facts_of(MANAGED / "prefetch.sqlite")["migration_kernel_time"] == 0
    rows = profile_of(MANAGED / "prefetch.sqlite").activities
    causes = rows[rows["direction"] == "unified"].groupby("cause").size().to_dict()
    assert causes == {"user prefetch": 96, "page fault": 1, "speculative prefetch": 1}


def test_what_the_rule_promises_is_what_prefetching_saved() -> None:
    """The pair of captures is the truth: the same program without and with prefetching."""
    before, after = (facts_of(MANAGED / f"{name}.sqlite") for name in ("faults", "prefetch"))
    bulk = (
        asked(
            MANAGED / "prefetch.sqlite", 'SELECT SUM("end" - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 11'
        )[0][0]
        / 1e9
    )
    saved = before["kernel_time"] - after["kernel_time"] - bulk
    report = api.analyze(profile_of(MANAGED / "faults.sqlite"))
    (finding,) = [found for found in report.findings if found.rule == "memory/managed-memory-faults"]
    assert finding.saving.expected_ns / 1e9 == pytest.approx(saved, rel=0.1)
    assert finding.saving.upper_ns / 1e9 >= saved


def test_migrations_are_no_small_copies_of_the_program() -> None:
    assert facts_of(MANAGED / "faults.sqlite")["small_copies"] == 0
    rules = [found.rule for found in api.analyze(profile_of(MANAGED / "faults.sqlite")).findings]
    assert "transfer/small-copies" not in rules


# --- sampled GPU metrics ---------------------------------------------------------------------------------------------

METRICS = {
    "sm_active": "SMs Active [Throughput %]",
    "tensor_active": "Tensor Active [Throughput %]",
    "dram_read": "DRAM Read Bandwidth [Throughput %]",
    "pcie_tx": "PCIe TX Throughput [Throughput %]",
}


@pytest.mark.parametrize("name", sorted(METRICS))
def test_means_over_the_window_are_those_of_the_database(name: str) -> None:
    sql = (
        "SELECT AVG(value) FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId) "  # noqa: S608
        f"WHERE metricName = '{METRICS[name]}' AND timestamp > (SELECT MIN(start) FROM CUPTI_ACTIVITY_KIND_KERNEL) "
        'AND timestamp <= (SELECT MAX("end") FROM CUPTI_ACTIVITY_KIND_MEMCPY)'
    )
    assert facts_of(PHASES)[f"sampled_{name}"] == pytest.approx(asked(PHASES, sql)[0][0] / 100)


def test_each_phase_of_the_program_shows_in_its_samples() -> None:
    """The program runs a memory-bound, an arithmetic, a Tensor Core and a copy phase, marked by NVTX ranges."""
    (samples,) = profile_of(PHASES).samples
    ranges = asked(PHASES, 'SELECT text, start, "end" FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start')
    means = {
        str(text): {
            name: values[(samples.times > start) & (samples.times <= end)].mean()
            for name, values in samples.values.items()
        }
        for text, start, end in ranges
    }
    assert means["tensor"]["tensor_active"] > 0.9 > 0.1 > means["arithmetic"]["tensor_active"]
    assert means["arithmetic"]["sm_issue"] > 0.7 > 0.1 > means["memory"]["sm_issue"]
    assert means["memory"]["dram_read"] > 0.3 > 0.05 > means["tensor"]["dram_read"]
    assert means["copies"]["pcie_rx"] > 0.3 > 0.05 > means["memory"]["pcie_rx"]
    assert means["tensor"]["gpc_clock"] == pytest.approx(1.8e9, rel=0.05)
    assert samples.frequency == pytest.approx(2000, rel=0.01)


def test_inspect_shows_the_samples() -> None:
    (file,) = inspect_files(PHASES)
    (samples,) = file.samples
    assert samples.samples == 330
    assert dict(samples.window)["sm_active"] == pytest.approx(facts_of(PHASES)["sampled_sm_active"])
    assert samples.steady == ()
