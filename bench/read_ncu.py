"""Reading an ncu raw page, against csv.reader alone and pandas.read_csv: ``python bench/read_ncu.py [FILE]``.

Without a file, a page of the usual shape is made up: one row of units, 1,000 launches, every metric name of the
catalogue, and filler up to 1,200 columns, all cells quoted, thousands separated.
"""

from __future__ import annotations

import csv
import io
import random
import sys
from pathlib import Path

import pandas as pd
from measure import print_table, wall_seconds

from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.readers import read
from nsight_insight.readers.text import from_bytes

RUNS = 3
LAUNCHES = 1_000
COLUMNS = 1_200
LEAD = (
    ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"),
    ("Block Size", "Grid Size", "Device", "CC"),
)
KERNELS = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, T2, T3)",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
)


def main() -> None:
    """Print the table."""
    data = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else made_up_page()
    text = data.decode("utf-8-sig", errors="replace")
    baseline = "csv.reader alone"
    seconds = {
        baseline: wall_seconds(lambda: sum(len(row) for row in csv.reader(io.StringIO(text))), RUNS),
        "pandas.read_csv, all text": wall_seconds(lambda: pd.read_csv(io.BytesIO(data), dtype=str), RUNS),
        "nsight_insight.readers": wall_seconds(lambda: read(from_bytes("page.csv", data)), RUNS),
    }
    print_table(f"{len(data) / 1e6:.1f} MB, best of {RUNS}", seconds, baseline)


def made_up_page() -> bytes:
    """The page, the same bytes every time."""
    chance = random.Random(0)  # noqa: S311
    known = {
        alias.metric: (alias.base_unit, metric.maximum or 1e6)
        for metric in load_metrics().values()
        for alias in metric.aliases
    }
    filler = {f"smsp__inst_executed_op_filler_{n}.sum": ("inst", 1e6) for n in range(COLUMNS - len(known))}
    cells = {**known, **filler}
    page = io.StringIO()
    writer = csv.writer(page, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([*LEAD[0], *LEAD[1], *cells])
    writer.writerow([""] * 11 + [unit for unit, _ in cells.values()])
    for launch in range(LAUNCHES):
        lead = [launch, 4321, "python3", "host", KERNELS[launch % 2], 1, 7, "(128, 1, 1)", "(1024, 1, 1)", 0, "9.0"]
        values = [chance.uniform(0, 100 if unit == "%" else most) for unit, most in cells.values()]
        writer.writerow(lead + [f"{value:,.2f}" for value in values])
    return page.getvalue().encode()


if __name__ == "__main__":
    main()
