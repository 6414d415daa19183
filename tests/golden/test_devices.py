"""Several devices beside each other, counted again with plain SQL, and refusals where the data cannot say."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nsight_insight import api
from nsight_insight.model.finding import Report
from nsight_insight.model.totals import DeviceTotals
from nsight_insight.reporters.json import render as as_json
from nsight_insight.reporters.markdown import render as as_markdown
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.reporters.text import render as as_text
from nsight_insight.rules.device_totals import device_totals
from nsight_insight.views.build import build_all
from nsight_insight.views.steps import find_steps
from tests.paths import CORPUS, FIXTURES
from tests.unit.make_profile import make_profile
from tests.unit.make_report import report
from tests.unit.test_json_reporter import strict

NSYS = CORPUS / "nsys"
DDP = NSYS / "ddp-rtx3090x2-nccl-2026.3.1.sqlite"
needs_corpus = pytest.mark.skipif(not NSYS.exists(), reason="needs the folder of published files")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def ddp() -> Report:
    if not DDP.exists():
        pytest.skip("needs the folder of published files")
    return api.analyze(api.load(DDP))


def busy_by_sql(path: Path, device: int, first: float, last: float) -> float:
    """Union of kernels, copies and sets of a device in a window, ns, without the product's code."""
    query = """
        SELECT start, end FROM (
            SELECT start, end, deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL
            UNION ALL SELECT start, end, deviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY
            UNION ALL SELECT start, end, deviceId FROM CUPTI_ACTIVITY_KIND_MEMSET
        ) WHERE deviceId = ? ORDER BY start
    """
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
        rows = database.execute(query, (device,)).fetchall()
    busy, reached = 0.0, first
    for start, end in rows:
        begin, stop = max(start, reached), min(end, last)
        if stop > begin:
            busy, reached = busy + stop - begin, stop
    return busy


def test_a_data_parallel_trace_gets_a_window_and_says_on_what_grounds(ddp: Report) -> None:
    assert [device.index for device in ddp.device_totals] == [0, 1]
    for device in ddp.device_totals:
        assert device.steady
        assert device.steps == 11
        assert device.basis == "kernels that repeat exactly on the computing stream"
        assert device.window_ns is not None
        assert device.host_bound_share is not None
    assert ddp.totals.steps_basis == "kernels that repeat exactly on the computing stream"
    told = " ".join(as_text(ddp, RenderOptions(width=120)).split())
    assert "11 repetitions of one kernel sequence: steps, or layers of one" in told
    assert "11 steps after warm-up" not in told
    assert "a repetition layout" in told


def test_repetitions_that_may_be_layers_of_a_first_step_lower_the_confidence(ddp: Report) -> None:
    idle = [finding for finding in ddp.findings if finding.rule == "idle/launch-bound"]
    assert len(idle) == 2
    assert {finding.confidence for finding in idle} == {"low"}
    assert all("layers of one step" in finding.saving.assumptions[-1] for finding in idle)


def test_busy_time_of_each_device_is_that_of_plain_sql(ddp: Report) -> None:
    views = build_all(api.load(DDP))
    trace, acts = views["trace"], views.activities
    for place, device in enumerate(ddp.device_totals):
        steps = find_steps(acts, trace.rows[place])
        assert steps is not None
        assert steps.edges is not None
        # The trace's clock starts at the export's own zero.
        first, last = float(steps.edges[0]), float(steps.edges[-1])
        assert device.window_ns == pytest.approx(last - first, abs=1)
        assert device.busy_ns == pytest.approx(busy_by_sql(DDP, device.index, first, last), rel=1e-6)


def test_the_device_that_comes_last_to_collectives_is_the_slowest(ddp: Report) -> None:
    first, second = ddp.device_totals
    assert (first.slowest, second.slowest) == (False, True)
    assert (first.comm_exposed_ns or 0) > (second.comm_exposed_ns or 0)
    told = as_text(ddp, RenderOptions(width=120))
    assert "2 devices; device 1 is the slowest: the other waits for it in collectives" in told
    assert told.index("  device 1 (") < told.index("  device 0 (")
    assert "2 devices; device 1 is the slowest" in as_markdown(ddp, RenderOptions())


def test_streams_and_processes_are_counted_by_sql_too(ddp: Report) -> None:
    query = """
        SELECT deviceId, count(DISTINCT streamId), count(DISTINCT globalPid >> 24)
        FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY deviceId ORDER BY deviceId
    """
    with sqlite3.connect(f"file:{DDP}?mode=ro&immutable=1", uri=True) as database:
        counted = database.execute(query).fetchall()
    assert [(device.index, device.streams, device.processes) for device in ddp.device_totals] == counted
    assert counted == [(0, 2, 1), (1, 2, 1)]
    assert "waits for the host 43 %, 2 streams" in " ".join(as_text(ddp, RenderOptions(width=120)).split())


