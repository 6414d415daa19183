"""What pictures show, against the facts that rules use and against the frame itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.comparison.changes import CAUSES as COMPARED
from nsight_insight.model.charts import IDLE_CAUSES, Charts, Timeline
from nsight_insight.model.profile import Device, Profile
from nsight_insight.reporters.palette import CAUSE, FAMILY, STALL, Look
from nsight_insight.views import charts_timeline
from nsight_insight.views.activity import Activities
from nsight_insight.views.build import build_all
from nsight_insight.views.charts import NO_STALLS, STALL_WORDS, charts
from nsight_insight.views.facts import FAMILIES, KERNEL, STALLS, TRACE, facts_of
from nsight_insight.views.idle import find_gaps, gap_causes
from nsight_insight.views.lanes import RESOLUTION, STREAMS, lanes_of
from nsight_insight.views.timeline import Window
from tests.paths import FIXTURES
from tests.unit.make_profile import make_profile

NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
SQLITE = FIXTURES / "nsys-sqlite" / "2025.3-h200-amp"
MPI = FIXTURES / "nsys-sqlite" / "2025.3-h200-mpi"
DEMO = FIXTURES / "demo"
SUMMARY = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_kern_sum.csv"


@cache
def loaded(path: Path) -> tuple[Profile, Charts]:
    profile = api.load(path)
    return profile, charts(profile, build_all(profile))


def timeline(path: Path) -> Timeline:
    (found,) = loaded(path)[1].timelines
    return found


def test_idle_time_of_all_gaps_adds_up_to_the_facts_of_the_rules() -> None:
    """Cause by cause, over the steady window: pictures and rules must not tell two stories."""
    profile, _ = loaded(SQLITE)
    views = build_all(profile)
    acts, trace = views.activities, views[TRACE]
    (facts,) = loaded(SQLITE)[1].breakdowns
    kernels = acts.base
    steps = charts_timeline.find_steps(acts, kernels)
    assert steps is not None
    assert steps.edges is not None
    first, last = steps.steady() or (0, 0)
    since, until = float(steps.edges[first]), float(steps.edges[last])
    work = charts_timeline._work(acts, 0, alone=True)
    assert work is not None
    found = gap_causes(acts, find_gaps(acts, work, Window(since, until, 0.0)), since)
    for cause, time in found.items():
        assert time.sum() * 1e-9 == pytest.approx(float(trace.values[f"idle_{cause}_time"][0]), abs=1e-12), cause
    assert set(facts.idle) == {cause for cause, time in found.items() if time.sum() > 0}


def test_the_step_shown_is_the_median_one_and_its_idle_time_adds_up() -> None:
    found = timeline(SQLITE)
    assert found.title.startswith("step ")
    trace = build_all(loaded(SQLITE)[0])[TRACE]
    assert found.window_ns == pytest.approx(float(trace.values["step_median"][0]) * 1e9)
    assert sum(found.idle.values()) == pytest.approx(found.window_ns - found.busy_ns)
    cell = found.window_ns / charts_timeline.CELLS
    for cause, parts in found.cells.items():
        assert len(parts) == charts_timeline.CELLS
        assert sum(parts) * cell == pytest.approx(found.idle[cause])
    assert max(np.sum(list(found.cells.values()), axis=0)) <= 1 + 1e-9


def test_a_sequence_that_only_repeats_is_not_called_a_step() -> None:
    """Nothing says whether twelve kernels that repeat are a step or a layer."""
    rows = [{"name": f"k{n % 12}", "start": 1e3 * n, "duration": 900.0, "stream": 7} for n in range(12 * 8 + 1)]
    (found,) = api.charts(make_profile(rows, report="cuda_gpu_trace")).timelines
    assert re.match(
        r"repetition \d of 8 of one kernel sequence \(a step, or a layer of one\), the median of", found.title
    )


def test_mpi_calls_are_a_cause_of_their_own() -> None:
    found = api.charts(api.load(MPI))
    assert any("mpi" in chart.idle for chart in found.timelines)
    for chart in found.timelines:
        assert sum(chart.idle.values()) == pytest.approx(chart.window_ns - chart.busy_ns)


def test_lanes_hold_every_piece_of_work_of_the_step() -> None:
    found = timeline(SQLITE)
    acts = build_all(loaded(SQLITE)[0]).activities
    start, duration = acts.column("start"), acts.column("duration")
    steps = charts_timeline.find_steps(acts, acts.base)
    assert steps is not None
    assert steps.edges is not None
    number = int(found.title.split()[1]) - 1
    first, last = steps.edges[number], steps.edges[number + 1]
    work = acts.rows(
        acts.kind(*(charts_timeline.Kind(k) for k in ("kernel", "memcpy", "memset"))) & acts.column("primary")
    )
    inside = work[(start[work] + duration[work] > first) & (start[work] < last)]
    assert sum(block.count for lane in found.lanes for block in lane.blocks) == len(inside)
    clipped = np.minimum(start[inside] + duration[inside], last) - np.maximum(start[inside], first)
    # Nothing overlaps on a stream of this capture, so that unions are sums.
    busy = sum(block.busy_ns for lane in found.lanes for block in lane.blocks)
    assert busy == pytest.approx(clipped.sum())


def test_blocks_of_a_lane_are_in_order_and_inside_the_window() -> None:
    for path in (SQLITE, DEMO):
        found = timeline(path)
        for lane in found.lanes:
            assert [block.start_ns for block in lane.blocks] == sorted(block.start_ns for block in lane.blocks)
            for block in lane.blocks:
                assert 0 <= block.start_ns <= block.end_ns <= found.window_ns * (1 + 1e-12)
                assert 0 < block.busy_ns <= block.end_ns - block.start_ns + 1e-6
            assert len(lane.blocks) <= 2 * RESOLUTION + 1


def test_without_steps_the_whole_capture_is_shown_from_its_first_kernel() -> None:
    upload = {"name": "[CUDA memcpy HtoD]", "kind": "memcpy", "direction": "HtoD", "start": 0.0, "duration": 500.0}
    rows = [upload, *({"name": f"k{n}", "start": 1e3 + 100.0 * n, "duration": 80.0, "stream": 7} for n in range(5))]
    (found,) = api.charts(make_profile(rows, report="cuda_gpu_trace")).timelines
    assert (found.title, found.window_ns, found.busy_ns) == (charts_timeline.WHOLE, 480.0, 400.0)
    assert found.idle == {"unknown": 80.0}
    assert [lane.label for lane in found.lanes] == ["stream 7"]


def test_many_short_kernels_become_few_blocks_of_the_heaviest_family() -> None:
    rows = [
        {"name": "gemm" if place % 3 else "void at::native::softmax(float *)", "start": 100.0 * place, "duration": 60.0,
         "stream": 7, "family": "gemm" if place % 3 else "softmax"}
        for place in range(10_000)
    ]  # fmt: skip
    acts = Activities(make_profile(rows, report="cuda_gpu_trace"))
    (lane,) = lanes_of(acts, acts.base, Window(0.0, 1e6, 6e5))
    assert len(lane.blocks) == pytest.approx(RESOLUTION, abs=2)
    assert {block.family for block in lane.blocks} == {"gemm"}
    assert sum(block.busy_ns for block in lane.blocks) == pytest.approx(60.0 * 10_000)
    assert all(block.label == "" for block in lane.blocks if block.count > 1)


def test_more_streams_than_lanes_share_one() -> None:
    rows = [{"name": f"k{s}", "start": 0.0, "duration": 100.0 + s, "stream": s} for s in range(STREAMS + 5)]
    acts = Activities(make_profile(rows, report="cuda_gpu_trace"))
    lanes = lanes_of(acts, acts.base, Window(0.0, 200.0, 200.0))
    assert [lane.label for lane in lanes] == [
        *(f"stream {s}" for s in range(STREAMS + 4, 4, -1)), "5 other streams"
    ]  # fmt: skip


def test_processes_have_streams_of_their_own() -> None:
    rows = [{"name": "k", "start": 0.0, "duration": 100.0, "stream": 7, "process": pid} for pid in (4100, 4200)]
    acts = Activities(make_profile(rows, report="cuda_gpu_trace"))
    lanes = lanes_of(acts, acts.base, Window(0.0, 200.0, 100.0))
    assert [(lane.label, len(lane.blocks)) for lane in lanes] == [
        ("stream 7, process 1", 1), ("stream 7, process 2", 1)
    ]  # fmt: skip


def test_a_summary_says_what_a_timeline_needs() -> None:
    found = timeline(SUMMARY)
    assert found.lanes == ()
    assert "cuda_gpu_trace" in found.note


def test_devices_have_their_own_charts() -> None:
    rows = [{"name": f"k{d}", "start": 10.0 * d, "duration": 100.0, "device": d, "stream": 7} for d in (0, 1)]
    found = api.charts(make_profile(rows, report="cuda_gpu_trace", devices=[Device(0, "A"), Device(1, "B")]))
    assert [chart.device for chart in found.timelines] == [0, 1]
    assert [chart.gpu for chart in found.timelines] == ["A", "B"]
    assert [chart.device for chart in found.breakdowns] == [0, 1]
    assert [row.device for row in found.kernels] == [0, 1]


def test_stall_bars_are_the_facts_of_the_kernel_scope() -> None:
    _, found = loaded(NCU)
    table = build_all(loaded(NCU)[0])[KERNEL]
    assert len(found.stalls) == sum(top is not None for top in table.values["stall_top"]) == 26
    for bar in found.stalls:
        (index,) = np.flatnonzero(table.values["name"] == bar.kernel)
        top = table.values["stall_top"][index]
        assert bar.shares[STALL_WORDS[top]] == pytest.approx(float(table.values["stall_top_share"][index]))
        waiting = {name: part for name, part in bar.shares.items() if name not in ("Selected", "Not Selected")}
        assert max(waiting, key=lambda name: waiting[name]) == STALL_WORDS[top]
        assert bar.coverage == pytest.approx(sum(bar.shares.values()), rel=0.01)
    assert [bar.time_ns for bar in found.stalls] == sorted((bar.time_ns for bar in found.stalls), reverse=True)


def test_without_warp_states_the_section_that_has_them_is_named() -> None:
    _, found = loaded(SQLITE)
    assert (found.stalls, found.stalls_note) == ((), NO_STALLS)


def test_kernel_rows_add_up_to_the_breakdown() -> None:
    for path in (NCU, SQLITE, SUMMARY):
        _, found = loaded(path)
        (breakdown,) = found.breakdowns
        assert sum(row.time_ns for row in found.kernels) == pytest.approx(sum(breakdown.families.values()))
        assert sum(row.share for row in found.kernels) == pytest.approx(1.0)


def test_everything_that_can_be_drawn_has_a_look_of_its_own() -> None:
    assert set(FAMILY) >= set(FAMILIES) | {"memcpy", "memset"}
    assert set(STALL) == set(STALL_WORDS.values())
    assert set(STALL_WORDS) == set(STALLS)
    causes = {name[5:-5] for name in facts_of(TRACE) if re.fullmatch(r"idle_\w+_time", name)}
    assert set(CAUSE) == set(IDLE_CAUSES) == causes == {*COMPARED, "unknown"}
    for looks in (FAMILY, STALL, CAUSE):
        kept = [(look.color, look.hatch) for name, look in looks.items() if name != "unknown"]
        assert len(set(kept)) == len(kept)
    markers: list[Look] = [look for name, look in FAMILY.items() if name not in ("memcpy", "memset")]
    assert len({(look.color, look.marker) for look in markers}) == len(markers)
