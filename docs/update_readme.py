"""Write the demo's real output into README.md, between its markers: ``python docs/update_readme.py [--check]``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- output: demo -->\n```text\n).*?(```\n<!-- end -->)", re.DOTALL)
LINES = 46


def output() -> str:
    """The head of what ``nsight-insight demo`` prints at 90 columns, without colour."""
    environment = {**os.environ, "COLUMNS": "90", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-m", "nsight_insight", "demo"], capture_output=True, text=True, check=True, env=environment
    )
    lines = run.stdout.splitlines()
    head = [line.rstrip() for line in lines[:LINES]]
    return "\n".join([*head, "..."]) + "\n"


def updated(text: str) -> str:
    """README text with the current output."""
    return BLOCK.sub(lambda found: found[1] + output() + found[2], text)


def main() -> int:
    """Write, or with ``--check`` only compare; 1 when they differ."""
    readme = ROOT / "README.md"
    old = readme.read_text(encoding="utf-8")
    new = updated(old)
    if "--check" in sys.argv:
        return int(new != old)
    readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
