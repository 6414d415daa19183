"""Reports tell nothing of the machine they were made on, nor of the one that was profiled."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from nsight_insight import api
from nsight_insight.cli.main import main
from nsight_insight.model.finding import Report
from nsight_insight.reporters import reporter, reporters
from nsight_insight.reporters._public import without_folders
from nsight_insight.reporters.options import RenderOptions
from tests.paths import FIXTURES
from tests.unit.test_redact import HOST, LIVE, PROSE, RAW, SECRETS, TEXT, USER

STATS = FIXTURES / "nsys-csv/2025.3-h200-amp/default_stdout.csv"
SECRET = {**SECRETS, "application": "secret_app", "folder": "secret-model"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures with private things around the tables, in a folder that names a user."""
    place = tmp_path_factory.mktemp("x") / USER / "secret-model"
    place.mkdir(parents=True)
    for file in (LIVE, TEXT, STATS):
        text = file.read_text(encoding="utf-8").replace("127.0.0.1", HOST).replace("python3.12", "secret_app")
        text = text.replace("../amp_fp16", f"/home/{USER}/secret-model/amp")
        (place / file.name).write_text("\n".join([*PROSE, text, *PROSE]), encoding="utf-8")
    warned = f"==WARNING== Unable to open source file {SECRETS['path']}\n==ERROR== {SECRETS['path']} failed\n"
    (place / "warned.csv").write_text(warned + RAW.read_text(encoding="utf-8"), encoding="utf-8")
    return place


@pytest.mark.parametrize("name", sorted(reporters()))
@pytest.mark.parametrize("file", [LIVE.name, TEXT.name, STATS.name, "warned.csv"])
def test_no_report_tells_anything_private(name: str, file: str, folder: Path) -> None:
    report, profile = analysed(folder / file)
    whole = dataclasses.replace(report, charts=api.charts(profile))
    text = reporter(name).render(without_folders(whole), RenderOptions(verbose=True, width=200))
    assert [what for what, secret in SECRET.items() if secret in text] == []
    assert str(folder.parent) not in text


_ANALYSED: dict[Path, tuple[Report, api.Profile]] = {}


def analysed(file: Path) -> tuple[Report, api.Profile]:
    if file not in _ANALYSED:
        profile = api.load(file)
        _ANALYSED[file] = api.analyze(profile), profile
    return _ANALYSED[file]


def test_the_command_line_and_the_library_write_public_reports(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, _ = analysed(folder / LIVE.name)
    report.write(tmp_path / "library.json")
    assert (
        main(["analyze", str(folder / LIVE.name), "--no-config", "-v", "-o", "-", "-o", str(tmp_path / "a.json")]) == 0
    )
    for text in (capsys.readouterr().out, *(file.read_text(encoding="utf-8") for file in tmp_path.iterdir())):
        assert USER not in text
        assert LIVE.name in text


def test_paths_below_the_current_folder_are_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "profiles").mkdir()
    shutil.copy(LIVE, tmp_path / "profiles" / "live.csv")
    monkeypatch.chdir(tmp_path)
    paths = []
    for given in (str(tmp_path / "profiles" / "live.csv"), "profiles/live.csv"):
        assert main(["analyze", given, "--no-config", "--format", "sarif"]) == 0
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        paths.append(run["artifacts"][0]["location"]["uri"])
    assert paths == ["profiles/live.csv", "profiles/live.csv"]


def test_files_of_one_name_stay_apart() -> None:
    report, _ = analysed(LIVE)
    given = [
        "/a/b/x.csv",
        "/a/c/x.csv",
        "/d/y.zip!in/x.csv",
        "/d/y.zip!x.csv",
        "rel/x.csv",
        "-",
        r"C:\u\x.csv",
        "/w/k/z.csv",
    ]
    sources = tuple(dataclasses.replace(report.sources[0], path=path) for path in given)
    shown = without_folders(dataclasses.replace(report, sources=sources), Path("/w"))
    assert [source.path for source in shown.sources] == [
        "b/x.csv", "c/x.csv", "y.zip!in/x.csv", "y.zip!x.csv", "rel/x.csv", "-", "u/x.csv", "k/z.csv",
    ]  # fmt: skip


def test_every_place_in_a_report_is_renamed() -> None:
    report, _ = analysed(RAW)
    before, after = repr(report), repr(without_folders(report, Path("/nowhere")))
    assert str(RAW) in before
    assert str(RAW) not in after
    assert before.replace(str(RAW), RAW.name) == after


def test_relative_reports_come_back_as_they_are() -> None:
    report = dataclasses.replace(analysed(RAW)[0], sources=(), findings=(), issues=(), vendor_findings=(),
                                 vendor_matches=())  # fmt: skip
    assert without_folders(report) is report
