"""A real report read through NVIDIA's library, against what ncu itself printed of the same report."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from nsight_insight.api import analyze, load
from nsight_insight.catalog.names import normalize
from nsight_insight.model.profile import ReadResult, Table, VendorFinding
from nsight_insight.readers import ncu_csv, ncu_source
from nsight_insight.readers._inputs import Inputs
from nsight_insight.readers.assemble import assemble
from nsight_insight.readers.text import open_path
from tests.golden.ncu_cells import IDENTITY, SHAPES, resolution
from tests.paths import CORPUS, FIXTURES

pytest.importorskip("ncu_report", reason="NVIDIA's library is not installed")
NAME = "2025.3.1-h200-amp"
RAW, DETAILS = (FIXTURES / "ncu-csv" / NAME / f"{page}.csv" for page in ("raw", "details"))
PACKED = FIXTURES / "ncu-rep" / NAME / "amp_fp16.ncu-rep.xz"
PAIR = CORPUS / "ncu" / "pair_b200"


@lru_cache(maxsize=4)
def result(file: Path) -> ReadResult:
    """What is read of a report, packed or not, as the command line would."""
    inputs = Inputs()
    inputs.add(file)
    assert not [*inputs.errors, *inputs.issues]
    (found,) = inputs.results
    assert not found.issues
    return found


def table(file: Path) -> Table:
    (only,) = result(file).tables
    return only


def printed(path: Path) -> Table:
    return ncu_csv.read(open_path(path)).tables[0]


def compare(mine: Table, path: Path) -> int:
    """Every metric of the CSV, to the digits that are printed there; how many numbers were compared."""
    other, compared = printed(path), 0
    metrics = [name for name, origins in other.source.columns.items() if name not in (*SHAPES, *IDENTITY)]
    assert set(metrics) <= mine.source.columns.keys()
    for name in metrics:
        parts = max(origin.field.count(" + ") for origin in other.source.columns[name]) + 1
        for row, value in enumerate(other.columns[name]):
            if np.isnan(value):
                assert np.isnan(mine.columns[name][row]), (name, row)
                continue
            allowed = parts * resolution(path, other, row, name)
            assert abs(mine.columns[name][row] - value) <= allowed * (1 + 1e-9) + 1e-12 * abs(value), (name, row)
            compared += 1
    for name in SHAPES:
        np.testing.assert_array_equal(mine.columns[name][: len(other)], other.columns[name], name)
    return compared


def advice(finding: VendorFinding) -> tuple[object, ...]:
    estimate = None if finding.estimated_speedup is None else float(f"{finding.estimated_speedup:.4g}")
    text = " ".join(finding.text.split())
    return finding.row, finding.rule, finding.kind, finding.section, finding.scope, estimate, text


def test_every_metric_of_the_raw_page() -> None:
    mine, other = table(PACKED), printed(RAW)
    assert len(mine) == len(other) == 60
    assert mine.columns["duration"].sum() == 296_832.0
    assert compare(mine, RAW) > 6000
    for name in ("process", "correlation", "context", "stream", "device", "cc", "nvtx", "kind"):
        np.testing.assert_array_equal(mine.columns[name], other.columns[name], name)
    assert list(map(normalize, mine.columns["name"])) == list(map(normalize, other.columns["name"]))
    assert (mine.devices[0].name, mine.devices[0].memory_bandwidth) == (
        other.devices[0].name,
        other.devices[0].memory_bandwidth,
    )
    assert mine.source.version == "2025.3.1"


def test_every_rule_result_of_the_details_page() -> None:
    launches = len(printed(DETAILS))
    mine = sorted((advice(v) for v in table(PACKED).vendor if v.row is not None and v.row < launches), key=repr)
    assert mine == sorted(map(advice, printed(DETAILS).vendor), key=repr)
    assert len(mine) > 200


def test_hot_lines_are_those_of_the_source_page() -> None:
    (page,) = ncu_source.read(open_path(FIXTURES / "ncu-source" / NAME / "source.csv")).tables
    places = {line.place: line for line in table(PACKED).hot_lines}
    assert {line.place for line in page.hot_lines} <= places.keys()
    for line in page.hot_lines:
        twin = places[line.place]
        assert (twin.text, twin.key) == (line.text, line.key)
        assert twin.samples >= line.samples
    sampled = {line.key: line.total for line in table(PACKED).hot_lines}
    assert sum(sampled.values()) > 5000
    assert all(0 < line.share <= 1 for line in table(PACKED).hot_lines)


def test_findings_equal_those_of_the_csv() -> None:
    report, page = result(PACKED), ncu_csv.read(open_path(RAW))
    one, other, both = assemble([report]), assemble([page]), assemble([report, page])
    mine, csv = analyze(one), analyze(other)
    assert len(csv.findings) >= 3
    assert [(f.rule, sorted((m.key, m.launches, m.time_ns) for m in f.subject.members)) for f in mine.findings] == [
        (f.rule, sorted((m.key, m.launches, m.time_ns) for m in f.subject.members)) for f in csv.findings
    ]
    for finding, twin in zip(mine.findings, csv.findings, strict=True):
        assert finding.saving.expected_ns == pytest.approx(twin.saving.expected_ns, rel=0.02)
        assert finding.location.path == str(PACKED)
    assert len(both.activities) == 60
    assert [f.rule for f in analyze(both).findings] == [f.rule for f in csv.findings]


@pytest.mark.skipif(not PAIR.exists(), reason="published files absent")
def test_published_pair() -> None:
    mine = table(PAIR / "profile.ncu-rep")
    assert compare(mine, PAIR / "raw.csv") > 20
    assert sorted(map(advice, mine.vendor), key=repr) == sorted(
        map(advice, printed(PAIR / "details.csv").vendor), key=repr
    )
    both = load(PAIR / "profile.ncu-rep", PAIR / "raw.csv", PAIR / "details.csv", PAIR / "session.csv")
    assert len(both.activities[both.activities["primary"]]) == 1
    assert len(both.vendor) == len(mine.vendor)
