"""The library: gates, frames, files, notebooks; documentation that is run; imports without effects."""

from __future__ import annotations

import dataclasses
import doctest
import io
import json
import math
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nsight_insight as ni
from nsight_insight.cli.main import main
from nsight_insight.config import Config
from nsight_insight.data import demo_dir
from nsight_insight.errors import ConfigError, OutputError, UsageError
from nsight_insight.frames import FINDING_COLUMNS, column_name
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.finding import Report
from nsight_insight.model.profile import Profile
from tests.paths import FIXTURES, ROOT

AMP = FIXTURES / "nsys-csv/2025.3-h200-amp/amp_fp16_cuda_gpu_trace.csv"
RAW = FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw_instances.csv"


@pytest.fixture(scope="module")
def profile() -> Profile:
    return ni.load(demo_dir())


@pytest.fixture(scope="module")
def report(profile: Profile) -> Report:
    return ni.analyze(profile)


def test_the_page_on_the_library_is_true() -> None:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    tests = doctest.DocTestParser().get_doctest(page, {}, "library.md", "docs/library.md", 0)
    assert len(tests.examples) >= 19
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.DocTestRunner(optionflags=flags).run(tests).failed == 0


@pytest.mark.parametrize("limit", ["note", "warning", "error", "never", "5%", "50%", "99%"])
def test_check_fails_where_the_command_line_fails(report: Report, limit: str, tmp_path: Path) -> None:
    code = main(["analyze", str(demo_dir()), "--no-config", "--fail-on", limit, "-o", str(tmp_path / "r.json")])
    found = report.failing(limit)
    assert bool(found) == (code == 1)
    if found:
        with pytest.raises(ni.CheckFailed, match=f"{len(found)} finding.* at or above {limit}:") as failed:
            report.check(fail_on=limit)
        assert failed.value.findings == found
        assert all(finding.rule in str(failed.value) for finding in found)
    else:
        report.check(fail_on=limit)


def test_limits_that_cannot_be_are_refused(report: Report) -> None:
    with pytest.raises(ConfigError):
        report.check(fail_on="often")
    with pytest.raises(UsageError, match="baseline"):
        report.check(fail_on="new")


def test_shares_compose_and_never_exceed_the_potential(report: Report) -> None:
    shares = {rule: report.share(rule) for rule in report.rules}
    known = {rule: share for rule, share in shares.items() if not math.isnan(share)}
    assert report.share("*") == pytest.approx(report.potential.share)
    assert 0 < max(known.values()) <= report.share("*") <= 1
    for category in {rule.partition("/")[0] for rule in report.rules}:
        parts = [share for rule, share in known.items() if rule.startswith(f"{category}/")]
        whole = report.share(category)
        rules = sum(rule.startswith(f"{category}/") for rule in report.rules)
        assert math.isnan(whole) == (not any(parts) and 2 * len(parts) < rules), category
        assert math.isnan(whole) or max(parts) <= whole + 1e-12 <= sum(parts) + 2e-12


def test_a_share_counts_what_stands_under_another_finding(report: Report) -> None:
    outer, inner = report.findings[:2]
    folded = dataclasses.replace(report, findings=(dataclasses.replace(outer, explains=(inner,)),))
    assert report.share(inner.rule) > 0
    assert folded.share(inner.rule) == pytest.approx(report.share(inner.rule))
    assert folded.share(outer.rule) == pytest.approx(report.share(outer.rule))


def test_unknown_is_no_zero() -> None:
    report = ni.analyze(ni.load(RAW))
    assert math.isnan(report.share("idle"))
    assert not report.share("idle") < 1
    assert math.isnan(report.share("transfer"))
    assert report.share("memory") >= 0
    assert {gap.rule.partition("/")[0] for gap in report.not_judged("transfer")} == {"transfer"}
    with pytest.raises(UsageError, match="did you mean 'precision'"):
        report.share("precison")


def test_only_the_rules_asked_have_a_share(profile: Profile) -> None:
    report = ni.analyze(profile, Config(select=("memory/*",)))
    assert {rule.partition("/")[0] for rule in report.rules} == {"memory"}
    with pytest.raises(UsageError):
        report.share("precision")


def test_the_frame_of_a_report_is_its_findings(report: Report) -> None:
    frame = report.to_pandas()
    assert list(frame.columns) == list(FINDING_COLUMNS)
    own = frame[frame["under"] == ""]
    assert own["rule"].tolist() == [finding.rule for finding in report.findings]
    assert own["expected_saving_ns"].to_numpy() == pytest.approx([f.saving.expected_ns for f in report.findings])
    assert len(frame) == sum(1 + len(finding.explains) for finding in report.findings)
    assert set(frame["under"]) - {""} <= set(own["fingerprint"])
    first = report.findings[0].location
    assert (frame.loc[0, "file"], frame.loc[0, "line"]) == (Path(first.path).name, first.line)
    assert not frame["file"].str.contains("/").any()


