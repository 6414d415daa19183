"""Several inputs into one profile: which rows count, what is merged, what is said about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nsight_insight import api
from nsight_insight.catalog.gpus import find_gpu
from nsight_insight.errors import EmptyInput, InputError, MissingInput, UnrecognizedInput, UsageError
from nsight_insight.model.columns import ACTIVITY_COLUMNS, FILL
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import ColumnOrigin, Device, Profile, ReadResult, Source, Table, VendorFinding
from nsight_insight.readers.assemble import assemble
from nsight_insight.readers.text import SourceText
from tests.nsys_capture import Capture, Launch, split

HTOD, SET = "[CUDA memcpy Host-to-Device]", "[CUDA memset]"
A = Capture(
    (
        Launch(HTOD, 0, 13_000, size=131072),
        Launch("gemm<float>", 20_000, 51_000, grid=8),
        Launch("gemm<half>", 80_000, 17_001, grid=8),
        Launch("gemm<float>", 100_000, 52_003, grid=4),
        Launch(SET, 160_000, 704, size=16),
        Launch("copy_kernel", 170_000, 3_000),
        Launch(HTOD, 180_000, 1_152, size=4096),
    )
)
B = Capture(tuple(Launch(k.name, k.start, k.duration + 13, k.grid, k.size) for k in A.launches), process=2)
KERNEL_NS = 51_000 + 17_001 + 52_003 + 3_000


def load(*reports: str, **options: str) -> Profile:
    texts = [SourceText(f"file{i}.csv", report.encode()) for i, report in enumerate(reports)]
    return api.load(*texts, **options)


def kernels(profile: Profile) -> pd.DataFrame:
    frame = profile.activities
    return frame[frame["primary"] & (frame["kind"] == "kernel")]


def primary(profile: Profile, kind: str = "kernel") -> tuple[set[str], int, float]:
    """Reports of the primary rows of a kind, their launches and their time."""
    frame = profile.activities
    rows = frame[frame["primary"] & (frame["kind"] == kind)]
    reports = {profile.sources[source].report for source in rows["source"]}
    return reports, int(rows["count"].sum()), float(rows["duration"].sum())


def said(profile: Profile) -> str:
    return "\n".join(str(issue) for issue in profile.issues)


# --- the frame ------------------------------------------------------------------------------------------------------


def test_the_frame_keeps_the_column_contract() -> None:
    frame = load(A.kern_sum(), A.gpu_trace(), A.api_sum()).activities
    assert list(frame.columns) == list(ACTIVITY_COLUMNS)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        name: column.dtype for name, column in ACTIVITY_COLUMNS.items()
    }
    summary_rows = frame[frame["source"] == 0]
    for name in ("start", "grid_x", "device", "stream", "direction", "bytes", "queue_duration"):
        fill = FILL[ACTIVITY_COLUMNS[name].dtype]
        assert all(pd.isna(value) if pd.isna(fill) else value == fill for value in summary_rows[name]), name


def test_positions_lead_back_to_the_cells() -> None:
    profile = load(A.kern_sum(), A.gpu_trace())
    row = int(np.flatnonzero(profile.activities["name"] == "copy_kernel")[-1])
    place = profile.locate(row, "duration")
    assert (place.path, place.line, place.column, place.field) == ("file1.csv", 7, 2, "Duration (ns)")
    assert profile.sources[1].first_row == profile.sources[0].rows


def test_names_are_classified_once_per_row() -> None:
    profile = load(A.gpu_sum(), A.api_trace())
    frame = profile.activities
    assert set(frame.loc[frame["kind"] == "kernel", "tensor_core"]) <= {"yes", "no", "unknown"}
    assert set(frame.loc[frame["kind"] != "kernel", "family"]) == {""}
    assert set(frame.loc[frame["kind"] == "api", "base"]) == {"cudaLaunchKernel"}
    assert all(frame.loc[frame["kind"] == "kernel", "base"] != "")


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("cuMemcpyHtoD_v2", "cuMemcpyHtoD"),
        ("cudaMemcpy_v3020", "cudaMemcpy"),
        ("cudaLaunchKernel_ptsz", "cudaLaunchKernel"),
        ("cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"),
        ("cuKernelGetName", "cuKernelGetName"),
    ],
)
def test_api_names_lose_their_version(name: str, base: str) -> None:
    text = A.api_sum().replace("cudaLaunchKernel", name)
    assert load(text).activities["base"].tolist() == [base]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[CUDA memcpy HtoD]", "[CUDA memcpy Host-to-Device]"),
        ("[CUDA memcpy PtoP]", "[CUDA memcpy Peer-to-Peer]"),
        ("[CUDA Unified Memory memcpy DtoH]", "[CUDA memcpy Unified Device-to-Host]"),
        ("[CUDA memset]", "[CUDA memset]"),
    ],
)
def test_both_wordings_of_an_operation_have_one_base(old: str, new: str) -> None:
    bases = [load(A.mem_time_sum().replace(HTOD, name)).activities["base"].tolist() for name in (old, new)]
    assert bases[0] == bases[1]
    assert new in bases[0]


# --- which rows count -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reports", "winner"),
    [
        (("kern_sum", "gpu_trace"), "cuda_gpu_trace"),
        (("kern_sum", "kern_gb_sum", "gpu_sum"), "cuda_gpu_kern_gb_sum"),
        (("gpu_sum", "kern_sum"), "cuda_gpu_kern_sum"),
        (("exec_trace", "kern_gb_sum"), "cuda_kern_exec_trace"),
        (("exec_trace", "gpu_trace"), "cuda_gpu_trace"),
    ],
)
def test_the_most_detailed_report_stands_for_the_kernels(reports: tuple[str, ...], winner: str) -> None:
    profile = load(*(getattr(A, report)() for report in reports))
    assert primary(profile) == ({winner}, 4, KERNEL_NS)
    assert "another capture" not in said(profile)


def test_every_kind_has_its_own_order() -> None:
    profile = load(A.gpu_sum(), A.mem_time_sum(), A.kern_sum(), A.api_sum(), A.api_trace())
    assert primary(profile)[0] == {"cuda_gpu_kern_sum"}
    assert primary(profile, "memcpy") == ({"cuda_gpu_mem_time_sum"}, 2, 14_152)
    assert primary(profile, "memset") == ({"cuda_gpu_mem_time_sum"}, 1, 704)
    assert primary(profile, "api") == ({"cuda_api_trace"}, 4, 20_000)


def test_two_runs_are_two_captures() -> None:
    profile = load(A.kern_sum(), B.gpu_trace())
    assert primary(profile) == ({"cuda_gpu_kern_sum", "cuda_gpu_trace"}, 8, 2 * KERNEL_NS + 4 * 13)
    assert [issue.level for issue in profile.issues] == [Level.INFO]
    assert "taken for another capture" in said(profile)


def test_two_ranks_match_their_own_reports() -> None:
    profile = load(A.kern_sum(), B.gpu_trace(), B.kern_sum(), A.gpu_trace())
    assert primary(profile) == ({"cuda_gpu_trace"}, 8, 2 * KERNEL_NS + 4 * 13)
    assert "2 tables are added up" in said(profile)


def test_a_rank_without_trace_still_counts() -> None:
    profile = load(A.kern_sum(), B.kern_sum(), A.gpu_trace())
    assert primary(profile) == ({"cuda_gpu_trace", "cuda_gpu_kern_sum"}, 8, 2 * KERNEL_NS + 4 * 13)


def test_pieces_match_the_whole_beside_another_rank() -> None:
    profile = load(*split(A.gpu_trace(), 3), *split(A.kern_sum(), 1), B.kern_sum())
    assert primary(profile) == ({"cuda_gpu_trace", "cuda_gpu_kern_sum"}, 8, 2 * KERNEL_NS + 4 * 13)
    whole_and_pieces = load(A.kern_sum(), *split(A.kern_sum(), 1), A.gpu_sum())
    assert primary(whole_and_pieces) == ({"cuda_gpu_kern_sum"}, 4, KERNEL_NS)


def test_a_table_in_coarser_units_is_the_same_table() -> None:
    for order in (1, -1):
        profile = load(*[A.kern_sum(), A.kern_sum("ms")][::order])
        assert primary(profile) == ({"cuda_gpu_kern_sum"}, 4, KERNEL_NS)
    assert primary(load(A.kern_sum("ms"), A.gpu_trace())) == ({"cuda_gpu_trace"}, 4, KERNEL_NS)
    other = Capture(tuple(Launch(k.name, k.start, k.duration * 2) for k in A.kernels))
    assert primary(load(A.kern_sum("ms"), other.kern_sum()))[1] == 8


def test_a_table_with_short_names_is_the_same_table() -> None:
    profile = load(A.kern_sum_base(), A.kern_sum())
    assert primary(profile) == ({"cuda_gpu_kern_sum"}, 4, KERNEL_NS)
    assert "gemm<half>" in set(kernels(profile)["name"])


def test_equal_times_under_other_names_are_another_capture() -> None:
    twin = Capture(tuple(Launch(f"other_{k.name}", k.start, k.duration, k.grid) for k in A.kernels))
    assert primary(load(A.kern_sum(), twin.kern_sum()))[1] == 8
    assert primary(load(A.kern_sum(), twin.kern_sum(), A.gpu_trace())) == (
        {"cuda_gpu_kern_sum", "cuda_gpu_trace"}, 8, 2 * KERNEL_NS
    )  # fmt: skip


def test_the_same_file_twice_is_one() -> None:
    profile = load(A.kern_sum(), A.kern_sum())
    assert primary(profile) == ({"cuda_gpu_kern_sum"}, 4, KERNEL_NS)
    assert len(profile.sources) == 1
    assert "the same table as in file0.csv" in said(profile)


def test_reports_that_lost_launches_explain_only() -> None:
    """Launches without an API record are missing from the exec reports."""
    partial = A.without_last(3)
    assert primary(load(partial.exec_trace(), A.kern_sum())) == ({"cuda_gpu_kern_sum"}, 4, KERNEL_NS)
    assert primary(load(partial.exec_trace(), A.gpu_trace())) == ({"cuda_gpu_trace"}, 4, KERNEL_NS)
    assert primary(load(partial.exec_trace())) == ({"cuda_kern_exec_trace"}, 3, KERNEL_NS - 3_000)
    unrelated = Capture((Launch("something else", 0, 77),))
    assert primary(load(unrelated.exec_trace(), A.kern_sum()))[1] == 5


def test_nested_ranges_count_a_kernel_once() -> None:
    nested = A.nvtx_kern_sum([":step", ":forward"])
    assert primary(load(nested, A.kern_sum())) == ({"cuda_gpu_kern_sum"}, 4, KERNEL_NS)
    alone = load(nested)
    assert primary(alone) == ({"nvtx_kern_sum"}, 4, KERNEL_NS)
    assert "every range around it" in said(alone)
    assert primary(load(A.nvtx_kern_sum([":step"])))[1:] == (4, KERNEL_NS)
    outside = load(A.nvtx_kern_sum([":step", ""]))
    assert primary(outside)[1] == 8
    assert set(outside.activities["nvtx"]) == {":step", ""}


def test_range_styles_do_not_mix() -> None:
    heading = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range"
    both = f"{heading}\n1.0,600,2,300.0,300.0,300,300,0.0,PushPop,:a\n1.0,50,1,50.0,50.0,50,50,0.0,StartEnd,:b\n"
    trace = (
        "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,"
        "RangeStack,NameTree\n0,300,300,0,300,:a,1,1,0,0,1,,:1,:a\n400,700,300,0,300,:a,1,1,0,0,2,,:2,:a\n"
    )
    profile = load(both, trace)
    assert primary(profile, "range") == ({"nvtx_pushpop_trace", "nvtx_sum"}, 3, 650)
    assert profile.issues == ()


# --- sizes ----------------------------------------------------------------------------------------------------------


def test_sizes_join_the_times() -> None:
    profile = load(A.mem_size_sum(), A.mem_time_sum())
    frame = profile.activities
    rows = frame[frame["primary"]].set_index("base")
    assert {profile.sources[s].report for s in rows["source"]} == {"cuda_gpu_mem_time_sum"}
    assert rows.loc[HTOD, "bytes"] == 135_000  # three decimals of a megabyte
    assert rows["duration"].sum() == 14_856


def test_sizes_alone_stay() -> None:
    frame = load(A.mem_size_sum()).activities
    assert frame["primary"].all()
    assert frame["duration"].isna().all()


def test_sizes_step_back_behind_a_trace() -> None:
    profile = load(A.mem_size_sum(), A.gpu_trace())
    frame = profile.activities
    copies = frame[frame["primary"] & (frame["kind"] == "memcpy")]
    assert copies["bytes"].tolist() == [131072, 4096]


def test_equal_sizes_of_two_ranks_go_to_both() -> None:
    frame = load(A.mem_size_sum(), A.mem_time_sum(), B.mem_size_sum(), B.mem_time_sum()).activities
    rows = frame[frame["primary"] & (frame["base"] == HTOD)]
    assert rows["bytes"].tolist() == [135_000, 135_000]


def test_different_sizes_of_two_ranks_are_each_used_once() -> None:
    larger = Capture(tuple(Launch(k.name, k.start, k.duration + 13, size=k.size * 2) for k in A.memory if k.size))
    for order in (1, -1):
        reports = [A.mem_size_sum(), A.mem_time_sum(), larger.mem_time_sum(), larger.mem_size_sum()][::order]
        frame = load(*reports).activities
        rows = frame[frame["primary"] & (frame["base"] == HTOD)].sort_values("duration")
        assert rows["bytes"].tolist() == [135_000, 270_000]


def test_equal_size_tables_of_two_files_are_two_ranks() -> None:
    texts = [SourceText(name, A.mem_size_sum().encode()) for name in ("rank0.csv", "rank1.csv", "rank1.csv")]
    frame = api.load(*texts).activities
    assert int(frame.loc[frame["base"] == HTOD, "count"].sum()) == 4


def test_unified_memory_totals_never_count() -> None:
    heading = (
        "Total HtoD Migration Size (MB),Total DtoH Migration Size (MB),Total CPU Page Faults,Total GPU PageFaults,"
        "Minimum Virtual Address,Maximum Virtual Address"
    )
    frame = load(f"{heading}\n2.000,1.000,3,4,0x7f,0x8f\n").activities
    assert frame["bytes"].tolist() == [2e6, 1e6]
    assert not frame["primary"].any()


# --- ncu ------------------------------------------------------------------------------------------------------------


def ncu(report: str, names: list[str], time: float = 5_000.0, vendor: bool = False, **metrics: float) -> ReadResult:
    size = len(names)
    columns = {
        "line": np.arange(size, dtype=np.int64) + 3,
        "kind": np.array(["kernel"] * size, dtype=object),
        "name": np.array(names, dtype=object),
        "count": np.ones(size, dtype=np.int64),
        "duration": np.arange(size) * 100 + time,
        "process": np.full(size, 7, dtype=np.int64),
        "correlation": np.arange(size, dtype=np.int64),
        "device": np.zeros(size, dtype=np.int64),
        "cc": np.full(size, 9.0),
        **{name: np.arange(size) + value for name, value in metrics.items()},
    }
    origins = {name: (ColumnOrigin(name, 1, lines=columns["line"] + 10),) for name in ("duration", *metrics)}
    source = Source(f"{report}.csv", "ncu_csv", "ncu", report, rows=size, columns=origins)
    findings = [
        VendorFinding("ncu", "Rule", "OPT", names[row], Location(source.path), row=row) for row in range(size) if vendor
    ]
    device = Device(0, cc=9.0, sm_count=132, sm_clock_hz=1.7e9)
    return ReadResult([Table(source, columns, (device,), findings)])


def nsys(*reports: str) -> list[ReadResult]:
    from nsight_insight.readers import nsys_csv

    return [nsys_csv.read(SourceText(f"nsys{i}.csv", report.encode())) for i, report in enumerate(reports)]


def test_nsys_times_ncu_explains() -> None:
    profile = assemble([ncu("raw", ["gemm<float>", "gemm<half>"], sm_throughput=0.5), *nsys(A.kern_sum())])
    assert primary(profile) == ({"cuda_gpu_kern_sum"}, 4, KERNEL_NS)
    frame = profile.activities
    assert frame["sm_throughput"].tolist()[:2] == [0.5, 1.5]
    assert frame["sm_throughput"].isna().sum() == 3
    assert frame["sm_throughput"].dtype == np.float64


def test_two_programs_are_said() -> None:
    profile = assemble([ncu("raw", ["another_kernel"]), *nsys(A.kern_sum())])
    assert primary(profile)[0] == {"cuda_gpu_kern_sum", "raw"}
    assert "two programs" in said(profile)


def test_two_pages_of_one_report_are_one() -> None:
    names = ["gemm<float>", "gemm<half>", "gemm<float>"]
    for results in (
        [ncu("details", names, vendor=True, sm_throughput=0.1), ncu("raw", names, sm_throughput=0.1)],
        [ncu("raw", names, sm_throughput=0.1), ncu("details", names, vendor=True, sm_throughput=0.1)],
    ):
        profile = assemble(results)
        assert primary(profile) == ({"raw"}, 3, 15_300)
        frame = profile.activities
        assert len(frame) == 3
        assert [frame["name"][finding.row] for finding in profile.vendor] == [
            finding.text for finding in profile.vendor
        ]
        assert {profile.sources[source].report for source in frame["source"]} == {"raw"}


def test_a_page_with_metrics_of_its_own_stays() -> None:
    names = ["gemm<float>", "gemm<half>"]
    profile = assemble([ncu("details", names, l2_hit_rate=0.5), ncu("raw", names, sm_throughput=0.1)])
    assert primary(profile) == ({"raw"}, 2, 10_100)
    assert profile.activities["l2_hit_rate"].notna().sum() == 2


@pytest.mark.parametrize("order", [1, -1])
def test_pages_that_share_some_launches_keep_the_way_back(order: int) -> None:
    details = ncu("details", ["gemm<float>", "x", "y"], vendor=True, sm_throughput=0.1)
    raw = ncu("raw", ["gemm<float>", "z"], sm_throughput=0.1)
    raw.tables[0].columns["correlation"][1] = 9
    profile = assemble([details, raw][::order])
    assert primary(profile)[1] == 4
    frame = profile.activities
    assert sorted(frame["name"]) == ["gemm<float>", "x", "y", "z"]
    for row, name in enumerate(frame["name"]):
        line = profile.locate(row, "sm_throughput").line
        assert line == int(frame["line"][row]) + 10, name
    assert [(frame["name"][found.row], found.text) for found in profile.vendor] == [
        ("gemm<float>", "gemm<float>"), ("x", "x"), ("y", "y"),
    ]  # fmt: skip


def test_pages_of_two_runs_are_two() -> None:
    names = ["gemm<float>", "gemm<half>"]
    profile = assemble([ncu("details", names, 9_000.0), ncu("raw", names)])
    assert primary(profile)[1] == 4


# --- devices --------------------------------------------------------------------------------------------------------


def test_devices_are_merged_by_index() -> None:
    profile = assemble([ncu("raw", ["gemm<float>"]), *nsys(A.gpu_trace())])
    (device,) = profile.devices
    assert (device.index, device.name, device.cc, device.sm_count) == (0, "NVIDIA H200", 9.0, 132)


def test_the_compute_capability_comes_from_the_name() -> None:
    profile = load(A.gpu_trace(), A.kern_sum())
    assert profile.devices[0].cc == 9.0
    assert set(profile.activities["cc"]) == {9.0}
    assert profile.devices[0].location == Location("file0.csv", 2, 17, "Device")


def test_traces_of_two_machines_are_of_two_gpus() -> None:
    other = Capture(B.launches, gpu="NVIDIA A100-SXM4-80GB (0)")
    profile = load(A.gpu_trace(), other.gpu_trace())
    assert [(device.name, device.cc) for device in profile.devices] == [
        ("NVIDIA H200", 9.0),
        ("NVIDIA A100-SXM4-80GB", 8.0),
    ]
    frame = profile.activities
    assert [set(frame.loc[frame["device"] == device, "cc"]) for device in (0, 1)] == [{9.0}, {8.0}]


def test_several_devices_leave_unnumbered_rows_unknown() -> None:
    other = Capture(B.launches, gpu="Tesla T4 (1)")
    frame = load(A.gpu_trace(), other.gpu_trace(), A.kern_sum()).activities
    assert set(frame.loc[frame["device"] == 1, "cc"]) == {7.5}
    assert frame.loc[frame["device"] == -1, "cc"].isna().all()


def test_a_device_nothing_is_known_about_leaves_unnumbered_rows_unknown() -> None:
    strange = Capture(B.launches, gpu="Some GPU (1)")
    frame = load(A.gpu_trace(), strange.gpu_trace(), A.kern_sum()).activities
    assert frame.loc[frame["device"] == -1, "cc"].isna().all()
    assert frame.loc[frame["device"] == 1, "cc"].isna().all()
    unlisted = A.exec_trace().replace(",1,1,0,cuda", ",1,1,5,cuda")
    frame = load(A.gpu_trace(), unlisted).activities
    assert frame.loc[frame["device"] == 5, "cc"].isna().all()
    assert (frame["device"] == 5).sum() == 4


@pytest.mark.parametrize("name", ["H200", "NVIDIA H200", "NVIDIA H200 (0)"])
def test_the_user_may_say_which_gpu(name: str) -> None:
    profile = load(A.kern_sum(), gpu=name)
    (device,) = profile.devices
    assert (device.index, device.cc) == (-1, 9.0)
    assert find_gpu(device.name) == find_gpu("NVIDIA H200")
    assert set(profile.activities["cc"]) == {9.0}
    assert profile.issues == ()


def test_the_user_wins_over_the_profile_and_is_told() -> None:
    profile = load(A.gpu_trace(), gpu="Tesla T4")
    assert (profile.devices[0].name, profile.devices[0].cc) == ("Tesla T4", 7.5)
    assert "NVIDIA H200 in the profile; taken for Tesla T4" in said(profile)


def test_unknown_gpus_are_refused_with_near_matches() -> None:
    with pytest.raises(UsageError, match="h100"):
        load(A.kern_sum(), gpu="H1000 SXM")


# --- load -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "b/kern.csv").write_text(A.kern_sum())
    (tmp_path / "a_api.csv").write_text(A.api_sum())
    (tmp_path / ".hidden/kern.csv").write_text(B.kern_sum())
    (tmp_path / "train.py").write_text("print('hello, world')\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "big.bin").write_bytes(b"\x00" * 10_000)
    return tmp_path


def test_a_directory_is_walked(folder: Path) -> None:
    profile = api.load(folder)
    assert [Path(source.path).name for source in profile.sources] == ["a_api.csv", "kern.csv"]
    assert {issue.level for issue in profile.issues} == {Level.INFO}
    assert {Path(issue.location.path).name for issue in profile.issues} == {"train.py", "empty.csv", "big.bin"}


def test_files_the_user_names_are_errors(folder: Path) -> None:
    profile = api.load(folder / "train.py", str(folder / "b/kern.csv"), folder / "missing.csv")
    assert primary(profile)[1] == 4
    failed = [issue for issue in profile.issues if issue.level is Level.ERROR]
    assert [Path(issue.location.path).name for issue in failed] == ["train.py", "missing.csv"]


def test_nothing_readable_raises_the_first_error_and_tells_the_others(folder: Path) -> None:
    with pytest.raises(MissingInput, match=r"missing\.csv") as caught:
        api.load(folder / "missing.csv", folder / "train.py", folder / "empty.csv")
    assert "hello" in str(caught.value)
    assert "the file is empty" in str(caught.value)
    with pytest.raises(EmptyInput):
        api.load(folder / "empty.csv")
    with pytest.raises(UnrecognizedInput):
        api.load(folder / "big.bin")


def test_a_directory_without_profiles_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no files"):
        api.load(tmp_path)
    for index in range(12):
        (tmp_path / f"{index:02}.txt").write_text("hello\n")
    with pytest.raises(UnrecognizedInput, match=r"(?s)00\.txt.*and 4 more") as caught:
        api.load(tmp_path)
    assert caught.value.path == str(tmp_path)


def test_many_other_files_make_few_issues(tmp_path: Path) -> None:
    for index in range(30):
        (tmp_path / f"{index:02}.txt").write_text("hello\n")
    (tmp_path / "kern.csv").write_text(A.kern_sum())
    issues = api.load(tmp_path).issues
    assert len(issues) == 9
    assert "22 more files" in issues[-1].text


def test_a_file_named_twice_is_read_once(folder: Path) -> None:
    path = folder / "b/kern.csv"
    link = folder / "b/../b/kern.csv"
    profile = api.load(path, link)
    assert primary(profile)[1] == 4
    assert "given twice" in said(profile)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    from types import SimpleNamespace

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(A.kern_sum().encode())))
    profile = api.load("-")
    assert profile.sources[0].path == "-"
    assert primary(profile)[1] == 4


def test_usage_errors() -> None:
    with pytest.raises(UsageError, match="no input"):
        api.load()
    with pytest.raises(UsageError, match="unknown format"):
        load(A.kern_sum(), format="nonsense")
    assert primary(load(A.kern_sum(), format="nsys_csv"))[1] == 4


def test_issues_of_the_readers_are_kept_once() -> None:
    issue = Issue(Level.DATA_LOSS, "x", Location("file"))
    results = [ReadResult(issues=[issue]), ReadResult(issues=[issue]), *nsys(A.kern_sum())]
    assert assemble(results).issues == (issue,)


def test_importing_the_api_is_cheap() -> None:
    import subprocess
    import sys

    code = "import sys, nsight_insight.api; print(sorted({'pandas', 'numpy', 'rich'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
