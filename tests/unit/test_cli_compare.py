"""``compare``, ``verify`` and ``analyze --baseline`` from the command line: inputs, formats, gates, exit codes."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nsight_insight.cli.main import main
from nsight_insight.comparison.gate import parse_conditions
from nsight_insight.errors import UsageError
from nsight_insight.model.comparison import Change, Comparison, FindingChange, KernelChange, KernelPart, Run
from nsight_insight.reporters.comparison import comparison_output
from nsight_insight.reporters.options import RenderOptions
from tests.paths import FIXTURES, ROOT
from tests.unit.make_ci_report import NASTY

PROOF = ROOT / "bench" / "proof" / "captures"
BAD, GOOD, AGAIN = (str(PROOF / name) for name in ("P05-bad.tar.xz", "P05-good.tar.xz", "again/P05-bad.tar.xz"))
HOST = str(PROOF / "P118-bad.tar.xz")
NO_KERNELS = str(PROOF / "P44-good.tar.xz")


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("NSIGHT_INSIGHT_") or name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def schema(name: str) -> Any:
    loaded = json.loads((files("nsight_insight.reporters") / f"{name}-v1.schema.json").read_text(encoding="utf-8"))
    return closed(loaded)


def closed(node: Any) -> Any:
    """The schema with every object closed, so that a key nobody documented fails."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: closed(value) for key, value in node.items()}
    if "properties" in node and "required" in node:
        result["additionalProperties"] = False
    return result


def test_compare_writes_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [str(tmp_path / name) for name in ("x.json", "x.md", "x.txt")]
    assert main(["compare", BAD, GOOD, *(part for path in outputs for part in ("-o", path)), "-o", "-"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Faster: a step takes ")
    data = json.loads(Path(outputs[0]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema("comparison")).validate(data)
    assert (data["verdict"], data["unit"], data["measure"]) == ("faster", "step", "wall")
    assert data["before"]["paths"][0].startswith(BAD)
    assert Path(outputs[1]).read_text(encoding="utf-8").startswith("## Faster")
    assert Path(outputs[2]).read_text(encoding="utf-8").startswith("Faster")


def test_verify_writes_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [str(tmp_path / name) for name in ("x.json", "x.md")]
    assert main(["verify", BAD, GOOD, "-o", outputs[0], "-o", outputs[1], "-o", "-"]) == 0
    assert "1 confirmed" in capsys.readouterr().out.splitlines()[0]
    data = json.loads(Path(outputs[0]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema("verification")).validate(data)
    [found] = [one for one in data["findings"] if one["rule"] == "precision/cast-kernels"]
    assert found["outcome"] == "confirmed"
    assert found["expected_ns"] <= found["measured_ns"] <= 1.1 * found["upper_ns"]
    assert "| confirmed |" in Path(outputs[1]).read_text(encoding="utf-8")


def test_verify_refutes_what_was_not_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", BAD, AGAIN]) == 0
    out = capsys.readouterr().out
    assert "confirmed" not in out.replace("partly confirmed", "")
    assert "refuted" in out


@pytest.mark.parametrize(
    ("after", "outcomes", "code"),
    [(GOOD, ["refuted", "partly", "unknown"], 0), (AGAIN, ["refuted"], 1), (AGAIN, ["partly"], 0), (AGAIN, [], 0)],
)
def test_verify_gates(after: str, outcomes: list[str], code: int) -> None:
    assert main(["verify", BAD, after, *(part for one in outcomes for part in ("--fail-on", one))]) == code


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([BAD, GOOD, "--fail-on", "slower"], 0),
        ([GOOD, BAD, "--fail-on", "slower"], 1),
        ([GOOD, BAD, "--fail-on", "slower:20%"], 1),
        ([GOOD, BAD, "--fail-on", "slower:60%"], 0),
        ([GOOD, BAD, "--fail-on", "new"], 1),
        ([GOOD, BAD, "--fail-on", "new:error"], 0),
        ([GOOD, BAD, "--fail-on", "worse"], 0),
        ([GOOD, BAD, "--fail-on", "worse,new:warning"], 1),
        ([BAD, AGAIN, "--fail-on", "slower", "--fail-on", "new", "--fail-on", "worse", "--strict"], 0),
        ([GOOD, BAD], 0),
    ],
)
def test_gates(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *arguments]) == code
    assert ("failed: " in capsys.readouterr().err) == (code == 1)


def test_an_answer_hidden_by_noise_is_told_and_strict_about(capsys: pytest.CaptureFixture[str]) -> None:
    gate = ["compare", HOST, NO_KERNELS, "--fail-on", "slower"]
    assert main(gate) == 0
    assert "undecided: the capture after holds no kernels" in capsys.readouterr().err
    assert main([*gate, "--strict"]) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", BAD], "two inputs"),
        (["compare", BAD, GOOD, GOOD], "two inputs"),
        (["compare", "--before", BAD], "two inputs"),
        (["compare", BAD, "--after", GOOD], "two inputs"),
        (["compare", BAD, GOOD, "--fail-on", "faster"], "'faster' is not slower"),
        (["compare", BAD, GOOD, "--steps", "0"], "not a number of steps"),
        (["compare", BAD, GOOD, "--steps", "1:x"], "not a number of steps"),
        (["compare", BAD, GOOD, "-o", "x.sarif"], "comparisons are written as .txt, .json or .md"),
        (["compare", BAD, GOOD, "--select", "nothing/*"], "no rule matches"),
        (["verify", BAD], "two inputs"),
        (["analyze", BAD, "--fail-on", "new"], "--fail-on new needs --baseline"),
        (["analyze", BAD, "--fail-on", "new:fatal"], "is not a severity"),
    ],
)
def test_usage_errors(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["compare", "verify"])
def test_help_without_inputs(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb]) == 2
    assert f"Usage: nsight-insight {verb} " in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["compare", "verify"])
