"""Writes the made fixtures of ``fixtures/nsys-text/made-2019-to-2024``: old and foreign layouts with invented content.

The layouts are those of published logs: the fixed columns of Nsight Systems 2019.5, the tables of 2020 and 2021 with
``Average`` and sizes in KiB, those of 2022 and later, ``--timeunit msec``, and the lines around them in job logs. The
kernels, copies and calls are made up here, so every number that a reader should find is known without one.

    python -m tests.tools.make_nsys_text
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tests.paths import FIXTURES

FOLDER = FIXTURES / "nsys-text" / "made-2019-to-2024"
CUT = 100
"""Characters after which nsys cuts a name and adds an ellipsis."""


@dataclass(frozen=True)
class Item:
    """What one row of a summary stands for; sizes in bytes for copies."""

    name: str
    times: tuple[int, ...]
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Locale:
    """Separators of groups and decimals."""

    group: str = ""
    point: str = "."

    def whole(self, value: int) -> str:
        return f"{value:,}".replace(",", self.group)

    def real(self, value: float, digits: int) -> str:
        whole, _, decimals = f"{value:,.{digits}f}".partition(".")
        return whole.replace(",", self.group) + self.point + decimals


PLAIN, ENGLISH, GERMAN, FRENCH = Locale(), Locale(","), Locale(".", ","), Locale("\u202f", ",")

LONG = (
    "void tiles::mul_add<(int)128, (bool)1, tiles::Epilogue<float, tiles::Identity>>(const T1 *, T2 *, int, int, int)"
)
KERNELS = (
    Item(LONG, tuple(1_234_567 + 1_000 * i for i in range(40))),
    Item("saxpy(int, float, const float *, float *)", tuple(9_000 + 17 * i for i in range(12))),
    Item("turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn", (1_024, 1_056)),
)
COPIES = (
    Item("[CUDA memcpy HtoD]", (2_687_919, 1_207_723, 2_079), (16_777_215, 8_294_400, 80)),
    Item("[CUDA memcpy DtoH]", (1_296_488,), (8_294_400,)),
)
CALLS = (
    Item("cudaMalloc", (309_078_676, 195_387, 139_212)),
    Item("cudaLaunchKernel", tuple(4_187 + i for i in range(54))),
    Item("cudaMemcpy_v3020", (2_453_195, 1_691_901, 486_736, 9_608)),
)
RANGES = (Item(":step 1", (44_178_299,)), Item("lib:create handle", (4_910_172, 6_058)))


def cut(name: str) -> str:
    """A name as nsys prints it for people."""
    return name if len(name) <= CUT else name[: CUT - 1] + "\u2026"


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1, lead: str = " ") -> list[str]:
    """Columns under dashes, headings centred, figures to the right, the last ``texts`` columns to the left."""
    widths = [max(len(heading), *(len(row[i]) for row in rows)) for i, heading in enumerate(headings)]
    figures = len(headings) - texts
    lines = ["  ".join(heading.center(width) for heading, width in zip(headings, widths, strict=True))]
    lines.append("  ".join("-" * width for width in widths))
    for row in rows:
        cells = zip(row, widths, strict=True)
        padded = [cell.rjust(width) if i < figures else cell.ljust(width) for i, (cell, width) in enumerate(cells)]
        lines.append("  ".join(padded))
    return [lead + line for line in lines]


def summary_rows(items: Sequence[Item], locale: Locale, era: int, *, style: str = "") -> list[list[str]]:
    """Rows of a summary by time, in the columns of an era."""
    total = sum(sum(item.times) for item in items)
    rows = []
    for item in sorted(items, key=lambda item: -sum(item.times)):
        times = item.times
        spread = statistics.stdev(times) if len(times) > 1 else 0.0
        row = [locale.real(100 * sum(times) / total, 1), locale.whole(sum(times)), locale.whole(len(times))]
        row.append(locale.real(statistics.fmean(times), 1))
        row += [locale.real(statistics.median(times), 1)] if era >= 2022 else []
        row += [locale.whole(min(times)), locale.whole(max(times))]
        row += [locale.real(spread, 1)] if era >= 2022 else []
        rows.append([*row, *([style] if style else []), cut(item.name)])
    return rows


def summary(items: Sequence[Item], locale: Locale, era: int, count: str, name: str, style: str = "") -> list[str]:
    old = ["Time(%)", "Total Time (ns)", count, "Average", "Minimum", "Maximum", name]
    new = ["Time (%)", "Total Time (ns)", count, "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"]
    headings = old if era < 2022 else [*new, *(["Style"] if style else []), name]
    return columns(headings, summary_rows(items, locale, era, style=style), 2 if style else 1)


def sizes(items: Sequence[Item], locale: Locale, era: int) -> list[str]:
    unit, scale = ("", 1024) if era < 2022 else (" (MB)", 10**6)
    words = ["Average", "Minimum", "Maximum"] if era < 2022 else ["Avg (MB)", "Min (MB)", "Max (MB)"]
    headings = [f"Total{unit}", "Operations" if era < 2022 else "Count", *words, "Operation"]
    rows = []
    for item in items:
        figures = [statistics.fmean(item.sizes), min(item.sizes), max(item.sizes)]
        row = [locale.real(sum(item.sizes) / scale, 3), locale.whole(len(item.sizes))]
        rows.append([*row, *(locale.real(figure / scale, 3) for figure in figures), item.name])
    return columns(headings, rows)


def fixed(items: Sequence[Item], count: str) -> list[str]:
    """The fixed columns of 2019: no units, no locale, names of any length, some of them empty."""
    widths = (7, 14, 10, 14, 14, 14)
    headings = ("Time(%)", "Total Time", count, "Average", "Minimum", "Maximum")
    lines = ["  ".join(h.rjust(w) for h, w in zip(headings, widths, strict=True)) + "  Name".ljust(48)]
    lines.append("  ".join("-" * width for width in (*widths, 80)))
    total = sum(sum(item.times) for item in items)
    for item in sorted(items, key=lambda item: -sum(item.times)):
        t = item.times
        figures = (f"{100 * sum(t) / total:.1f}", sum(t), len(t), f"{statistics.fmean(t):.1f}", min(t), max(t))
        name = "" if item.name.startswith("saxpy") else item.name
        lines.append("  ".join(str(f).rjust(w) for f, w in zip(figures, widths, strict=True)) + f"  {name:<48}")
    return lines


def log_2019() -> list[str]:
    return [
        "Exporting the qdrep file to SQLite database using /opt/nvidia/nsight-systems/2019.5.2/host/nsys-exporter.", "",
        "0%   10   20   30   40   50   60   70   80   90   100%", "|----|----|----|----|----|----|----|----|----|----|",
        "***************************************************", "", "Generating CUDA API Statistics...",
        "CUDA API Statistics (nanoseconds)", "", *fixed(CALLS, "Calls"), "", "",
        "Generating CUDA Kernel Statistics...", "", "Generating CUDA Memory Operation Statistics...",
        "CUDA Kernel Statistics (nanoseconds)", "", *fixed(KERNELS, "Instances"), "",
        "CUDA Memory Operation Statistics (nanoseconds)", "", *fixed(COPIES, "Operations"), "",
        "Generating NVTX Push-Pop Range Statistics...", "NVTX Push-Pop Range Statistics (nanoseconds)",
    ]  # fmt: skip


def log_2021() -> list[str]:
    """A program's own output, redrawn progress, and numbers as a German locale writes them."""
    progress = "\r".join(f"Processing [{i}%{'=' * (i // 5):<20}]" for i in (0, 40, 100))
    return [
        "WARNING: solver and any of its children processes will be profiled.", "", "iteration  residual",
        "---------  --------", "        1     0,125", f"\r{progress}", "Exported successfully to",
        "/scratch/nsys-report-1.sqlite", "", "CUDA API Statistics:", "",
        *summary(CALLS, GERMAN, 2021, "Num Calls", "Name"),
        "", "", "", "CUDA Kernel Statistics:", "", *summary(KERNELS, GERMAN, 2021, "Instances", "Name"), "", "", "",
        "CUDA Memory Operation Statistics (by time):", "",
        *summary(COPIES, GERMAN, 2021, "Operations", "Operation"), "", "", "",
        "CUDA Memory Operation Statistics (by size in KiB):", "", *sizes(COPIES, GERMAN, 2021), "", "", "",
        "CUDA Kernel & Memory Operations Trace:", "", *trace_2021(GERMAN), "solver finished in 3,7 s",
    ]  # fmt: skip


