"""``nsight-insight run``: profile a program here, then analyse it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nsight_insight.cli._options import debug_option
from nsight_insight.cli.collect import _PROGRAM, _WithProgram

DONE = 0


@click.command("run", cls=_WithProgram, short_help="Profile a program where a GPU is, and analyse it.")
@click.option("--tool", type=click.Choice(["nsys", "ncu", "both"]), default="nsys",
              help="nsys says where the time goes; ncu says why, and takes long; both: ncu measures the slowest "
                   "kernels that nsys found.")  # fmt: skip
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              default=Path("nsight-insight-run"), show_default=True, help="Folder for the captures.")  # fmt: skip
@click.option("--report", "outputs", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
              help="Write the analysis to FILE, too, in the format of its ending. May be repeated.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the commands and run nothing.")
@click.option("--force", is_flag=True, help="Overwrite captures in DIR, and FILE.")
@click.option("--gpu", metavar="NAME", help="The GPU, so that ncu is asked for what it has.")
@click.option("--fail-on", metavar="LEVEL", help="Exit with 1 on findings, as analyze does.")
@click.option("--framework", help="Show remedies' code for this framework only.")
@click.option("-v", "--verbose", is_flag=True, help="Show everything that is known.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours.")
@click.option("--no-config", is_flag=True, help="Read no configuration file.")
@debug_option
def command(**options: Any) -> int:
    """Run a program under Nsight Systems, Nsight Compute or both, and analyse what they recorded.

    The program goes behind --. Every command is printed before it is run; the program's own output goes to standard
    error. Captures stay in DIR. Nothing is installed and no setting of the machine is changed.

    \b
    Exit codes: those of analyze; 2 also for a tool that is not installed, 3 for a capture that failed.
    """  # noqa: D301
    from nsight_insight.capture import ToolMissing, capture, preview, results
    from nsight_insight.cli import _output
    from nsight_insight.cli._run import run
    from nsight_insight.config_file import load_config
    from nsight_insight.errors import OutputError

    program = click.get_current_context().meta[_PROGRAM]
    chosen = {"gpu": options["gpu"], "fail_on": options["fail_on"]}
    config = load_config(use_file=not options["no_config"], options=chosen)
    folder, tool = options["folder"], options["tool"]
    if options["dry_run"]:
        click.echo(
            "".join(f"{step.text}\n" for step in preview(program or ("PROGRAM",), folder, tool, config)), nl=False
        )
        return DONE
    _output.check(_output.targets(options["outputs"], None) if options["outputs"] else [], [], force=options["force"])
    if old := [file for file in results(folder) if not options["force"]]:
        raise OutputError(f"{old[0]}: exists; --force overwrites it, -o names another folder")
    for file in results(folder):
        file.unlink()
    try:
        for step in capture(program, folder, tool, config):
            click.echo(f"$ {step.text}", err=True)
    except ToolMissing as error:
        would = "".join(f"\nwould run: {step.text}" for step in preview(program, folder, tool, config))
        raise ToolMissing(f"{error}{would}") from error
    outputs = (_output.STDOUT, *options["outputs"])
    return run([str(file) for file in results(folder)], config, {**options, "outputs": outputs, "format_": None})
