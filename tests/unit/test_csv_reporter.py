from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from nsight_insight.model.finding import Report
from nsight_insight.model.totals import Totals
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.csv import COLUMNS, render
from nsight_insight.reporters.options import RenderOptions
from tests.unit.make_ci_report import NASTY, REAL, healthy, nasty, real, three
from tests.unit.make_report import KERNEL_NS, idle_device, optimizer_loop, report

NUMBERS = ("rank", "device", "launches", "time_ns", "time_share", "expected_saving_ns", "upper_saving_ns",
           "saving_share", "line", "column")  # fmt: skip


def rows(one: Report, **options: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(one, RenderOptions(**options)))))


def test_snapshot(snapshot: SnapshotAssertion) -> None:
    assert render(report(optimizer_loop(), idle_device()), RenderOptions()) == snapshot


@pytest.mark.parametrize("one", [three(), *(real(fixture) for fixture in REAL)])
def test_the_rows_of_a_finding_add_up_to_it(one: Report) -> None:
    sums: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows(one):
        for name in NUMBERS[2:8]:
            sums[int(row["rank"])][name] += float(row[name])
    assert len(sums) == len(one.findings) >= 3
    for rank, finding in enumerate(one.findings, 1):
        subject, saving = finding.subject, finding.saving
        assert sums[rank]["launches"] == subject.launches
        assert sums[rank]["time_ns"] == pytest.approx(subject.time_ns)
        assert sums[rank]["time_share"] == pytest.approx(subject.time_share)
        assert sums[rank]["expected_saving_ns"] == pytest.approx(saving.expected_ns)
        assert sums[rank]["upper_saving_ns"] == pytest.approx(saving.upper_ns)
        assert sums[rank]["saving_share"] == pytest.approx(saving.share)


def test_every_row_has_every_column() -> None:
    for row in rows(three()):
        assert tuple(row) == COLUMNS
        assert None not in row.values()
        for name in NUMBERS:
            float(row[name])


def test_a_finding_about_a_device_is_one_row_without_a_kernel() -> None:
    (row,) = rows(report(idle_device()))
    assert (row["kernel"], row["scope"], row["launches"]) == ("", "trace", "2968")
    assert float(row["time_share"]) == 1.0
    assert float(row["saving_share"]) == pytest.approx(8e6 / KERNEL_NS)


def test_no_finding_is_a_heading() -> None:
    assert render(healthy(), RenderOptions()) == ",".join(COLUMNS) + "\n"


def test_top_cuts_findings_not_rows() -> None:
    assert [row["rank"] for row in rows(three(), top=1)] == ["1"] * 6


def test_a_share_of_nothing_is_unknown() -> None:
    (row,) = rows(report(idle_device(), totals=Totals(0.0, 0, 0)))
    assert row["time_share"] == row["saving_share"] == ""


@pytest.mark.parametrize("name", [*NASTY, "=cmd|' /C calc'!A0", "+1", "  =1", "\x00=1", "@x", "＋1", "-"])  # noqa: RUF001
def test_no_cell_is_a_formula_and_none_is_lost(name: str) -> None:
    for row in rows(nasty(name)):
        for column, cell in row.items():
            assert column in NUMBERS or not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"))  # noqa: RUF001
            assert "\n" not in cell
        assert row["kernel"].removeprefix("'") == fmt.flow(name).removeprefix("'")


def test_an_apostrophe_is_added_only_where_needed() -> None:
    plain = rows(three())
    assert not any(cell.startswith("'") for row in plain for cell in row.values())
    negative = replace(optimizer_loop().saving, expected_ns=-1.0)
    (first, *_) = rows(report(replace(idle_device(), saving=negative)))
    assert first["expected_saving_ns"] == "-1"


def test_a_saving_of_idle_time_is_a_share_of_the_window() -> None:
    saving = replace(idle_device().saving, base_ns=100e6, share=0.08)
    (row,) = rows(report(replace(idle_device(), saving=saving)))
    assert float(row["saving_share"]) == pytest.approx(0.08)
    assert float(row["time_share"]) == 1.0
