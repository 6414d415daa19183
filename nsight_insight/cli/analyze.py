"""``nsight-insight analyze``: ranked findings for profiles."""

from __future__ import annotations

import sys
from typing import Any

import click

from nsight_insight.cli._options import CONFIG_OPTIONS, analysis_options, output_options

USAGE = 2


@click.command("analyze", short_help="Rank what could be saved in a profile.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(allow_dash=True, readable=False))
@output_options
@analysis_options
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Read Nsight Compute and Nsight Systems exports and rank what could be saved.

    PATH is a file or folder; - is standard input. Several files of one program are analysed together.

    Exit codes: 0 analysed, 1 findings at or above --fail-on, 2 usage, configuration or rule error,
    3 input missing, not understood or (--strict) incomplete, 4 internal error.
    """
    from nsight_insight.cli._run import configuration, run

    if not paths or ("-" in paths and sys.stdin.isatty()):
        click.echo(click.get_current_context().get_help(), err=True)
        return USAGE
    return run(paths, configuration(options, CONFIG_OPTIONS), options)
