"""Write real output into README.md, between its markers: ``python docs/update_readme.py [--check]``.

``demo`` is what the built-in capture gives, ``proof`` the scores of ``bench/proof/scorecard.json`` and ``blind.json``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- output: demo -->\n```text\n).*?(```\n<!-- end -->)", re.DOTALL)
PROOF = re.compile(r"(<!-- output: proof -->\n).*?(<!-- end -->)", re.DOTALL)
JUDGES = {
    "this project": "all",
    "this project, Nsight Compute captures": "ncu",
    "NVIDIA's own rules, the same captures": "nvidia",
    "fournex, the same captures": "fournex",
    "this project, Nsight Systems captures": "nsys",
    "nsys-ai, the same captures": "nsys-ai diagnose",
}
"""Row of the table -> scores of the card."""
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


BLIND = "this project, programs made after the rules, as first scored"


def proof() -> str:
    """The head of the proof's scores, one row per judge."""
    folder = ROOT / "bench" / "proof"
    scores = json.loads((folder / "scorecard.json").read_text(encoding="utf-8"))["scores"]
    blind = json.loads((folder / "blind.json").read_text(encoding="utf-8"))["scores"]["blind"]
    head = ["", "planted cause named first", "healthy programs with false advice", "true saving as promised"]
    rows = [head, ["---"] * len(head), *([name, *_cells(scores[key])] for name, key in JUDGES.items())]
    rows.append([BLIND, *_cells(blind)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cells(score: dict[str, int]) -> list[str]:
    parts = (("top1", "cases"), ("false", "healthy"), ("covered", "stated"))
    return [f"{score[part]} of {score[whole]}" for part, whole in parts]


def updated(text: str) -> str:
    """README text with the current output."""
    text = BLOCK.sub(lambda found: found[1] + output() + found[2], text)
    return PROOF.sub(lambda found: found[1] + proof() + found[2], text)


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
