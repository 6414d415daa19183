"""Every output of the same real captures: ``python docs/make_examples.py [--check]`` writes ``docs/examples``.

The captures are four training steps of a small transformer on an H200, in FP32 and under FP16 autocast.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"
FP32 = "fixtures/nsys-csv/2025.3-h200-fp32/fp32_cuda_gpu_trace.csv"
AMP = "fixtures/nsys-csv/2025.3-h200-amp/amp_fp16_cuda_gpu_trace.csv"
CALLS = [AMP.replace("gpu_trace", "api_trace"), AMP.replace("cuda_gpu_trace", "nvtx_pushpop_trace")]
NCU = "fixtures/ncu-csv/2025.3.1-h200-amp/raw.csv"
REPORTS = (
    "report.txt", "report.md", "report.html", "report.json", "report.csv", "report.prom", "report.sarif", "report.xml",
    "report.github.txt", "gl-code-quality-report.json",
)  # fmt: skip
COMPARISONS = ("compare.txt", "compare.md", "compare.json")
VERIFICATIONS = ("verify.txt", "verify.md", "verify.json")


def commands(folder: Path) -> list[list[str]]:
    """The calls that write all examples into ``folder``."""
    return [
        ["analyze", AMP, *CALLS, NCU, *_outputs(folder, REPORTS)],
        ["compare", FP32, AMP, *_outputs(folder, COMPARISONS)],
        ["verify", FP32, AMP, *_outputs(folder, VERIFICATIONS)],
    ]


def _outputs(folder: Path, names: tuple[str, ...]) -> list[str]:
    return [part for name in names for part in ("-o", str(folder / name))]


def write(folder: Path) -> None:
    """Write every example.

    Raises:
        CalledProcessError: a command failed.
    """
    environment = {**os.environ, "COLUMNS": "90", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    for arguments in commands(folder):
        call = [sys.executable, "-m", "nsight_insight", *arguments]
        subprocess.run(call, check=True, capture_output=True, cwd=ROOT, env=environment)  # noqa: S603


def main() -> int:
    """Write, or with ``--check`` say what differs from what is committed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        texts = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    committed = {path.name for path in EXAMPLES.iterdir()} if EXAMPLES.exists() else set()
    stale = [name for name, text in texts.items() if _committed(name) != text]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"docs/examples/{name} is not what the command gives now")
        for name in sorted(committed - texts.keys()):
            print(f"docs/examples/{name} is of no command")
        return 1 if stale or committed - texts.keys() else 0
    EXAMPLES.mkdir(exist_ok=True)
    for name in stale:
        (EXAMPLES / name).write_bytes(texts[name])
    return 0


def _committed(name: str) -> bytes | None:
    path = EXAMPLES / name
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main())
