"""Every kind of plot and a whole HTML report, made from the captures of the project."""

from __future__ import annotations

from contextlib import chdir
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from generated_pages.markdown import fence, prose
from nsight_insight import api, plots
from nsight_insight.model.charts import Charts

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ("fixtures/ncu-csv/2025.3.1-h200-amp/raw.csv",)
TIMELINE = ("fixtures/nsys-sqlite/2025.3-h200-amp/amp_fp16.sqlite",)
INPUTS = {"roofline": KERNELS, "stalls": KERNELS}
"""Kind -> captures it is drawn from; all others from ``TIMELINE``."""
HEAD = """Drawn with matplotlib into a file (`.png`, `.svg`, `.pdf`), from the same numbers as the report. In Python,
`nsight_insight.plots` returns figures and draws on your own axes.

A whole report with its pictures, as `nsight-insight analyze fixtures/demo -o report.html` writes it:
{download}`report.html`.
"""


def pages() -> dict[str, str]:
    """``plots.md``."""
    parts = ["# Plots\n", HEAD]
    for kind in plots.KINDS:
        about = (import_module(f"nsight_insight.plots.{kind}").__doc__ or "").split("\n\n")[0]
        command = f"$ nsight-insight plot {kind} {' '.join(INPUTS.get(kind, TIMELINE))} -o {kind}.svg"
        parts += [f"## {kind.capitalize()}\n", prose(about) + "\n", fence(command, "console")]
        parts.append(f"![{kind} of the example]({kind}.svg)\n")
    return {"plots.md": "\n".join(parts)}


def draw(folder: Path) -> None:
    """Write the picture of every kind, and the report, into ``folder``; sources are named from the project's root."""
    with chdir(ROOT):
        for kind in plots.KINDS:
            plots.save(plots.figure(kind, _charts(INPUTS.get(kind, TIMELINE))), folder / f"{kind}.svg")
        api.analyze(api.load("fixtures/demo")).write(folder / "report.html", force=True)


@lru_cache(maxsize=len(INPUTS))
def _charts(paths: tuple[str, ...]) -> Charts:
    return api.charts(api.load(*paths))
