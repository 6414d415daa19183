"""``nsight-insight inspect``: what captures are and what they are good for."""

from __future__ import annotations

import sys
from typing import Any

import click

from nsight_insight.cli._options import debug_option, inspection_options

USAGE, UNREAD = 2, 3
"""Exit codes without a path, and when a file could not be read."""


@click.command("inspect", short_help="Tell what captures are, hold and allow to conclude.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@inspection_options
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.option("-v", "--verbose", is_flag=True, help="Name every metric, rule and remark.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours.")
@debug_option
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Look at captures, readable or not, without judging the program.

    Says what each file is, what was recorded and what was lost, what conclusions depend on (clocks, overhead, lost
    events, start-up), which rules can be judged, and the commands that collect what is missing.

    \b
    Exit codes: 0 inspected, 2 usage or rule error, 3 a file could not be read, 4 internal error.
    """  # noqa: D301
    from nsight_insight.cli import _output
    from nsight_insight.config_file import load_config
    from nsight_insight.inspection import inspect
    from nsight_insight.reporters.inspection import inspection_dict, inspection_text

    if not paths or ("-" in paths and sys.stdin.isatty()):
        click.echo(click.get_current_context().get_help(), err=True)
        return USAGE
    config = load_config(use_file=not options["no_config"], options={"rules": options["rules"], "gpu": options["gpu"]})
    found = inspect(*paths, format=options["from_"], gpu=config.gpu or None, config=config)
    if options["format_"] == "json":
        _output.json_to_stdout(inspection_dict(found))
    else:
        _output.to_stdout(inspection_text(found, _output.console(options["color"], verbose=options["verbose"])))
    return UNREAD if any(file.error for file in found.files) else 0