def test_missing_and_unreadable_inputs(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, BAD, "nowhere.csv"]) == 3
    assert "nowhere.csv" in capsys.readouterr().err
    broken = tmp_path / "broken.csv"
    broken.write_text("hello", encoding="utf-8")
    assert main([verb, BAD, str(broken)]) == 3


def test_several_inputs_a_side(capsys: pytest.CaptureFixture[str]) -> None:
    folder = FIXTURES / "nsys-csv" / "2025.3-h200-amp"
    sides = ("amp_fp16_cuda_gpu_trace.csv", "amp_fp16_cuda_api_trace.csv")
    arguments = [part for side in ("--before", "--after") for name in sides for part in (side, str(folder / name))]
    assert main(["compare", *arguments, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "same"
    assert len(data["before"]["paths"]) == len(data["after"]["paths"]) == 2


def test_inputs_are_never_written_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", BAD, GOOD, "-o", GOOD, "--force"]) == 2
    assert "is an input" in capsys.readouterr().err


def test_baseline_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, other = str(tmp_path / "base.json"), str(tmp_path / "now.json")
    assert main(["analyze", GOOD, "-o", base]) == 0
    assert main(["analyze", GOOD, "--baseline", base, "--fail-on", "new", "-o", other]) == 0
    assert main(["analyze", BAD, "--baseline", base, "--fail-on", "new"]) == 1
    assert "Against base.json: 1 new" in capsys.readouterr().out
    assert main(["analyze", BAD, "--baseline", base, "--fail-on", "new:error"]) == 0
    capsys.readouterr()
    assert main(["analyze", BAD, "--baseline", base, "-o", base, "--force"]) == 2
    assert "is an input" in capsys.readouterr().err
    assert main(["analyze", BAD, "--baseline", BAD]) == 3
    assert "not a JSON report" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "slow", "slower:x", "slower:5", "new:5%", "worse:fatal"])
def test_conditions_that_mean_nothing(text: str) -> None:
    if not text:
        assert parse_conditions([text]) == []
        return
    with pytest.raises(UsageError, match="is not slower"):
        parse_conditions([text])


def hostile(name: str) -> Comparison:
    part = KernelPart(name, name, "gemm", "fp32", 2e6, 3.0)
    change = Change(2e6, 1e6, 1e5, "faster")
    run = Run((f"{name}.csv",), "nsys", (name,), 3, 10.0, 1, "steps")
    finding = FindingChange("new", "a/b", f"Title {name}", "warning", name, None, 1e6, note=name)
    return Comparison(
        "0", run, run, "step", "faster", "wall", "", change, change, (10.0, 12.0), None, (),
        (KernelChange((part,), (part, part), "position", "split", change),), (finding,), (name,),
    )  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names_do_no_harm(name: str) -> None:
    found = hostile(name)
    text = comparison_output(found, "text", RenderOptions(width=80))
    assert "\x1b" not in text
    assert not any(line.startswith("::") for line in text.splitlines())
    markdown = comparison_output(found, "markdown", RenderOptions())
    assert "<script>" not in markdown.replace("`", "") or "`" in markdown
    json.loads(comparison_output(found, "json", RenderOptions()))


def test_narrow_and_plain_terminals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["compare", BAD, GOOD, "--color", "always"]) == 0
    assert "\x1b[" in capsys.readouterr().out
    assert main(["compare", BAD, GOOD]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
