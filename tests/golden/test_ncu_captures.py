"""Real output of ncu, checked against what the standard library's csv module finds in the same files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.golden.ncu_cells import (
    OTHER_NAME,
    SHAPES,
    cell_at,
    cells,
    metrics_of,
    plain,
    read,
    records,
    resolution,
    scale_of,
    table,
)
from tests.paths import CAPTURES, FIXTURES

FOLDER = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp"
WHOLE = CAPTURES / "h200-amp" / "ncu"
FOLDERS = [FOLDER, pytest.param(WHOLE, marks=pytest.mark.skipif(not WHOLE.exists(), reason="whole captures absent"))]


# --- Totals and identities


@pytest.mark.parametrize(("name", "total"), [("raw.csv", 296_832.0), ("raw_fp32.csv", 570_688.0)])
def test_all_launches_and_their_time(name: str, total: float) -> None:
    path = FOLDER / name
    found = table(path)
    units, *rows = records(path)
    assert units["gpu__time_duration.sum"] == "us"
    assert len(found) == len(rows) == 60
    assert found.columns["duration"].tolist() == pytest.approx([plain(r["gpu__time_duration.sum"]) * 1e3 for r in rows])
    assert found.columns["duration"].sum() == total
    assert all(float(value).is_integer() for value in found.columns["duration"])
    assert found.columns["name"].tolist() == [row["Kernel Name"] for row in rows]
    assert not read(path).issues


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", ["raw.csv", "details.csv", "details_fp32.csv", "raw_mangled_fp.csv"])
def test_identity_cells(folder: Path, name: str) -> None:
    path = folder / name
    found = table(path)
    launches = {row["ID"]: row for row in reversed(list(records(path))) if row["ID"]}
    for row, launch in enumerate(found.columns["correlation"]):
        written = launches[str(launch)]
        assert found.columns["name"][row] == written["Kernel Name"]
        for size, name in (("Block Size", "block"), ("Grid Size", "grid")):
            x, y, z = (int(found.columns[f"{name}_{axis}"][row]) for axis in "xyz")
            assert f"({x}, {y}, {z})" == written[size]
        assert (found.columns["process"][row], found.columns["stream"][row]) == (int(written["Process ID"]), 7)
    assert set(found.columns["nvtx"]) <= {f"step 1/{part}" for part in ("forward", "backward", "optimizer")}
    assert set(found.columns["thread"]) == set(found.columns["process"])
    assert set(found.columns["cc"]) == {9.0}


def test_live_run_loses_no_launch() -> None:
    path = FOLDER / "live_mixed.csv"
    found = table(path)
    text = path.read_text(encoding="utf-8")
    ids = {int(number) for number in re.findall(r'^"(\d+)","5458",', text, re.MULTILINE)}
    assert set(found.columns["correlation"].tolist()) == ids
    assert len(ids) == 40
    for column, metric in (("duration", "gpu__time_duration.sum"), ("dram_bytes", "dram__bytes.sum")):
        numbers = re.findall(rf'"{re.escape(metric)}","(?:ns|byte)","([\d,]+)"', text)
        assert found.columns[column].tolist() == [plain(number) for number in numbers]
    assert found.source.banners[0].startswith("==WARNING== Note: Running with unmodified GPU clocks.")


def test_device() -> None:
    (device,) = table(FOLDER / "raw.csv").devices
    assert (device.index, device.name, device.cc, device.sm_count) == (0, "NVIDIA H200", 9.0, 132)
    assert device.sm_clock_hz == 1.98e9
    assert device.memory_bandwidth == pytest.approx(4.8e12, rel=0.01)
    (details,) = table(FOLDER / "details.csv").devices
    assert (details.name, details.cc, details.sm_count) == ("", 9.0, 132)


@pytest.mark.parametrize("folder", FOLDERS)
def test_vendor_findings_are_all_there(folder: Path) -> None:
    path = folder / "details.csv"
    found = table(path)
    rules = [row for row in records(path) if row.get("Rule Name")]
    assert len(found.vendor) == len(rules) > 200
    for finding, row in zip(found.vendor, rules, strict=True):
        assert finding.row is not None
        assert (finding.rule, finding.kind, finding.text) == (
            row["Rule Name"],
            row["Rule Type"],
            row["Rule Description"],
        )
        assert (finding.section, finding.scope) == (row["Section Name"], row["Estimated Speedup Type"])
        assert found.columns["correlation"][finding.row] == int(row["ID"])
        speedup = row["Estimated Speedup"]
        assert finding.estimated_speedup == (pytest.approx(float(speedup) / 100) if speedup else None)
        place = finding.location
        assert cells(path, place.line or 0)[(place.column or 0) - 1] == finding.text


# --- Values


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(
    "name",
    [
        "raw.csv",
        "raw_base.csv",
        "raw_mangled_fp.csv",
        "raw_instances.csv",
        "raw_fp32.csv",
        "details.csv",
        "details_fp32.csv",
        "details_all-first-kernels.csv",
        "live_mixed.csv",
    ],
)
def test_every_number_is_in_the_cell_it_claims(folder: Path, name: str) -> None:
    path = folder / name
    found = table(path)
    checked = 0
    for column in metrics_of(found):
        for row, value in enumerate(found.columns[column]):
            if np.isnan(value):
                assert found.source.reasons[column][row]
                continue
            text, unit = cell_at(path, found, row, column)
            assert value == pytest.approx(plain(text) * scale_of(column, found, unit), rel=1e-12), (column, row, text)
            checked += 1
    assert checked >= len(found) * 3
    for row in range(len(found)):
        for column in SHAPES:
            text, _ = cell_at(path, found, row, column)
            assert int(found.columns[column][row]) in map(int, re.findall(r"\d+", text))


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", ["raw_base.csv", "raw_mangled_fp.csv", "raw_instances.csv", "details.csv"])
def test_pages_of_one_report_agree_within_what_they_print(folder: Path, name: str) -> None:
    first, other = folder / "raw.csv", folder / name
    raw, page = table(first), table(other)
    common = [column for column in metrics_of(page) if column not in OTHER_NAME or name != "details.csv"]
    assert set(common) <= set(raw.source.columns)
    assert len(common) >= (40 if name == "details.csv" else 100)
    for column in common:
        for row in range(len(page)):
            value, expected = page.columns[column][row], raw.columns[column][row]
            allowed = resolution(first, raw, row, column) + resolution(other, page, row, column)
            assert abs(value - expected) <= allowed * (1 + 1e-9) + 1e-12 * abs(expected), (column, row)
    for column in set(page.source.columns) - set(common) - {"name", *OTHER_NAME}:
        assert page.columns[column].tolist() == raw.columns[column][: len(page)].tolist(), column


def test_mangled_names_stay_as_written() -> None:
    names = table(FOLDER / "raw_mangled_fp.csv").columns["name"].tolist()
    assert names[0].startswith("_ZN2at6native18elementwise_kernel")
    assert names != table(FOLDER / "raw.csv").columns["name"][: len(names)].tolist()


def test_details_with_labels_and_names_agree_with_the_raw_page() -> None:
    path, first = FOLDER / "details_all-first-kernels.csv", FOLDER / "raw.csv"
    page, raw = table(path), table(first)
    compared = 0
    for column in metrics_of(page):
        name = page.source.columns[column][0].field.rpartition("(")[2].rstrip(")")
        if name not in {origin.field for origin in raw.source.columns[column]}:
            continue
        allowed = resolution(first, raw, 0, column) + resolution(path, page, 0, column)
        assert abs(page.columns[column][0] - raw.columns[column][0]) <= allowed * (1 + 1e-9), column
        compared += 1
    assert compared > 60
