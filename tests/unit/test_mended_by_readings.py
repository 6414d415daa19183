"""Kinds of mistakes that readings of published profiles (docs/readings.md) showed, each in its smallest form."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import nsight_insight as ni
from nsight_insight.model.finding import Finding, Report
from nsight_insight.model.profile import Device, Profile
from nsight_insight.reporters import reporters
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.views.build import build, build_all
from nsight_insight.views.facts import TRACE, FactTable
from nsight_insight.views.ledger import precision_ledger
from tests.paths import FIXTURES
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
FILL = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, std::array<char *, 1>>"
BROADCAST = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
SGEMM = "ampere_sgemm_128x64_tn"
MS = 1e6


def kernel(name: str, start: float, duration: float = 500.0) -> Row:
    return {"name": name, "start": start, "duration": duration, "device": 0}


def upload(start: float, duration: float = 100.0, **more: Any) -> Row:
    row = {"kind": "memcpy", "name": "[CUDA memcpy Host-to-Device]", "start": start, "duration": duration, "device": 0}
    return {**row, "bytes": 1e6, "direction": "HtoD", "src_kind": "pageable", "dst_kind": "device", **more}


def trace(*rows: Row) -> FactTable:
    return build(make_profile(rows, report="cuda_gpu_trace"), TRACE)


def fact(table: FactTable, name: str) -> float:
    return float(table.values[name][0])


def rendered(report: Report, form: str) -> str:
    return reporters()[form].render(report, RenderOptions())


def find(report: Report, rule: str) -> Finding:
    return next(finding for finding in report.findings if finding.rule == rule)


def test_an_upload_between_set_up_kernels_is_no_traffic() -> None:
    rows = [kernel(FILL, 0.0), upload(1000.0), kernel(BROADCAST, 2000.0), upload(3000.0), kernel(SGEMM, 4000.0)]
    table = trace(*rows, upload(5000.0))
    assert fact(table, "startup_copy_time") == pytest.approx(200e-9)
    assert fact(table, "loop_copy_time") == pytest.approx(100e-9)
    assert fact(table, "exposed_copy_time") == pytest.approx(100e-9)


def test_where_only_set_up_kernels_run_the_first_one_counts() -> None:
    table = trace(upload(0.0), kernel(BROADCAST, 1000.0), upload(2000.0))
    assert fact(table, "startup_copy_time") == fact(table, "loop_copy_time") == pytest.approx(100e-9)


def test_copies_that_dwarf_kernels_come_first_and_kernel_savings_are_a_share_of_both() -> None:
    rows = [kernel(SGEMM, 0.0, 20 * MS), upload(20 * MS, 900 * MS, src_kind="pinned"), kernel(SGEMM, 920 * MS, 20 * MS)]
    report = ni.analyze(make_profile(rows, report="cuda_gpu_trace", devices=[Device(0, "NVIDIA H100 PCIe", cc=9.0)]))
    copies, products = report.findings[:2]
    assert copies.rule == "transfer/host-device-traffic"
    assert copies.saving.share == pytest.approx((0.8 * 40 + 0.5 * 860) / 940)
    assert products.rule == "tensor-core/fp32-matrix-on-cuda-cores"
    assert products.saving.base_ns == pytest.approx(940 * MS)
    assert products.saving.share == pytest.approx(products.saving.expected_ns / (940 * MS))
    together = copies.saving.expected_ns + products.saving.expected_ns
    assert report.potential.expected_ns == pytest.approx(together), "counted once"


def test_a_few_copies_leave_kernel_savings_a_share_of_the_kernels() -> None:
    report = ni.analyze(make_profile([kernel(SGEMM, 0.0, 20 * MS), upload(20 * MS, 2 * MS)], report="cuda_gpu_trace"))
    assert find(report, "tensor-core/fp32-matrix-on-cuda-cores").saving.base_ns is None


def summary(h2d: float, d2h: float) -> Report:
    rows: list[Row] = [{"name": "push(float *)", "count": 10, "duration": 70 * MS}]
    for direction, time in (("HtoD", h2d), ("DtoH", d2h)):
        rows += [{"kind": "memcpy", "name": direction, "direction": direction, "count": 9, "duration": time}] * (
            time > 0
        )
    return ni.analyze(make_profile(rows, report="cuda_gpu_sum"))


def test_a_summary_shows_traffic_by_what_comes_back() -> None:
    finding = find(summary(265 * MS, 59 * MS), "transfer/host-device-traffic")
    assert finding.saving.base_ns == pytest.approx((70 + 265 + 59) * MS)
    assert finding.saving.upper_ns == pytest.approx(2 * 59 * MS)
    assert finding.confidence == "low"


def test_a_summary_of_an_upload_alone_cannot_tell() -> None:
    report = summary(265 * MS, 0.0)
    assert all(finding.rule != "transfer/host-device-traffic" for finding in report.findings)
    assert "transfer/host-device-traffic" in {gap.rule for gap in report.not_evaluated}


@pytest.mark.parametrize(("frees", "found"), [(0, False), (1000, True)])
def test_memory_that_is_kept_is_not_allocated_all_the_time(frees: int, found: bool) -> None:
    calls = {"cudaMalloc_v3020": 1000, "cudaFree_v3020": frees}
    rows: list[Row] = [{"name": SGEMM, "count": 2000, "duration": 70 * MS}]
    rows += [
        {"kind": "api", "name": name, "count": count, "duration": 40 * MS} for name, count in calls.items() if count
    ]
    report = ni.analyze(make_profile(rows, report="cuda_gpu_sum"))
    assert ("allocation/allocation-calls-in-loop" in {finding.rule for finding in report.findings}) is found


@cache
def ncu() -> Profile:
    return ni.load(FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv")


def test_three_parameters_are_enough_for_an_optimizer_that_ncu_saw() -> None:
    first = ni.analyze(ncu()).findings[0]
    assert first.rule == "launch/per-parameter-optimizer"
    assert first.subject.launches == 24, "rows 36 to 59 of the capture, counted by hand"
    assert first.subject.time_share == pytest.approx(0.318, abs=0.001)


def test_without_all_its_witnesses_a_short_capture_shows_no_optimizer() -> None:
    frame = ncu().activities
    kept = frame[~frame["name"].str.contains("lerp")].reset_index(drop=True)
    table = build(Profile(ncu().sources, kept, ncu().devices), TRACE)
    assert fact(table, "optimizer_loop_time") == 0


def test_narrow_products_on_cuda_cores_bring_nothing_for_their_casts() -> None:
    cast = {"name": "copy_and_cast_kernel", "family": "cast", "dtype_in": "fp32", "dtype_out": "bf16", "duration": 2e6}
    product = {"name": "magma_sgemmEx_kernel<float, __nv_bfloat16>", "family": "gemm", "dtype_in": "bf16"}
    devices = [Device(0, "Tesla V100-SXM2-16GB", cc=7.0)]
    emulated = make_profile([cast, {**product, "tensor_core": "no", "duration": 8e6}], devices=devices)
    ledger = precision_ledger(build_all(emulated))
    assert ledger is not None
    assert ledger.balance is None
    fast = make_profile([cast, {**product, "tensor_core": "yes", "duration": 8e6}], devices=devices)
    paid = precision_ledger(build_all(fast))
    assert paid is not None
    assert paid.balance is not None


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_graphs_traced_as_a_whole_are_named_where_nothing_is_found(form: str) -> None:
    graph = {"kind": "graph", "name": "graph 7", "family": "graph", "start": 0.0, "duration": 90 * MS, "device": 0}
    report = ni.analyze(make_profile([graph, kernel(FILL, 91 * MS, 10 * MS)], report="cuda_gpu_trace"))
    text = " ".join(rendered(report, form).split())
    assert "90 % of the time is in CUDA graphs, whose kernels only --cuda-graph-trace=node records" in text


def test_no_kernels_is_not_a_clean_bill() -> None:
    report = ni.analyze(
        make_profile([{"kind": "api", "name": "cudaLaunchKernel", "duration": 5e3}], report="cuda_api_sum")
    )
    text = rendered(report, "text")
    assert text.startswith("No GPU kernels recorded: GPU time is unknown")
    assert "so nothing could be judged" in " ".join(text.split())
    assert "threshold" not in text


def test_half_a_second_is_not_shown_as_none() -> None:
    rows = [{"name": SGEMM, "duration": 3.1e9}, {"name": FILL, "duration": 31e6}]
    assert "0.031 s" in rendered(ni.analyze(make_profile(rows)), "text")
