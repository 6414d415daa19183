"""The details page as text of a real capture, against the same launches as CSV."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from nsight_insight.api import analyze, load
from nsight_insight.model.profile import Table, VendorFinding
from nsight_insight.readers import ncu_csv, ncu_text
from nsight_insight.readers.text import open_path
from tests.golden.ncu_cells import IDENTITY, SHAPES, plain, scale_of
from tests.paths import CAPTURES, CORPUS, FIXTURES

NAME = "2025.3.1-h200-amp"
TEXT, CSV = FIXTURES / "ncu-text" / NAME / "details.txt", FIXTURES / "ncu-csv" / NAME / "details.csv"
WHOLE = CAPTURES / "h200-amp" / "ncu"
CLI = CORPUS / "ncu" / "cli"
PAIRS = [
    (TEXT, CSV),
    pytest.param(
        WHOLE / "details.txt",
        WHOLE / "details.csv",
        marks=pytest.mark.skipif(not WHOLE.exists(), reason="whole captures absent"),
    ),
]
PUBLISHED = [
    *((f"gtx1650_details_cli{year}.txt", f"gtx1650_details_base_cli{year}.csv") for year in (2020, 2022, 2024)),
    ("gtx1650_details_de_DE_cli2024.txt", "gtx1650_details_base_cli2024.csv"),
    ("gtx1650_raw_cli2024.txt", "gtx1650_raw_base_cli2024.csv"),
    *((f"nvtx_details_cli{year}.txt", f"nvtx_details_cli{year}.csv") for year in (2020, 2022, 2024)),
]


@lru_cache(maxsize=32)
def page(path: Path) -> Table:
    reader = ncu_text if path.suffix == ".txt" else ncu_csv
    (table,) = reader.read(open_path(path)).tables
    return table


def advice(finding: VendorFinding) -> tuple[object, ...]:
    """A rule result; wrapping costs repeated blanks."""
    text = " ".join(finding.text.split())
    kind = {"OK": "INF"}.get(finding.kind, finding.kind)
    return finding.row, finding.rule, kind, finding.section, finding.scope, finding.estimated_speedup, text


@pytest.mark.parametrize(("text", "csv"), PAIRS)
def test_columns_equal_those_of_the_csv(text: Path, csv: Path) -> None:
    mine, other = page(text), page(csv)
    assert mine.columns.keys() == other.columns.keys()
    assert len(mine) == len(other) >= 20
    for name in mine.columns.keys() - {"line"}:
        np.testing.assert_array_equal(mine.columns[name], other.columns[name], name)
    assert not ncu_text.read(open_path(text)).issues
    assert mine.devices[0].sm_count == other.devices[0].sm_count == 132


@pytest.mark.parametrize(("text", "csv"), PAIRS)
def test_rule_results_equal_those_of_the_csv(text: Path, csv: Path) -> None:
    mine, other = page(text).vendor, page(csv).vendor
    assert len(mine) > 200
    assert sorted(map(advice, mine), key=repr) == sorted(map(advice, other), key=repr)


def test_findings_equal_those_of_the_csv() -> None:
    mine, other = (analyze(load(path)) for path in (TEXT, CSV))
    assert len(other.findings) >= 2
    assert [(f.rule, f.subject.members[0].key, f.saving, f.confidence) for f in mine.findings] == [
        (f.rule, f.subject.members[0].key, f.saving, f.confidence) for f in other.findings
    ]
    assert [gap.rule for gap in mine.not_evaluated] == [gap.rule for gap in other.not_evaluated]


def test_both_forms_of_a_page_count_once() -> None:
    both, one = load(TEXT, CSV), load(CSV)
    assert int(both.activities["primary"].sum()) == len(one.activities) == 20
    assert len(both.vendor) == len(one.vendor)


def test_every_number_is_in_the_cell_it_claims() -> None:
    found = page(TEXT)
    lines = TEXT.read_text(encoding="utf-8").split("\n")
    checked = 0
    for name in found.source.columns.keys() - set(SHAPES) - set(IDENTITY):
        for row, value in enumerate(found.columns[name]):
            if np.isnan(value):
                continue
            place = found.source.locate(row, name, int(found.columns["line"][row]))
            line = lines[(place.line or 0) - 1]
            cell, label = line[(place.column or 0) - 1 :], place.field.partition(" + ")[0].partition(" / ")[0]
            assert line.startswith(f"    {label} ")
            unit = line[len(label) + 4 : (place.column or 0) - 1].strip()
            assert value == pytest.approx(plain(cell) * scale_of(name, found, unit), rel=1e-12), (name, row)
            checked += 1
    assert checked > 500
    for finding in found.vendor:
        place = finding.location
        assert lines[(place.line or 0) - 1][4:7] == finding.kind


@pytest.mark.skipif(not CLI.exists(), reason="published files absent")
@pytest.mark.parametrize(("text", "csv"), PUBLISHED)
def test_pages_of_2020_to_2024_equal_their_csv(text: str, csv: str) -> None:
    mine, other = page(CLI / text), page(CLI / csv)
    assert mine.columns.keys() == other.columns.keys()
    for name in mine.columns.keys() - {"line"}:
        expected = other.columns[name][: len(mine)]
        if expected.dtype.kind == "f":
            # Three digits at least where the text chose a unit to fit, which the CSV in base units did not.
            np.testing.assert_allclose(mine.columns[name], expected, rtol=0.004, err_msg=name)
        else:
            np.testing.assert_array_equal(mine.columns[name], expected, name)
    assert sorted(map(advice, mine.vendor), key=repr) == sorted(map(advice, other.vendor), key=repr)


@pytest.mark.skipif(not CLI.exists(), reason="published files absent")
@pytest.mark.parametrize("year", [2020, 2022, 2024])
def test_pages_of_different_versions_count_once(year: int) -> None:
    profile = load(CLI / f"gtx1650_details_cli{year}.txt", CLI / "gtx1650_raw_base_cli2024.csv")
    assert int(profile.activities["primary"].sum()) == 6
    assert {profile.sources[source].report for source in profile.activities["source"]} == {"raw"}
