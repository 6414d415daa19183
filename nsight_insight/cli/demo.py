"""``nsight-insight demo``: the built-in capture, analysed."""

from __future__ import annotations

from typing import Any

import click

from nsight_insight.cli._options import output_options

HOW_TO = """
These were four FP32 training steps of a small transformer on an H200. For your own program:

  nsys profile -o run python train.py
  nsys stats --report cuda_gpu_trace,cuda_api_sum --format csv --output run run.nsys-rep
  nsight-insight analyze run_*.csv
"""


@click.command("demo", short_help="Analyse the built-in capture.")
@output_options
def command(**options: Any) -> int:
    """Analyse a real capture that comes with the package, and tell how to analyse your own."""
    from nsight_insight.cli._run import run
    from nsight_insight.config import Config
    from nsight_insight.data import demo_dir
    from nsight_insight.readers.text import SourceText

    folder = demo_dir()
    # Named by their own names: the demo reads the same wherever the package lies.
    inputs = [SourceText(file.name, None, file) for file in sorted(folder.glob("*.csv"))]
    code = run(inputs, Config(), options)
    click.echo(HOW_TO, err=True, nl=False)
    return code
