"""``--print-summary`` as CSV: averages of launches, in every layout, and the one that ncu shifts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nsight_insight.api import analyze, load
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.model.profile import ReadResult, Table
from nsight_insight.readers import ncu_summary, read
from nsight_insight.readers.text import from_bytes, open_path
from nsight_insight.views.build import build
from tests.paths import CORPUS, FIXTURES
from tests.unit.make_ncu import line, wide

CLI = CORPUS / "ncu" / "cli"
VALUES = ["Metric Name", "Metric Unit", "Minimum", "Maximum", "Average"]
NEW = ["Process ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size", "Device", "CC",
       "Invocations", "Section Name", *VALUES]  # fmt: skip
SOL = "GPU Speed Of Light Throughput"


def row(metric: str, unit: str, low: str, high: str, mean: str, *, kernel: str = "k(int)", count: str = "4") -> str:
    identity = ["963", "python3", "127.0.0.1", kernel, "(64, 1, 1)", "(8, 2, 1)", "0", "9.0", count, SOL]
    return line([*identity, metric, unit, low, high, mean])


def read_lines(*lines: str) -> ReadResult:
    return ncu_summary.read(from_bytes("s.csv", "\n".join([*lines, ""]).encode()))


def table(*lines: str) -> Table:
    result = read_lines(*lines)
    assert not result.issues, result.issues
    return result.tables[0]


ONE = (
    line(NEW),
    row("Duration", "us", "1.00", "5.00", "2.50"),
    row("Memory Throughput", "%", "10.00", "30.00", "20.00"),
)


def test_one_row_stands_for_all_launches() -> None:
    found = table(*ONE)
    values = {name: found.columns[name][0] for name in ("count", "duration", "min", "avg", "max", "memory_throughput")}
    assert values == {"count": 4, "duration": 10_000.0, "min": 1000.0, "avg": 2500.0, "max": 5000.0,
                      "memory_throughput": 0.2}  # fmt: skip
    assert [found.columns[name][0] for name in ("grid_x", "grid_y", "block_x", "device", "cc")] == [8, 2, 64, 0, 9.0]
    assert np.isnan(found.columns["median"]).all()
    place = found.source.locate(0, "memory_throughput", int(found.columns["line"][0]))
    assert (place.line, place.column) == (3, NEW.index("Average") + 1)


def test_layout_of_2020() -> None:
    headings = ["Process ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size", "Device Id",
                "Invocations", "Section Name", *VALUES]  # fmt: skip
    cells = ["963", "p", "h", "k(int)", "256", "16384", "2", "3", SOL, "gpu__time_duration.sum", "usecond"]
    found = table(line(headings), line([*cells, "1.000000", "3.000000", "2.000000"]))
    assert [found.columns[name][0] for name in ("grid_x", "grid_y", "block_x", "device")] == [16384, 1, 256, 2]
    assert found.columns["duration"].tolist() == [6000.0]


def test_short_layout_without_shapes() -> None:
    headings = ["Process ID", "Kernel Name", "Invocations", "Section Name", *VALUES]
    found = table(line(headings), line(["1", "k", "2", SOL, "Duration", "us", "1.00", "3.00", "2.00"]))
    assert found.columns["duration"].tolist() == [4000.0]
    assert np.isnan(found.columns["grid_x"]).all()


def test_ranges_tell_rows_apart() -> None:
    headings = ["Domain", "Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg", "Kernel Name", "Block Size",
                "Grid Size", "Device", "CC", "Invocations", "Section Name", *VALUES]  # fmt: skip

    def ranged(domain: str, name: str) -> str:
        cell = f' "step:none:none:RGB:0xff00ff00:ASCII:step"  "{name}:none:none:none:none:none:none" '
        cells = [domain, cell, "k", "(1, 1, 1)", "(1, 1, 1)", "0", "9.0", "1", SOL, "Duration", "us"]
        return line([*cells, "1.00", "1.00", "1.00"])

    found = table(line(headings), ranged("<default domain>", "a:b"), ranged("<default domain>", "c"))
    assert found.columns["nvtx"].tolist() == ["step/a:b", "step/c"]
    result = read_lines(line(headings), ranged("<default domain>", "a"), ranged("other", "c"))
    assert [(issue.level, "counted in each" in issue.text) for issue in result.issues] == [(Level.INFO, True)]


def test_shifted_rows_are_refused_with_the_reason() -> None:
    headings = ["Process ID", "Process Name", "Host Name", "Device", "CC", "Kernel Name", "Block Size", "Grid Size",
                "Invocations", *VALUES]  # fmt: skip
    shifted = ["0", "", "", "", "", "device__attribute_architecture", "", "", "", "368", "0", "", "", ""]
    with pytest.raises(UnrecognizedInput, match="do not fit the heading"):
        read_lines(line(headings), line(shifted))


def test_damage_and_refusal() -> None:
    result = read_lines(*ONE, '"963","p"', "noise", '==WARNING== "x"')
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, 4)]
    assert result.tables[0].source.banners == ('==WARNING== "x"',)
    with pytest.raises(EmptyInput, match="without kernels"):
        read_lines(line(NEW))
    with pytest.raises(UnrecognizedInput, match="no summary"):
        read_lines("hello")


def test_rates_are_those_of_one_launch(tmp_path: Path) -> None:
    """The same ten launches as a summary and one by one lead to the same rates and times."""
    rates = {"sm__ops_path_tensor_src_fp16.sum": ("", "1000000"), "gpu__time_duration.sum": ("us", "2.00")}
    summary = [line(NEW), *(row(name, unit, cell, cell, cell, count="10") for name, (unit, cell) in rates.items())]
    (tmp_path / "s.csv").write_text("\n".join(summary))
    cells = {name: [cell] * 10 for name, (_, cell) in rates.items()}
    shape = {"Kernel Name": "k(int)", "Block Size": "(64, 1, 1)", "Grid Size": "(8, 2, 1)"}
    (tmp_path / "r.csv").write_text(wide(cells, {name: unit for name, (unit, _) in rates.items()}, shape))
    for scope in ("launch", "kernel"):
        one, many = (build(load(tmp_path / name), scope) for name in ("s.csv", "r.csv"))
        assert one.time.sum() == pytest.approx(many.time.sum()) == pytest.approx(20e-6)
        assert one.launches.sum() == many.launches.sum() == 10
        (rate,) = set(many.values["tensor_flops_rate"].tolist())
        assert rate > 0
        np.testing.assert_allclose(one.values["tensor_flops_rate"], rate)
    assert build(load(tmp_path / "s.csv"), "launch").values["duration"].tolist() == [20e-6]


def test_a_summary_beside_its_launches_counts_once(tmp_path: Path) -> None:
    raw = wide({"gpu__time_duration.sum": ["2.000000", "3.000000"]}, {"gpu__time_duration.sum": "us"},
               {"Kernel Name": "k(int)", "Block Size": "(64, 1, 1)", "Grid Size": "(8, 2, 1)"})  # fmt: skip
    (tmp_path / "r.csv").write_text(raw)
    mean = row("Duration", "us", "2.00", "3.00", "2.50", count="2")
    (tmp_path / "s.csv").write_text("\n".join([line(NEW), mean]))
    (tmp_path / "t.csv").write_text("\n".join([line(NEW), mean.replace('"k(int)"', '"m(int)"')]))
    assert load(tmp_path / "r.csv", tmp_path / "s.csv").activities["primary"].tolist() == [True, True, False]
    assert load(tmp_path / "r.csv", tmp_path / "t.csv").activities["primary"].tolist() == [True, True, True]
    assert load(tmp_path / "s.csv", tmp_path / "t.csv").activities["primary"].tolist() == [True, True]


@pytest.mark.skipif(not CLI.exists(), reason="published files absent")
@pytest.mark.parametrize("year", [2020, 2022, 2024])
@pytest.mark.parametrize("kind", ["per-gpu", "per-kernel", "per-nvtx"])
def test_published_summaries_agree_with_the_launches(kind: str, year: int) -> None:
    (summary,) = read(open_path(CLI / f"nvtx_summary_{kind}_details_cli{year}.csv")).tables
    (details,) = read(open_path(CLI / f"nvtx_details_cli{year}.csv")).tables
    order = np.argsort(summary.columns["name"].astype(str)), np.argsort(details.columns["name"].astype(str))
    assert summary.columns["count"].tolist() == [1, 1, 1]
    common = [name for name in details.source.columns if details.columns[name].dtype.kind == "f" and name != "cc"]
    assert len(common) > 25
    for name in common:
        np.testing.assert_allclose(
            summary.columns[name][order[0]], details.columns[name][order[1]], rtol=0.004, atol=6e-5, err_msg=name
        )
    if kind == "per-nvtx":
        assert set(summary.columns["nvtx"]) == set(details.columns["nvtx"])


@pytest.mark.skipif(not CLI.exists(), reason="published files absent")
@pytest.mark.parametrize("kind", ["per-gpu", "per-nvtx"])
def test_text_and_csv_say_the_same(kind: str) -> None:
    (csv,) = read(open_path(CLI / f"nvtx_summary_{kind}_details_cli2024.csv")).tables
    (text,) = read(open_path(CLI / f"nvtx_summary_{kind}_cli2024.txt")).tables
    assert csv.columns.keys() - {"process"} <= text.columns.keys()
    for name in csv.columns.keys() - {"line"}:
        np.testing.assert_array_equal(text.columns[name], csv.columns[name], name)


def test_findings_do_not_depend_on_the_summary(tmp_path: Path) -> None:
    """A summary made of the capture's launches gives the findings of the launches."""
    raw = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
    frame = load(raw).activities
    frame = frame[frame["name"].map(list(frame["name"]).count) == 1]
    assert len(frame) >= 5
    metrics = {
        "gpu__time_duration.sum": ("duration", "ns"),
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("sm_throughput", "%"),
    }
    rows = [line(NEW)]
    for _, launch in frame.iterrows():
        for metric, (name, unit) in metrics.items():
            value = f"{launch[name] * (100 if unit == '%' else 1):.6f}"
            identity = ["963", "p", "h", launch["name"], f"({int(launch['block_x'])}, 1, 1)",
                        f"({int(launch['grid_x'])}, {int(launch['grid_y'])}, 1)", "0", "9.0", "1", ""]  # fmt: skip
            rows.append(line([*identity, metric, unit, value, value, value]))
    (tmp_path / "s.csv").write_text("\n".join(rows))
    profile = load(tmp_path / "s.csv")
    np.testing.assert_allclose(profile.activities["duration"], frame["duration"])
    np.testing.assert_allclose(profile.activities["sm_throughput"], frame["sm_throughput"])
    assert profile.activities["base"].tolist() == frame["base"].tolist()
    assert analyze(profile).totals.kernel_ns == pytest.approx(frame["duration"].sum())


def test_a_real_summary_is_the_mean_of_its_launches() -> None:
    """Against the raw page of the same report: as many launches, and their mean to the digits printed."""
    summary = load(FIXTURES / "ncu-summary/2025.3.1-h200-amp/details-per-kernel.csv").activities
    raw = load(FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw.csv").activities
    shape = ["name", "grid_x", "grid_y", "block_x"]
    launches = raw.groupby(shape)
    assert len(summary) == 10
    for row in summary.itertuples():
        own = launches.get_group(tuple(getattr(row, name) for name in shape))
        assert row.count == len(own)
        for name, unit in (("duration", 1000.0), ("sm_throughput", 0.01), ("achieved_occupancy", 0.01)):
            mean = own[name].mean() * (row.count if name == "duration" else 1)
            assert getattr(row, name) == pytest.approx(
                mean, abs=0.011 * unit * (row.count if name == "duration" else 1)
            )
