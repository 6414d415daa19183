"""The README shows what the program really prints, and its two commands are there for CI to run."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from bench.proof.cases import BLIND, load_cases
from tests.paths import ROOT


def test_readme_shows_the_current_output_of_the_demo() -> None:
    check = subprocess.run([sys.executable, str(ROOT / "docs" / "update_readme.py"), "--check"], check=False)
    assert check.returncode == 0, "run: python docs/update_readme.py"


def test_readme_begins_with_output_and_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"<!-- command: demo -->\n```sh\n.*nsight-insight demo\n```", text)
    assert re.search(r"<!-- command: test -->\n```sh\n.*-m pytest\n```", text)
    assert text.index("<!-- output: demo -->") < text.index("## Use")


def test_figures_in_the_text_are_those_of_the_scripts() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")
    agree, read = re.findall(r"^(\d+) of (\d+) agree;", pages, re.MULTILINE)[0]
    assert f"- {read} profiles were read" in text
    assert f"; {agree} agree, the others are argued" in text
    first = json.loads((ROOT / "bench" / "proof" / "blind.json").read_text(encoding="utf-8"))["cases"]
    false = {name: set(case["false"]) for name, case in first.items() if case["false"]}
    controls = [name for name in first if name.startswith("C")]
    assert not false.keys() & set(controls)
    second = [case.id for case in load_cases(BLIND) if false.get(case.id, {""}) <= set(case.remains)]
    assert f"all {len(controls)} healthy controls" in text
    assert f"{len(second)} of the {len(false)} programs with false advice" in text