def test_an_empty_report_has_the_same_columns(report: Report) -> None:
    frame = dataclasses.replace(report, findings=()).to_pandas()
    assert list(frame.columns) == list(FINDING_COLUMNS)
    assert frame.dtypes["line"] == report.to_pandas().dtypes["line"]


def test_the_frame_of_a_profile_says_its_units() -> None:
    profile = ni.load(RAW)
    frame = profile.to_pandas()
    plain = profile.activities
    assert len(frame) == len(plain)
    assert frame["duration_ns"].tolist() == plain["duration"].tolist()
    assert frame["sm_throughput_fraction"].max() < 1.1
    assert frame["file"].unique().tolist() == [RAW.name]
    assert {"bytes", "shared_static_bytes", "registers"} <= set(frame.columns)
    times = [name for name, column in ACTIVITY_COLUMNS.items() if column.unit == "ns"]
    assert all(column_name(name).endswith("_ns") for name in times)
    assert len(set(frame.columns)) == len(frame.columns)
    frame.loc[:, "duration_ns"] = 0.0
    assert plain["duration"].sum() > 0


def test_files_are_what_the_command_line_writes(report: Report, tmp_path: Path) -> None:
    names = ["r.md", "r.sarif", "r.json", "r.csv", "r.xml", "r.prom"]
    written = report.write(*(tmp_path / name for name in names))
    assert [file.name for file in written] == names
    arguments = [word for name in names for word in ("-o", str(tmp_path / f"cli-{name}"))]
    assert main(["analyze", str(demo_dir()), "--no-config", *arguments]) == 0
    for name in names:
        assert (tmp_path / name).read_bytes() == (tmp_path / f"cli-{name}").read_bytes()


def test_files_are_not_overwritten(report: Report, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="force=True"):
        report.write(tmp_path / "new.json", tmp_path / "mine.md")
    assert [file.name for file in tmp_path.iterdir()] == ["mine.md"]
    for paths, error in (([tmp_path / "a.json", tmp_path / "a.json"], OutputError), ([tmp_path / "a.docx"], UsageError),
                         ([tmp_path / "none" / "a.json"], OutputError), ([], UsageError)):  # fmt: skip
        with pytest.raises(error):
            report.write(*paths)
    report.write(tmp_path / "mine.md", force=True)
    assert (tmp_path / "mine.md").read_text(encoding="utf-8").startswith("## nsight-insight")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_notebooks_show_escaped_tables(report: Report, profile: Profile) -> None:
    hostile = "<script>alert(1)</script>&<img src=x onerror=alert(1)>\x1b[31m"
    finding = dataclasses.replace(report.findings[0], title=hostile, message=hostile)
    changed = dataclasses.replace(report, findings=(finding, *report.findings), devices=(hostile,))
    source = dataclasses.replace(profile.sources[0], path=f"/home/me/{hostile}")
    shown = [changed, finding, dataclasses.replace(profile, sources=(source,))]
    for thing in shown:
        html = thing._repr_html_()
        tags = Tags()
        tags.feed(html)
        assert tags.tags <= {"div", "strong", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
        assert not tags.attributes
        assert not tags.open
        assert "\x1b" not in html
        assert len(html) < 20_000
    assert "/home/me" not in shown[2]._repr_html_()
    assert "194.3 ms of GPU kernel time in 2,428 launches" in report._repr_html_()


def test_results_are_frozen(report: Report, profile: Profile) -> None:
    for thing in (report, report.findings[0], profile):
        with pytest.raises(dataclasses.FrozenInstanceError):
            thing.version = "x"  # type: ignore[union-attr, misc]


def test_public_names_are_there() -> None:
    assert all(hasattr(ni, name) for name in ni.__all__)
    assert set(dir(ni)) == set(ni.__all__)


IMPORT = """
import builtins, json, os, socket, sys
real = builtins.open
def watched(file, mode="r", *args, **kwargs):
    if set(mode) & set("wax+"):
        sys.exit(f"writes {file}")
    return real(file, mode, *args, **kwargs)
builtins.open = watched
def refuse(*args, **kwargs):
    sys.exit("opens a socket")
socket.socket = refuse
import nsight_insight
for name in nsight_insight.__all__:
    getattr(nsight_insight, name)
import nsight_insight.pytest_plugin, nsight_insight.frames, nsight_insight.redact, nsight_insight.report_files
print(json.dumps(sorted(sys.modules)))
"""


def test_importing_has_no_effects(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    modules = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert not modules & {"pandas", "matplotlib", "rich", "pydantic", "jinja2", "click"}
    assert not list(tmp_path.iterdir())


def test_frames_go_through_pandas_unharmed(report: Report) -> None:
    frame = report.to_pandas()
    again = pd.read_csv(io.StringIO(frame.to_csv(index=False)), keep_default_na=False)
    assert again["rule"].tolist() == frame["rule"].tolist()
    assert np.allclose(again["expected_saving_ns"], frame["expected_saving_ns"])
