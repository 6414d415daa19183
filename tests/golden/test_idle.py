"""Where the GPU of the real captures idles, checked against readings of their timelines by other means."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import nsight_insight as ni
from nsight_insight.model.finding import Report
from nsight_insight.model.profile import Profile
from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE
from tests.paths import CAPTURES, CORPUS, FIXTURES

AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp"
LAB, NSYS = CAPTURES / "h200-amp/nsys", CORPUS / "nsys"
needs_captures = pytest.mark.skipif(not LAB.exists(), reason="needs the captures' databases")
needs_corpus = pytest.mark.skipif(not NSYS.exists(), reason="needs the folder of published files")
PARTS = ("launch", "sync", "allocation", "module", "copy", "data", "host", "queued", "unknown")


@cache
def profile(*paths: Path) -> Profile:
    return ni.load(*paths)


def amp(*reports: str) -> Profile:
    return profile(*(AMP / f"amp_fp16_{report}.csv" for report in reports))


def facts(found: Profile) -> dict[str, float]:
    """Trace facts of the only device, times in ms."""
    table = build(found, TRACE)
    assert len(table) == 1
    times = ("_time", "window", "busy", "idle")
    return {
        name: float(values[0]) * (1e3 if name.endswith(times) else 1)
        for name, values in table.values.items()
        if values.dtype != object
    }


def report(found: Profile) -> Report:
    return ni.analyze(found)


def rules_of(found: Report) -> list[str]:
    return [finding.rule for finding in found.findings]


def test_a_third_of_the_amp_steps_is_idle_and_mostly_launching() -> None:
    found = facts(amp("cuda_gpu_trace", "cuda_api_trace", "nvtx_pushpop_trace"))
    assert found["steady_steps"] == 3
    assert found["steady_window"] == pytest.approx(44.895, abs=0.01)
    assert found["idle_share"] == pytest.approx(0.332, abs=0.001)
    assert sum(found[f"idle_{part}_time"] for part in PARTS) == pytest.approx(found["steady_idle"], rel=1e-9)
    assert found["idle_launch_time"] == pytest.approx(8.21, abs=0.05)
    assert found["idle_sync_time"] == pytest.approx(2.49, abs=0.05)
    assert found["idle_launch_time"] > 0.5 * found["steady_idle"]
    assert found["idle_unknown_time"] == found["idle_module_time"] == 0
    assert found["host_bound_share"] == pytest.approx(0.244, abs=0.002)


def test_the_hosts_part_agrees_with_queue_times_of_another_report() -> None:
    """cuda_kern_exec_trace states for each kernel how long it queued: no join by correlation id is needed."""
    joined = facts(amp("cuda_gpu_trace", "cuda_api_trace"))
    table = amp("cuda_kern_exec_trace")
    stated = facts(table)
    assert stated["host_bound_share"] == pytest.approx(joined["host_bound_share"], abs=0.01)
    assert stated["idle_queued_time"] == pytest.approx(joined["idle_queued_time"], rel=0.02)
    frame = table.activities.sort_values("start")
    start, end = frame["start"].to_numpy(), (frame["start"] + frame["duration"]).to_numpy()
    queued = np.nan_to_num(frame["queue_duration"].to_numpy())
    gap = start[1:] - np.maximum.accumulate(end)[:-1]
    late = np.clip(np.minimum(gap, gap - queued[1:]), 0, None)
    window = stated["steady_window"] * 1e6
    steady = start[1:] > end.max() - window
    assert late[steady].sum() / window == pytest.approx(stated["host_bound_share"], abs=0.003)


def test_amp_findings_name_the_optimizer_first_and_the_launches_second() -> None:
    found = report(amp("cuda_gpu_trace", "cuda_api_trace", "nvtx_pushpop_trace"))
    assert rules_of(found)[:2] == ["launch/per-parameter-optimizer", "idle/launch-bound"]
    bound = found.findings[1]
    assert bound.saving.base_ns == pytest.approx(44.895e6, rel=1e-3)
    assert bound.saving.expected_ns <= bound.saving.upper_ns <= 14.91e6
    assert bound.saving.share == pytest.approx(0.165, abs=0.002)
    assert "launch/tiny-kernels" in {told.rule for told in bound.explains}
    assert found.findings[0].saving.share == pytest.approx(0.1475, abs=0.001), "host-bound below one half: unchanged"
    assert found.potential.upper_ns <= found.totals.kernel_ns + 14.91e6


def test_kernel_times_alone_say_that_but_not_why_the_gpu_idles() -> None:
    found = report(amp("cuda_gpu_trace"))
    note = next(finding for finding in found.findings if finding.rule == "idle/unexplained")
    assert note.saving.expected_ns == 0
    assert note.severity == "note"
    assert any("osrt" in code for remedy in note.remedies for code in remedy.code.values())
    assert found.potential.base_ns is None
    gap = next(gap for gap in found.not_evaluated if gap.rule == "idle/launch-bound")
    assert gap.missing == ("correlation",)
    assert "cuda_api_trace" in gap.collect


@needs_captures
def test_the_database_says_what_the_reports_say() -> None:
    one = facts(profile(LAB / "amp_fp16.sqlite"))
    other = facts(amp("cuda_gpu_trace", "cuda_api_trace", "nvtx_pushpop_trace"))
    for name in (*(f"idle_{part}_time" for part in PARTS), "host_bound_share", "gaps", "median_gap"):
        assert one[name] == pytest.approx(other[name], rel=1e-6), name


@needs_captures
def test_a_busy_gpu_gets_no_finding_about_idle_time() -> None:
    found = profile(LAB / "fp32.sqlite")
    assert facts(found)["host_bound_share"] < 0.01
    assert not any(rule.startswith(("idle/", "communication/", "imbalance/")) for rule in rules_of(report(found)))


@needs_corpus
@pytest.mark.parametrize("name", ["resnet50-a100-2025.3.2.sqlite", "h100-2gpu-1s-2026.2.1.sqlite"])
def test_published_captures_of_busy_gpus_get_none_either(name: str) -> None:
    found = report(profile(NSYS / name))
    assert not any(rule.startswith(("idle/", "communication/", "imbalance/slow")) for rule in rules_of(found))


@needs_corpus
def test_a_loop_that_reads_results_back_is_told_to_stop_waiting() -> None:
    """15 ms of every 41 ms step the GPU waits for the host, after a copy to the host and a synchronization."""
    found = profile(NSYS / "t4-cupy-nvtx-2025.3.1.sqlite")
    times = facts(found)
    assert times["idle_sync_time"] > 0.9 * times["steady_idle"]
    assert rules_of(report(found))[0] == "idle/synchronization-gaps"


@needs_corpus
def test_eager_inference_with_short_kernels_is_launch_bound() -> None:
    found = profile(NSYS / "torch-small-fwd-a100-captured2025.1.3-exported2026.3.1.sqlite")
    assert facts(found)["idle_launch_time"] == pytest.approx(10.12, abs=0.05)
    assert "idle/launch-bound" in rules_of(report(found))


@needs_corpus
def test_calls_cut_off_by_the_captures_ends_leave_gaps_unknown() -> None:
    table = build(profile(NSYS / "h100-2gpu-1s-2026.2.1.sqlite"), TRACE)
    unknown, idle = table.values["idle_unknown_time"], table.values["steady_idle"]
    assert (unknown > 0.5 * idle).all()
    assert (unknown < idle).all()


@needs_corpus
def test_a_solver_that_synchronizes_after_each_kernel_is_told_what_that_costs() -> None:
    """A tenth of its window is idle: after waits on the device, and in blocking copies of reduction results."""
    found = profile(NSYS / "mpi-cloverleaf-captured2022-exported2024.5.1.sqlite")
    times = facts(found)
    assert times["idle_share"] == pytest.approx(0.098, abs=0.001)
    assert times["idle_sync_time"] + times["idle_copy_time"] > 0.9 * times["steady_idle"]
    told = report(found)
    assert {"idle/synchronization-gaps", "idle/copy-gaps"} <= set(rules_of(told))
    assert "idle/launch-bound" not in rules_of(told)
    window = times["steady_window"] * 1e6
    idle = [finding for finding in told.findings if finding.rule.startswith("idle/")]
    assert sum(finding.saving.upper_ns for finding in idle) <= times["idle_share"] * window
