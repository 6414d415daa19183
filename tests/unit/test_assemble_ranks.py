"""When inputs that give their GPUs one number mean several, and when they do not."""

# ruff: noqa: S608 - statements on copies of fixtures
from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import nsight_insight as ni
from nsight_insight.model.issues import Location
from nsight_insight.model.profile import Device, GpuSamples, Profile, Run
from nsight_insight.readers._assemble_clocks import Session, components, offsets_of
from nsight_insight.readers._assemble_devices import merge_devices
from nsight_insight.readers.text import SourceText
from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE
from tests.nsys_capture import Capture, Launch, split
from tests.paths import FIXTURES
from tests.ranks import execute, split_by_gpu, table
from tests.unit.make_nsys import NVTX, K, R, Row, call, export, kernel, nvtx

AMP = FIXTURES / "nsys-sqlite" / "2025.3-h200-amp" / "amp_fp16.sqlite"
PHASES = FIXTURES / "nsys-sqlite" / "2025.3-h200-gpu-metrics" / "phases.sqlite"
SHARED_GPU = FIXTURES / "nsys-sqlite" / "2025.3-h200-mpi" / "ranks.sqlite"
NAMES = ("gemm<float>", "copy_kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)")


def rank(number: int, steps: int = 6) -> Capture:
    """A rank that computes half of the time; each a little differently."""
    launches = [
        Launch(name, step * 100_000 + place * 30_000 + number * 2_000, 15_000 + number * 7 + step)
        for step in range(steps)
        for place, name in enumerate(NAMES)
    ]
    return Capture(tuple(launches), process=number)


def load(*texts: str) -> Profile:
    return ni.load(*(SourceText(f"rank{i}.csv", text.encode()) for i, text in enumerate(texts)))


def per_device(profile: Profile) -> dict[int, tuple[int, float]]:
    frame = profile.activities[profile.activities["primary"] & (profile.activities["kind"] == "kernel")]
    return {
        int(device): (int(rows["count"].sum()), float(rows["duration"].sum()))
        for device, rows in frame.groupby("device")
    }


def of(*captures: Capture) -> dict[int, tuple[int, float]]:
    return {i: (len(c.kernels), float(sum(k.duration for k in c.kernels))) for i, c in enumerate(captures)}


def said(profile: Profile) -> str:
    return "\n".join(issue.text for issue in profile.issues)


# --- traces without identity ----------------------------------------------------------------------------------------


def test_traces_whose_kernels_overlap_on_a_stream_are_of_two_gpus() -> None:
    a, b = rank(0), rank(1)
    profile = load(a.gpu_trace(), b.gpu_trace())
    assert per_device(profile) == of(a, b)
    assert "device 0 is device 0 of rank0.csv, device 1 is device 0 of rank1.csv" in said(profile)
    assert [(device.index, device.name) for device in profile.devices] == [(0, "NVIDIA H200"), (1, "NVIDIA H200")]


def test_unaligned_clocks_are_not_compared() -> None:
    profile = load(rank(0).gpu_trace(), rank(1).gpu_trace())
    assert sorted(profile.clocks) == [0, 1]
    assert len(set(profile.clocks.values())) == 2
    assert "cannot be aligned" in said(profile)
    trace = build(profile, TRACE)
    assert "comm_waits" not in trace.values or np.isnan(trace.values["comm_waits"]).all()
    one_file = load(rank(0).gpu_trace(), Capture(rank(1).launches, gpu="NVIDIA H200 (1)").gpu_trace())
    assert not one_file.clocks
    assert (build(one_file, TRACE).values["comm_waits"] >= 0).all()


@pytest.mark.parametrize("cut", [1, 7, 12, 17])
def test_halves_of_a_trace_stay_one_gpu(cut: int) -> None:
    profile = load(*split(rank(0).gpu_trace(), cut))
    assert per_device(profile) == of(rank(0))
    assert not profile.clocks


