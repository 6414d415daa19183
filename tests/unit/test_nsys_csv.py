"""The nsys CSV reader on small texts: eras, units, banners, damage, and the way back to every cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np
import pytest

from nsight_insight.catalog.nsys_reports import fitting_reports, load_reports, parse_heading
from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.issues import Level
from nsight_insight.model.missing import Missing
from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.model.units import parse_unit
from nsight_insight.readers import nsys_csv
from nsight_insight.readers._nsys_scan import scan
from nsight_insight.readers._nsys_table import report_of
from nsight_insight.readers.text import SourceText, open_path
from tests.paths import FIXTURES

STATS = "Time (%),Total Time (ns),{},Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),{}"
KERN = STATS.format("Instances", "Name")
API = STATS.format("Num Calls", "Name")
MEM = STATS.format("Count", "Operation")
SIZE = "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation"
TRACE = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"
)
KERNEL_ROW = '60.0,600,2,300.0,300.0,200,400,141.4,"void k<(int)4>(int, T2)"'
PROCESSING = "Processing [/home/someone/x.sqlite] with [/opt/nvidia/nsight-systems/2024.6.2/host/reports/{}.py]... "


def text(*lines: str, end: str = "\n") -> SourceText:
    return SourceText("x.csv", ("\n".join(lines) + end).encode())


def read(*lines: str, end: str = "\n") -> ReadResult:
    return nsys_csv.read(text(*lines, end=end))


def table(*lines: str) -> Table:
    (only,) = read(*lines).tables
    return only


def levels(result: ReadResult) -> list[Level]:
    return [issue.level for issue in result.issues]


# --- headings -------------------------------------------------------------------------------------------------------


def test_the_catalogue_names_only_columns_of_the_frame() -> None:
    special = {"grid", "block", "gpu", "throughput", "category", "style", "htod", "dtoh"}
    for report in load_reports().values():
        assert set(report.columns.values()) <= ACTIVITY_COLUMNS.keys() | special, report.name
        unread = {"result", "durchild", "virtual address", "source", "end", "rank", "q1", "q3"}
        assert not report.kind or report.key <= report.columns.keys() | unread


@pytest.mark.parametrize(
    ("heading", "key", "unit"),
    [
        ("Time(%)", "time", "%"),
        ("Total Time (ns)", "total time", "ns"),
        ("Average", "avg", ""),
        ("Throughput (MBps)", "throughput", "MBps"),
        (" GPU Page Faults", "gpu page faults", ""),
        ("Reg/Trd", "reg/trd", ""),
        ("Operations", "count", ""),
    ],
)
def test_headings_are_split_into_key_and_unit(heading: str, key: str, unit: str) -> None:
    assert (parse_heading(heading).key, parse_heading(heading).unit) == (key, unit)


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("Time(%),Total Time,Instances,Average,Minimum,Maximum,Name", "60.0,600,2,300.0,200,400,k"),
        ("Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,StdDev,Name", "60.0,600,2,300.0,200,400,141.4,k"),
        (KERN, "60.0,600,2,300.0,300.0,200,400,141.4,k"),
    ],
    ids=["2019", "2021", "2022"],
)
def test_kernel_summaries_of_three_eras_read_the_same(heading: str, row: str) -> None:
    found = table(heading, row)
    assert found.source.report == "cuda_gpu_kern_sum"
    assert [found.columns[name][0] for name in ("kind", "name", "count")] == ["kernel", "k", 2]
    assert [found.columns[name][0] for name in ("duration", "avg", "min", "max")] == [600.0, 300.0, 200.0, 400.0]
    assert ("median" in found.columns) == ("Med" in heading)


@pytest.mark.parametrize(
    ("heading", "row", "report"),
    [
        ("Time(%),Total Time,Calls,Average,Minimum,Maximum,Name", "1.0,600,2,300.0,200,400,cudaMalloc", "cuda_api_sum"),
        ("Time(%),Total Time,Operations,Average,Minimum,Maximum,Name", "1.0,600,2,300.0,200,400,[CUDA memcpy HtoD]",
         "cuda_gpu_mem_time_sum"),
        ("Time(%),Total Time (ns),Operations,Average,Minimum,Maximum,Operation",
         "1.0,600,2,300.0,200,400,[CUDA memset]", "cuda_gpu_mem_time_sum"),
        (STATS.format("Count", "Name"), "1.0,600,2,300.0,300.0,200,400,0.0,parallel begin", "openmp_sum"),
        (API, "1.0,600,2,300.0,300.0,200,400,0.0,poll", "osrt_sum"),
        (STATS.format("Instances", "Category,Operation"), "1.0,6,2,3.0,3.0,2,4,0.0,CUDA_API,cudaMalloc",
         "cuda_api_gpu_sum"),
        (STATS.format("Instances", "Category,Operation"), "1.0,6,2,3.0,3.0,2,4,0.0,CUDA_KERNEL,k", "cuda_gpu_sum"),
        (STATS.format("Instances", "Range"), "1.0,600,2,300.0,300.0,200,400,0.0,:step", "nvtx_pushpop_sum"),
    ],
)  # fmt: skip
def test_equal_headings_are_told_apart_by_their_cells(heading: str, row: str, report: str) -> None:
    assert report_of(scan([heading, row]).blocks[0]).name == report


@pytest.mark.parametrize(
    ("banner", "heading", "row", "report"),
    [
        (PROCESSING.format("nvtx_startend_sum"), STATS.format("Instances", "Range"),
         "1.0,600,2,300.0,300.0,200,400,0.0,:step", "nvtx_startend_sum"),
        (PROCESSING.format("nvtxsesum"), STATS.format("Instances", "Range"),
         "1.0,600,2,300.0,300.0,200,400,0.0,:step", "nvtx_startend_sum"),
        ("[5/8] Executing 'osrtsum' stats report", API, "1.0,600,2,300.0,300.0,200,400,0.0,poll", "osrt_sum"),
        # Banner and table changed places on the way: the cells win.
        (PROCESSING.format("osrt_sum"), API, "1.0,600,2,300.0,300.0,200,400,0.0,cudaLaunchKernel", "cuda_api_sum"),
        (PROCESSING.format("cuda_api_sum"), KERN, KERNEL_ROW, "cuda_gpu_kern_sum"),
    ],
)  # fmt: skip
def test_the_banner_names_the_report_where_the_table_agrees(banner: str, heading: str, row: str, report: str) -> None:
    assert table(banner, heading, row).source.report == report


def test_columns_are_found_by_heading_not_by_position() -> None:
    found = table("Name,StdDev (ns),Instances,New Column,Total Time (ns)", "k,0.0,3,what,600")
    assert (found.columns["name"][0], found.columns["count"][0], found.columns["duration"][0]) == ("k", 3, 600.0)


def test_the_version_is_taken_from_the_banner() -> None:
    assert table(PROCESSING.format("cuda_gpu_kern_sum"), KERN, KERNEL_ROW).source.version == "2024.6.2"
    old = "Processing [r.sqlite] with [/usr/local/cuda/NsightSystems-cli-2024.2.1/target/reports/gpukernsum.py]... "
    assert table(old, KERN, KERNEL_ROW).source.version == "2024.2.1"


# --- numbers --------------------------------------------------------------------------------------------------------


def test_nanoseconds_stay_exact() -> None:
    found = table(KERN, "100.0,9007199254740991,1,1.0,1.0,1,5234369323,0.0,k")
    assert int(found.columns["duration"][0]) == 9007199254740991
    assert int(found.columns["max"][0]) == 5234369323


@pytest.mark.parametrize(("unit", "factor"), [("us", 1e3), ("ms", 1e6), ("s", 1e9)])
def test_other_time_units_are_converted(unit: str, factor: float) -> None:
    found = table(KERN.replace("(ns)", f"({unit})"), "100.0,3.6213,2,1.8107,1.8107,1.5000,2.1213,0.3000,k")
    assert found.columns["duration"][0] == round(3.6213 * factor, 4)
    assert found.columns["std"][0] == round(0.3 * factor, 4)
    assert found.source.columns["duration"][0].unit == unit


def test_a_heading_without_unit_has_the_unit_of_the_total() -> None:
    found = table("Time(%),Total Time (ms),Instances,Average,Minimum,Maximum,Name", "1.0,2.0000,2,1.0000,0.5,1.5,k")
    assert [found.columns[name][0] for name in ("duration", "avg", "min")] == [2e6, 1e6, 5e5]


def test_an_unknown_unit_loses_its_column_and_says_so() -> None:
    result = read(KERN.replace("Avg (ns)", "Avg (fortnights)"), KERNEL_ROW)
    assert "avg" not in result.tables[0].columns
    assert levels(result) == [Level.DATA_LOSS]
    assert "fortnights" in result.issues[0].text


@pytest.mark.parametrize("empty", ["None", "", " "])
def test_missing_cells_are_nan_with_a_reason(empty: str) -> None:
    heading = (
        "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur (ns),"
        "Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name"
    )
    found = table(
        heading,
        f"10,5,{empty},{empty},20,7,17,3,4,0,cudaLaunchKernel, 128    1    2,  64    1    1,k",
        "30,5,35,6,41,7,18,3,4,0,cudaLaunchKernel,,,k",
    )
    columns = found.columns
    np.testing.assert_array_equal(columns["queue_duration"], [np.nan, 6.0])
    np.testing.assert_array_equal(columns["grid_z"], [2.0, np.nan])
    np.testing.assert_array_equal(columns["start"], [20.0, 41.0])
    np.testing.assert_array_equal(columns["api_duration"], [5.0, 5.0])
    assert found.source.reasons["queue_duration"].tolist() == [Missing.EMPTY, Missing.PRESENT]
    assert found.source.reasons["block_x"].tolist() == [Missing.PRESENT, Missing.EMPTY]
    assert "duration" not in found.source.reasons


def test_launch_summaries_give_total_and_means() -> None:
    heading = (
        "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),TMin (ns),TMax (ns),TStdDev (ns),AAvg (ns),AMed (ns),"
        "AMin (ns),AMax (ns),AStdDev (ns),QAvg (ns),QMed (ns),QMin (ns),QMax (ns),QStdDev (ns),KAvg (ns),KMed (ns),"
        "KMin (ns),KMax (ns),KStdDev (ns),API Name,Kernel Name"
    )
    row = "1,2,0,3,2,9.0,9.0,9,9,0.0,5.5,5.0,5,6,0.5,None,None,None,None,0.0,33.3,33.0,33,34,0.6,cudaLaunchKernel,k"
    columns = table(heading, row).columns
    assert (columns["count"][0], columns["duration"][0], columns["avg"][0]) == (3, 100.0, 33.3)
    assert (columns["api_duration"][0], columns["min"][0], columns["process"][0]) == (5.5, 33.0, 1)
    assert np.isnan(columns["queue_duration"][0])


# --- memory operations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "direction"),
    [
        ("[CUDA memcpy Host-to-Device]", "memcpy", "HtoD"),
        ("[CUDA memcpy HtoD]", "memcpy", "HtoD"),
        ("[CUDA memcpy Device-to-Host]", "memcpy", "DtoH"),
        ("[CUDA memcpy DtoD]", "memcpy", "DtoD"),
        ("[CUDA memcpy Peer-to-Peer]", "memcpy", "PtoP"),
        ("[CUDA memcpy PtoP]", "memcpy", "PtoP"),
        ("[CUDA memcpy Host-to-Host]", "memcpy", "HtoH"),
        ("[CUDA memcpy Host-to-Array]", "memcpy", "HtoD"),
        ("[CUDA memcpy Unified Host-to-Device]", "memcpy", "unified"),
        ("[CUDA Unified Memory memcpy DtoH]", "memcpy", "unified"),
        ("[CUDA memcpy Unknown]", "memcpy", ""),
        ("[CUDA memset]", "memset", ""),
        ("a range/[CUDA memset]", "memset", ""),
        ("void [CUDA memset] kernel", "kernel", ""),
        ("k<[CUDA memcpy HtoD]>()", "kernel", ""),
    ],
)
def test_operations_of_a_trace_in_either_wording(name: str, kind: str, direction: str) -> None:
    columns = table(TRACE, f"10,20,1,,,,,,,,,,0.001,,Pageable,Device Static,NVIDIA H200 (0),1,,7,{name}").columns
    assert columns["kind"][0] == kind
    assert columns.get("direction", [""])[0] == direction
    assert (columns["src_kind"][0], columns["dst_kind"][0]) == ("pageable", "device")


@pytest.mark.parametrize(
    ("size", "throughput", "duration", "true"),
    [
        ("0.000", "23.810", 672, 16.0),  # floor(1e9 / 672) * 16 = 23.81 MB/s
        ("131.072", "9437.184", 13859965, 131072000.0),
        ("0.004", "3555.553", 1152, 4096.0),
        ("4096.000", "0.000", 2_000_000_000, 4096e6),  # over one second the tool divides by zero
        ("1.000", "", 22400, 1e6),
        ("1.000", "99.000", 22400, 1e6),  # contradicts the size: not believed
    ],
)
def test_sizes_are_recovered_from_the_throughput(size: str, throughput: str, duration: int, true: float) -> None:
    row = f"10,{duration},1,,,,,,,,,,{size},{throughput},Pageable,Device,H (0),1,,7,[CUDA memcpy Host-to-Device]"
    assert table(TRACE, row).columns["bytes"][0] == true


def test_a_rounded_duration_does_not_refine_sizes() -> None:
    heading = TRACE.replace("(ns)", "(ms)")
    row = "10,0.0007,1,,,,,,,,,,0.000,23.810,Pageable,Device,H (0),1,,7,[CUDA memcpy Host-to-Device]"
    assert table(heading, row).columns["bytes"][0] == 0.0


def test_trace_columns_and_devices() -> None:
    result = read(
        TRACE.replace(",GreenCtx", "").replace("MB/s", "MBps"),
        "10,20,1,1024,2,1,256,2,1,40,0.000,0.006,None,,None,None,NVIDIA A100 (80GB) PCIe (3),1,7,k",
        "50,20,2,,,,,,,,,,0.001,50.000,Device,,NVIDIA A100 (80GB) PCIe (3),1,,[CUDA memset]",
    )
    (found,) = result.tables
    assert result.issues == []
    assert [(device.index, device.name) for device in found.devices] == [(3, "NVIDIA A100 (80GB) PCIe")]
    first = {name: found.columns[name][0] for name in found.columns}
    assert (first["grid_x"], first["grid_y"], first["block_y"], first["registers"]) == (1024, 2, 2, 40)
    assert (first["shared_dynamic"], first["device"], first["stream"], first["correlation"]) == (6000, 3, 7, 1)
    assert np.isnan(first["bytes"])
    assert found.columns["stream"].tolist() == [7, -1]
    assert found.columns["count"].tolist() == [1, 1]


def test_size_summaries_have_sizes_and_no_times() -> None:
    columns = table(SIZE, "463.815,54,8.589,0.012,0.004,131.072,25.078,[CUDA memcpy Host-to-Device]").columns
    assert (columns["bytes"][0], columns["count"][0], columns["direction"][0]) == (463.815e6, 54, "HtoD")
    assert "duration" not in columns
    assert "min" not in columns


def test_sizes_without_unit_are_kib() -> None:
    found = table("Total,Operations,Average,Minimum,Maximum,Operation", "2.500,2,1.25,0.5,2.0,[CUDA memcpy HtoD]")
    assert found.columns["bytes"][0] == 2560.0


def test_unified_memory_totals_become_one_row_per_way() -> None:
    heading = (
        "Virtual Address,HtoD Migration size (MB),DtoH Migration size (MB),CPU Page Faults, GPU Page Faults,"
        "Migration Throughput (MB/s)"
    )
    found = table(heading, "0x7f00,2.000,1.000,3,4,100.000", "0x8f00,4.000,,3,4,100.000")
    np.testing.assert_array_equal(found.columns["bytes"], [2e6, 1e6, 4e6, np.nan])
    assert found.columns["line"].tolist() == [2, 2, 3, 3]
    assert set(found.columns["direction"]) == {"unified"}
    assert found.source.locate(1, "bytes", 2).field == "DtoH Migration size (MB)"
    assert found.source.reasons["bytes"].tolist() == [0, 0, 0, Missing.EMPTY]


def test_categories_split_a_summary() -> None:
    result = read(
        STATS.format("Instances", "Category,Operation"),
        "1.0,600,2,300.0,300.0,200,400,0.0,CUDA_KERNEL,[CUDA memset]",
        "1.0,600,2,300.0,300.0,200,400,0.0,MEMORY_OPER,[CUDA memset]",
        "1.0,600,2,300.0,300.0,200,400,0.0,CUDA_API,cudaMalloc",
        "1.0,600,2,300.0,300.0,200,400,0.0,SOMETHING_NEW,x",
    )
    assert result.tables[0].columns["kind"].tolist() == ["kernel", "memset", "api"]
    assert len(result.tables[0]) == 3
    assert levels(result) == [Level.DATA_LOSS]
    assert result.issues[0].location.line == 5


# --- what stands around tables --------------------------------------------------------------------------------------


def test_tables_in_program_output() -> None:
    result = read(
        "epoch 1, loss 0.3, time 5",
        "Generating SQLite file /home/someone/x.sqlite from /home/someone/x.nsys-rep",
        "Exporting 1374 events: [====100%]",
        PROCESSING.format("cuda_gpu_kern_sum"),
        KERN,
        KERNEL_ROW,
        "",
        "SKIPPED: /home/some one/x.sqlite does not contain OpenMP event data.",
        "",
        PROCESSING.format("cuda_api_sum"),
        API,
        "1.0,600,2,300.0,300.0,200,400,0.0,cudaMalloc",
        "$ exit",
        "a, b, c, d, e, f, g, h, i",
    )
    assert [found.source.report for found in result.tables] == ["cuda_gpu_kern_sum", "cuda_api_sum"]
    assert [len(found) for found in result.tables] == [1, 1]
    assert result.tables[1].columns["line"].tolist() == [12]
    assert levels(result) == [Level.INFO]
    assert "OpenMP event" in result.issues[0].text


def test_no_directory_of_a_banner_is_kept() -> None:
    result = read(
        "NOTICE: Existing SQLite export found: /home/some one/x.sqlite",
        "WARNING: /home/someone/python and any of its children processes will be profiled.",
        "SKIPPED: C:\\Users\\some one\\x.sqlite does not contain CUDA trace data.",
        KERN,
        KERNEL_ROW,
    )
    said = " ".join(issue.text for issue in result.issues) + " ".join(result.tables[0].source.banners)
    assert "some" not in said
    assert "x.sqlite" in said


def test_a_stale_export_is_said() -> None:
    result = read("NOTICE: Existing SQLite export found: x.sqlite", KERN, KERNEL_ROW)
    assert levels(result) == [Level.INFO]
    assert "stale" in result.issues[0].text


def test_missing_gpu_data_is_unknown_not_zero() -> None:
    result = read(
        "SKIPPED: x.sqlite does not contain CUDA kernel data.",
        "SKIPPED: x.sqlite does not contain CUDA kernel data.",
        API,
        "1.0,600,2,300.0,300.0,200,400,0.0,cudaMalloc",
    )
    assert [issue.text for issue in result.issues] == [
        "nsys found no CUDA kernel data in the capture: unknown, not zero"
    ]


def test_an_error_of_nsys_is_data_loss() -> None:
    for lost in ("ERROR: Report 'nonsense' could not be found.", "ERROR: cannot open x.sqlite: locked"):
        assert levels(read(lost, KERN, KERNEL_ROW)) == [Level.DATA_LOSS]
    assert levels(read("ERROR: the program's own words", KERN, KERNEL_ROW)) == [Level.INFO]


def test_few_warnings_are_passed_on() -> None:
    result = read(*(f"WARNING: number {i}" for i in range(100)), KERN, KERNEL_ROW)
    assert [issue.text for issue in result.issues] == [f"beside the tables: WARNING: number {i}" for i in range(5)]


def test_nothing_but_skipped_reports_is_empty_input() -> None:
    with pytest.raises(EmptyInput, match="no data for: CUDA kernel, GPU memory"):
        read(
            PROCESSING.format("cuda_gpu_kern_sum"),
            "SKIPPED: x.sqlite does not contain CUDA kernel data.",
            "SKIPPED: x.sqlite does not contain GPU memory data.",
        )


def test_a_heading_without_rows() -> None:
    with pytest.raises(EmptyInput, match="cuda_gpu_kern_sum") as caught:
        read(KERN)
    assert caught.value.line == 1
    result = read(KERN, "", API, "1.0,600,2,300.0,300.0,200,400,0.0,cudaMalloc")
    assert [(issue.level, issue.text) for issue in result.issues] == [(Level.INFO, "cuda_gpu_kern_sum: empty report")]
    assert [len(found) for found in result.tables] == [0, 1]


def test_reports_that_are_not_analysed() -> None:
    rows = STATS.format("Count", "Name"), "1.0,600,2,300.0,300.0,200,400,0.0,parallel begin"
    with pytest.raises(EmptyInput, match="openmp_sum"):
        read(*rows)
    result = read(*rows, "", KERN, KERNEL_ROW)
    assert [found.source.report for found in result.tables] == ["openmp_sum", "cuda_gpu_kern_sum"]
    assert "not analysed" in result.issues[0].text


def test_unknown_headings_are_named() -> None:
    heading = "Time (%),Total Time (ns),Q1 (ns),Max (ns),Thing"
    with pytest.raises(UnrecognizedInput, match=r"Q1 \(ns\), Max \(ns\), Thing") as caught:
        read("noise", heading, "1.0,5,5,5,x")
    assert caught.value.line == 2
    result = read(KERN, KERNEL_ROW, heading, "1.0,5,5,5,x")
    assert levels(result) == [Level.DATA_LOSS]
    assert result.issues[0].location.line == 3
    assert len(result.tables[0]) == 1


@pytest.mark.parametrize(
    "lines",
    [
        (" Time (%)  Total Time (ns)  Instances  Name", "  9.0  600  2  k"),
        ("| Time (%) | Total Time (ns) | Instances |", "| 9.0 | 600 | 2 |"),
        ("[", "  {", '    "Time (%)": 26.4,', '    "Total Time (ns)": 512,', "  }", "]"),
    ],
    ids=["column", "table", "json"],
)
def test_damaged_tables_of_other_forms_are_refused_with_advice(lines: tuple[str, ...]) -> None:
    assert 0.0 < nsys_csv.sniff(text(*lines)) <= 0.2
    with pytest.raises(UnrecognizedInput, match="--format csv"):
        read(*lines)


def test_a_table_of_another_form_beside_csv_is_read_too() -> None:
    result = read(
        KERN,
        KERNEL_ROW,
        "",
        " Time (%)  Total Time (ns)  Num Calls  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)     Name   ",
        " --------  ---------------  ---------  --------  --------  --------  --------  -----------  ----------",
        "    100.0            1,600          2     800.0     800.0       600     1,000        282.8  cudaMalloc",
    )
    assert [(found.source.report, found.source.reader) for found in result.tables] == [
        ("cuda_gpu_kern_sum", "nsys_csv"),
        ("cuda_api_sum", "nsys_text"),
    ]
    assert not result.issues


def test_other_text_is_refused() -> None:
    assert nsys_csv.sniff(text("hello, world", "1,2,3")) == 0.0
    with pytest.raises(UnrecognizedInput, match="hello"):
        read("hello, world", "1,2,3")


def test_sniffing_finds_a_table_far_down() -> None:
    assert nsys_csv.sniff(text(*["noise"] * 5000, KERN, KERNEL_ROW)) > 0.9
    assert nsys_csv.sniff(text("SKIPPED: x.sqlite does not contain CUDA kernel data.")) == 0.5
    assert nsys_csv.sniff(text('"ID","Process ID","Kernel Name","Metric Name"', '"0","1","k","Duration"')) == 0.0
    assert nsys_csv.sniff(text("Time(%),Time,Calls,Avg,Min,Max,Name", "50.0,1.5ms,2,1ms,1ms,1ms,k")) == 0.0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_windows_files(encoding: str) -> None:
    data = f"{KERN}\r\n{KERNEL_ROW}\r\n".encode(encoding)
    assert nsys_csv.read(SourceText("x", data)).tables[0].columns["name"].tolist() == ["void k<(int)4>(int, T2)"]


def test_quoted_headings() -> None:
    assert len(table(",".join(f'"{cell}"' for cell in KERN.split(",")), KERNEL_ROW)) == 1


# --- damage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "end"),
    [
        ("1.0,600,2", "\n"),
        ("1.0,600,2,300.0,300.0,200,400,0.0,k,extra", "\n"),
        ("1.0,600,2,3", ""),
        ('1.0,600,2,300.0,300.0,200,400,0.0,"void k<(int', ""),
        ("...", "\n"),
        ("1.", ""),
    ],
    ids=["short", "long", "cut", "cut in quotes", "dots", "cut in the first cell"],
)
def test_lines_that_are_no_rows_are_reported_and_the_rest_is_kept(bad: str, end: str) -> None:
    result = read(KERN, KERNEL_ROW, bad, end=end)
    assert len(result.tables[0]) == 1
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, 3)]
    if end:
        result = read(KERN, KERNEL_ROW, bad, bad, KERNEL_ROW.replace("600", "601"))
        assert result.tables[0].columns["line"].tolist() == [2, 5]
        assert len(result.issues) == 1
        assert "up to 4" in result.issues[0].text


def test_a_cut_first_cell_is_reported_where_names_come_first() -> None:
    heading = "Range,Style,Total Proj Time (ns),Range Instances"
    result = read(heading, ":step,PushPop,5,1", ":ste", end="")
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, 3)]
    assert read(heading, ":step,PushPop,5,1", "done", "").issues == []


@pytest.mark.parametrize(
    "cell", ["x", "nan", "-5", "1_000", "", "None", "1e999"], ids=["word", "nan", "negative", "_", "", "None", "inf"]
)
def test_rows_without_their_key_figure_are_reported(cell: str) -> None:
    result = read(KERN, KERNEL_ROW, f"1.0,{cell},2,300.0,300.0,200,400,0.0,k")
    assert len(result.tables[0]) == 1
    location = result.issues[0].location
    assert (levels(result), location.line, location.column, location.field) == (
        [Level.DATA_LOSS],
        3,
        2,
        "Total Time (ns)",
    )


def test_other_cells_that_are_no_numbers_are_left_out() -> None:
    result = read(KERN, KERNEL_ROW, "1.0,600,2,oops,300.0,inf,400,0.0,k")
    assert np.isnan(result.tables[0].columns["avg"][1])
    assert result.tables[0].source.reasons["avg"].tolist() == [0, Missing.UNPARSABLE]
    assert result.tables[0].source.reasons["min"].tolist() == [0, Missing.FAILED]
    assert {(issue.location.line, issue.location.column) for issue in result.issues} == {(3, 4), (3, 6)}


def test_a_fractional_count_is_no_count() -> None:
    result = read(KERN, KERNEL_ROW, "1.0,600,2.5,300.0,300.0,200,400,0.0,k")
    assert len(result.tables[0]) == 1
    assert levels(result) == [Level.DATA_LOSS]


def test_names_may_hold_line_ends_quotes_and_control_characters() -> None:
    heading = STATS.format("Instances", "Style,Range")
    stats = "1.0,600,2,300.0,300.0,200,400,0.0,PushPop"
    result = read(
        heading, f'{stats},"two', "", 'lines, ""quoted"""', f"{stats},after", f"{stats},\x1b[31m[/foo]\rred\x00"
    )
    names = result.tables[0].columns["name"].tolist()
    assert names == ['two\n\nlines, "quoted"', "after", "\x1b[31m[/foo] red\ufffd"]
    assert result.tables[0].columns["line"].tolist() == [2, 5, 6]
    assert result.issues == []


