from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from nsight_insight._version import __version__
from nsight_insight.cli import _output, _run
from nsight_insight.cli._options import CONFIG_OPTIONS
from nsight_insight.cli.main import main
from nsight_insight.config import Config
from nsight_insight.errors import EmptyInput, OutputError
from nsight_insight.model.finding import Report
from nsight_insight.model.issues import Issue, Level, Location
from tests.paths import ROOT
from tests.unit.make_report import FILE, fp32_matrix, hostile, optimizer_loop, report

HEAVY = ("pandas", "numpy", "rich", "yaml", "pydantic", "matplotlib", "jinja2")


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("NSIGHT_INSIGHT_") or name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def analyzed(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """``analyze`` without an engine: returns ``report`` and remembers how it was called."""
    state = SimpleNamespace(report=report(), paths=(), config=Config(), format=None)

    def analyze(paths: Any, config: Config, format_: str | None, *, charts: bool = False) -> Report:
        state.paths, state.config, state.format = tuple(paths), config, format_
        if isinstance(state.report, Exception):
            raise state.report
        return state.report  # type: ignore[no-any-return]

    monkeypatch.setattr(_run, "analyze", analyze)
    return state


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("environ", {})}
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environ, **options)


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["rules", "--help"], ["explain", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys; from nsight_insight.cli.main import main; main(sys.argv[1:]);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = python("-c", script, *arguments)
    assert done.stdout.startswith("Usage: nsight-insight")
    assert done.stderr.strip() == "[]"


def test_analyze_help_imports_no_pandas() -> None:
    script = (
        "import sys; from nsight_insight.cli.main import main; main(['analyze', '--help']);"
        "sys.exit(str([n for n in ('pandas', 'rich', 'yaml', 'pydantic', 'matplotlib') if n in sys.modules]))"
    )
    assert python("-c", script).stderr.strip() == "[]"


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for verb in ("analyze", "demo", "explain", "rules"):
        assert f"\n  {verb}" in out


def test_version_counts_rules_and_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    words = capsys.readouterr().out.split()
    assert words[:2] == ["nsight-insight", __version__]
    assert int(words[2].strip("(")) == len(list((ROOT / "rules").rglob("*.yaml")))
    assert int(words[4]) > 50
    assert int(words[6]) > 50


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["analyse", "x"], "Did you mean 'analyze'?"),
        (["analyze", "--selct", "x"], "--select"),
        (["analyze", "x", "--format", "jsn"], "did you mean 'json'?"),
        (["analyze", "x", "--top", "0"], "x>=1"),
        (["analyze", "x", "--color", "blue"], "always"),
        (["analyze", "x", "--fail-on", "fatal"], "--fail-on: 'fatal' is not a severity"),
        (["analyze", "x", "--min-saving", "2"], "--min-saving: '2' is not a share"),
        (["analyze", "x", "--config", "absent.toml"], "absent.toml: No such file"),
        (["analyze", "x", "--config", "a.toml", "--no-config"], "exclude each other"),
        (["rules", "chekc"], "chekc"),
    ],
)
def test_usage_errors_exit_2_and_help(arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert hint in captured.err
    assert captured.out == ""


def test_no_path_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Usage: nsight-insight analyze")


def test_interactive_stdin_prints_help_instead_of_hanging(
    monkeypatch: pytest.MonkeyPatch, analyzed: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    assert main(["analyze", "-"]) == 2
    assert "Usage" in capsys.readouterr().err
    assert analyzed.paths == ()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))
    assert main(["analyze", "-"]) == 0
    assert analyzed.paths == ("-",)


