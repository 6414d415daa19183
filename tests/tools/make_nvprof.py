"""Writes the made fixtures of ``fixtures/nvprof/made-8-to-11``: the forms of nvprof's output with invented content.

The layouts are those of published outputs of nvprof 8 to 11: traces and summaries as text and as CSV, with and without
the ``Type`` column, unified memory, metrics, ranges of NVTX, several processes in one file. The program is made up
here, so every number that a reader should find is known without one.

    python -m tests.tools.make_nvprof
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tests.paths import FIXTURES

FOLDER = FIXTURES / "nvprof" / "made-8-to-11"
GPU = "Tesla P100-PCIE-16GB (0)"
SCALES = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))
SIZES = ((2**30, "GB"), (2**20, "MB"), (2**10, "KB"))


@dataclass(frozen=True)
class Op:
    """One kernel launch, or one copy or set when ``size`` is given; times in ns."""

    name: str
    start: int
    duration: int
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    registers: int = 0
    shared: int = 0
    size: int | None = None
    kinds: tuple[str, str] = ("", "")
    id: int = 0


H2D, D2H = ("Pageable", "Device"), ("Device", "Pageable")
STENCIL = "void stencil<float, int=16>(float const *, float*, int, int)"
OPS = (
    Op("[CUDA memcpy HtoD]", 45_000_000, 2_687_919, size=16_777_216, kinds=H2D, id=101),
    Op("[CUDA memset]", 48_000_000, 1_504, size=4_096, kinds=("Device", ""), id=102),
    *(
        Op(STENCIL, 48_100_000 + 640_000 * i, 631_000 + 100 * i, (4097, 2, 1), (16, 16, 1), 32, 8_192, id=110 + i)
        for i in range(20)
    ),
    Op("sum_rows(float const *, float*, int)", 61_000_000, 36_252, (512, 1, 1), (256, 1, 1), 16, id=140),
    Op("[CUDA memcpy DtoH]", 61_100_000, 1_055, size=2_048, kinds=D2H, id=141),
)
CALLS = {
    "cudaMemcpy": (2_900_000, 12_345), "cudaLaunchKernel": tuple(4_187 + i for i in range(21)),
    "cuDeviceGetAttribute": (317, 704, 715_400),
}  # fmt: skip
MIGRATIONS = {"Host To Device": ((65_536, 65_536, 4_096), 118_432), "Device To Host": ((4_096,), 57_312)}
TRACE_HEADING = (
    "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput"
    "  SrcMemType  DstMemType           Device   Context    Stream  Name"
)
METRICS: dict[str, tuple[str, tuple[str, str, str], tuple[str, str, str]]] = {
    "achieved_occupancy": ("Achieved Occupancy", ("0.240913", "0.917853", "0.622020"), ("0.5", "0.5", "0.500000")),
    "ipc": ("Executed IPC", ("0.505203", "2.455182", "0.756203"), ("1.0", "1.0", "1.000000")),
    "gld_efficiency": ("Global Memory Load Efficiency", ("70.83%", "70.83%", "70.83%"), ("100.00%",) * 3),
    "dram_utilization": ("Device Memory Utilization", ("Idle (0)", "High (7)", "Low (1)"), ("Low (2)",) * 3),
    "inst_executed": ("Instructions Executed", ("101376", "6914048", "1381262"), ("640", "640", "640")),
    "l2_tex_hit_rate": ("L2 Cache Hit Rate", ("0.24%", "100.13%", "93.42%"), ("250.00%",) * 3),
    "dram_read_throughput": ("Device Memory Read Throughput", ("0.00000B/s", "280.19GB/s", "72.6GB/s"), ("1GB/s",) * 3),
}
"""Name -> description, and smallest, largest and mean value of the stencil and of the other kernel."""


def five(value: float, scales: Sequence[tuple[int, str]], unit: str) -> str:
    """A value with five significant digits and its unit."""
    for scale, name in scales:
        if value >= scale:
            number = value / scale
            return f"{number:.{max(0, 5 - len(str(int(number))))}f}{name}"
    return f"{value:.0f}{unit}"


def time(value: float) -> str:
    return five(value, SCALES, "ns")


def size(value: float) -> str:
    return five(value, SIZES, "B")


def banners(process: int = 4_242) -> list[str]:
    mark = f"=={process}=="
    return [
        f"{mark} NVPROF is profiling process {process}, command: ./heat 4096", "grid 4096 x 4096",
        "======== step 20 of 20", f"{mark} Profiling application: ./heat 4096", f"{mark} Profiling result:",
    ]  # fmt: skip


def trace_text() -> list[str]:
    lines = [TRACE_HEADING]
    for op in OPS:
        grid, block = ("({} {} {})".format(*what) if op.size is None else "-" for what in (op.grid, op.block))
        own = [str(op.registers), size(op.shared), "0B"] if op.size is None else ["-"] * 3
        moved = [size(op.size), f"{op.size / op.duration * 1e9 / 2**30:.3f}GB/s"] if op.size is not None else ["-"] * 2
        kinds = [kind or "-" for kind in op.kinds]
        name = f"{op.name} [{op.id}]" if op.size is None else op.name
        cells = [time(op.start), time(op.duration), grid, block, *own, *moved, *kinds, GPU[:16], "1", "7", name]
        widths = [8, 8, 19, 14, 8, 8, 8, 8, 10, 10, 10, 15, 8, 8, 0]
        lines.append("  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)))
    return [*lines, "", "Regs: Number of registers used per CUDA thread.", "SSMem: Static shared memory."]


def trace_csv() -> list[str]:
    names = [
        "Start", "Duration", "Grid X", "Grid Y", "Grid Z", "Block X", "Block Y", "Block Z", "Registers Per Thread",
        "Static SMem", "Dynamic SMem", "Size", "Throughput", "SrcMemType", "DstMemType", "Device", "Context", "Stream",
        "Name", "Correlation_ID",
    ]  # fmt: skip
    lines = [",".join(f'"{name}"' for name in names), "ms,us,,,,,,,,KB,KB,MB,GB/s,,,,,,,"]
    for op in OPS:
        cells = [f"{op.start / 1e6:.6f}", f"{op.duration / 1e3:.6f}"]
        if op.size is None:
            cells += [str(n) for n in (*op.grid, *op.block, op.registers)]
            cells += [f"{op.shared / 1024:.6f}", "0.000000", "", "", "", ""]
        else:
            cells += [""] * 9 + [f"{op.size / 2**20:.6f}", f"{op.size / op.duration * 1e9 / 2**30:.6f}"]
            cells += [f'"{kind}"' if kind else "" for kind in op.kinds]
        lines.append(",".join([*cells, f'"{GPU}","1","7","{mangled(op.name)}",{op.id}']))
    return lines


def mangled(name: str) -> str:
    return "_Z7stencilIfLi16EEvPKT_PS0_ii" if name == STENCIL else name


def gpu_rows() -> list[tuple[str, list[int]]]:
    rows: dict[str, list[int]] = {}
    for op in OPS:
        rows.setdefault(op.name, []).append(op.duration)
    return sorted(rows.items(), key=lambda item: -sum(item[1]))


def api_rows() -> list[tuple[str, list[int]]]:
    return sorted(((name, list(times)) for name, times in CALLS.items()), key=lambda item: -sum(item[1]))


def figures(times: Sequence[int], total: int) -> list[str]:
    values = (time(sum(times)), str(len(times)), time(statistics.fmean(times)), time(min(times)), time(max(times)))
    return [f"{100 * sum(times) / total:.2f}%", *values]


def summary_text(rows: Sequence[tuple[str, list[int]]], group: str, *, heading: bool = True) -> list[str]:
    """A group of rows; only the first one names it."""
    lines = ["            Type  Time(%)      Time     Calls       Avg       Min       Max  Name"] if heading else []
    total = sum(sum(times) for _, times in rows)
    for index, (name, times) in enumerate(rows):
        first, *others = figures(times, total)
        label = f"{group}:" if index == 0 else ""
        lines.append(f"{label:>16}  {first:>7}  " + "  ".join(f"{cell:>8}" for cell in others) + f"  {name}")
    return lines


def whole_summary(gpu: Sequence[tuple[str, list[int]]]) -> list[str]:
    return [*summary_text(gpu, "GPU activities"), *summary_text(api_rows(), "API calls", heading=False)]


def old_summary() -> list[str]:
    """Nvprof 8: no Type column, the calls under a banner of their own."""
    heading = "Time(%)      Time     Calls       Avg       Min       Max  Name"
    lines = ["======== Profiling result:", heading]
    for rows in (gpu_rows(), api_rows()):
        total = sum(sum(times) for _, times in rows)
        for name, times in rows:
            lines.append("  ".join(f"{cell:>8}" for cell in figures(times, total)) + f"  {name}")
        lines += ["", "======== API calls:", heading] if rows == gpu_rows() else []
    return lines


def old_summary_csv() -> list[str]:
    """Units in the cells, and commas of names without quotes."""
    total = sum(sum(times) for _, times in gpu_rows())
    rows = [",".join([*figures(times, total), name]) for name, times in gpu_rows()]
    return ["Time(%),Time,Calls,Avg,Min,Max,Name", *rows]


def summary_csv() -> list[str]:
    lines = ['"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"', ",%,us,,us,us,us,"]
    for group, rows in (("GPU activities", gpu_rows()), ("API calls", api_rows())):
        total = sum(sum(times) for _, times in rows)
        for name, times in rows:
            values = (sum(times), len(times), statistics.fmean(times), min(times), max(times))
            cells = [str(v) if i == 1 else f"{v / 1e3:.6f}" for i, v in enumerate(values)]
            lines.append(f'"{group}",{100 * sum(times) / total:.6f},{",".join(cells)},"{name}"')
    return lines


def unified(process: int = 4_242) -> list[str]:
    lines = [f"=={process}== Unified Memory profiling result:", f'Device "{GPU}"']
    lines.append("   Count  Avg Size  Min Size  Max Size  Total Size  Total Time  Name")
    for name, (parts, total) in MIGRATIONS.items():
        cells = [str(len(parts)), *(size(f) for f in (statistics.fmean(parts), min(parts), max(parts), sum(parts)))]
        widths = (8, 8, 8, 8, 10, 10)
        lines.append("  ".join(c.rjust(w) for c, w in zip([*cells, time(total)], widths, strict=True)) + f"  {name}")
    lines.append("      12         -         -         -           -  942.3680us  Gpu page fault groups")
    return [*lines, "Total CPU Page faults: 154"]


def processes() -> list[str]:
    """Two processes, a range of the first, and unified memory."""
    inside = gpu_rows()[:1]
    ranges = [
        "==4242== NVTX result:", '==4242==   Thread "<unnamed>" (id = 1)', '==4242==     Domain "<unnamed>"',
        '==4242==       Range "step 1"', *summary_text([("step 1", [13_000_000])], "Range"),
        *summary_text(inside, "GPU activities", heading=False), "",
    ]  # fmt: skip
    second = [("sum_rows(float const *, float*, int)", [40_000, 41_000])]
    return [
        *banners(), *whole_summary(gpu_rows()), "", *ranges, *unified(), "",
        *banners(4_243)[:1],
        "==4243== Warning: 2 records have invalid timestamps due to insufficient device buffer space.",
        "==4243== Profiling result:", *whole_summary(second),
    ]  # fmt: skip


def metrics_text() -> list[str]:
    heading = ("Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg")
    widths = (11, 42, 56, 12, 12, 12)
    lines = [*banners()[:1], "==4242== Profiling result:", "==4242== Metric result:"]
    lines.append(heading[0] + "".join(word.rjust(width) for word, width in zip(heading[1:], widths[1:], strict=True)))
    lines.append(f'Device "{GPU}"')
    for place, (kernel, count) in enumerate((("sum_rows(float const *, float*, int)", 1), (STENCIL, 20))):
        lines.append(f"    Kernel: {kernel}")
        for name, (text, *values) in METRICS.items():
            cells = [str(count), name, text, *values[1 - place]]
            lines.append("".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)))
    return lines


def metrics_csv() -> list[str]:
    lines = [*banners()[:1], "==4242== Profiling result:", "==4242== Metric result:"]
    lines.append('"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"')
    for name, (text, values, _) in METRICS.items():
        lines.append(f'"{GPU}","{STENCIL}",20,"{name}","{text}",{",".join(values)}')
    return lines


FILES = {
    "gpu-trace.txt": lambda: [*banners(), *trace_text()],
    "gpu-trace.csv": lambda: [*banners(), *trace_csv()],
    "summary.txt": lambda: ["======== Profiling result:", *whole_summary(gpu_rows())],
    "summary.csv": lambda: [*banners(), *summary_csv()],
    "summary-8.txt": old_summary,
    "summary-8-unquoted.csv": old_summary_csv,
    "processes.txt": processes,
    "metrics.txt": metrics_text,
    "metrics.csv": metrics_csv,
    "nothing.txt": lambda: [*banners(), "No kernels were profiled."],
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        (FOLDER / name).write_text("\n".join(make()) + "\n", encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
