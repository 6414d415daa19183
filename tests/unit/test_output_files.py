"""``-o`` given several times: read once, write many, overwrite nothing that was not meant."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from nsight_insight.cli import _output, _run
from nsight_insight.cli.main import main
from nsight_insight.reporters import reporters
from tests.paths import ROOT
from tests.unit.make_ci_report import three

FILES = {name: f"r{module.EXTENSIONS[0]}" for name, module in sorted(reporters().items())}
DEMO = ROOT / "fixtures" / "demo"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """The program with an analysis that is counted, in an empty folder."""
    seen = SimpleNamespace(times=0)

    def analyze(*_: Any, **__: Any) -> Any:
        seen.times += 1
        return three()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_run, "analyze", analyze)
    return seen


def outputs(files: list[str]) -> list[str]:
    return [part for file in files for part in ("-o", file)]


def looks_right(format_: str, text: str) -> bool:
    """Each format by what no other one has."""
    checks = {
        "csv": lambda: next(csv.reader(text.splitlines()))[0] == "rank",
        "github": lambda: text.startswith("::warning file="),
        "gitlab": lambda: "check_name" in json.loads(text)[0],
        "json": lambda: json.loads(text)["schema_version"] == 1,
        "junit": lambda: ET.fromstring(text).tag == "testsuites",
        "markdown": lambda: text.startswith("## nsight-insight: 3 findings"),
        "prometheus": lambda: text.endswith("# EOF\n"),
        "sarif": lambda: json.loads(text)["version"] == "2.1.0",
        "text": lambda: text.startswith("194.3 ms of GPU kernel time"),
    }
    return bool(checks.get(format_, lambda: len(text) > 100)())


def test_one_reading_writes_every_format(
    counted: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", "x", *outputs(list(FILES.values()))]) == 0
    assert counted.times == 1
    for format_, file in FILES.items():
        assert looks_right(format_, (tmp_path / file).read_text(encoding="utf-8")), format_
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [f"wrote {file}" for file in FILES.values()]


def test_standard_output_and_files_together(
    counted: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", "x", "--format", "github", *outputs(["-", "r.sarif", "r.md"])]) == 0
    assert looks_right("github", capsys.readouterr().out)
    assert looks_right("sarif", (tmp_path / "r.sarif").read_text(encoding="utf-8"))
    assert looks_right("markdown", (tmp_path / "r.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("format_", FILES)
def test_no_format_overwrites_without_force(
    format_: str, counted: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / FILES[format_]
    target.write_text("mine", encoding="utf-8")
    assert main(["analyze", "x", "-o", "new.json", "-o", target.name]) == 2
    assert target.read_text(encoding="utf-8") == "mine"
    assert f"{target.name}: exists; --force overwrites it" in capsys.readouterr().err
    # Refused before anything was read or written.
    assert (counted.times, (tmp_path / "new.json").exists()) == (0, False)
    assert main(["analyze", "x", "-o", target.name, "--force"]) == 0
    assert looks_right(format_, target.read_text(encoding="utf-8"))


@pytest.mark.parametrize("twice", [["r.md", "r.md"], ["r.md", "./r.md"], ["-", "-"], ["r.md", "a.csv", "in/../r.md"]])
def test_an_output_named_twice_is_refused(
    twice: list[str], counted: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    assert main(["analyze", "x", *outputs(twice)]) == 2
    assert "is named twice as an output" in capsys.readouterr().err
    assert counted.times == 0
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_link_to_another_output_is_that_output(counted: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(tmp_path / "r.md")
    assert main(["analyze", "x", *outputs(["r.md", "link.md"])]) == 2
    assert not (tmp_path / "r.md").exists()


@pytest.mark.parametrize("format_", FILES)
def test_an_input_is_never_an_output(format_: str, counted: SimpleNamespace, tmp_path: Path) -> None:
    source = tmp_path / FILES[format_]
    source.write_text("data", encoding="utf-8")
    assert main(["analyze", source.name, "-o", source.name, "--force"]) == 2
    assert source.read_text(encoding="utf-8") == "data"


def test_files_are_utf_8_with_line_feeds(counted: SimpleNamespace, tmp_path: Path) -> None:
    target = _output.Target(tmp_path / "r.csv", "csv")
    _output.write(three(), [target], _run.render_options(_run_config(), {"verbose": False, "framework": None}), "auto")
    assert b"\r" not in target.path.read_bytes()


def _run_config() -> Any:
    from nsight_insight.config import Config

    return Config()


def test_failing_tests_and_the_exit_code_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for limit, code, failures in (("warning", 1, "3"), ("50%", 1, "1"), ("90%", 0, "0"), ("never", 0, "0")):
        arguments = ["analyze", str(DEMO), "--fail-on", limit, "-o", "r.xml", "-o", "r.json", "--force"]
        assert main(arguments) == code
        assert ET.parse(tmp_path / "r.xml").getroot().attrib["failures"] == failures


def test_demo_writes_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", *outputs(["r.sarif", "r.md"])]) == 0
    result = json.loads((tmp_path / "r.sarif").read_text(encoding="utf-8"))["runs"][0]["results"][0]
    assert result["ruleId"] == "tensor-core/fp32-matrix-on-cuda-cores"


def test_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "--help"]) == 0
    assert f"--format [{'|'.join(sorted(FILES))}]" in capsys.readouterr().out