def test_nodes_of_a_graph_that_overlap_on_their_stream_stay_one_gpu() -> None:
    """Every other row in the other file; each overlaps the ones before and after it by half."""
    nodes = Capture(tuple(Launch(NAMES[i % 2], i * 5_000, 10_000) for i in range(40)))
    whole = nodes.gpu_trace().splitlines(keepends=True)
    random = np.random.default_rng(1).permutation(40) % 2
    parts = [whole[0] + "".join(row for row, own in zip(whole[1:], random, strict=True) if own == n) for n in (0, 1)]
    assert per_device(load(*parts)) == of(nodes)


def test_a_summary_beside_each_trace_changes_nothing() -> None:
    a, b = rank(0), rank(1)
    profile = load(a.kern_sum(), a.gpu_trace(), b.gpu_trace(), b.kern_sum())
    assert per_device(profile) == of(a, b)


def test_the_order_of_files_says_nothing() -> None:
    files = [SourceText(f"rank{i}.csv", rank(i).gpu_trace().encode()) for i in (0, 2, 10)]
    expected = per_device(ni.load(*files))
    assert expected == of(rank(0), rank(2), rank(10))
    assert all(per_device(ni.load(*order)) == expected for order in itertools.permutations(files))


def test_pieces_that_cannot_be_sorted_stay_one_gpu_and_it_is_said() -> None:
    """Two ranks in two pieces each: the halves of different ranks do not overlap either."""
    a, b = rank(0), rank(1)
    profile = load(*split(a.gpu_trace(), 9), *split(b.gpu_trace(), 9))
    assert set(per_device(profile)) == {0}
    assert "the inputs do not say which belong together" in said(profile)


def test_a_copy_of_a_file_counts_once() -> None:
    profile = load(rank(0).gpu_trace(), rank(0).gpu_trace())
    assert per_device(profile) == of(rank(0))
    assert "counted once" in said(profile)


def test_other_devices_keep_apart() -> None:
    """One file calls its GPUs 0 and 1, the other has a second machine's 0: three GPUs."""
    second = Capture(rank(1).launches, gpu="NVIDIA H200 (1)")
    both = rank(0).gpu_trace() + second.gpu_trace().split("\n", 1)[1]
    profile = load(both, rank(2).gpu_trace())
    assert per_device(profile) == of(rank(0), rank(1), rank(2))


def test_contradicting_names_of_one_number_say_nothing() -> None:
    devices, issues = merge_devices([Device(0, "NVIDIA H200", cc=9.0), Device(0, "NVIDIA A100-SXM4-80GB")], None)
    assert [(device.name, device.cc) for device in devices] == [("", None)]
    assert "different machines" in issues[0].text


# --- exports --------------------------------------------------------------------------------------------------------


def copies(folder: Path, *changes: tuple[str, ...], source: Path = AMP) -> list[Path]:
    """Copies of an export, each changed by its statements."""
    paths = []
    for number, statements in enumerate(changes):
        path = folder / f"rank{number}.sqlite"
        shutil.copyfile(source, path)
        paths.append(execute(path, *statements))
    return paths


def began(utc: int) -> str:
    return f"UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = {utc}"


START = "CREATE TABLE IF NOT EXISTS TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)"
FILL = "INSERT INTO TARGET_INFO_SESSION_START_TIME (utcEpochNs) VALUES (1)"
HOST = "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)"
NODE = "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'node1')"
UTC = 1_796_077_465_985_420_892
LONGER = f'UPDATE {table("KERNEL")} SET "end" = "end" + 3'


def uuid(text: str) -> str:
    return f"UPDATE TARGET_INFO_GPU SET uuid = '{text}'"


def on_node(utc: int, *more: str) -> tuple[str, ...]:
    return START, FILL, HOST, NODE, began(utc), *more


