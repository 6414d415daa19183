"""Runs a program under NVIDIA's profilers, where they are installed, and says which files to analyse."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nsight_insight.errors import NsightInsightError, OutputError, UsageError

if TYPE_CHECKING:
    from nsight_insight.config import Config

NSYS, NCU, BOTH = "nsys", "ncu", "both"
_NEEDS: Final = ("start", "memcpy", "api", "nvtx")
"""What rules read of a time line; the commands that record it are those that ``collect`` prints."""
_INSTALL: Final = {
    NSYS: "Nsight Systems (nsys): it comes with the CUDA toolkit, or from https://developer.nvidia.com/nsight-systems",
    NCU: "Nsight Compute (ncu): it comes with the CUDA toolkit, or from https://developer.nvidia.com/nsight-compute",
}
_STDERR: Final = 2


class ToolMissing(UsageError):
    """A profiler that is not installed here."""


class CaptureFailed(NsightInsightError):
    """A profiler that ended without the file it should have written."""

    exit_code = 3


@dataclass(frozen=True)
class Step:
    """One command and the file it leaves; ``measured`` where the user's program runs in it."""

    tool: str
    command: tuple[str, ...]
    makes: Path
    measured: bool = False

    @property
    def text(self) -> str:
        """As a shell would take it."""
        return shlex.join(self.command)


def nsys_steps(folder: Path, program: Sequence[str]) -> list[Step]:
    """Record a time line, and export it to SQLite, which holds everything that rules can use."""
    from nsight_insight.catalog.collect import Target, collect_command

    report, export = folder / "nsys.nsys-rep", folder / "nsys.sqlite"
    line, *_ = collect_command(_NEEDS, None, NSYS, target=Target(program="PROGRAM")).splitlines()
    options = [f"--output={folder / 'nsys'}" if word == "--output=nsys" else word for word in shlex.split(line)[:-1]]
    exporting = (NSYS, "export", "--type", "sqlite", "--output", str(export), str(report))
    return [Step(NSYS, (*options, *program), report, measured=True), Step(NSYS, exporting, export)]


def ncu_steps(folder: Path, program: Sequence[str], config: Config, seen: Path | None) -> list[Step]:
    """Measure kernels: those of a time line that matter and only what rules lack of them, else the first launches.

    Args:
        folder: where the log goes.
        program: the user's program and its arguments.
        config: selection of rules, and the GPU where it is known.
        seen: an export of the program's time line, None without one.
    """
    from nsight_insight import api
    from nsight_insight.collection import Wish, capability_of, plan

    wish = Wish(NCU, capability_of(config.gpu, None), (), ("PROGRAM",))
    profile = api.load(seen, gpu=config.gpu or None) if seen is not None else None
    log = folder / "ncu.csv"
    words = (shlex.split(line)[:-1] for line in plan(profile, config, wish).commands)
    commands = [tuple(str(log) if word == "ncu.csv" else word for word in line) for line in words]
    return [Step(NCU, (*command, *program), log, measured=True) for command in commands]


def missing(tools: Sequence[str]) -> list[str]:
    """What to install, for those that are not on the path."""
    return [_INSTALL[tool] for tool in tools if shutil.which(tool) is None]


def capture(program: Sequence[str], folder: Path, tool: str, config: Config) -> Iterator[Step]:
    """Run the program under one tool or under both in turn.

    Yields:
        Each step, before it is run.

    Raises:
        UsageError: no program.
        ToolMissing: a tool is not installed.
        CaptureFailed: a tool wrote nothing.
        OutputError: the folder cannot be made.
    """
    if not program:
        raise UsageError("no program given: nsight-insight run -- python train.py")
    tools = (NSYS, NCU) if tool == BOTH else (tool,)
    if lacking := missing(tools):
        raise ToolMissing("\n".join(f"not installed here: {what}" for what in lacking))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}") from error
    if NSYS in tools:
        yield from _run(nsys_steps(folder, program))
    if NCU in tools:
        yield from _run(ncu_steps(folder, program, config, folder / "nsys.sqlite" if NSYS in tools else None))


def preview(program: Sequence[str], folder: Path, tool: str, config: Config) -> list[Step]:
    """The steps that can be told before anything ran; with both tools ncu's own depend on what nsys records."""
    steps = nsys_steps(folder, program) if tool != NCU else []
    return [*steps, *(ncu_steps(folder, program, config, None) if tool != NSYS else [])]


def results(folder: Path) -> list[Path]:
    """The files to analyse."""
    return [file for file in (folder / "nsys.sqlite", folder / "ncu.csv") if file.is_file()]


def _run(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        step.makes.unlink(missing_ok=True)
        program = shutil.which(step.command[0]) or step.command[0]
        sys.stderr.flush()
        # Standard output is the report's; what the program prints goes where progress goes.
        done = subprocess.run([program, *step.command[1:]], stdout=_STDERR, check=False)  # noqa: S603 - as asked for
        if not step.makes.is_file():
            raise CaptureFailed(f"{step.tool} ended with exit code {done.returncode} and wrote no {step.makes}")
        if done.returncode:
            what = "the program or the profiler" if step.measured else step.tool
            print(f"warning: {what} ended with exit code {done.returncode}", file=sys.stderr)  # noqa: T201
