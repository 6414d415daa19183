"""Runs the PyTorch and Triton cases: ``torch_cases.py time|trace|profile OUT [ID...]``.

``time`` writes unprofiled times as JSON lines; ``trace`` runs every variant inside an NVTX range ``ID a`` (bad) or
``ID b`` (cured) with ten ranges ``step N`` in it, for nsys; ``profile`` runs one step per variant between
``cudaProfilerStart`` and ``Stop``, for ncu. A case that fails is reported and does not stop the others. A case with an
``env`` runs each variant in a process of its own, the bad one with that variable set.
"""

import gc
import importlib.util
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import torch

CASES = Path(__file__).resolve().parent.parent / "cases"
WARM_UP, STEPS, REPEATS = 5, 10, 10
DEVICE = os.environ.get("PROOF_DEVICE", "cuda")
LETTER = os.environ.get("PROOF_LETTER", "")


def header(path: Path) -> dict[str, str]:
    """Top-level ``key: value`` lines of a case file's docstring."""
    text = path.read_text().split('"""')[1]
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line and not line.startswith(" "))


def found(tool: str, wanted: list[str]) -> list[tuple[str, Path]]:
    """Cases of a tool, by id."""
    heads = [(header(path), path) for path in sorted(CASES.rglob("[pc][0-9]*.py"))]
    return sorted((h["id"], p) for h, p in heads if h["tool"] == tool and (not wanted or h["id"] in wanted))


def variants(case: str, path: Path) -> list:
    """(letter, function that makes one step) of a case; a control has only the cured letter."""
    spec = importlib.util.spec_from_file_location(f"case_{case}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Triton looks the source of its kernels up there
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    made = module.make(torch.device(DEVICE))
    pairs = [("a", made[0]), ("b", made[1])] if isinstance(made, tuple) else [("b", made)]
    return [pair for pair in pairs if LETTER in ("", pair[0])]


def apart(mode: str, case: str, setting: str, out) -> None:
    """Both variants in processes of their own, the bad one with ``NAME=VALUE`` in its environment."""
    for letter in "ab":
        part = f"{out.name}.{letter}"
        name, _, value = setting.partition("=")
        environment = os.environ | {"PROOF_LETTER": letter} | ({name: value} if letter == "a" else {})
        subprocess.run([sys.executable, __file__, mode, part, "nsys", "ncu", case], env=environment, check=True)
        out.write(Path(part).read_text())
        out.flush()
        Path(part).unlink()


def wait() -> None:
    """Until the device is idle."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def warm(step) -> None:
    for number in range(WARM_UP):
        step(number)
    wait()


def timed(case: str, path: Path, out) -> None:
    for letter, step in variants(case, path):
        warm(step)
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            for number in range(STEPS):
                step(number)
            wait()
            times.append(round((time.perf_counter() - start) / STEPS * 1e6, 3))
        variant = {"a": "bad", "b": "good"}[letter] if not case.startswith("C") else "control"
        out.write(json.dumps({"id": case, "variant": variant, "clock": "wall", "us": times}) + "\n")
        out.flush()


def traced(case: str, path: Path, out) -> None:
    for letter, step in variants(case, path):
        warm(step)
        torch.cuda.nvtx.range_push(f"{case} {letter}")
        for number in range(STEPS):
            torch.cuda.nvtx.range_push(f"step {number}")
            step(number)
            torch.cuda.nvtx.range_pop()
        wait()
        torch.cuda.nvtx.range_pop()
        out.write(f"{case} {letter}\n")
        out.flush()


def profiled(case: str, path: Path, out) -> None:
    for letter, step in variants(case, path):
        step(0)
        step(1)
        wait()
        torch.cuda.cudart().cudaProfilerStart()
        torch.cuda.nvtx.range_push(f"{case} {letter}")
        step(2)
        wait()
        torch.cuda.nvtx.range_pop()
        torch.cuda.cudart().cudaProfilerStop()
        out.write(f"{case} {letter}\n")
        out.flush()


def main() -> None:
    mode, target, *rest = sys.argv[1:]
    tools = [part for part in rest if part in ("nsys", "ncu")] or ["nsys"]
    wanted = [part for part in rest if part not in ("nsys", "ncu")]
    run = {"time": timed, "trace": traced, "profile": profiled}[mode]
    with open(target, "w") as out:
        for case, path in [one for tool in tools for one in found(tool, wanted)]:
            try:
                setting = header(path).get("env", "")
                if setting and not LETTER:
                    apart(mode, case, setting, out)
                else:
                    run(case, path, out)
            except Exception:
                print(f"{case} failed:\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            gc.collect()
            if DEVICE == "cuda":
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
