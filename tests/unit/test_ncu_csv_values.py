"""Cells of ``ncu --csv`` as values, devices and findings."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from nsight_insight.errors import UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.missing import Missing
from tests.unit.make_ncu import CLOCK, DURATION, ONE, PAGE, SM, Long, read, table, wide


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
