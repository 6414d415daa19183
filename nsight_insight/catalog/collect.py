"""Commands that collect what a profile lacks: ``ncu`` for metrics, ``nsys`` for time and the host side.

Options as of Nsight Compute 2024.1 to 2025.3 and Nsight Systems 2024 and 2025.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nsight_insight.catalog.metrics import Alias, Metric, load_columns, load_metrics
from nsight_insight.catalog.sections import load_sections

PROGRAM: Final = "python train.py"
"""Stands for the user's own program."""
LAUNCHES: Final = 200
"""Launches ncu profiles at most; each is replayed many times, so a whole training run would take days."""
MAX_KERNELS: Final = 8
"""Kernel names in one filter; more make the command unreadable, and the filter is there to save time."""

_TRACE: Final = ("cuda_gpu_trace",)
_REPORTS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("memcpy", "memcpy_kind", "memcpy_bytes", "start", "min", "max", "cc"), _TRACE),
    "api": ("cuda_api_sum",),
    "api_trace": ("cuda_api_trace",),
    "correlation": (*_TRACE, "cuda_api_trace"),
    "nvtx": (*_TRACE, "nvtx_pushpop_trace"),
    "api_duration": ("cuda_kern_exec_trace",),
    "queue_duration": ("cuda_kern_exec_trace",),
}
"""What ``needs`` of the views' facts call it -> the ``nsys stats`` reports that hold it."""
_CHIPS: Final = (7.0, 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 10.3, 12.0)
"""Compute capabilities weighed where a profile does not name its GPU."""
_PLAIN_RANGE: Final = re.compile(r"[\w.:=#-]+(?: [\w.:=#-]+)*", re.ASCII)
_GROUPS: Final = ("tensor_ops",)
"""Needs that stand for every metric whose name continues theirs."""


@dataclass(frozen=True)
class Target:
    """What is run, and which part of it is profiled.

    Attributes:
        program: the command line of the user's program, quoted for a shell.
        skip: matching launches that ncu lets pass before it profiles.
        count: matching launches that ncu profiles at most.
        nvtx: expression for ``--nvtx-include``, "" for launches in any range.
        graph_nodes: ask nsys for the kernels inside CUDA graphs, which it else records as a whole.
    """

    program: str = PROGRAM
    skip: int = 0
    count: int = LAUNCHES
    nvtx: str = ""
    graph_nodes: bool = False


ANYTHING: Final = Target()
"""A program nothing is known about: its first launches."""


def collect_command(
    metrics: Iterable[str],
    cc: float | None,
    tool: str = "ncu",
    *,
    kernels: Sequence[str] = (),
    target: Target = ANYTHING,
) -> str:
    """The shell commands, one a line, that collect ``metrics``.

    Args:
        metrics: canonical metrics, activity columns, or needs of the views' facts. Unknown names are left out.
        cc: compute capability of the GPU, None when unknown; decides which of a metric's names exists.
        tool: ``ncu`` or ``nsys``: who is asked for what both can give (durations, launch shape, registers).
        kernels: functions to profile, as ``function_names`` gives them; empty: all. What is no identifier is left out.
        target: the program, and where in it to look.

    Returns:
        The commands, "" when no tool can collect any of it on this GPU.
    """
    reports: list[str] = []
    wanted: list[Metric] = []
    for name in dict.fromkeys(metrics):
        counters = _counters(name)
        if name in _REPORTS or (tool == "nsys" and name in load_columns()):
            reports += _REPORTS.get(name, _TRACE)
        wanted += [] if tool == "nsys" and name in load_columns() else counters
    commands = [_ncu(wanted, cc, kernels, target), *_nsys(reports, target)]
    return "\n".join(filter(None, commands))


def _counters(name: str) -> list[Metric]:
    known = {**load_metrics(), **load_columns()}
    if name in _GROUPS:
        return [metric for key, metric in known.items() if key.startswith(f"{name}_")]
    return [known[name]] if name in known else []


def _ncu(wanted: Sequence[Metric], cc: float | None, kernels: Sequence[str], target: Target) -> str:
    chosen = [alias for metric in wanted if (alias := _choose(metric, cc))]
    if not chosen:
        return ""
    sections = {alias.section for alias in chosen if _by_section(alias, cc)}
    names = [term for alias in chosen if not _by_section(alias, cc) for term in alias.terms]
    if "SpeedOfLight" not in sections:
        # Without durations nothing can be ranked.
        names.append(load_columns()["duration"].aliases[0].metric)
    parts = ["ncu --csv --page raw --log-file ncu.csv --clock-control none", *_launches(target)]
    parts += _kernel_filter(kernels)
    parts += [f"--section {identifier}" for identifier in load_sections() if identifier in sections]
    if names:
        parts.append(f"--metrics {','.join(dict.fromkeys(names))}")
    return " ".join([*parts, target.program])


def _launches(target: Target) -> Iterator[str]:
    """Which launches: ncu counts those that pass every other filter."""
    if target.nvtx:
        yield f"--nvtx --nvtx-include {shlex.quote(target.nvtx)}"
    if target.skip:
        yield f"--launch-skip {target.skip}"
    yield f"--launch-count {target.count}"


def nvtx_filter(name: str, domain: str = "") -> str:
    """The ``--nvtx-include`` expression for a push/pop range anywhere in the stack (``step 3/``, ``domain@step 3/``).

    Returns:
        "" for names with characters that have a meaning of their own in such expressions.
    """
    plain = all(_PLAIN_RANGE.fullmatch(text) for text in (name, domain or "_"))
    return f"{domain}@{name}/" if plain and domain else f"{name}/" if plain else ""


def _choose(metric: Metric, cc: float | None) -> Alias | None:
    """The preferred alias the chip has; on an unknown chip one that all have, else one whose section knows the chip."""
    if cc is not None:
        return next((alias for alias in metric.aliases if alias.exists_on(cc)), None)
    ranked = sorted(metric.aliases, key=lambda alias: (not _everywhere(alias), not alias.section))
    return ranked[0]


def _by_section(alias: Alias, cc: float | None) -> bool:
    """Whether to ask for the whole section; some cost many passes and pay only where the chip is unknown."""
    if not alias.section:
        return False
    return not load_sections()[alias.section].bulky or (cc is None and not _everywhere(alias))


def _everywhere(alias: Alias) -> bool:
    return all(alias.exists_on(chip) for chip in _CHIPS)


def _kernel_filter(kernels: Sequence[str]) -> Iterator[str]:
    names = dict.fromkeys(filter(None, map(_function_name, kernels)))
    if names:
        pattern = "|".join(re.escape(name) for name in list(names)[:MAX_KERNELS])
        yield f"--kernel-name {shlex.quote(f'regex:^({pattern})$')}"


def _function_name(name: str) -> str:
    """What ncu matches by default: the function's own name without namespaces and parameters."""
    function = name.rpartition("::")[2]
    return function if re.fullmatch(r"[A-Za-z_$][\w$]*", function, re.ASCII) else ""


def _nsys(reports: Sequence[str], target: Target) -> Iterator[str]:
    if reports:
        graphs = " --cuda-graph-trace=node" if target.graph_nodes else ""
        yield f"nsys profile --trace=cuda,nvtx{graphs} --output=nsys {target.program}"
        yield f"nsys stats --report {','.join(dict.fromkeys(reports))} --format csv --output nsys nsys.nsys-rep"
