"""The README shows what the program really prints, and its two commands are there for CI to run."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.paths import ROOT


def test_readme_shows_the_current_output_of_the_demo() -> None:
    check = subprocess.run([sys.executable, str(ROOT / "docs" / "update_readme.py"), "--check"], check=False)
    assert check.returncode == 0, "run: python docs/update_readme.py"


def test_readme_begins_with_output_and_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"<!-- command: demo -->\n```sh\n.*nsight-insight demo\n```", text)
    assert re.search(r"<!-- command: test -->\n```sh\n.*-m pytest\n```", text)
    assert text.index("<!-- output: demo -->") < text.index("## Use")