def test_a_device_shared_by_processes_says_so() -> None:
    shared = kernels(0, 5, 20.0, process=1, stream=7) + kernels(0, 5, 20.0, process=2, stream=7)
    [device] = totals_of(shared)
    assert (device.streams, device.processes) == (2, 2)
    assert totals_of(kernels(0, 5, 20.0))[0].streams is None


def test_findings_name_their_device(ddp: Report) -> None:
    document = json.loads(as_json(ddp, RenderOptions()))
    assert not list(jsonschema.Draft202012Validator(strict()).iter_errors(document))
    devices = {f["subject"]["device"] for f in document["findings"] if f["rule"] == "idle/launch-bound"}
    assert devices == {0, 1}
    assert [entry["slowest"] for entry in document["device_totals"]] == [False, True]
    told = as_text(ddp, RenderOptions(width=120, verbose=True))
    assert "next kernel (device 0)" in told
    assert "next kernel (device 1)" in told


@needs_corpus
def test_devices_that_do_the_same_have_no_slowest() -> None:
    same = api.analyze(api.load(NSYS / "h100-2gpu-1s-2026.2.1.sqlite"))
    assert [device.slowest for device in same.device_totals] == [False, False]
    assert "2 devices; none is clearly the slowest" in as_text(same, RenderOptions())


@needs_corpus
@pytest.mark.parametrize("name", ["a40-a100-mixed-2023.2.3.sqlite", "a100x4-um-2022.2.1.sqlite"])
def test_devices_without_kernels_are_no_devices_of_the_report(name: str) -> None:
    one = api.analyze(api.load(NSYS / name))
    assert len(one.device_totals) == 1
    assert "devices;" not in as_text(one, RenderOptions())


def test_a_single_device_has_totals_but_no_lines() -> None:
    one = api.analyze(api.load(FIXTURES / "nsys-csv" / "2025.3-h200-amp"))
    [device] = one.device_totals
    assert device.window_ns == one.totals.steady_window_ns
    assert device.busy_ns == one.totals.steady_busy_ns
    assert (device.basis, device.slowest) == ("NVTX ranges", False)
    assert "devices;" not in as_text(one, RenderOptions())


def kernels(device: int, number: int, duration: float, **more: object) -> list[Row]:
    return [
        {"name": "k(int)", "device": device, "start": 100.0 * place, "duration": duration, **more}
        for place in range(number)
    ]


def totals_of(*rows: list[Row], report_name: str = "cuda_gpu_trace") -> tuple[DeviceTotals, ...]:
    return device_totals(build_all(make_profile([row for part in rows for row in part], report=report_name)))


def test_most_work_of_its_own_is_slowest_without_collectives() -> None:
    found = totals_of(kernels(0, 50, 20.0), kernels(1, 50, 40.0))
    assert [device.slowest for device in found] == [False, True]
    assert [device.own_ns for device in found] == [1000.0, 2000.0]


def test_noise_and_other_work_give_no_verdict() -> None:
    assert not any(device.slowest for device in totals_of(kernels(0, 50, 20.0), kernels(1, 50, 20.5)))
    assert not any(device.slowest for device in totals_of(kernels(0, 50, 20.0), kernels(1, 30, 40.0)))


def test_api_rows_without_a_device_give_no_busy_time_of_either() -> None:
    """A copy that does not say to which of two devices it belongs leaves both without a window."""
    loose = [{"kind": "memcpy", "name": "[CUDA memcpy HtoD]", "device": -1, "start": 5.0, "duration": 9.0}]
    found = totals_of(kernels(0, 50, 20.0), kernels(1, 50, 40.0), loose)
    assert [(device.window_ns, device.busy_ns, device.slowest) for device in found] == [(None, None, False)] * 2
    told = as_text(report(device_totals=found), RenderOptions(width=120))
    assert "2 devices; which is slowest cannot be told without start times" in told
    assert "busy and idle time unknown" in told


def test_a_summary_gives_kernel_time_only() -> None:
    rows = [{"name": "k(int)", "device": device, "count": 9, "duration": 500.0} for device in (0, 1)]
    found = totals_of(rows, report_name="cuda_gpu_kern_sum")
    assert [(device.kernel_ns, device.window_ns) for device in found] == [(500.0, None)] * 2


def test_numbering_of_devices_does_not_matter() -> None:
    one = totals_of(kernels(0, 50, 20.0), kernels(1, 50, 40.0))
    other = totals_of(kernels(1, 50, 20.0), kernels(0, 50, 40.0))
    assert [replace(device, index=0) for device in one] == [replace(device, index=0) for device in other[::-1]]