def test_report_on_stdout_and_nothing_else(analyzed: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "a.csv", "b.csv", "--from", "nsys_csv", "--gpu", "H200"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("194.3 ms of GPU kernel time")
    assert captured.err == ""
    assert (analyzed.paths, analyzed.format, analyzed.config.gpu) == (("a.csv", "b.csv"), "nsys_csv", "H200")


def test_options_reach_the_configuration(analyzed: SimpleNamespace) -> None:
    main(
        [
            "analyze",
            "x",
            "--select",
            "precision/*",
            "--select",
            "launch",
            "--ignore",
            "a/b",
            "--top",
            "2",
            "--rules",
            "r",
        ]
    )
    config = analyzed.config
    assert (config.select, config.ignore, config.top) == (("precision/*", "launch"), ("a/b",), 2)
    assert config.rules == (Path("r"),)


def test_configuration_file_of_the_folder_is_used(analyzed: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "nsight-insight.toml").write_text("top = 7\n", encoding="utf-8")
    main(["analyze", "x"])
    assert analyzed.config.top == 7
    main(["analyze", "x", "--no-config"])
    assert analyzed.config.top is None


def test_every_configuration_option_exists() -> None:
    assert set(CONFIG_OPTIONS) <= set(Config.__dataclass_fields__)


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [("never", 0), ("note", 1), ("warning", 1), ("error", 0), ("5%", 1), ("80%", 0)],
)
def test_fail_on(fail_on: str, code: int, analyzed: SimpleNamespace) -> None:
    assert main(["analyze", "x", "--fail-on", fail_on]) == code


def test_fail_on_is_not_fooled_by_top(analyzed: SimpleNamespace) -> None:
    analyzed.report = report(optimizer_loop(), fp32_matrix())
    assert main(["analyze", "x", "--fail-on", "warning", "--top", "1"]) == 1


