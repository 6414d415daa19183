"""Shell completion: the printed code, and what the program answers when that code asks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nsight_insight.cli.completion import COMPLETE, SHELLS
from nsight_insight.cli.main import main
from nsight_insight.reporters import reporters
from tests.paths import ROOT


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def answers(words: str, position: int) -> list[tuple[str, str]]:
    """Type and value of what the program offers for the word at ``position``."""
    done = subprocess.run(
        [sys.executable, "-m", "nsight_insight"],
        env={**os.environ, "PYTHONPATH": str(ROOT), COMPLETE: "bash_complete", "COMP_WORDS": words,
             "COMP_CWORD": str(position)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    kinds = [line.partition(",") for line in done.stdout.splitlines()]
    return [(kind, value) for kind, _, value in kinds]


@pytest.mark.parametrize("shell", SHELLS)
def test_code_asks_this_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = script(shell, capsys)
    assert f"{COMPLETE}={shell}_complete" in code
    assert "nsight-insight" in code
    assert code == code.strip("\n") + "\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_code_is_valid_where_the_shell_is_installed(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "completion"
    file.write_text(script(shell, capsys), encoding="utf-8")
    subprocess.run([program, "-n", str(file)], check=True, timeout=60)


def test_bash_completes_through_the_printed_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    program = tmp_path / "nsight-insight"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m nsight_insight "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    ask = (
        f"{script('bash', capsys)}\n"
        "COMP_WORDS=(nsight-insight analyze --format s); COMP_CWORD=3\n"
        "_nsight_insight_completion nsight-insight\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
        "complete -p nsight-insight\n"
    )
    done = subprocess.run(
        [bash, "--norc", "-c", ask], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["sarif", "complete -o nosort -F _nsight_insight_completion nsight-insight"]


def test_verbs_formats_rules_and_files_are_offered() -> None:
    verbs = {value for _, value in answers("nsight-insight ", 1)}
    assert {"analyze", "completion", "demo", "explain", "rules"} <= verbs
    assert answers("nsight-insight analyze --format ", 3) == [("plain", name) for name in sorted(reporters())]
    assert ("plain", "precision/cast-kernels") in answers("nsight-insight explain prec", 2)
    assert ("plain", "precision/cast-kernels") in answers("nsight-insight analyze --select prec", 3)
    assert answers("nsight-insight analyze run", 2) == [("file", "run")]
    assert answers("nsight-insight completion ", 2) == [("plain", shell) for shell in SHELLS]


def test_unknown_shells_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "bash" in capsys.readouterr().err