def test_an_open_quote_does_not_swallow_the_rest() -> None:
    result = read(KERN, '1.0,600,2,300.0,300.0,200,400,0.0,"open', *[KERNEL_ROW] * 3)
    assert len(result.tables[0]) == 3
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, 2)]


def test_a_table_goes_on_after_a_blank_line() -> None:
    result = read(KERN, KERNEL_ROW, "", KERNEL_ROW, "", "1,two,three,4,5,6,7,8,9", "", KERNEL_ROW)
    assert result.tables[0].columns["line"].tolist() == [2, 4, 8]
    assert result.issues == []


# --- the way back ---------------------------------------------------------------------------------------------------

FILES = sorted(FIXTURES.glob("nsys-csv/*/*.csv"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_column_points_at_its_cell(path) -> None:
    """The cell under ``locate`` holds the value of the frame, read again without our reader."""
    if not path.stat().st_size:
        with pytest.raises(InputError):
            open_path(path)
        return
    lines = path.read_text().splitlines()
    for found in nsys_csv.read(open_path(path)).tables:
        checked = 0
        before = lines[: int(found.columns["line"][0])]
        headings = [cells for cells in csv.reader(before) if {*map(str.strip, cells)} == found.source.available][-1]
        for row, name, cell, field in _cells(found, lines):
            assert headings[_column(found, row, name) - 1] == field
            _check(found, row, name, cell)
            checked += 1
        assert checked > 0


def _column(found: Table, row: int, name: str) -> int:
    column = found.source.locate(row, name, int(found.columns["line"][row])).column
    assert column is not None
    return column


def _cells(found: Table, lines: list[str]) -> Iterator[tuple[int, str, str, str]]:
    rows = sorted({0, 1, len(found) // 2, len(found) - 1} & set(range(len(found))))
    for row in rows:
        line = int(found.columns["line"][row])
        record = next(csv.reader([lines[line - 1]]))
        for name in found.source.columns:
            place = found.source.locate(row, name, line)
            assert place.line == line
            assert place.column is not None
            yield row, name, record[place.column - 1], place.field


def _check(found: Table, row: int, name: str, cell: str) -> None:
    value = found.columns[name][row]
    if name in ("kind", "direction"):
        return
    if name.startswith(("grid_", "block_")) and " " in cell.strip():
        assert value == float(cell.split()["xyz".index(name[-1])])
    elif name == "device" and "(" in cell:
        assert cell.endswith(f"({value})")
    elif isinstance(value, str):
        assert value == (cell.lower() if name.endswith("_kind") else cell)
    elif cell == "":
        assert np.isnan(value) or value == -1
        assert name not in found.source.reasons or found.source.reasons[name][row] == Missing.EMPTY
    else:
        unit = parse_unit(found.source.columns[name][0].unit)
        assert unit is not None
        scale = unit.scale * (1e9 if ACTIVITY_COLUMNS[name].unit == "ns" else 1.0) if unit.name else 1.0
        rounding = 501.0 if name == "bytes" else abs(float(cell) * scale) * 1e-12
        assert value == pytest.approx(float(cell) * scale, abs=rounding)


def test_fixture_headings_fit_the_report_in_the_file_name() -> None:
    for path in FILES:
        heading = path.read_text().partition("\n")[0]
        if heading and not heading.startswith("Processing"):
            names = [report.name for report in fitting_reports([parse_heading(cell) for cell in heading.split(",")])]
            assert any(path.stem.endswith(name) for name in names)
