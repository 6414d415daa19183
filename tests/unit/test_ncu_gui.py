"""Tables of the Nsight Compute GUI, made from a capture's raw page the way the GUI shows it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nsight_insight.api import analyze, load
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.profile import Table
from nsight_insight.readers import ncu_csv, ncu_gui, read
from nsight_insight.readers.text import from_bytes, open_path
from tests.tools.make_ncu_gui import FOLDER, RAW, as_shown, export, files, gui


def table_of(data: bytes) -> Table:
    result = read(from_bytes("g.csv", data))
    assert not result.issues, result.issues
    assert result.tables[0].source.reader == "ncu_gui"
    return result.tables[0]


TRANSPOSED = gui(20)
AS_SHOWN = as_shown(TRANSPOSED)


def test_the_fixtures_are_what_the_generator_makes() -> None:
    for name, content in files().items():
        assert (FOLDER / name).read_bytes() == content
        assert len(table_of(content)) == 6


@pytest.mark.parametrize("rows", [TRANSPOSED, AS_SHOWN], ids=["transposed", "as shown"])
def test_values_are_those_of_the_raw_page_to_two_decimals(rows: list[list[str]]) -> None:
    mine = table_of(export(rows))
    (other,) = ncu_csv.read(open_path(RAW)).tables
    assert len(mine) == 20
    for name in ("name", "correlation", "process", "context", "stream", "device", "grid_x", "grid_y", "block_x", "cc"):
        np.testing.assert_array_equal(mine.columns[name], other.columns[name][:20], name)
    for name in ("duration", "sm_throughput", "registers", "elapsed_cycles", "achieved_occupancy", "stall_wait"):
        unit = {"duration": 1000.0, "sm_throughput": 0.01, "achieved_occupancy": 0.01}.get(name, 1.0)
        np.testing.assert_allclose(mine.columns[name], other.columns[name][:20], atol=0.0051 * unit, err_msg=name)
    assert other.source.columns.keys() - mine.source.columns.keys() <= {"nvtx", "thread", "cc"}
    assert [(d.name, d.sm_count) for d in mine.devices] == [("NVIDIA H200", 132)]


def test_both_layouts_say_the_same() -> None:
    first, second = table_of(export(TRANSPOSED)), table_of(export(AS_SHOWN, "\t"))
    assert first.columns.keys() == second.columns.keys()
    for name in first.columns.keys() - {"line"}:
        np.testing.assert_array_equal(first.columns[name], second.columns[name], name)


@pytest.mark.parametrize("rows", [TRANSPOSED, AS_SHOWN], ids=["transposed", "as shown"])
def test_values_stand_where_their_location_says(rows: list[list[str]]) -> None:
    found = table_of(export(rows))
    for launch in (0, 7, 19):
        for name in ("duration", "sm_throughput", "grid_x"):
            place = found.source.locate(launch, name, int(found.columns["line"][launch]))
            cell = rows[(place.line or 0) - 1][(place.column or 0) - 1]
            label = next(row for row in TRANSPOSED if row[0] == place.field)
            assert cell == label[launch + 1]


def test_findings_are_those_of_the_raw_page(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_bytes(export(gui(60)))
    mine, other = (analyze(load(path)) for path in (tmp_path / "g.csv", RAW))
    assert [finding.rule for finding in mine.findings] == [finding.rule for finding in other.findings]
    both = load(tmp_path / "g.csv", RAW)
    assert int(both.activities["primary"].sum()) == 60


def test_the_notation_of_the_user() -> None:
    rows = [["ID", "0"], ["Function Name", "k"], ["Device Name", "NVIDIA A"], ["gpu__time_duration.sum [ms]", "3,66"],
            ["gpc__cycles_elapsed.max [cycle]", "6.838.625"]]  # fmt: skip
    assert table_of(export(rows, ";")).columns["elapsed_cycles"].tolist() == [6_838_625.0]
    rows[3][1], rows[4][1] = "3.66", "68,38,625"
    found = table_of(export(rows))
    assert (found.columns["elapsed_cycles"][0], found.columns["duration"][0]) == (6_838_625.0, 3_660_000.0)


def test_summary_page() -> None:
    rows = [
        ["ID", "Estimated Speedup [%]", "Function Name", "Demangled Name", "Duration [us]", "Compute Throughput [%]",
         "Memory Throughput [%]", "# Registers [register/thread]", "Grid Size", "Block Size [block]", "Cycles [cycle]"],
        ["0", "43.03", "k", "k(int, f..", "2.94", "12.50", "0.56", "40", "  4, 1,  1", " 128, 1, 1", "5,760"],
        ["1", "0", "k", "k(int, f..", "1,002.94", "12.50", "0.56", "40", "  4, 1,  1", " 128, 1, 1", "5,760"],
    ]  # fmt: skip
    found = table_of(export(rows))
    assert found.columns["duration"].tolist() == [2940.0, 1_002_940.0]
    assert found.columns["sm_throughput"].tolist() == [0.125, 0.125]
    assert found.columns["registers"].tolist() == [40.0, 40.0]
    assert found.columns["name"].tolist() == ["k", "k"]
    assert found.columns["elapsed_cycles"].tolist() == [5760.0, 5760.0]


def test_names_kinds_and_instances() -> None:
    rows = [
        ["ID", "0", "1"],
        ["Function Name", "k", "range"],
        ["Mangled Name", "_Z1kPfi", ""],
        ["Demangled Name", "k(float ..", "range"],
        ["Result Type", "Kernel: SIMT", "Range: Application"],
        ["gpu__time_duration.sum [us]", "2.94 {3}", "{2040}"],
    ]
    found = table_of(export(rows))
    assert found.columns["name"].tolist() == ["_Z1kPfi", "range"]
    assert found.columns["kind"].tolist() == ["kernel", "range"]
    assert found.columns["duration"][0] == 2940.0
    assert np.isnan(found.columns["duration"][1])


def test_nothing_of_the_process_but_its_number_is_kept() -> None:
    assert "somebody" not in repr(table_of(export(TRANSPOSED)))


def test_damage_and_refusal() -> None:
    rows = gui(2)
    rows.insert(30, ["cut", "1", "2", "3"])
    width = max(map(len, rows))
    assert width == 4
    with pytest.raises(EmptyInput):
        ncu_gui.read(from_bytes("g.csv", export([AS_SHOWN[0]])))
    broken = AS_SHOWN[:4]
    broken.insert(2, ["1", "cut"])
    result = ncu_gui.read(from_bytes("g.csv", export(broken)))
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, 3)]
    assert len(result.tables[0]) == 3
    with pytest.raises(UnrecognizedInput, match="no table of the Nsight Compute GUI"):
        ncu_gui.read(from_bytes("g.csv", b"a,b\n1,2\n"))
    assert ncu_gui.sniff(open_path(RAW)) == 0.0
