"""Tables of ``ncu --csv``: finding them, reading their cells, and saying what was lost."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.missing import Missing
from nsight_insight.readers import ncu_csv
from nsight_insight.readers.text import from_bytes
from tests.unit.make_ncu import HEADINGS, SOL, Long, line, read, table, wide

DURATION, SM, CLOCK = (
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpc__cycles_elapsed.avg.per_second",
)
PAGE = Long("B0")
ONE = (PAGE.heading, PAGE.metric(0, DURATION, "ns", "2,720"))


def sniff(text: str) -> float:
    return ncu_csv.sniff(from_bytes("t", text.encode()))


# --- Layouts


@pytest.mark.parametrize("generation", HEADINGS)
def test_every_generation_of_headings_is_read(generation: str) -> None:
    page = Long(generation)
    rows = [
        page.heading,
        page.metric(0, DURATION, "us", "2.94"),
        page.metric(0, SM, "%", "11.60"),
        page.metric(1, DURATION, "ms", "1.50"),
    ]
    if "Rule Name" in page.headings:
        text = {"Rule Name": "SOLBottleneck", "Rule Type": "WRN", "Rule Description": "Small grid"}
        rows.insert(3, page.rule(0, **text, **{"Section Name": "SpeedOfLight"}))
    found = table(*rows)
    assert found.source.report == "details"
    assert found.columns["duration"].tolist() == [2940.0, 1_500_000.0]
    assert found.columns["sm_throughput"][0] == pytest.approx(0.116)
    assert np.isnan(found.columns["sm_throughput"][1])
    assert found.source.reasons["sm_throughput"].tolist() == [Missing.PRESENT, Missing.ABSENT]
    assert found.columns["name"].tolist() == ["k(int)"] * 2
    assert len(found.vendor) == ("Rule Name" in page.headings)


def test_identity_of_a_launch() -> None:
    page = Long("C+N", {"Kernel Name": 'f<"a,b">::[lambda() (instance 3)]\\x1b[31m', "CC": "8.6", "Device": "2"})
    found = table(page.heading, page.metric(7, DURATION, "ns", "10"))
    cells = {name: values[0] for name, values in found.columns.items()}
    assert cells["name"] == 'f<"a,b">::[lambda() (instance 3)]\\x1b[31m'
    assert (cells["correlation"], cells["process"], cells["thread"], cells["context"]) == (7, 963, 963, 1)
    assert (cells["stream"], cells["device"], cells["cc"], cells["line"]) == (7, 2, 8.6, 2)
    assert (cells["kind"], cells["count"], cells["nvtx"]) == ("kernel", 1, "step 1")
    assert [cells[f"{name}_{axis}"] for name in ("grid", "block") for axis in "xyz"] == [4, 2, 1, 128, 1, 1]
    assert {cells[name] for name in ("duration", "min", "avg", "median", "max")} == {10.0}
    assert "family" not in cells
    assert "base" not in cells


def test_a_failed_launch_has_no_known_shape() -> None:
    found = table(PAGE.heading, PAGE.metric(0, DURATION, "", "n/a", **{"Grid Size": "(0, 0, 0)"}))
    assert np.isnan(found.columns["grid_x"]).all()
    assert found.source.reasons["grid_x"].tolist() == [Missing.FAILED]
    assert found.source.reasons["duration"].tolist() == [Missing.UNSUPPORTED]


def test_dimensions_from_launch_metrics_where_the_headings_lack_them() -> None:
    page = Long("A0")
    found = table(
        page.heading,
        page.metric(0, "launch__grid_dim_x", "", "3"),
        page.metric(0, "launch__grid_dim_y", "", "5"),
        page.metric(0, "launch__grid_dim_z", "", "1"),
        page.metric(0, "Block Size", "", "256", **{"Section Name": "Launch Statistics"}),
    )
    assert [found.columns[f"grid_{axis}"][0] for axis in "xyz"] == [3, 5, 1]
    assert [found.columns[f"block_{axis}"][0] for axis in "xyz"] == [256, 1, 1]
    assert found.source.columns["block_x"][0].field == "Block Size"
    assert "device" in found.columns
    assert found.columns["device"].tolist() == [-1]


@pytest.mark.parametrize("written", ["SM Frequency", CLOCK, f"SM Frequency ({CLOCK})"])
def test_labels_names_and_both(written: str) -> None:
    page = Long("D")
    found = table(page.heading, page.metric(0, written, "Ghz", "1.95", **{"Section Name": SOL}))
    assert found.columns["sm_clock"].tolist() == [1.95e9]
    origin = found.source.columns["sm_clock"][0]
    assert (origin.field, origin.column, origin.unit) == (written, 16, "Ghz")
    assert found.source.available == {CLOCK if "(" in written else written}


def test_a_label_means_different_things_in_different_sections() -> None:
    page = Long("C")
    found = table(
        page.heading,
        page.metric(0, "Memory Throughput", "%", "50.00", **{"Section Name": SOL}),
        page.metric(0, "Memory Throughput", "Gbyte/s", "3.00", **{"Section Name": "Memory Workload Analysis"}),
        page.metric(0, "Memory Throughput", "%", "99.00", **{"Section Name": "Some Other Section"}),
    )
    assert found.columns["memory_throughput"].tolist() == [0.5]
    assert found.columns["dram_bytes_per_second"].tolist() == [3e9]


def test_labels_follow_the_compute_capability() -> None:
    page = Long("C", {"CC": "12.1"})  # no DRAM counters on this chip
    found = table(page.heading, page.metric(0, "DRAM Throughput", "%", "5.00", **{"Section Name": SOL}))
    assert "dram_throughput" not in found.columns


def test_raw_page_with_units_per_column() -> None:
    found = table(wide({DURATION: ["2.944000", "30.000000"], SM: ["0.046844", "75.5"]}, {DURATION: "us", SM: "%"}))
    assert found.source.report == "raw"
    assert found.columns["duration"].tolist() == [2944.0, 30000.0]
    assert found.columns["sm_throughput"].tolist() == pytest.approx([0.00046844, 0.755])
    origin = found.source.columns["sm_throughput"][0]
    assert (origin.field, origin.column, origin.unit, origin.lines) == (SM, 13, "%", None)
    assert found.source.locate(1, "duration", int(found.columns["line"][1])).line == 4


@pytest.mark.parametrize(("clock", "known"), [("1950000000", True), ("1.950000", False)])
def test_without_a_row_of_units_only_a_clock_can_tell_them(clock: str, known: bool) -> None:
    result = read(wide({DURATION: ["2944"], CLOCK: [clock], SM: ["50"]}, None))
    found = result.tables[0]
    assert found.columns["sm_throughput"].tolist() == [0.5]
    if known:
        assert found.columns["duration"].tolist() == [2944.0]
        assert not result.issues
    else:
        assert np.isnan(found.columns["duration"]).all()
        assert found.source.reasons["duration"].tolist() == [Missing.WRONG_UNIT]
        assert [issue.level for issue in result.issues] == [Level.DATA_LOSS]
        assert "no row of units" in result.issues[0].text


def test_empty_units_mean_base_units() -> None:
    found = table(wide({DURATION: ["2944"], SM: ["50"], CLOCK: ["1.95e9"]}, {}))
    assert found.columns["duration"].tolist() == [2944.0]
    assert found.columns["sm_throughput"].tolist() == [0.5]


def test_resaved_by_pandas_with_an_index() -> None:
    rows = (
        ",ID,Process ID,Kernel Name,Section Name,Metric Name,Metric Unit,Metric Value",
        f'0,0,963,"f(int, int)",Command line profiler metrics,{DURATION},ns,"2,720"',
        f"1,1,963,g,Command line profiler metrics,{DURATION},ns,88",
    )
    found = table(*rows)
    assert found.columns["duration"].tolist() == [2720.0, 88.0]
    assert found.columns["name"].tolist() == ["f(int, int)", "g"]
    assert found.source.columns["duration"][0].column == 8


def test_resaved_raw_page() -> None:
    found = table(f"ID,Process ID,Kernel Name,{DURATION}", ",,,us", "0.0,963.0,k,2.5")
    assert found.columns["duration"].tolist() == [2500.0]
    assert found.columns["correlation"].tolist() == [0]


def test_utf16_and_carriage_returns() -> None:
    data = "\r\n".join(["==PROF== Connected to process 1", *ONE, ""]).encode("utf-16")
    result = ncu_csv.read(from_bytes("t", data))
    assert result.tables[0].columns["duration"].tolist() == [2720.0]
    assert result.tables[0].columns["line"].tolist() == [3]


# --- What stands around and inside


def test_program_output_everywhere() -> None:
    found = table(
        "epoch 1, loss 0.5",
        "==PROF== Connected to process 963",
        '"quoted", "output"',
        PAGE.heading,
        PAGE.metric(0, DURATION, "ns", "1"),
        '==PROF== Profiling "k" - 1: 0%....50%....100% - 9 passes',
        "Source,Target",
        '{"loss": 1.5, "step": "3"}',
        PAGE.metric(1, DURATION, "ns", "2"),
        "",
        "  " + PAGE.metric(2, DURATION, "ns", "3"),
        "\r 10%|# | 1/9" + PAGE.metric(3, DURATION, "ns", "4"),
        PAGE.metric(4, DURATION, "ns", "5") + "==PROF== Disconnected from process 963",
        PAGE.metric(5, DURATION, "ns", "6") + "step 4, loss 0.1",
        "done",
    )
    assert found.columns["duration"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found.columns["line"].tolist() == [5, 9, 11, 12, 13, 14]


def test_a_heading_behind_program_output() -> None:
    found = table("loss 1, 2" + ONE[0], *ONE[1:])
    assert found.columns["duration"].tolist() == [2720.0]


def test_output_glued_behind_a_metric_row_of_a_page_with_rules() -> None:
    page = Long("C")
    found = table(page.heading, page.metric(0, DURATION, "ns", "1") + "step 4", page.metric(1, DURATION, "ns", "2"))
    assert found.columns["duration"].tolist() == [1, 2]


def test_two_runs_in_one_file_are_two_tables() -> None:
    other = Long("A0")
    result = read(*ONE, "between", other.heading, other.metric(0, DURATION, "nsecond", "5"))
    assert [found.columns["duration"].tolist() for found in result.tables] == [[2720.0], [5.0]]
    assert [found.columns["correlation"].tolist() for found in result.tables] == [[0], [0]]


def test_processes_share_one_sequence_of_launches() -> None:
    found = table(
        PAGE.heading,
        PAGE.metric(0, DURATION, "ns", "1"),
        PAGE.metric(0, DURATION, "ns", "2", **{"Process ID": "964"}),
        PAGE.metric(0, SM, "%", "50.00"),
    )
    assert found.columns["process"].tolist() == [963, 964]
    assert found.columns["duration"].tolist() == [1, 2]


def test_texts_of_rules_may_hold_line_ends() -> None:
    page = Long("C")
    text = {"Rule Name": "SOLBottleneck", "Rule Type": "ERR", "Rule Description": "failed\n/usr/x.py:45"}
    found = table(page.heading, page.rule(0, **text), page.metric(0, DURATION, "ns", "4"))
    assert found.vendor[0].text == "failed\n/usr/x.py:45"
    assert found.vendor[0].location.line == 2
    assert found.source.columns["duration"][0].lines.tolist() == [4]  # type: ignore[union-attr]


def test_a_record_torn_by_other_output_is_not_stitched() -> None:
    record = PAGE.metric(1, DURATION, "ns", "7")
    result = read(*ONE, record[:20] + "step 3", record[20:], PAGE.metric(2, DURATION, "ns", "9"))
    assert result.tables[0].columns["duration"].tolist() == [2720.0, 9.0]
    assert [(issue.level, issue.location.line) for issue in result.issues] == [
        (Level.DATA_LOSS, 3),
        (Level.DATA_LOSS, 4),
    ]


@pytest.mark.parametrize(("generation", "comma"), [("B0", ""), ("C+N", ",")])
def test_a_file_cut_anywhere_keeps_every_whole_record(generation: str, comma: str) -> None:
    page = Long(generation, {"Kernel Name": 'f<"a, b">(int)'})
    rows = [page.heading, *(page.metric(i, DURATION, "ns", "1234") for i in range(2))]
    text = "\n".join(rows)
    ends = [len("\n".join(rows[: count + 1]).removesuffix(comma)) for count in (1, 2)]
    for cut in range(len(rows[0]) + 2, len(text)):
        whole = sum(end <= cut for end in ends)
        try:
            result = ncu_csv.read(from_bytes("t", text[:cut].encode()))
        except EmptyInput:
            assert whole == 0
            continue
        assert result.tables[0].columns["duration"].tolist() == [1234.0] * whole
        fragment = text[:cut].split("\n")[whole + 1 :]
        assert len(result.issues) <= 1
        if fragment and len(fragment[0]) > len('"1","963","'):
            assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, whole + 2)]


def test_damaged_records_are_counted_and_capped() -> None:
    bad = [line(["9", "963", "x"])] * 30
    result = read(*ONE, *bad)
    losses = [issue for issue in result.issues if issue.level is Level.DATA_LOSS]
    assert len(losses) == 21
    assert losses[0].location.line == 3
    assert "3 fields where 15 or 16 are expected" in losses[0].text
    assert "10 more damaged records skipped, 30 in all" in losses[-1].text


def test_banners_are_kept_once_and_without_directories() -> None:
    result = read(
        "==WARNING== Unable to open source file /home/someone/src/nw1.cu.",
        "==PROF== Connected to process 1 (/home/someone/a.out)",
        *ONE,
        "==ERROR== The application returned an error code (1).",
        "==WARNING== Unable to open source file /home/someone/src/nw1.cu.",
        "==WARNING== See https://docs.nvidia.com/nsight-compute/index.html",
    )
    assert result.tables[0].source.banners == (
        "==WARNING== Unable to open source file nw1.cu.",
        "==ERROR== The application returned an error code (1).",
        "==WARNING== See https://docs.nvidia.com/nsight-compute/index.html",
    )
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.INFO, 5)]


# --- Values


def test_units_are_taken_per_cell() -> None:
    page = Long("C")
    units = [("ns", "2,944.00"), ("us", "2.94"), ("usecond", "2.94"), ("ms", "1.00"), ("second", "2.00"), ("", "7")]
    found = table(page.heading, *(page.metric(i, DURATION, unit, value) for i, (unit, value) in enumerate(units)))
    assert found.columns["duration"].tolist() == [2944.0, 2940.0, 2940.0, 1e6, 2e9, 7.0]


@pytest.mark.parametrize("unit", ["byte/s", "inst", "furlong"])
def test_a_unit_of_another_kind_is_no_duration(unit: str) -> None:
    result = read(*ONE, PAGE.metric(1, DURATION, unit, "5"))
    found = result.tables[0]
    assert found.columns["duration"][0] == 2720.0
    assert np.isnan(found.columns["duration"][1])
    assert found.source.reasons["duration"].tolist() == [Missing.PRESENT, Missing.WRONG_UNIT]
    assert [(issue.level, issue.location.line, issue.location.column) for issue in result.issues] == [
        (Level.DATA_LOSS, 3, 15)
    ]
    assert unit in result.issues[0].text


@pytest.mark.parametrize(("cell", "seen"), [("150.00", "1.5"), ("-3.00", "-0.03")])
def test_impossible_values_are_input_errors(cell: str, seen: str) -> None:
    result = read(PAGE.heading, PAGE.metric(0, SM, "%", "12.00"), PAGE.metric(1, SM, "%", cell))
    found = result.tables[0]
    assert found.columns["sm_throughput"][0] == pytest.approx(0.12)
    assert np.isnan(found.columns["sm_throughput"][1])
    assert found.source.reasons["sm_throughput"].tolist() == [Missing.PRESENT, Missing.IMPOSSIBLE]
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, 3)]
    assert f"sm_throughput cannot be {seen}" in result.issues[0].text


@pytest.mark.parametrize(
    ("cell", "reason", "losses"),
    [
        ("n/a", Missing.UNSUPPORTED, 0),
        ("(!) nan", Missing.FAILED, 0),
        ("no data", Missing.FAILED, 0),
        ("", Missing.EMPTY, 0),
        ("32,1,1", Missing.UNPARSABLE, 1),
    ],
)
def test_gaps_keep_their_reason(cell: str, reason: Missing, losses: int) -> None:
    result = read(*ONE, PAGE.metric(1, DURATION, "", cell))
    found = result.tables[0]
    assert np.isnan(found.columns["duration"][1])
    assert found.source.reasons["duration"].tolist() == [Missing.PRESENT, reason]
    assert len([issue for issue in result.issues if issue.level is Level.DATA_LOSS]) == losses


def test_the_preferred_alias_wins_and_the_next_one_fills_its_gaps() -> None:
    fine, coarse = "smsp__issue_active.avg.pct_of_peak_sustained_active", "smsp__issue_active.avg.per_cycle_active"
    found = table(wide({coarse: ["0.04", "0.05"], fine: ["3.891000", "n/a"]}, {fine: "%", coarse: ""}))
    assert found.columns["issue_active"].tolist() == pytest.approx([0.03891, 0.05])
    assert [origin.field for origin in found.source.columns["issue_active"]] == [fine, coarse]
    assert found.source.pick["issue_active"].tolist() == [0, 1]
    assert found.source.locate(1, "issue_active", 4).field == coarse
    assert "issue_active" not in found.source.reasons


def test_names_a_chip_does_not_have_are_passed_over() -> None:
    name = "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"
    hopper = table(wide({name: ["40.0"]}, {name: "%"}, {"CC": "9.0"}))
    blackwell = table(wide({name: ["0.0"]}, {name: "%"}, {"CC": "10.0"}))
    assert hopper.columns["tensor_fp_active"].tolist() == [0.4]
    assert "tensor_fp_active" not in blackwell.columns
    assert name in blackwell.source.available


def test_sums_need_all_their_terms() -> None:
    read_bytes, written = "dram__bytes_read.sum", "dram__bytes_write.sum"
    found = table(wide({read_bytes: ["2.5", "1.0"], written: ["1.5", "n/a"]}, {read_bytes: "Kbyte", written: "Kbyte"}))
    assert found.columns["dram_bytes"][0] == 4000.0
    assert np.isnan(found.columns["dram_bytes"][1])
    assert found.source.reasons["dram_bytes"].tolist() == [Missing.PRESENT, Missing.UNSUPPORTED]
    assert found.source.columns["dram_bytes"][0].field == f"{read_bytes} + {written}"
    assert found.columns["dram_read_bytes"].tolist() == [2500.0, 1000.0]


def test_duration_from_cycles_and_clock() -> None:
    cycles = "gpc__cycles_elapsed.max"
    result = read(wide({cycles: ["3900"], CLOCK: ["1.950000"]}, {cycles: "cycle", CLOCK: "Ghz"}))
    found = result.tables[0]
    assert found.columns["duration"].tolist() == [2000.0]
    assert found.source.columns["duration"][0].field == f"{cycles} / {CLOCK}"
    assert [issue.level for issue in result.issues] == [Level.INFO]
    assert "no duration" in result.issues[0].text


def test_no_duration_is_not_a_duration_of_zero() -> None:
    found = table(PAGE.heading, PAGE.metric(0, SM, "%", "12.00"))
    assert "duration" not in found.columns
    assert "max" not in found.columns


def test_instances_count_as_their_aggregate() -> None:
    found = table(wide({DURATION: ["2.944000 (2.944000)"], "inst_executed": ["1,440 (288; 256)"]}, {DURATION: "us"}))
    assert found.columns["duration"].tolist() == [2944.0]
    assert found.columns["instructions_executed"].tolist() == [1440.0]


def test_cells_with_instances_are_scaled_one_by_one() -> None:
    name = "launch__shared_mem_per_block_dynamic"
    cells = ["0 (0)", "24 (24)", "1.05 (1.05)", "2.000000"]
    found = table(wide({DURATION: ["5"] * 4, name: cells}, {DURATION: "ns", name: "Kbyte/block"}))
    assert found.columns["shared_dynamic"].tolist() == [0.0, 24.0, 1050.0, 2000.0]
    result = read(wide({DURATION: ["5"] * 3, name: ["24 (24)", "1.05 (1.05)", "2.0"]}, {DURATION: "ns", name: "Mbyte"}))
    assert result.tables[0].columns["shared_dynamic"].tolist() == [24.0, pytest.approx(np.nan, nan_ok=True), 2e6]
    assert result.tables[0].source.reasons["shared_dynamic"].tolist() == [0, Missing.WRONG_UNIT, 0]
    assert "Mbyte or less" in result.issues[0].text


def test_long_cells() -> None:
    instances = "; ".join(["1"] * 100_000)
    found = table(wide({DURATION: ["5"], "inst_executed": [f"100,000 ({instances})"]}, {DURATION: "ns"}))
    assert found.columns["instructions_executed"].tolist() == [100_000.0]


def test_a_german_table() -> None:
    found = table(
        PAGE.heading,
        PAGE.metric(0, DURATION, "ns", "117.344"),
        PAGE.metric(0, "dram__bytes.sum", "byte", "27.595.520"),
        PAGE.metric(0, SM, "%", "65,77"),
    )
    assert found.columns["duration"].tolist() == [117_344.0]
    assert found.columns["dram_bytes"].tolist() == [27_595_520.0]
    assert found.columns["sm_throughput"].tolist() == pytest.approx([0.6577])


def test_a_table_that_can_be_read_in_two_ways_is_refused() -> None:
    with pytest.raises(UnrecognizedInput, match=r"117\.344 \(plain\) or 117344 \(dot\)") as caught:
        read(PAGE.heading, PAGE.metric(0, DURATION, "ns", "117.344"))
    assert caught.value.line == 1


def test_columns_nobody_asks_for_may_tell_the_notation() -> None:
    found = table(wide({DURATION: ["1.024"], "some__other_metric": ["1.024.000"]}, {DURATION: "ns"}))
    assert found.columns["duration"].tolist() == [1024.0]


def test_one_ambiguous_table_of_two_is_left_out_with_a_word() -> None:
    other = Long("A0")
    result = read(*ONE, other.heading, other.metric(0, DURATION, "ns", "117.344"))
    assert len(result.tables) == 1
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, 3)]


def test_places_lead_back_to_the_cells() -> None:
    page = Long("C+N", {"Kernel Name": 'f<"x,y">'})
    rows = [page.heading, "noise", *(page.metric(i, DURATION, "ns", str(100 + i)) for i in range(3))]
    found = table(*rows)
    for row in range(3):
        place = found.source.locate(row, "duration", int(found.columns["line"][row]))
        record = next(csv.reader([rows[(place.line or 0) - 1]]))
        assert float(record[(place.column or 0) - 1]) == found.columns["duration"][row]


# --- NVTX, devices, vendor findings


@pytest.mark.parametrize(
    ("cell", "thread", "names"),
    [
        ("", -1, ""),
        ('963  "<default domain>:step 1:none:none:none:none:none:none" ', 963, "step 1"),
        (
            '12  "<default domain>:run:none:none:RGB:0xff00ff00:ASCII:run"  "t:aten::add:none:none:none:none:ASCII:x" ',
            12,
            "run/aten::add",
        ),
        ('12  "CCCL:cub::Reduce:UINT64:8:ARGB:0xff00ff00:REGISTERED:cub::Reduce"', 12, "cub::Reduce"),
    ],
)
def test_nvtx_ranges(cell: str, thread: int, names: str) -> None:
    page = Long("C+N")
    heading = page.headings[4]
    found = table(page.heading, page.metric(0, DURATION, "ns", "1", **{heading: cell}))
    assert found.columns["thread"].tolist() == [thread]
    assert found.columns["nvtx"].tolist() == [names]


def test_devices_of_a_raw_page() -> None:
    text = wide(
        {
            DURATION: ["1"],
            "device__attribute_display_name": ["NVIDIA H200"],
            "device__attribute_multiprocessor_count": ["132"],
            "device__attribute_max_gpu_frequency_khz": ["1,980,000"],
            "device__attribute_max_mem_frequency_khz": ["3,201,000"],
            "device__attribute_fb_bus_width": ["6,016"],
        },
        {DURATION: "ns"},
    )
    (device,) = table(text).devices
    assert (device.index, device.name, device.cc, device.sm_count) == (0, "NVIDIA H200", 9.0, 132)
    assert device.sm_clock_hz == 1.98e9
    assert device.memory_bandwidth == pytest.approx(4.814e12, rel=1e-3)  # the data sheet says 4.8 TB/s
    assert device.location is not None
    assert (device.location.line, device.location.column) == (3, 13)


def test_devices_of_a_details_page() -> None:
    page = Long("C")
    section = {"Section Name": "Launch Statistics"}
    found = table(
        page.heading,
        page.metric(0, "# SMs", "SM", "132", **section),
        page.metric(1, "# SMs", "SM", "40", Device="1", CC="7.5", **section),
    )
    assert [(d.index, d.name, d.cc, d.sm_count) for d in found.devices] == [(0, "", 9.0, 132), (1, "", 7.5, 40)]


def test_vendor_findings() -> None:
    page = Long("C")
    rule = {"Rule Name": "Occupancy", "Rule Type": "OPT", "Rule Description": "Est. 34%", "Section Name": "Occupancy"}
    found = table(
        page.heading,
        page.metric(3, DURATION, "ns", "1,000"),
        page.metric(4, DURATION, "ns", "1,000"),
        page.rule(4, **rule, **{"Estimated Speedup Type": "local", "Estimated Speedup": "34.50"}),
        page.rule(4, **{**rule, "Rule Type": "INF"}),
    )
    first, second = found.vendor
    assert (first.tool, first.rule, first.kind, first.text) == ("ncu", "Occupancy", "OPT", "Est. 34%")
    assert (first.section, first.kernel, first.row, first.scope) == ("Occupancy", "k(int)", 1, "local")
    assert first.estimated_speedup == pytest.approx(0.345)
    assert (first.location.line, first.location.column) == (4, 18)
    assert (second.kind, second.scope, second.estimated_speedup) == ("INF", "", None)


def test_a_launch_with_nothing_but_a_rule_is_a_launch() -> None:
    page = Long("A1")
    found = table(page.heading, page.rule(0, **{"Rule Name": "SOLFPRoofline", "Rule Type": "INF"}))
    assert len(found) == 1
    assert found.vendor[0].row == 0


# --- Errors


@pytest.mark.parametrize(
    ("lines", "error", "words", "at"),
    [
        (["out", "==ERROR== ERR_NVGPUCTRPERM - no permission"], EmptyInput, "NVreg_RestrictProfilingToAdminUsers=0", 2),
        (["==WARNING== No kernels were profiled."], EmptyInput, "--target-processes all", 1),
        (["==ERROR== The application returned an error code (1)."], EmptyInput, "error code", 1),
        (["x", "==PROF== Connected to process 1"], EmptyInput, "--csv", 2),
        ([ONE[0]], EmptyInput, "without launches", 1),
        ([ONE[0], ONE[1][:-4]], EmptyInput, "cut", 2),
        (["Launch Settings", '"Launch Attribute","Value"'], UnrecognizedInput, "session page", 2),
        (['"Kernel Name","k",', '"Address","Source","# Samples"'], UnrecognizedInput, "source page", 1),
        (
            [line(["Process ID", "Kernel Name", "Invocations", "Metric Name", "Minimum", "Maximum", "Average"])],
            UnrecognizedInput,
            "--print-summary",
            1,
        ),
        (["nothing of the kind"], UnrecognizedInput, "nothing of the kind", 1),
    ],
)
def test_unusable_inputs_say_why(lines: list[str], error: type[InputError], words: str, at: int) -> None:
    with pytest.raises(error) as caught:
        read(*lines)
    assert words in str(caught.value)
    assert caught.value.line == at
    if "page" in words or "summary" in words:
        assert "--page raw" in str(caught.value)


def test_other_pages_behind_a_table_are_left_out_with_a_word() -> None:
    result = read(*ONE, '"Kernel Name","k",', '"Address","Source"', '"0x10","MOV R1"', '"0x20","EXIT"')
    assert len(result.tables) == 1
    assert [(issue.level, issue.text) for issue in result.issues] == [(Level.INFO, "source page left out")]


def test_sniffing() -> None:
    assert sniff("\n".join(ONE)) > 0.9
    assert sniff("program output\n" * 1000 + "\n".join(ONE)) > 0.9
    assert sniff(",ID,Kernel Name,Metric Name,Metric Value\n0,0,k,a,1\n") > 0.9
    assert 0 < sniff('"Kernel Name","k",\n"Address","Source"') < 0.9
    assert 0 < sniff("==PROF== Connected to process 1\n") < 0.5
    assert sniff('"Time (%)","Total Time (ns)","Instances","Avg (ns)","Name"\n') == 0
    assert sniff("Kernel Name, ID\n") == 0
    assert ncu_csv.sniff(from_bytes("t", b'NVR\x00"ID","Process ID","Kernel Name","Metric Value"')) == 0
