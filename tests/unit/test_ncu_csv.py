"""Tables of ``ncu --csv``: every layout is read, and what cannot be says why."""

from __future__ import annotations

import numpy as np
import pytest

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.missing import Missing
from nsight_insight.readers import ncu_csv
from nsight_insight.readers.text import from_bytes
from tests.unit.make_ncu import CLOCK, DURATION, HEADINGS, ONE, PAGE, SM, SOL, Long, line, read, table, wide


def sniff(text: str) -> float:
    return ncu_csv.sniff(from_bytes("t", text.encode()))


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