def trace_2021(locale: Locale) -> list[str]:
    """The trace of 2021: sizes in bytes, starts in seconds, of which this locale loses the decimals."""
    headings = [
        "Start(sec)", "Duration(nsec)", "CorrId", "GrdX", "Reg/Trd", "Bytes", "Thru(MB/s)", "SrcMemKd", "DstMemKd",
        "Device", "Ctx", "Strm", "Name",
    ]  # fmt: skip
    rows = []
    for i, (size, time) in enumerate((s, t) for c in COPIES for s, t in zip(c.sizes, c.times, strict=True)):
        speed = locale.real(int(size / time * 1e3), 3)
        rows.append(
            ["0,000000", locale.whole(time), str(19 + i), "", "", locale.whole(size), speed, "Pinned", "Device"]
        )
    rows += [["0,000000", locale.whole(t), "99", locale.whole(65_535), "32", *[""] * 4] for t in KERNELS[1].times]
    names = [copy.name for copy in COPIES for _ in copy.sizes] + [KERNELS[1].name] * len(KERNELS[1].times)
    for row, name in zip(rows, names, strict=True):
        row += ["NVIDIA Tesla V100-PCIE-16GB (0)", "1", "13", name]
    return columns(headings, rows)


def log_2022_milliseconds() -> list[str]:
    """``--timeunit msec``, old report names, grid and block columns."""
    headings = [
        "Time (%)", "Total Time (ms)", "Instances", "Avg (ms)", "Med (ms)", "Min (ms)", "Max (ms)", "StdDev (ms)",
        "GridXYZ", "BlockXYZ", "Name",
    ]  # fmt: skip
    rows = []
    total = sum(sum(item.times) for item in KERNELS)
    for item in KERNELS:
        t = [time / 1e6 for time in item.times]
        figures = [sum(t), statistics.fmean(t), statistics.median(t), min(t), max(t), statistics.stdev(t)]
        first, *others = (f"{figure:.4f}" for figure in figures)
        share = f"{100 * sum(item.times) / total:.1f}"
        rows.append([share, first, str(len(t)), *others, "125000    1    1", " 128    1    1", cut(item.name)])
    return [
        "Processing [run 1.sqlite] with [/opt/nsight-systems-2022.4.2/host-linux-x64/reports/gpukernsum.py]... ",
        "", " ** CUDA GPU Kernel Summary (gpukernsum):", "", *columns(headings, rows, 3),
    ]  # fmt: skip


