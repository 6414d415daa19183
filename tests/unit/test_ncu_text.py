"""Text pages of ncu: every layout since 2019, with whatever stands around them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from nsight_insight.api import load
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.missing import Missing
from nsight_insight.readers import ncu_text, read
from nsight_insight.readers.text import from_bytes
from tests.unit.make_ncu import wide
from tests.unit.make_ncu_text import KERNEL, NEW, OLD, PROCESS, ROWS, SOL, fixed, raw, rule, section, table
from tests.unit.make_ncu_text import read as read_lines

# --- Layouts


def test_page_of_2024() -> None:
    found = table(PROCESS, NEW, *section())
    columns = found.columns
    assert columns["name"].tolist() == [KERNEL]
    assert [columns[f"{shape}_{axis}"][0] for shape in ("grid", "block") for axis in "xyz"] == [4, 2, 1, 128, 1, 1]
    assert [columns[name][0] for name in ("process", "context", "stream", "device", "cc")] == [963, 1, 7, 0, 9.0]
    assert columns["duration"][0] == 2940.0
    assert columns["sm_clock"][0] == 1.95e9
    assert columns["elapsed_cycles"][0] == 5760.0
    assert columns["sm_throughput"][0] == 0.125
    assert (found.source.report, found.source.tool, found.source.reader) == ("details", "ncu", "ncu_text")


def test_page_of_2022() -> None:
    found = table(PROCESS, OLD, *fixed([("Block Size", "", "256"), ("Grid Size", "", "512")], "Launch Statistics"))
    assert found.columns["name"].tolist() == [KERNEL]
    assert found.columns["grid_x"].tolist() == [512.0]
    assert found.columns["block_x"].tolist() == [256.0]
    assert np.isnan(found.columns["cc"]).all()
    assert "device" not in found.source.columns


def test_raw_page() -> None:
    rows = [
        ("device__attribute_display_name", "", "NVIDIA H200"),
        ("gpu__time_duration.sum", "us", "2.944000"),
        ("launch__func_cache_config", "", "CachePreferNone"),
    ]
    found = table(PROCESS, NEW, *raw(rows), NEW, *raw(rows))
    assert found.source.report == "raw"
    assert found.columns["duration"].tolist() == [2944.0, 2944.0]
    assert found.columns["correlation"].tolist() == [0, 1]
    assert [device.name for device in found.devices] == ["NVIDIA H200"]


def test_wrapped_cells_are_joined() -> None:
    lines = raw([("device__attribute_display_name", "", "NVIDIA GeForce GTX"), ("gpu__time_duration.sum", "us", "1.5")])
    lines.insert(3, " " * 107 + "1650")
    found = table(PROCESS, NEW, *lines)
    assert [device.name for device in found.devices] == ["NVIDIA GeForce GTX 1650"]
    assert found.columns["duration"].tolist() == [1500.0]


def test_names_wider_than_their_column() -> None:
    name = "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio"
    lines = raw([("gpu__time_duration.sum", "us", "1.5")])
    lines.insert(3, f"  {name} inst 0.25")
    found = table(PROCESS, NEW, *lines)
    assert found.columns["stall_math_pipe_throttle"].tolist() == [0.25]


@pytest.mark.parametrize("values", [("1.234,50", "40.388"), ("1 234,50", "40 388"), ("1'234.50", "40'388")])
def test_number_notations(values: tuple[str, str]) -> None:
    real, whole = values
    found = table(PROCESS, NEW, *section([("Duration", "us", real), ("Elapsed Cycles", "cycle", whole)]))
    assert found.columns["duration"].tolist() == [1_234_500.0]
    assert found.columns["elapsed_cycles"].tolist() == [40_388.0]


def test_broken_separators_of_2020() -> None:
    page = "\n".join([PROCESS, OLD, *fixed([("Duration", "us", "1~234,50"), ("Elapsed Cycles", "cycle", "40~388")])])
    result = ncu_text.read(from_bytes("t.txt", page.encode().replace(b"~", b"\xe2")))
    assert result.tables[0].columns["elapsed_cycles"].tolist() == [40_388.0]
    assert [issue.level for issue in result.issues] == [Level.INFO]


def test_failed_and_unsupported_values() -> None:
    rows = [
        ("Duration", "nsecond", "(!) nan"),
        ("Elapsed Cycles", "cycle", "n/a"),
        ("Memory Throughput", "%", "(!) n/a"),
        ("Compute (SM) Throughput", "%", "no data"),
    ]
    found = table(PROCESS, NEW.replace("(4, 2, 1)x(128, 1, 1)", "(0, 0, 0)x(0, 0, 0)"), *section(rows))
    reasons = found.source.reasons
    assert reasons["duration"].tolist() == [Missing.FAILED]
    assert reasons["elapsed_cycles"].tolist() == [Missing.UNSUPPORTED]
    assert reasons["memory_throughput"].tolist() == [Missing.UNSUPPORTED]
    assert reasons["sm_throughput"].tolist() == [Missing.FAILED]
    assert np.isnan(found.columns["grid_x"]).all()


def test_values_stand_where_their_location_says() -> None:
    lines = [PROCESS, NEW, *section(), NEW.replace(KERNEL, "other"), *fixed([("Duration", "us", "17.25")])]
    found = table(*lines)
    for row, (column, text, label) in enumerate([("duration", "2.94", "Duration"), ("duration", "17.25", "Duration")]):
        place = found.source.locate(row, column, int(found.columns["line"][row]))
        assert place.line is not None
        assert place.column is not None
        assert lines[place.line - 1][place.column - 1 :] == text
        assert place.field == label
    place = found.source.locate(0, "grid_x", int(found.columns["line"][0]))
    assert lines[(place.line or 0) - 1][(place.column or 0) - 1 :].startswith("(4, 2, 1)x")


# --- Rules and NVTX


def test_rules() -> None:
    texts = [
        *rule("OPT", "Est. Local Speedup: 99.97%", "All compute pipelines are under-utilized. Check", "the rest."),
        "    ----- " + "-" * 108,
        *rule("INF", "ALU is the highest-utilized pipeline (20.5%)."),
        "",
        *rule("OPT", "Estimated Speedup: 50%", "Look at @section:LaunchStats:Launch Statistics@."),
    ]
    found = table(PROCESS, NEW, *section(title="Compute Workload Analysis"), *texts, "", *section())
    assert [(v.rule, v.kind, v.scope, v.estimated_speedup, v.section) for v in found.vendor] == [
        ("HighPipeUtilization", "OPT", "local", pytest.approx(0.9997), "ComputeWorkloadAnalysis"),
        ("HighPipeUtilization", "INF", "", None, "ComputeWorkloadAnalysis"),
        ("HighPipeUtilization", "OPT", "global", 0.5, "ComputeWorkloadAnalysis"),
    ]
    assert found.vendor[0].text == "All compute pipelines are under-utilized. Check the rest."
    assert found.vendor[2].text == "Look at Launch Statistics."
    assert {v.row for v in found.vendor} == {0}
    assert {v.kernel for v in found.vendor} == {KERNEL}


def test_words_longer_than_a_line_are_put_together_and_lose_their_folder() -> None:
    word = "/home/somebody/" + "x" * 88 + "/Nv.py:2"
    assert len(word) > 110
    found = table(PROCESS, NEW, *section(), *rule("ERR", "Rule failed", word[:110], word[110:], "end"))
    assert found.vendor[0].text == "Rule failed Nv.py:2 end"


def test_nvtx_ranges() -> None:
    stack = [
        "",
        "    NVTX Push/Pop Stack for Thread 77:",
        "      <default domain>",
        "        <0,step 1>",
        "          RGB: 0xff00ff00",
        "        <1,a<b>,c>",
    ]
    found = table(PROCESS, NEW, *stack, *section(), NEW, *section())
    assert found.columns["nvtx"].tolist() == ["step 1/a<b>,c", ""]
    assert found.columns["thread"].tolist() == [77, -1]


# --- What stands around


def test_program_output_and_progress_in_between() -> None:
    around = [
        "user@host:~$ ncu ./a.out",
        "```text",
        "==PROF== Connected to process 963 (/usr/bin/python3)",
        '==PROF== Profiling "k" - 0 (1/1): 0%....50%Loss: 3.5',
        "....100% - 9 passes",
        "Section: results of the program",
        "------- ------ -----",
        "  Duration us 12.0",
    ]
    page = section()
    page.insert(5, "epoch 3 of 10")
    found = table(*around, PROCESS, NEW, *page, "```", "done, Context is everything")
    assert found.columns["duration"].tolist() == [2940.0]
    assert len(found) == 1


def test_runs_in_one_log_are_numbered_from_zero_each() -> None:
    progress = '==PROF== Profiling "k" - 0: 0%....50%....100% - 9 passes'
    one = [progress, PROCESS, NEW, *section(), NEW, *section()]
    two = [progress, "[964] python3@127.0.0.1", NEW, *section()]
    result = read_lines(*one, *two)
    assert [table.columns["correlation"].tolist() for table in result.tables] == [[0, 1], [0]]
    assert [table.columns["process"].tolist() for table in result.tables] == [[963, 963], [964]]


def test_processes_of_one_run_share_their_numbers() -> None:
    found = table(PROCESS, NEW, *section(), "[964] child@127.0.0.1", NEW, *section())
    assert found.columns["correlation"].tolist() == [0, 1]
    assert found.columns["process"].tolist() == [963, 964]


def test_both_pages_of_one_log() -> None:
    rows = [("gpu__time_duration.sum", "us", "2.944000")]
    result = read_lines(PROCESS, NEW, *section(), PROCESS, NEW, *raw(rows))
    assert [(table.source.report, len(table)) for table in result.tables] == [("details", 1), ("raw", 1)]


@pytest.mark.parametrize(
    "name",
    [
        "void a<b, (c)1>::operator()(T1 &, [lambda() (instance 3)])",
        "k (1, 2, 3)x(4, 5, 6), Context 9, Stream 9(int)",
        "[/red]x\x1b[31m",
        "_Z3fooILi1EEvPf",
        "k" * 3000 + "(int)",
        "==PROF (float)",
        "x, 2022-Dec-04 20:05:20",
    ],
)
def test_hostile_kernel_names(name: str) -> None:
    found = table(PROCESS, NEW.replace(KERNEL, name), *section())
    assert found.columns["name"].tolist() == [name]
    assert found.columns["grid_x"].tolist() == [4.0]
    assert found.columns["context"].tolist() == [1]


# --- Summaries


SUMMARY = [
    "    Section: GPU Speed Of Light Throughput",
    "    ------------------- ----------- ------- ------- -------",
    "    Metric Name         Metric Unit Minimum Maximum Average",
    "    ------------------- ----------- ------- ------- -------",
    "    Duration                     us    1.00    5.00    2.50",
    "    Memory Throughput             %   10.00   30.00   20.00",
    "    ------------------- ----------- ------- ------- -------",
    "",
]


def test_summary() -> None:
    found = table(PROCESS, "  k(int) (4, 1, 1)x(64, 1, 1), Device 0, CC 8.9, Invocations 4", *SUMMARY)
    row = {name: found.columns[name][0] for name in ("count", "duration", "min", "avg", "max", "memory_throughput")}
    assert row == {"count": 4, "duration": 10_000.0, "min": 1000.0, "avg": 2500.0, "max": 5000.0,
                   "memory_throughput": 0.2}  # fmt: skip
    assert np.isnan(found.columns["median"][0])
    assert found.source.report == "summary"
    place = found.source.locate(0, "memory_throughput", 1)
    assert SUMMARY[5][(place.column or 0) - 1 :] == "20.00"


def test_summary_per_device_and_per_range() -> None:
    nested = [f"  {line}" if line else line for line in SUMMARY]
    found = table(PROCESS, "  Device 1, CC 8.0", "    k(int) (4, 1, 1)x(64, 1, 1), Invocations 2", *nested)
    assert [found.columns[name][0] for name in ("device", "cc", "count")] == [1, 8.0, 2]
    states = ["== NVTX State ==", "<default domain>", "  <step>", "    RGB: 0xff00ff00", "  <forward>"]
    launch = "  k(int) (4, 1, 1)x(64, 1, 1), Device 0, CC 8.9, Invocations 4"
    found = table(*states, launch, *SUMMARY, "<default domain>", "  <step>", "  <backward>", launch, *SUMMARY)
    assert found.columns["nvtx"].tolist() == ["step/forward", "step/backward"]


# --- Damage and refusal


def test_a_cut_table_is_told() -> None:
    result = read_lines(PROCESS, NEW, *section()[:6])
    assert result.tables[0].columns["duration"].tolist() == [2940.0]
    assert [(issue.level, issue.text) for issue in result.issues] == [
        (Level.DATA_LOSS, "a table ends without its last line: it was cut")
    ]


def test_a_launch_without_a_table_is_told() -> None:
    result = read_lines(PROCESS, NEW, *section(), NEW)
    assert len(result.tables[0]) == 1
    assert [issue.text for issue in result.issues] == ["a launch without a table"]
    with pytest.raises(EmptyInput, match="a launch without a table"):
        read_lines(PROCESS, NEW)


def test_a_damaged_row_is_told() -> None:
    page = section()
    page[5] = page[5].replace("us ", "usX")
    result = read_lines(PROCESS, NEW, *page)
    assert [i.location.line for i in result.issues if i.level is Level.DATA_LOSS] == [8]
    # 5760 cycles at 1.95 GHz, because the duration itself is lost.
    assert result.tables[0].columns["duration"].tolist() == [2954.0]


def test_ambiguous_numbers_are_refused() -> None:
    rows = [("Elapsed Cycles", "cycle", "1.024")]
    with pytest.raises(UnrecognizedInput, match="ambiguous"):
        read_lines(PROCESS, NEW, *section(rows))


def test_errors_of_ncu_are_told() -> None:
    result = read_lines("==ERROR== LaunchFailed", PROCESS, NEW, *section())
    assert [issue.text for issue in result.issues] == ["ncu reported: LaunchFailed"]
    assert result.tables[0].source.banners == ("==ERROR== LaunchFailed",)
    with pytest.raises(EmptyInput, match="NVreg_RestrictProfilingToAdminUsers"):
        read_lines("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")


def test_list_of_metrics_is_no_profile() -> None:
    lines = ["Device NVIDIA GeForce RTX 3080 (GA102)", "Metric Name      Metric Description     ", "dram__bytes  #"]
    with pytest.raises(UnrecognizedInput, match="--query-metrics"):
        read(from_bytes("t.txt", "\n".join(lines).encode()))


def test_other_texts_are_none_of_ours() -> None:
    for text in ("", "hello", "a, Context 1, Stream 7", "x, Invocations many", f"{SOL}\n{ROWS}"):
        assert ncu_text.sniff(from_bytes("t.txt", f"{text}\n.".encode())) == 0.0
    with pytest.raises(UnrecognizedInput, match="no page of ncu"):
        read_lines("hello")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    result = read_lines(PROCESS, NEW, *section(), encoding=encoding)
    assert result.tables[0].columns["duration"].tolist() == [2940.0]


def test_windows_line_ends() -> None:
    page = "\r\n".join([PROCESS, NEW, *section()])
    (found,) = ncu_text.read(from_bytes("t.txt", page.encode())).tables
    assert re.fullmatch(r"t\.txt:\d+:\d+", str(found.source.locate(0, "duration", 1)))
    assert found.columns["duration"].tolist() == [2940.0]


# --- Beside other pages of the same report


def test_pages_that_print_shapes_as_products_count_once(tmp_path: Path) -> None:
    """Until 2022 the details page printed 16 for a grid of (8, 2, 1)."""
    shape = [("Grid Size", "", "16"), ("Block Size", "", "64"), ("Registers Per Thread", "register/thread", "32")]
    page = [PROCESS, OLD, *fixed([("Duration", "us", "2.94")]), "", *fixed(shape, "Launch Statistics")]
    (tmp_path / "d.txt").write_text("\n".join(page))
    cells = {"gpu__time_duration.sum": ["2.944000"], "launch__registers_per_thread": ["32"]}
    units = {"gpu__time_duration.sum": "us", "launch__registers_per_thread": "register/thread"}
    same = {"Kernel Name": KERNEL, "Grid Size": "(8, 2, 1)", "Block Size": "(64, 1, 1)"}
    (tmp_path / "r.csv").write_text(wide(cells, units, same))
    profile = load(tmp_path / "d.txt", tmp_path / "r.csv")
    assert profile.activities["duration"].tolist() == [2944.0]
    (tmp_path / "r.csv").write_text(wide(cells, units, {**same, "Grid Size": "(8, 3, 1)"}))
    assert len(load(tmp_path / "d.txt", tmp_path / "r.csv").activities) == 2


def test_rule_results_move_to_the_page_that_stays(tmp_path: Path) -> None:
    page = [PROCESS, NEW, *section([("Duration", "us", "2.94")]), *rule("INF", "Some advice."), ""]
    (tmp_path / "d.txt").write_text("\n".join(page))
    shape = {"Kernel Name": KERNEL, "Grid Size": "(4, 2, 1)", "Block Size": "(128, 1, 1)"}
    (tmp_path / "r.csv").write_text(
        wide({"gpu__time_duration.sum": ["2.944000"]}, {"gpu__time_duration.sum": "us"}, shape)
    )
    profile = load(tmp_path / "d.txt", tmp_path / "r.csv")
    assert profile.activities["duration"].tolist() == [2944.0]
    assert [(finding.text, finding.row) for finding in profile.vendor] == [("Some advice.", 0)]
