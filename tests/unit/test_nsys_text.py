"""The nsys text reader on small texts: forms, notations, what stands around tables, damage, and the way back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.readers import nsys_csv, nsys_text, read
from nsight_insight.readers.text import SourceText
from tests.tools.make_nsys_text import ENGLISH, FRENCH, GERMAN, PLAIN, Item, Locale, columns, sizes, summary

KERNELS = (Item("gemm<(int)4>(float *, T2)", (4_000_000, 3_999_000)), Item("add", (1_001,)))
CALLS = (Item("cudaMalloc", (1_234_567,)), Item("cudaFree", (3_800, 200)))
COPIES = (Item("[CUDA memcpy HtoD]", (2_079,), (4_194_000,)),)
TITLE = " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):"
PROCESSING = "Processing [/home/someone/x.sqlite] with [/opt/nvidia/nsight-systems/2024.6.2/host/reports/{}.py]... "


def kern(locale: Locale = ENGLISH, era: int = 2024) -> list[str]:
    return summary(KERNELS, locale, era, "Instances", "Name")


def calls(locale: Locale = ENGLISH, era: int = 2024) -> list[str]:
    return summary(CALLS, locale, era, "Num Calls", "Name")


def text(*lines: str, end: str = "\n") -> SourceText:
    return SourceText("x.txt", ("\n".join(lines) + end).encode())


def parse(*lines: str, end: str = "\n") -> ReadResult:
    return nsys_text.read(text(*lines, end=end))


def table(*lines: str) -> Table:
    (only,) = parse(*lines).tables
    return only


def losses(result: ReadResult) -> list[tuple[int | None, str]]:
    return [(i.location.line, i.text) for i in result.issues if i.level is Level.DATA_LOSS]


def assert_kernels(found: Table) -> None:
    assert found.source.report == "cuda_gpu_kern_sum"
    assert found.columns["name"].tolist() == ["gemm<(int)4>(float *, T2)", "add"]
    assert found.columns["duration"].tolist() == [7_999_000.0, 1_001.0]
    assert found.columns["count"].tolist() == [2, 1]
    assert found.columns["avg"].tolist() == [3_999_500.0, 1_001.0]
    assert found.columns["max"].tolist() == [4_000_000.0, 1_001.0]


# --- forms ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", [2020, 2024])
@pytest.mark.parametrize("locale", [PLAIN, ENGLISH, GERMAN, FRENCH, Locale("'"), Locale(" ", ",")])
def test_columns_in_every_notation(era: int, locale: Locale) -> None:
    assert_kernels(table(*kern(locale, era)))


def boxed(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in rows]
    return [border, lines[0], border, *lines[1:], border]


HEADINGS = ["Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Max (ns)", "Name"]
ROWS = [
    ["100.0", "7,999,000", "2", "3,999,500.0", "4,000,000", "gemm<(int)4>(float *, T2)"],
    ["0.0", "1,001", "1", "1,001.0", "1,001", "add"],
]
PLAIN_ROWS = [[cell.replace(",", "") if i < 5 else cell for i, cell in enumerate(row)] for row in ROWS]


def test_tables_in_boxes() -> None:
    assert_kernels(table(TITLE, "", *boxed([HEADINGS, *ROWS])))


def test_bars_in_a_name() -> None:
    rows = [[*ROWS[0][:-1], "k<operator||>(a | b)"], ROWS[1]]
    assert table(*boxed([HEADINGS, *rows])).columns["name"].tolist() == ["k<operator||>(a | b)", "add"]


def test_tab_separated_values() -> None:
    assert_kernels(table("\t".join(HEADINGS), *("\t".join(row) for row in PLAIN_ROWS)))


def test_json_with_banners_around_it() -> None:
    objects = [
        dict(zip(HEADINGS, [float(row[0]), int(row[1]), int(row[2]), *row[3:]], strict=True)) for row in PLAIN_ROWS
    ]
    found = table(PROCESSING.format("cuda_gpu_kern_sum"), *json.dumps(objects, indent=2).splitlines(), "")
    assert_kernels(found)
    assert found.source.version == "2024.6.2"
    place = found.source.locate(1, "duration", int(found.columns["line"][1]))
    assert (place.line, place.field) == (13, "Total Time (ns)")


def test_json_numbers_keep_every_digit() -> None:
    row = '[{"Time (%)": 1.0, "Total Time (ns)": 9007199254740991, "Instances": 1, "Avg (ns)": 1.5, "Name": null}]'
    found = table(row)
    assert int(found.columns["duration"][0]) == 9007199254740991
    assert found.columns["name"].tolist() == [""]


def test_json_that_ends_early_keeps_what_is_whole() -> None:
    objects = json.dumps([dict(zip(HEADINGS, row, strict=True)) for row in PLAIN_ROWS], indent=2)
    result = parse(*objects[: objects.rindex('"Max')].splitlines())
    assert len(result.tables[0]) == 1
    assert losses(result) == [(10, "cuda_gpu_kern_sum: line skipped, not a row of 6 cells")]
    assert result.tables[0].source.incomplete


@pytest.mark.parametrize(
    "item", ["5", '{"Time (%)": 1}', '{"Time (%)": [1]}', "{}", "[" * 100_000, '{"Time (%)": 1e999999}'], ids=range(6)
)
def test_hostile_json(item: str) -> None:
    first = json.dumps(dict(zip(HEADINGS, PLAIN_ROWS[0], strict=True)))
    result = parse(f"[{first}", f",{item}]")
    assert len(result.tables[0]) == 1
    assert [line for line, _ in losses(result)] == [2]


def test_html_tables() -> None:
    head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
    rows = "".join("<tr>" + "".join(f"<td>{c.replace('<', '&lt;')}</td>" for c in row) + "</tr>\n" for row in ROWS)
    found = table("<table><tr><td>other", "<table>", f"<tr>{head}</tr>", f"{rows}</table>", "</table>")
    assert_kernels(found)
    assert found.columns["line"].tolist() == [4, 5]


def test_an_html_table_that_was_never_closed() -> None:
    head = "".join(f"<th>{heading}" for heading in HEADINGS)
    rows = "".join("<tr>" + "".join(f"<td>{c.replace('<', '&lt;')}" for c in row) for row in ROWS)
    assert_kernels(table("<TABLE><tr>" + head, rows))


def test_csv_beside_a_table_is_read_too() -> None:
    result = parse(*kern(), "", "Time (%),Total Time (ns),Num Calls,Avg (ns),Name", "100.0,5,1,5.0,cudaMalloc")
    assert [(t.source.report, t.source.reader) for t in result.tables] == [
        ("cuda_gpu_kern_sum", "nsys_text"), ("cuda_api_sum", "nsys_csv"),
    ]  # fmt: skip
    assert not result.issues


# --- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("locale", "cell"), [(PLAIN, "4.194"), (ENGLISH, "4.194"), (GERMAN, "4,194")])
def test_three_decimals_of_megabytes_are_no_group(locale: Locale, cell: str) -> None:
    lines = sizes(COPIES, locale, 2024)
    assert cell in lines[2]
    assert table(*lines).columns["bytes"].tolist() == [4_194_000.0]


def test_one_group_of_whole_nanoseconds_is_no_fraction() -> None:
    """``1.001`` under Min (ns) is 1001 in any locale that writes it so; nsys prints no fractions there."""
    headings = ["Start (ns)", "Duration (ns)", "Name", "Result", "CorrID", "Pid", "Tid", "T-Pri", "Thread Name"]
    lines = columns(headings, [["1.001", "2.002", "cudaMalloc", "0", "3.003", "4.004", "5", "", "python"]], 1)
    found = table(*lines)
    assert found.columns["start"].tolist() == [1001.0]
    assert found.columns["duration"].tolist() == [2002.0]
    assert found.columns["correlation"].tolist() == [3003]


def test_a_table_that_does_not_tell_has_the_notation_of_the_others() -> None:
    unclear = columns(["Time (%)", "Total Time (ms)", "Instances", "Name"], [["", "1.024", "1", "k"]])
    german = summary(CALLS, GERMAN, 2024, "Num Calls", "Name")
    assert parse(*german, "", *unclear).tables[1].columns["duration"].tolist() == [1.024e6]


def test_a_cell_in_another_notation_is_reported_not_guessed() -> None:
    lines = kern(GERMAN)
    lines[3] = lines[3].replace("1.001,0", "1,001.0", 1)
    result = parse(*lines)
    assert np.isnan(result.tables[0].columns["avg"][1])
    assert losses(result)[0] == (4, "cuda_gpu_kern_sum: a cell left out, not a number")


def test_sizes_without_unit_are_kib_and_those_of_a_trace_bytes() -> None:
    item = Item("[CUDA memcpy HtoD]", (1_000,), (1_024,))
    assert table(*sizes([item], PLAIN, 2021)).columns["bytes"].tolist() == [1024.0]
    headings = ["Start(sec)", "Duration(nsec)", "CorrId", "GrdX", "Bytes", "Thru(MB/s)", "Name"]
    found = table(*columns(headings, [["1.250000", "2401", "7", "", "80", "33.000", "[CUDA memcpy HtoD]"]]))
    assert found.columns["bytes"].tolist() == [80.0]
    assert found.columns["start"].tolist() == [1.25e9]


@pytest.mark.parametrize(
    ("starts", "durations", "kept"),
    [
        (("0.000000", "0.000000"), ("1000000", "1000000"), False),
        (("0.000000", "0.000004"), ("2000", "2000"), False),
        (("0.000000", "0.002000"), ("1000000", "1000000"), True),
    ],
    ids=["overlap", "coarse", "fine"],
)
def test_starts_that_are_no_timeline_are_left_out(
    starts: tuple[str, str], durations: tuple[str, str], kept: bool
) -> None:
    headings = ["Start(sec)", "Duration(nsec)", "CorrId", "GrdX", "Device", "Ctx", "Strm", "Name"]
    rows = [[s, d, "1", "1", "NVIDIA V100 (0)", "1", "7", "k"] for s, d in zip(starts, durations, strict=True)]
    result = parse(*columns(headings, rows))
    assert ("start" in result.tables[0].columns) == kept
    assert [place for place, _ in losses(result)] == ([] if kept else [1])


# --- what stands around tables --------------------------------------------------------------------------------------


def test_tables_in_a_job_log() -> None:
    result = parse(
        "epoch 1, loss 0.3", "  a   b   c   d", "---  --  --  --", "  1   2   3   4", "WARNING: low disk space",
        "Generating '/tmp/nsys-report-fcd4.qdstrm'", "\r[1/8] [0%   ] x.nsys-rep\r[1/8] [=100%] x.nsys-rep",
        "SKIPPED: /home/someone/x.sqlite does not contain NV Tools Extension (NVTX) data.",
        "[3/8] Executing 'nvtx_sum' stats report", "[4/8] Executing 'cuda_api_sum' stats report", "", *calls(),
        "[5/8] Executing 'cuda_gpu_kern_sum' stats report", "", "", *kern(), "user@host:~$ exit", "12  34  56",
    )  # fmt: skip
    assert [t.source.report for t in result.tables] == ["cuda_api_sum", "cuda_gpu_kern_sum"]
    assert [len(t) for t in result.tables] == [2, 2]
    assert not losses(result)
    assert "home" not in " ".join(issue.text for issue in result.issues)


def test_runs_and_ranks_stay_apart() -> None:
    result = parse("rank 0", *kern(), "rank 1", *kern(), *calls())
    assert [t.source.report for t in result.tables] == ["cuda_gpu_kern_sum"] * 2 + ["cuda_api_sum"]
    assert [t.columns["line"].tolist() for t in result.tables[:2]] == [[4, 5], [9, 10]]


def test_a_title_out_of_order_does_not_decide() -> None:
    found = table("CUDA Kernel Statistics:", " ** OS Runtime Summary (osrt_sum):", *calls())
    assert found.source.report == "cuda_api_sum"


@pytest.mark.parametrize("mark", ["# ", "// ", "> ", "    ", ""])
def test_tables_behind_marks(mark: str) -> None:
    assert_kernels(table(*(mark + line.removeprefix(" ") for line in kern())))


def test_blank_lines_between_all_lines() -> None:
    assert_kernels(table(*(line for pair in ((line, "") for line in kern()) for line in pair)))


def test_lost_blanks() -> None:
    lines = kern()
    assert_kernels(table(lines[0].strip(), *lines[1:]))
    assert_kernels(table(*lines[:2], *(" ".join(line.split()) for line in lines[2:])))
    assert_kernels(table(*lines[:2], *(line.strip() for line in lines[2:])))


def test_windows_files() -> None:
    data = ("\r\n".join(kern()) + "\r\n").encode("utf-16")
    assert_kernels(nsys_text.read(SourceText("x", data)).tables[0])


def test_colours_of_a_terminal() -> None:
    assert_kernels(table(*(f"\x1b[32m{line}\x1b[0m" for line in kern())))


def test_names_that_were_cut_are_counted() -> None:
    item = Item("k<" + "x" * 200 + ">", (5,))
    result = parse(*summary([item], ENGLISH, 2024, "Instances", "Name"))
    assert result.tables[0].columns["name"][0].endswith("\u2026")
    assert [issue.text for issue in result.issues] == [
        "cuda_gpu_kern_sum: 1 kernel name is cut; run nsys stats with --format csv for whole names"
    ]


def test_a_name_may_be_empty_or_longer_than_its_column() -> None:
    lines = [
        "Time(%)      Total Time   Instances         Average         Minimum         Maximum  Name   ",
        "-------  --------------  ----------  --------------  --------------  --------------  -------",
        "   90.0             900           2           450.0             400             500  a name longer  than that",
        "   10.0             100           1           100.0             100             100         ",
    ]
    assert table(*lines).columns["name"].tolist() == ["a name longer  than that", ""]


def test_every_cell_is_found_again() -> None:
    lines = ["noise", *(f"# {line}" for line in kern())]
    found = table(*lines)
    for row, name, start in ((0, "duration", "7,999,000"), (1, "name", "add"), (1, "count", "1")):
        place = found.source.locate(row, name, int(found.columns["line"][row]))
        assert place.line is not None
        assert place.column is not None
        assert lines[place.line - 1][place.column - 1 :].strip().startswith(start)


# --- damage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "end"),
    [("...", "\n"), ("\u2026", "\n"), ("   12.3          1,0", ""), ("     0.0            1,001   x 1", "\n")],
    ids=["dots", "ellipsis", "cut", "shifted"],
)
def test_lines_that_are_no_rows_are_reported(bad: str, end: str) -> None:
    result = parse(*kern(), bad, end=end)
    assert len(result.tables[0]) == 2
    assert losses(result) == [(5, "cuda_gpu_kern_sum: line skipped, not a row of 9 cells")]
    assert result.tables[0].source.incomplete


def test_a_spoilt_figure_costs_its_row_and_says_so() -> None:
    lines = kern()
    result = parse(*lines[:2], lines[2].replace("7,999,000", "#########"), lines[3])
    assert result.tables[0].columns["name"].tolist() == ["add"]
    assert losses(result) == [(3, "cuda_gpu_kern_sum: a row skipped, no valid number under 'Total Time (ns)'")]


def test_a_trace_that_was_cut_off_is_not_added_to_its_summary() -> None:
    """The summary holds all launches; what is left of the trace would count some of them twice."""
    headings = ["Start (ns)", "Duration (ns)", "CorrId", "GrdX", "Name"]
    rows = [[str(i * 9_000_000), str(d), str(i), "1", KERNELS[0].name] for i, d in enumerate(KERNELS[0].times)]
    trace = columns(headings, rows)
    profile = api.load(text(*summary(KERNELS, PLAIN, 2024, "Instances", "Name"), "", *trace[:3], "..."))
    frame = profile.activities
    assert frame.loc[frame["primary"], "duration"].sum() == 8_000_001
    assert any("lost rows" in issue.text for issue in profile.issues)


@pytest.mark.parametrize(
    "lines",
    [
        (" Time (%)  Total Time (ns)  Instances  Name",),
        ("[", "  {", '    "Time (%)": 26.4,', '    "Total Time (ns)": 512'),
        (TITLE, "", "text"),
        ("hello", "-----  ----  ---", "1  2  3"),
    ],
    ids=["no dashes", "json", "title", "other"],
)
def test_what_is_no_table_is_refused(lines: tuple[str, ...]) -> None:
    with pytest.raises(UnrecognizedInput):
        parse(*lines)


def test_unknown_headings_are_named() -> None:
    lines = columns(["Time (%)", "Total Time (ns)", "Q1 (ns)", "Max (ns)", "Thing"], [["1.0", "5", "5", "5", "x"]])
    with pytest.raises(UnrecognizedInput, match=r"Q1 \(ns\), Max \(ns\), Thing") as caught:
        parse("noise", *lines)
    assert caught.value.line == 2
    assert [line for line, _ in losses(parse(*lines, *kern()))] == [1]


def test_nothing_but_skipped_reports_is_empty_input() -> None:
    with pytest.raises(EmptyInput, match="CUDA kernel"):
        parse(PROCESSING.format("cuda_gpu_kern_sum"), "SKIPPED: x.sqlite does not contain CUDA kernel data.", TITLE)


# --- nsys analyze ---------------------------------------------------------------------------------------------------

RULE = PROCESSING.replace("reports", "rules")
GAPS = columns(
    ["Row#", "Duration (ns)", "Start (ns)", "PID", "Device ID", "Context ID"],
    [["1", "3,115,443,352", "3,640,093,561", "709", "0", "1"], ["2", "522,426,026", "6,949,755,169", "709", "0", "1"]],
    0,
)


def test_rules_of_analyze_are_findings_of_nvidia() -> None:
    sync = columns(
        ["Duration (ns)", "Start (ns)", "PID", "TID", "API Name"],
        [["796,364", "8", "7", "7", "cudaStreamSynchronize_v3020"]],
    )
    result = parse(
        RULE.format("cuda_api_sync"), "", " ** CUDA Synchronization APIs (cuda_api_sync):", "",
        "The following block the host below 50%% use.", "", "Suggestions:", "   1. Use events.", "", *sync, "",
        "Only the top 50 results are displayed. More data may be available.", "", RULE.format("gpu_gaps"), "",
        " ** GPU Gaps (gpu_gaps):", "", "The GPU is idle for more than 500ms.", "", *GAPS, "",
        RULE.format("cuda_memset_sync"), "", " ** CUDA Synchronous Memset (cuda_memset_sync):", "",
        "There were no problems", "detected.", "", "the program says: password 1234",
    )  # fmt: skip
    found = {finding.rule: finding for table in result.tables for finding in table.vendor}
    assert {(f.rule, f.kind, f.section, f.location.line) for f in found.values()} == {
        ("cuda_api_sync", "OPT", "CUDA Synchronization APIs", 10), ("gpu_gaps", "OPT", "GPU Gaps", 22),
        ("cuda_memset_sync", "INF", "CUDA Synchronous Memset", 29),
    }  # fmt: skip
    assert (
        found["cuda_api_sync"].text == "The following block the host below 50% use. Suggestions: 1. Use events. (1 row)"
    )
    assert (
        "2 rows, 3.64 s together, the longest 3.12 s in line 24; Duration (ns) 3,115,443,352, "
        in found["gpu_gaps"].text
    )
    assert found["cuda_memset_sync"].text == "There were no problems detected."
    assert [issue.text for issue in result.issues] == [
        "cuda_api_sync: Only the top 50 results are displayed. More data may be available."
    ]


def test_rows_of_rules_never_stand_for_work() -> None:
    copies = columns(
        ["Duration (ns)", "Start (ns)", "Src Kind", "Dst Kind", "Bytes (MB)", "PID", "Device ID", "API Name"],
        [["1,000", "5", "Pageable", "Device", "4.194", "1,373,105", "0", "cudaMemcpyAsync_v3020"]],
    )
    profile = api.load(text(" ** CUDA Async Memcpy with Pageable Memory (cuda_memcpy_async):", "", "Bad.", "", *copies))
    frame = profile.activities
    assert frame.loc[0, ["kind", "name", "duration", "bytes", "process", "src_kind", "primary"]].tolist() == [
        "memcpy", "cudaMemcpyAsync_v3020", 1000.0, 4_194_000.0, 1373105, "pageable", False,
    ]  # fmt: skip
    assert profile.vendor[0].rule == "cuda_memcpy_async"
    assert api.analyze(profile).totals.copy_ns is None


def test_a_rule_without_data_is_an_issue() -> None:
    result = parse(
        "SKIPPED: x.sqlite could not be analyzed because it does not contain the required DX12 data. Does the "
        "application use DX12 APIs?",
        *kern(),
    )
    assert [issue.text for issue in result.issues] == [
        "a rule of nsys analyze had nothing to judge: no DX12 data (does the application use DX12 APIs?)"
    ]


# --- recognition ----------------------------------------------------------------------------------------------------


def test_every_form_is_recognised_by_its_content() -> None:
    objects = json.dumps([dict(zip(HEADINGS, row, strict=True)) for row in PLAIN_ROWS], indent=2)
    html = "<table><tr>" + "".join(f"<th>{h}</th>" for h in HEADINGS) + "</tr><tr>"
    html += "".join(f"<td>{c}</td>" for c in PLAIN_ROWS[1]) + "</tr></table>"
    tabs = ["\t".join(row) for row in (HEADINGS, *PLAIN_ROWS)]
    for lines in (kern(), kern(GERMAN, 2020), boxed([HEADINGS, *ROWS]), objects.splitlines(), [html], tabs):
        source = text(*["noise"] * 1000, *lines)
        assert nsys_text.sniff(source) == 0.95
        assert {t.source.reader for t in read(source).tables} == {"nsys_text"}


@pytest.mark.parametrize(
    "lines",
    [
        ("Time (%),Total Time (ns),Instances,Name", "1.0,5,1,k"),
        ("hello", "-----  ----  ---  --"),
        ('{"traceEvents": [{"name": "k", "dur": 5}]}',),
        ('"ID","Process ID","Kernel Name"', '"0","1","k"'),
        (
            "==1== Profiling result:",
            "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name",
        ),
    ],
)
def test_other_formats_are_left_to_others(lines: tuple[str, ...]) -> None:
    assert nsys_text.sniff(text(*lines)) == 0.0


def test_the_csv_reader_reads_tables_too() -> None:
    assert_kernels(nsys_csv.read(text(*kern())).tables[0])


def test_random_bytes_are_refused() -> None:
    with pytest.raises(InputError):
        nsys_text.read(SourceText("x", bytes(range(256)) * 40))
