"""``run``: which commands are run in which order, with programs in the tools' place that write real captures."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
from pathlib import Path

import pytest

from nsight_insight import api
from nsight_insight.capture import ncu_steps, nsys_steps
from nsight_insight.cli.main import main
from nsight_insight.config import Config
from tests.paths import FIXTURES
from tests.unit.test_cli_collect import NCU, NSYS_PROFILE

SQLITE = FIXTURES / "nsys-sqlite/2025.3-h200-amp/amp_fp16.sqlite"
RAW = FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw.csv"
PROGRAM = ("python", "train.py", "--name", "two words")

NSYS_SCRIPT = """#!/bin/sh
printf '%s\\n' "nsys $*" >> "$LOG"
case $1 in
  profile) for word; do case $word in --output=*) touch "${word#--output=}.nsys-rep";; esac; done
    echo "step 0 loss 8.5";;
  export) shift; while [ "$1" != --output ]; do shift; done; cp "$CAPTURE" "$2";;
esac
exit ${FAIL:-0}
"""
NCU_SCRIPT = """#!/bin/sh
printf '%s\\n' "ncu $*" >> "$LOG"
while [ "$1" != --log-file ]; do shift; done
cp "$METRICS" "$2"
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with both tools, a folder to work in, and a log of what was run."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, script in (("nsys", NSYS_SCRIPT), ("ncu", NCU_SCRIPT)):
        (programs / name).write_text(script, encoding="utf-8")
        (programs / name).chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    for name in list(os.environ):
        if name.startswith("NSIGHT_INSIGHT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("CAPTURE", str(SQLITE))
    monkeypatch.setenv("METRICS", str(RAW))
    monkeypatch.chdir(work)
    return tmp_path


def commands(machine: Path) -> list[str]:
    log = machine / "log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def test_nsys_records_exports_and_is_analysed(machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "--report", "r.json", "--", *PROGRAM])
    out, err = capfd.readouterr()
    assert code == 0, err
    profiled, exported = commands(machine)
    assert profiled.startswith("nsys profile --trace=cuda,nvtx --output=nsight-insight-run/nsys python train.py ")
    assert exported == (
        "nsys export --type sqlite --output nsight-insight-run/nsys.sqlite nsight-insight-run/nsys.nsys-rep"
    )
    assert out.startswith("40.1 ms of GPU kernel time in 2,810 launches")
    assert "step 0 loss" not in out
    assert "step 0 loss" in err
    printed = [shlex.split(line.removeprefix("$ ")) for line in err.splitlines() if line.startswith("$ ")]
    assert [words[0] for words in printed] == ["nsys", "nsys"]
    assert tuple(printed[0][-4:]) == PROGRAM
    report = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert report["totals"]["launches"] == 2810
    assert sorted(file.name for file in Path("nsight-insight-run").iterdir()) == ["nsys.nsys-rep", "nsys.sqlite"]


def test_ncu_measures_what_nsys_found(machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--tool", "both", "-o", "cap", "--", *PROGRAM]) == 0
    *_, measured = commands(machine)
    words = measured.split()
    assert measured.startswith("ncu --csv --page raw --log-file cap/ncu.csv --clock-control none ")
    assert any("regex:^(" in word for word in words)
    assert {"--launch-skip", "--launch-count"} <= set(words)  # a steady step, found in the time line
    assert "H200" in capfd.readouterr().out


def test_ncu_alone(machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--tool", "ncu", "--gpu", "H200", "--", "./app"]) == 0
    (measured,) = commands(machine)
    assert measured.endswith(" ./app")
    assert "--launch-count" in measured
    assert "60 launches" in capfd.readouterr().out


def test_every_option_is_one_that_the_tools_have() -> None:
    config = Config()
    profile, export = nsys_steps(Path("x"), PROGRAM)
    assert {
        word.partition("=")[0] for word in profile.command if word.startswith("--") and word != "--name"
    } <= NSYS_PROFILE
    assert profile.command[-4:] == PROGRAM
    assert export.command[:4] == ("nsys", "export", "--type", "sqlite")
    for seen in (None, SQLITE):
        (step,) = ncu_steps(Path("x"), PROGRAM, config, seen)
        assert {word for word in step.command if word.startswith("--") and word != "--name"} <= NCU
        assert step.command[-4:] == PROGRAM


def test_a_dry_run_runs_nothing(machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--tool", "both", "--dry-run", "--", *PROGRAM]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [shlex.split(line)[0] for line in lines] == ["nsys", "nsys", "ncu"]
    assert all(shlex.split(line)[-4:] == list(PROGRAM) for line in (lines[0], lines[2]))
    assert commands(machine) == []
    assert not list(Path.cwd().iterdir())


def test_without_the_tools_it_says_what_to_install(
    machine: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(machine / "nothing"))
    assert main(["run", "--tool", "both", "--", *PROGRAM]) == 2
    err = capfd.readouterr().err
    assert "not installed here: Nsight Systems (nsys)" in err
    assert "not installed here: Nsight Compute (ncu)" in err
    assert "would run: nsys profile --trace=cuda,nvtx" in err
    assert not list(Path.cwd().iterdir())


def test_captures_are_not_overwritten(machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--", *PROGRAM]) == 0
    assert main(["run", "--", *PROGRAM]) == 2
    assert "--force" in capfd.readouterr().err
    assert len(commands(machine)) == 2
    assert main(["run", "--force", "--", *PROGRAM]) == 0
    Path("r.md").write_text("mine", encoding="utf-8")
    assert main(["run", "-o", "other", "--report", "r.md", "--", *PROGRAM]) == 2
    assert len(commands(machine)) == 4


def test_a_failed_capture_is_an_error(
    machine: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "bin" / "nsys").write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    assert main(["run", "--", *PROGRAM]) == 3
    assert "nsys ended with exit code 7 and wrote no nsight-insight-run/nsys.nsys-rep" in capfd.readouterr().err
    shutil.copy(machine / "bin" / "ncu", machine / "bin" / "nsys")
    (machine / "bin" / "nsys").write_text(NSYS_SCRIPT, encoding="utf-8")
    monkeypatch.setenv("FAIL", "5")
    assert main(["run", "--", *PROGRAM]) == 0
    assert "the program or the profiler ended with exit code 5" in capfd.readouterr().err


def test_a_limit_counts_as_for_analyze(machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = api.analyze(api.load(SQLITE)).findings
    limit = f"{max(finding.saving.share for finding in found) * 100 - 0.01:.2f}%"
    assert main(["run", "--fail-on", limit, "--", *PROGRAM]) == 1
    assert main(["run", "--force", "--fail-on", "99%", "--", *PROGRAM]) == 0


def test_a_program_is_needed(machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run"]) == 2
    assert "no program given" in capfd.readouterr().err
    assert stat.S_ISDIR(machine.stat().st_mode)