@pytest.mark.parametrize(
    ("issue", "strict", "code"),
    [
        (Issue(Level.INFO, "remark", Location(FILE, 1)), True, 0),
        (Issue(Level.DATA_LOSS, "row lost", Location(FILE, 1)), False, 0),
        (Issue(Level.DATA_LOSS, "row lost", Location(FILE, 1)), True, 3),
        (Issue(Level.ERROR, "odd", Location(FILE, 1)), False, 0),
        (Issue(Level.ERROR, "odd", Location(FILE, 1)), True, 3),
        (Issue(Level.ERROR, "not a profile", Location("other.csv", 1)), False, 3),
    ],
)
def test_lost_data(
    issue: Issue, strict: bool, code: int, analyzed: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    analyzed.report = report(issues=(issue,))
    assert main(["analyze", "x", "--fail-on", "never", *(["--strict"] if strict else [])]) == code
    captured = capsys.readouterr()
    assert captured.out.startswith("194.3 ms")
    assert ("error: other.csv:1: not a profile" in captured.err) is (issue.location.path == "other.csv")


def test_incomplete_input_outweighs_findings(analyzed: SimpleNamespace) -> None:
    analyzed.report = report(issues=(Issue(Level.ERROR, "not a profile", Location("other.csv", 1)),))
    assert main(["analyze", "x", "--fail-on", "note"]) == 3


def test_input_errors_exit_3(analyzed: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    analyzed.report = EmptyInput("the file is empty", path="x.csv")
    assert main(["analyze", "x.csv"]) == 3
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "error: x.csv: the file is empty\n")


def test_a_crash_is_never_taken_for_a_finding(analyzed: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    analyzed.report = ZeroDivisionError("oops")
    assert main(["analyze", "x"]) == 4
    err = capsys.readouterr().err
    assert err == "internal error, sorry: ZeroDivisionError: oops; --debug shows where\n"
    assert main(["analyze", "x", "--debug"]) == 4
    assert "Traceback" in capsys.readouterr().err
    assert main(["--debug", "analyze", "x"]) == 4
    assert "Traceback" in capsys.readouterr().err


def test_a_crash_while_starting_exits_4(tmp_path: Path) -> None:
    broken = tmp_path / "click.py"
    broken.write_text("raise RuntimeError('no click')", encoding="utf-8")
    done = python("-m", "nsight_insight", "--help", environ={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert done.returncode == 4


def test_interrupt(analyzed: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> Report:
        raise KeyboardInterrupt

    monkeypatch.setattr(_run, "analyze", interrupted)
    assert main(["analyze", "x"]) == 130


def test_json(analyzed: SimpleNamespace, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    analyzed.report = hostile()
    assert main(["analyze", "x", "--format", "json"]) == 0
    document = json.loads(capsysbinary.readouterr().out.decode("utf-8"))
    assert len(document["findings"]) == len(hostile().findings)


def test_output_file_takes_the_format_of_its_extension(
    analyzed: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", "x", "-o", "r.json"]) == 0
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["schema_version"] == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "wrote r.json\n")
    assert main(["analyze", "x", "-o", "r.log", "-o", "-", "--format", "json"]) == 0
    assert (tmp_path / "r.log").read_text(encoding="utf-8").startswith("{")
    assert capsys.readouterr().out.startswith("{")
    assert main(["analyze", "x", "-o", "plain", "-o", "second.json"]) == 0
    assert (tmp_path / "plain").read_text(encoding="utf-8").startswith("194.3 ms")


def test_a_single_file_takes_the_format_asked_for(analyzed: SimpleNamespace, tmp_path: Path) -> None:
    main(["analyze", "x", "-o", "r.txt", "--format", "json"])
    assert (tmp_path / "r.txt").read_text(encoding="utf-8").startswith("{")


def test_existing_files_need_force(
    analyzed: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "r.json"
    target.write_text("mine", encoding="utf-8")
    assert main(["analyze", "x", "-o", "r.json"]) == 2
    assert target.read_text(encoding="utf-8") == "mine"
    assert "r.json: exists; --force overwrites it" in capsys.readouterr().err
    assert analyzed.paths == ()
    assert main(["analyze", "x", "-o", "r.json", "--force"]) == 0
    assert target.read_text(encoding="utf-8").startswith("{")


@pytest.mark.parametrize("spelling", ["in/a.csv", "in/../in/a.csv", "link.csv"])
@pytest.mark.parametrize("given", ["in/a.csv", "in"])
def test_inputs_are_never_written_to(spelling: str, given: str, analyzed: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / "a.csv"
    source.write_text("data", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(source)
    assert main(["analyze", given, "-o", spelling, "--force"]) == 2
    assert source.read_text(encoding="utf-8") == "data"


def test_a_new_file_in_an_input_folder_is_allowed(analyzed: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert main(["analyze", "in", "-o", "in/r.json"]) == 0


@pytest.mark.parametrize("target", ["absent/r.json", "."])
def test_places_that_cannot_be_written(target: str, analyzed: SimpleNamespace) -> None:
    assert main(["analyze", "x", "-o", target]) == 2
    assert analyzed.paths == ()


def test_unwritable_file_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"gone/r\.txt: No such file"):
        _output.write(report(), [_output.Target(tmp_path / "gone" / "r.txt", "text")], _options(), "auto")


def _options() -> Any:
    from nsight_insight.reporters.options import RenderOptions

    return RenderOptions()


@pytest.mark.parametrize(
    ("choice", "environ", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": ""}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_color(
    choice: str, environ: dict[str, str], terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(stdout, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert _output.wants_color(choice, environ) is expected


def test_color_reaches_the_report(analyzed: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "x", "--color", "always"])
    assert "\x1b[" in capsys.readouterr().out
    main(["analyze", "x"])
    assert "\x1b[" not in capsys.readouterr().out


def test_terminal_without_unicode_gets_ascii(analyzed: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    assert main(["analyze", "x"]) == 0
    assert buffer.getvalue().isascii()
    assert b"#####" in buffer.getvalue()


def test_broken_pipe_is_quiet() -> None:
    script = (
        "import sys; from tests.unit.make_report import report; from nsight_insight.cli import _run;"
        "from nsight_insight.cli.main import main;"
        "_run.analyze = lambda *_, **__: report(*report().findings * 40);"
        "sys.exit(main(['analyze', 'x', '-v']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(10) == b"194.3 ms o"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


def test_environment_variables_of_options(
    analyzed: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NSIGHT_INSIGHT_FORMAT", "json")
    monkeypatch.setenv("NSIGHT_INSIGHT_TOP", "1")
    main(["analyze", "x"])
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 1
    main(["analyze", "x", "--format", "text"])
    assert capsys.readouterr().out.startswith("194.3 ms")


DEMO = ROOT / "fixtures" / "demo"


def test_demo_finds_what_is_known_to_be_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    captured = capsys.readouterr()
    assert "194.3 ms of GPU kernel time" in captured.out
    assert "1  Matrix multiplication in FP32 on CUDA cores" in captured.out
    assert re.search(r"gemm +█+.* 161\.8 ms +83\.3 %", captured.out)
    assert "nsight-insight analyze run_*.csv" in captured.err


def test_demo_as_json_obeys_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--format", "json"]) == 0
    first = capsys.readouterr().out
    document = json.loads(first)
    schema = json.loads((files("nsight_insight.reporters") / "report-v1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    top = document["findings"][0]
    assert top["rule"] == "tensor-core/fp32-matrix-on-cuda-cores"
    assert top["subject"]["time_ns"] == 161_841_572
    assert 0.70 < top["saving"]["share"] < 0.81
    assert main(["demo", "--format", "json"]) == 0
    assert capsys.readouterr().out == first


def test_every_place_in_the_report_holds_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Walk back from the JSON to the cells of the files."""
    assert main(["demo", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = {path.name: list(csv.reader(path.read_text(encoding="utf-8").splitlines())) for path in DEMO.glob("*.csv")}
    checked = 0
    for finding in document["findings"]:
        for value in (value for item in finding["evidence"] for value in item["values"] if value["location"]):
            place = value["location"]
            table = rows[Path(place["file"]).name]
            cell = table[place["line"] - 1][place["column"] - 1]
            assert place["field"] in table[0][place["column"] - 1]
            if value["unit"] == "s" and value["cell"] is not None:
                assert float(cell) * 1e-9 == pytest.approx(value["cell"])
                checked += 1
    assert checked


def test_inputs_are_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> list[tuple[str, bytes, int]]:
        return [(path.name, path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(DEMO.iterdir())]

    before = state()
    assert main(["analyze", str(DEMO), "--no-config"]) == 0
    assert state() == before


def test_one_bad_input_does_not_hide_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n", encoding="utf-8")
    assert main(["analyze", str(DEMO), str(bad), str(tmp_path / "absent.csv")]) == 3
    captured = capsys.readouterr()
    assert "194.3 ms of GPU kernel time" in captured.out
    assert f"error: {bad}:1: not a profile" in captured.err
    assert "absent.csv: No such file or directory" in captured.err


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (DEMO / "fp32_cuda_api_sum.csv").read_bytes() + b"\n" + (DEMO / "fp32_cuda_gpu_trace.csv").read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "nsight_insight", "analyze", "-", "--no-config"],
        input=data,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"194.3 ms of GPU kernel time")


def test_stdin_without_data() -> None:
    done = python("-m", "nsight_insight", "analyze", "-", input="")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: -: ")


def test_selection_of_rules_in_a_whole_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(DEMO), "--ignore", "fp32-matrix-on-cuda-cores", "--fail-on", "50%"]) == 0
    assert "Matrix multiplication in FP32 on CUDA cores" not in capsys.readouterr().out
    assert main(["analyze", str(DEMO), "--select", "fp32-matrix-on-cuda-cores", "--fail-on", "50%"]) == 1
    assert capsys.readouterr().out.count("what to do") == 1
    assert main(["analyze", str(DEMO), "--select", "fp32-matrx-on-cuda-cores"]) == 2
    assert "no rule matches 'fp32-matrx-on-cuda-cores'; did you mean" in capsys.readouterr().err


def test_suppression_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nsight-insight.toml").write_text(
        '[[suppressions]]\nrule = "fp32-matrix-on-cuda-cores"\nreason = "next quarter"\n'
        '[[suppressions]]\nrule = "precision/*"\nreason = "unused"\n',
        encoding="utf-8",
    )
    assert main(["analyze", str(DEMO), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["suppressed"] == 1
    assert "tensor-core/fp32-matrix-on-cuda-cores" not in [finding["rule"] for finding in document["findings"]]
    unused = [issue for issue in document["issues"] if "suppression" in issue["text"]]
    assert [(issue["level"], issue["location"]["line"]) for issue in unused] == [("info", 4)]


def test_rules_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", "--format", "json", "--no-config"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert len(listed) == len(list((ROOT / "rules").rglob("*.yaml")))
    assert all(row["enabled"] for row in listed if row["status"] != "deprecated")
    assert main(["rules", "list", "--no-config"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [row["rule"] for row in listed]


def test_rules_list_marks_what_the_configuration_switches_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nsight-insight.toml").write_text('disable = ["precision"]', encoding="utf-8")
    assert main(["rules", "list"]) == 0
    off = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.endswith("(off)")]
    assert off
    assert all(rule.startswith("precision/") for rule in off)


def test_rules_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "check"]) == 0
    assert capsys.readouterr().err == "0 faults\n"
    folder = tmp_path / "precision"
    folder.mkdir()
    (folder / "mine.yaml").write_text("schema: 1\ntitel: x\n", encoding="utf-8")
    for path in (folder / "mine.yaml", tmp_path):
        assert main(["rules", "check", str(path)]) == 2
        captured = capsys.readouterr()
        assert re.search(r"mine\.yaml:2:\d+: titel: unknown key 'titel'; did you mean 'title'\?", captured.out)
        assert "faults" in captured.err
    assert main(["rules", "check", str(tmp_path / "absent")]) == 2


def test_rules_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = (ROOT / "rules/tensor-core/fp32-matrix-on-cuda-cores.yaml").read_text(encoding="utf-8")
    folder = tmp_path / "tensor-core"
    folder.mkdir()
    rule = folder / "mine.yaml"
    rule.write_text(source, encoding="utf-8")
    assert main(["rules", "test", str(rule)]) == 0
    assert " 0 failed" in capsys.readouterr().err
    rule.write_text(source.replace("expect: silent", "expect: fires"), encoding="utf-8")
    assert main(["rules", "test", str(tmp_path), "-v"]) == 2
    captured = capsys.readouterr()
    assert re.search(r"FAILED  tensor-core/mine: .*expected fires, got silent", captured.out)
    assert "passed  tensor-core/mine" in captured.out


def test_rules_schema_is_a_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "schema"]) == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


def test_explain_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tensor-core/fp32-matrix-on-cuda-cores"]) == 0
    page = capsys.readouterr().out
    for label in ("why", "evidence", "limits", "saving", "what to do", "wrong when", "see"):
        assert f"\n   {label}" in page
    assert "expected: max(0, min(duration * (1 - 1 / speedup_16bit), duration" in page
    assert main(["explain", "fp32-matrix-on-cuda-cores"]) == 0
    assert capsys.readouterr().out == page


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("tensor_active", ["sm__pipe_tensor_cycles_active", "tensor-core/low-tensor-utilization", "ncu --csv"]),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", ["sm_throughput", "section SpeedOfLight"]),
        ("Achieved Occupancy", ["achieved_occupancy", "sm__warps_active"]),
        ("long_scoreboard", ["stall_long_scoreboard", "latency/stall-long-scoreboard", "wrong when"]),
        ("Long Scoreboard", ["stall_long_scoreboard"]),
        ("registers", ["activity column", "launch__registers_per_thread"]),
        ("tail_loss", ["fact", "waves"]),
    ],
)
def test_explain_finds_metrics_under_every_name(
    name: str, pieces: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 0
    page = capsys.readouterr().out
    for piece in pieces:
        assert piece in page


def test_explain_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tensor_activ"]) == 2
    assert "did you mean 'tensor_active'?" in capsys.readouterr().err