def test_gpus_are_told_apart_by_uuid(tmp_path: Path) -> None:
    a, b = copies(tmp_path, on_node(UTC, uuid("a")), on_node(UTC + 5_000_000, uuid("b"), LONGER))
    profile = ni.load(a, b)
    assert sorted(per_device(profile)) == [0, 1]
    assert not profile.clocks
    assert "5000000 ns later" in said(profile)


def test_times_are_put_on_the_clock_of_the_first(tmp_path: Path) -> None:
    a, b = copies(tmp_path, on_node(UTC + 5_000_000, uuid("a")), on_node(UTC, uuid("b"), LONGER))
    alone, both = starts(ni.load(a), str(a)), starts(ni.load(b, a), str(a))
    np.testing.assert_array_equal(both, alone + 5_000_000)
    np.testing.assert_array_equal(starts(ni.load(a, b), str(b)), alone)


def starts(profile: Profile, path: str) -> npt.NDArray[np.float64]:
    """Starts of the kernels of one input."""
    frame = profile.activities
    own = [number for number, source in enumerate(profile.sources) if source.path == path]
    chosen = frame["source"].isin(own) & (frame["kind"] == "kernel")
    return frame.loc[chosen, "start"].to_numpy()


def test_captures_of_one_gpu_one_after_the_other_have_a_time_line_each(tmp_path: Path) -> None:
    hour = 3_600_000_000_000
    a, b = copies(tmp_path, on_node(UTC, uuid("a")), on_node(UTC + hour, uuid("a"), LONGER))
    profile = ni.load(a, b)
    assert len(set(profile.clocks.values())) == 2
    alone = build(ni.load(a), TRACE).values["window"][0]
    assert build(profile, TRACE).values["window"] == pytest.approx([alone, alone], rel=1e-6)


def test_two_processes_on_one_gpu_are_one_device_on_one_clock(tmp_path: Path) -> None:
    """Each rank of an MPI job under its own profiler: as the file that holds both."""
    processes = [281487811280896, 281487828058112]
    parts = copies(tmp_path, *((f"DELETE FROM {table('KERNEL')} WHERE globalPid <> {p}",) for p in processes),
                   source=SHARED_GPU)  # fmt: skip
    assert per_device(ni.load(*parts)) == per_device(ni.load(SHARED_GPU))


def test_ranks_that_say_so_are_numbered_by_rank(tmp_path: Path) -> None:
    def env(number: int) -> str:
        text = f"SHELL=/bin/bash;OMPI_COMM_WORLD_RANK={number};LOCAL_RANK=0;PMIX_RANK={number}"
        return f"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('DeviceEnvironment', '{text}')"

    a, b = copies(tmp_path, on_node(UTC, uuid("a"), env(1)), on_node(UTC, uuid("b"), env(0), LONGER))
    assert "device 0 is device 0 of " + str(b) in said(ni.load(a, b))


def test_the_machine_is_never_shown(tmp_path: Path) -> None:
    a, b = copies(tmp_path, on_node(UTC, uuid("secret-uuid")), on_node(UTC + 1, uuid("other-uuid"), LONGER))
    profile = ni.load(a, b)
    shown = repr(profile.devices) + said(profile) + repr(profile.sources)
    assert "node1" not in shown
    assert "uuid" not in shown


def test_samples_go_with_their_gpu(tmp_path: Path) -> None:
    a, b = copies(tmp_path, on_node(UTC, uuid("a")), on_node(UTC + 1_000_000, uuid("b"), LONGER), source=PHASES)
    alone, both = ni.load(a).samples, ni.load(a, b).samples
    assert [samples.device for samples in both] == [0, 1]
    np.testing.assert_array_equal(both[1].times, alone[0].times + 1_000_000)
    assert isinstance(both[0], GpuSamples)
    assert both[0].location != both[1].location


def test_a_file_split_by_gpu_keeps_its_single_gpu(tmp_path: Path) -> None:
    (only,) = split_by_gpu(AMP, tmp_path)
    assert per_device(ni.load(only)) == per_device(ni.load(AMP))


