"""Timing helpers: best of several runs, and a table of ratios to a baseline of the same run."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence


def cpu_seconds(command: Sequence[str], runs: int) -> float:
    """Least user plus system time of a child process, in seconds."""
    return min(_child(command) for _ in range(runs))


def wall_seconds(function: Callable[[], object], runs: int) -> float:
    """Least elapsed time of a call, in seconds."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def print_table(title: str, seconds: Mapping[str, float], baseline: str) -> None:
    """One line per entry: milliseconds and how many times the baseline."""
    print(title)
    width = max(map(len, seconds))
    for name, value in seconds.items():
        print(f"  {name:<{width}}  {value * 1e3:9.1f} ms  {value / seconds[baseline]:6.2f} x")


def _child(command: Sequence[str]) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed with exit code {child.returncode}")
    return usage.ru_utime + usage.ru_stime
