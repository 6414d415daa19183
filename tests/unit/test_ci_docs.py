"""The snippets of docs/ci.md, run as a CI server would: on a profile of the fixtures, in an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from nsight_insight.reporters import format_for
from tests.paths import FIXTURES, ROOT

DOC = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SLOW = [FIXTURES / "demo" / "fp32_cuda_gpu_trace.csv"]
"""Could save far more than the 20 % that the snippets fail on."""
FAST = [FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_trace.csv"]
"""Could not save 20 % with any one finding."""
EXPORT = FIXTURES / "nsys-sqlite" / "2025.3-h200-amp" / "amp_fp16.sqlite"
DEMO = sorted((FIXTURES / "demo").glob("*.csv"))
VERDICT = re.compile(r"^(PASSED|FAILED) test_budget.py::(\w+)", re.MULTILINE)
NOT_RUN = "<!-- not run: "

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the snippets are for bash")


def blocks(language: str) -> list[str]:
    """Fenced blocks of a language, without those that say why they are not run."""
    tokens = MarkdownIt("commonmark").parse(DOC)
    pairs = zip([None, *tokens], tokens, strict=False)
    return [
        token.content
        for before, token in pairs
        if token.type == "fence" and token.info == language and not (before and NOT_RUN in before.content)
    ]


def yaml_block(key: str) -> Any:
    found = [document for document in map(yaml.safe_load, blocks("yaml")) if key in document]
    assert len(found) == 1
    return found[0]


@dataclass(frozen=True)
class Runner:
    """A folder with ``profiles/`` and the programs that a CI machine has after installing."""

    folder: Path

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
        }
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=self.folder / "work",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def file(self, name: str) -> str:
        return (self.folder / "work" / name).read_text(encoding="utf-8")

    @property
    def installed(self) -> list[str]:
        return (self.folder / "installed").read_text(encoding="utf-8").split()


def runner(tmp_path: Path, profiles: list[Path]) -> Runner:
    (tmp_path / "bin").mkdir()
    (tmp_path / "work" / "profiles").mkdir(parents=True)
    for file in profiles:
        shutil.copy(file, tmp_path / "work" / "profiles")
    (tmp_path / "summary.md").write_text("# Earlier step\n", encoding="utf-8")
    # Installing is what is not done here: the package asked for is noted, the checkout is used.
    programs = {
        "nsight-insight": f'PYTHONPATH={ROOT} exec {sys.executable} -m nsight_insight "$@"',
        "python": f'test "$1 $2 $3" = "-m pip install" && echo "$4" >> {tmp_path / "installed"}',
    }
    for name, line in programs.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        program.chmod(0o755)
    return Runner(tmp_path)


def github_steps() -> dict[str, str]:
    (job,) = yaml_block("jobs")["jobs"].values()
    return {step["name"]: step["run"] for step in job["steps"] if "run" in step}


@pytest.mark.parametrize(("profiles", "code"), [(SLOW, 1), (FAST, 0)])
def test_github_steps(profiles: list[Path], code: int, tmp_path: Path) -> None:
    machine = runner(tmp_path, profiles)
    steps = github_steps()
    assert list(steps) == ["Install", "Analyse", "Annotate"]
    assert machine.run(steps["Install"]).returncode == 0
    analysed = machine.run(steps["Analyse"])
    assert analysed.returncode == code, analysed.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("# Earlier step\n## nsight-insight: ")
    annotated = machine.run(steps["Annotate"])
    assert annotated.returncode == 0
    assert all(re.match(r"::(notice|warning|error) ", line) for line in annotated.stdout.splitlines())
    assert re.search(r"file=profiles/\w+\.csv,line=\d+,", annotated.stdout)
    (run,) = json.loads(machine.file("insight.sarif"))["runs"]
    assert run["artifacts"][0]["location"]["uri"] == f"profiles/{profiles[0].name}"
    assert len(run["results"]) == len(json.loads(machine.file("insight.json"))["findings"]) > 0


def test_github_uploads_what_is_written() -> None:
    (job,) = yaml_block("jobs")["jobs"].values()
    (upload,) = [step["with"]["sarif_file"] for step in job["steps"] if "upload-sarif" in step.get("uses", "")]
    assert f"-o {upload} " in github_steps()["Analyse"]
    assert yaml_block("jobs")["permissions"] == {"contents": "read", "security-events": "write"}


@pytest.mark.parametrize(("profiles", "code"), [(SLOW, 1), (FAST, 0)])
def test_gitlab_job(profiles: list[Path], code: int, tmp_path: Path) -> None:
    machine = runner(tmp_path, profiles)
    job = yaml_block("gpu-profile")["gpu-profile"]
    install, analyse = job["script"]
    assert machine.run(install).returncode == 0
    assert machine.run(analyse).returncode == code
    reports = job["artifacts"]["reports"]
    entries = json.loads(machine.file(reports["codequality"]))
    assert {entry["location"]["path"] for entry in entries} == {f"profiles/{profiles[0].name}"}
    assert ("<failure" in machine.file(reports["junit"])) == (code == 1)
    for path in job["artifacts"]["paths"]:
        assert machine.file(path)


def test_what_is_installed_is_this_project(tmp_path: Path) -> None:
    machine = runner(tmp_path, SLOW)
    machine.run(github_steps()["Install"])
    machine.run(yaml_block("gpu-profile")["gpu-profile"]["script"][0])
    name = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    assert machine.installed == [name, name]


@pytest.mark.parametrize(("profiles", "code", "output"), [(SLOW, 1, "## nsight-insight: "), ([], 3, "the profile was")])
def test_the_gate_for_any_ci(profiles: list[Path], code: int, output: str, tmp_path: Path) -> None:
    machine = runner(tmp_path, profiles)
    gate = blocks("sh")[0]
    done = machine.run(gate)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(output)
    assert (machine.folder / "work" / "insight.xml").exists() == bool(profiles)


def test_metrics_and_completion_snippets_run(tmp_path: Path) -> None:
    machine = runner(tmp_path, SLOW)
    _, metrics, _, completion = blocks("sh")
    assert machine.run(metrics).returncode == 0
    assert machine.file("metrics/training.prom").endswith("# EOF\n")
    assert machine.run(f"{completion}\ncomplete -p nsight-insight").stdout.startswith("complete ")


@pytest.mark.parametrize(("exported", "code"), [(True, 1), (False, 3)])
def test_the_script_profiles_gates_and_shares(exported: bool, code: int, tmp_path: Path) -> None:
    machine = runner(tmp_path, [])
    tool = tmp_path / "bin" / "nsys"
    # In nsys' place: leaves a report, and a real export where it is asked for one.
    export = f'cp {EXPORT} "$5"' if exported else "exit 1"
    script = f"#!/bin/sh\ncase $1 in profile) touch profile/nsys.nsys-rep;; *) {export};; esac\n"
    tool.write_text(script, encoding="utf-8")
    tool.chmod(0o755)
    done = machine.run(blocks("sh")[2].replace("20%", "5%"))
    assert done.returncode == code, done.stderr
    assert "$ nsys profile --trace=cuda,nvtx --output=profile/nsys python train.py" in done.stderr
    assert (machine.folder / "work" / "clean.sqlite").exists() == exported
    if exported:
        assert machine.file("insight.md").startswith("## nsight-insight: ")
        assert "clean.sqlite: searched, nothing left" in done.stderr


@pytest.mark.parametrize(
    ("profiles", "limit", "verdicts"),
    [(DEMO, "20%", ["FAILED", "PASSED"]), (DEMO, "95%", ["PASSED", "PASSED"]), (FAST, "95%", ["FAILED", "FAILED"])],
)
def test_the_budgets_run(profiles: list[Path], limit: str, verdicts: list[str], tmp_path: Path) -> None:
    machine = runner(tmp_path, profiles)
    (example,) = blocks("python")
    test = machine.folder / "work" / "test_budget.py"
    test.write_text(example.replace('"20%"', f'"{limit}"'), encoding="utf-8")
    options = "-p nsight_insight.pytest_plugin -p no:cacheprovider -rA"
    done = machine.run(
        f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH={ROOT} {sys.executable} -m pytest -q {options} || true"
    )
    found = {name: verdict for verdict, name in VERDICT.findall(done.stdout)}
    assert found == dict(zip(["test_step_is_not_wasted", "test_host_keeps_up"], verdicts, strict=True)), done.stdout


def hooks() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return found


def test_the_documented_hooks_are_those_that_the_repository_declares() -> None:
    (repo,) = yaml_block("repos")["repos"]
    for documented, declared in zip(repo["hooks"], hooks(), strict=True):
        assert all(documented[key] == declared[key] for key in ("id", "name", "entry", "files"))


@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: str(hook["id"]))
def test_hooks_accept_good_rules_and_refuse_bad_ones(hook: dict[str, Any], tmp_path: Path) -> None:
    machine = runner(tmp_path, [])
    rules = ["latency/stall-barrier.yaml", "imbalance/sm-work-imbalance.yaml"]
    files = []
    for rule in rules:
        target = tmp_path / "work" / "rules" / rule.replace("/", "/my-")
        target.parent.mkdir(parents=True)
        shutil.copy(ROOT / "rules" / rule, target)
        files.append(target)
    names = [file.relative_to(tmp_path / "work").as_posix() for file in files]
    assert all(re.search(hook["files"], name) for name in names)
    command = f"{hook['entry']} {' '.join(names)}"
    good = machine.run(command)
    assert good.returncode == 0, good.stdout + good.stderr
    text = files[0].read_text(encoding="utf-8")
    faults = {"check": text.replace("title:", "titel:", 1), "test": text.replace("expect: silent", "expect: fires", 1)}
    files[0].write_text(faults[hook["id"].rpartition("-")[2]], encoding="utf-8")
    bad = machine.run(command)
    assert bad.returncode != 0
    assert "my-stall-barrier" in bad.stdout + bad.stderr


def test_the_table_of_endings_is_true() -> None:
    rows = re.findall(r"^\| (`.*?`) \| (\w+)", DOC, re.MULTILINE)
    expected = {
        "Markdown": "markdown", "SARIF": "sarif", "workflow": "github", "code": "gitlab", "JUnit": "junit",
        "JSON": "json", "a": "csv", "OpenMetrics": "prometheus",
    }  # fmt: skip
    assert [name for _, name in rows] == list(expected)
    for endings, name in rows:
        for ending in re.findall(r"`(.*?)`", endings):
            assert format_for(f"x{ending}") == expected[name]