# --- clocks ---------------------------------------------------------------------------------------------------------


def session(began: int | None, host: str = "h", booted: int | None = None) -> Session:
    return Session(Run(host, began, booted), 1_000.0, 2_000.0)


@pytest.mark.parametrize(
    ("other", "together"),
    [
        (session(UTC), True),
        (session(UTC + 999), True),
        (session(UTC + 1_000), False),
        (session(UTC, host="another"), False),
        (session(UTC + 10, booted=7), True),
        (Session(None, 1_000.0, 2_000.0), False),
        (session(None), False),
    ],
)
def test_sessions_share_a_clock_when_they_ran_at_once_on_one_machine(other: Session, together: bool) -> None:
    found = offsets_of({"a": session(UTC), "b": other})
    assert ("b" in found and found["a"][0] == found["b"][0]) == together


def test_machines_of_one_name_that_started_at_different_times_are_two() -> None:
    found = offsets_of({"a": session(UTC, booted=5), "b": session(UTC, booted=5 + 10**10)})
    assert found["a"][0] != found["b"][0]


def test_groups_are_those_of_the_links() -> None:
    assert components("abcdef", [("e", "a"), ("b", "f"), ("a", "c"), ("c", "e")]) == [
        ["a", "c", "e"],
        ["b", "f"],
        ["d"],
    ]


def test_locations_are_those_of_the_file_that_holds_them(tmp_path: Path) -> None:
    a, b = copies(tmp_path, on_node(UTC, uuid("a")), on_node(UTC, uuid("b"), LONGER))
    profile = ni.load(a, b)
    row = int(np.flatnonzero((profile.activities["device"] == 1) & (profile.activities["kind"] == "kernel"))[0])
    place = profile.locate(row, "duration")
    assert isinstance(place, Location)
    assert (place.path, place.table) == (str(b), table("KERNEL"))


def test_an_input_that_fits_several_gpus_does_not_make_them_one(tmp_path: Path) -> None:
    """A trace of another time, without any hint of its GPU, beside two identified ranks."""
    a, b = copies(tmp_path, on_node(UTC, uuid("a")), on_node(UTC, uuid("b"), LONGER))
    later = Capture(tuple(Launch(k.name, k.start + 10**12, k.duration, k.grid) for k in rank(0).launches))
    profile = ni.load(a, b, SourceText("z.csv", later.gpu_trace().encode()))
    assert sorted(per_device(profile)) == [0, 1, 2]
    assert per_device(profile)[2] == of(later)[0]


def rank_export(path: Path, process: int, *ranges: Row) -> Path:
    """Six times the same two kernels, launched just before, on a session that began at no known time."""
    work = [kernel(step * 1_000 + at, step * 1_000 + at + 300, step * 2 + n, 1 + n * 3, process)
            for step in range(6) for n, at in enumerate((100, 500))]  # fmt: skip
    calls = [call(int(row["start"]) - 20, int(row["start"]) - 10, int(row["correlationId"]), 2, process, process)
             for row in work]  # fmt: skip
    return export(path, {K: work, R: calls, NVTX: list(ranges)})


def test_ranges_of_one_rank_mark_no_steps_of_another(tmp_path: Path) -> None:
    """The second has no ranges and too few kernels to repeat: its steps are unknown."""
    ranges = [nvtx(pair * 2_000, pair * 2_000 + 1_900, f"step {pair}", 7, 7) for pair in range(3)]
    a, b = rank_export(tmp_path / "a.sqlite", 7, *ranges), rank_export(tmp_path / "b.sqlite", 8)
    execute(b, f'UPDATE {table("KERNEL")} SET "end" = "end" + 3')
    assert "steps" not in build(ni.load(b), TRACE).values
    assert build(ni.load(a), TRACE).values["steps"].tolist() == [3]
    np.testing.assert_array_equal(build(ni.load(a, b), TRACE).values["steps"], [3, np.nan])
