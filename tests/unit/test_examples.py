"""Every output of the real captures, as committed for people to read before they install anything."""

from __future__ import annotations

import subprocess
import sys

from tests.paths import ROOT


def test_the_examples_are_what_the_commands_give_now() -> None:
    script = ROOT / "docs" / "make_examples.py"
    run = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert run.stdout == "", "python docs/make_examples.py"
    assert run.returncode == 0, run.stderr
