"""``nsight-insight plot``: pictures of a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nsight_insight.cli._options import PREFIX, NameType, debug_option

KINDS = ("roofline", "timeline", "stalls", "breakdown")
"""Those of ``plots.KINDS``, without importing it."""


def _readers() -> list[str]:
    from nsight_insight.readers import readers

    return sorted(readers())


@click.command("plot", short_help="Draw a roofline, timeline, stall or time breakdown.")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("paths", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", "output", type=click.Path(path_type=Path), required=True, metavar="FILE",
              help="Where to write; .png, .svg or .pdf.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--device", type=click.IntRange(min=0), metavar="N", help="The device; by default the busiest one.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="How many kernels or families are named.")
@click.option("--from", "from_", metavar="FORMAT", type=NameType("format", _readers), envvar=f"{PREFIX}FROM",
              help="Input format, where detection by content is not wanted.")  # fmt: skip
@click.option("--gpu", metavar="NAME", help="The GPU, where the input does not name it.")
@debug_option
def command(kind: str, paths: tuple[str, ...], **options: Any) -> int:
    """Draw one picture of captures and write it to FILE.

    \b
    roofline   kernels under the roofs of their GPU (needs an ncu capture)
    timeline   a typical training step, else the whole capture (needs an nsys trace)
    stalls     why warps wait, kernel by kernel (needs an ncu capture with WarpStateStats)
    breakdown  time by kernel family, and idle time by cause

    Exit codes: 0 written, 2 usage error or FILE cannot be written, 3 the input does not hold what is drawn,
    4 internal error.
    """  # noqa: D301
    from nsight_insight import api, plots
    from nsight_insight.cli import _output

    output: Path = options["output"]
    _output.check([_output.Target(output, plots.format_of(output))], paths, force=options["force"])
    profile = api.load(*paths, format=options["from_"], gpu=options["gpu"])
    plots.save(plots.figure(kind, api.charts(profile), device=options["device"], top=options["top"]), output)
    click.echo(f"wrote {output}", err=True)
    return 0