def log_2024_two_ranks() -> list[str]:
    """Two ranks of a job one after the other, a French locale, a SKIPPED line before its own report."""
    lines = ["Generating '/tmp/nsys-report-fcd4.qdstrm'"]
    for rank, kernels in enumerate((KERNELS, KERNELS[:2])):
        lines += [
            f"\r[1/6] [0%          ] rank{rank}.nsys-rep\r[1/6] [========100%] rank{rank}.nsys-rep",
            f"[2/6] [========100%] rank{rank}.sqlite",
            f"SKIPPED: /home/someone/run/rank{rank}.sqlite does not contain GPU memory data.",
            "[3/6] Executing 'nvtx_sum' stats report", "",
            *summary(RANGES, FRENCH, 2024, "Instances", "Range", "PushPop"), "",
            "[4/6] Executing 'cuda_api_sum' stats report", "", *summary(CALLS, FRENCH, 2024, "Num Calls", "Name"), "",
            "[5/6] Executing 'cuda_gpu_kern_sum' stats report", "",
            *summary(kernels, FRENCH, 2024, "Instances", "Name"), "",
            "[6/6] Executing 'cuda_gpu_mem_time_sum' stats report", "",
            "Generated:", f"\t/home/someone/run/rank{rank}.nsys-rep", "",
        ]  # fmt: skip
    return lines


def notes_2024() -> list[str]:
    """A README with a fenced table, one behind comment signs, and one that its author cut."""
    table = summary(KERNELS, ENGLISH, 2024, "Instances", "Name")
    pasted = [f"# {line}" for line in summary(CALLS, PLAIN, 2024, "Num Calls", "Name")]
    return ["# Profiling notes", "", "```", *table, "```", "", "```python", *pasted, "```", "", "Copies:", "",
            *summary(COPIES, ENGLISH, 2024, "Count", "Operation")[:3], "..."]  # fmt: skip


def html_2024() -> list[str]:
    headings = ["Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)",
                "StdDev (ns)", "Name"]  # fmt: skip
    whole = [[*row[:-1], item.name] for row, item in zip(summary_rows(KERNELS, PLAIN, 2024), KERNELS, strict=True)]
    lines = [
        "<!DOCTYPE html>",
        "<html><body>",
        "<table>",
        "<thead><tr>",
        *(f"  <th>{escape(h)}</th>" for h in headings),
    ]
    lines.append("</tr></thead><tbody>")
    lines += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in whole]
    return [*lines, "</tbody></table>", "</body></html>"]


FILES = {
    "profile-stats-2019.5.txt": log_2019,
    "job-2021-german.log": log_2021,
    "stats-2022.4-msec.txt": log_2022_milliseconds,
    "two-ranks-2024-french.out": log_2024_two_ranks,
    "notes-2024.md": notes_2024,
    "kern_sum-2024.html": html_2024,
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        (FOLDER / name).write_text("\n".join(make()) + "\n", encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
