"""``nsight-insight collect``: the commands that collect what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nsight_insight.cli._options import debug_option

if TYPE_CHECKING:
    from nsight_insight.collection import Plan

_PROGRAM = "program"


class _WithProgram(click.Command):
    """A command whose arguments behind ``--`` are another program's command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does with what stands in front of ``--``."""
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[_PROGRAM] = tuple(args[end + 1 :])
        return super().parse_args(ctx, args[:end])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line with the program."""
        return [*super().collect_usage_pieces(ctx), "[-- PROGRAM...]"]


@click.command("collect", cls=_WithProgram, short_help="Print the ncu and nsys commands that fill the gaps.")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option(
    "--rules", "globs", multiple=True, metavar="GLOB", help="Collect what these rules need, such as memory/*."
)
@click.option("--gpu", metavar="NAME", help="The GPU the program will run on.")
@click.option("--cc", type=float, metavar="X.Y", help="Its compute capability, where the name is not known.")
@click.option("--kernels", multiple=True, metavar="NAME", help="Profile these kernels; names as any tool prints them.")
@click.option("--tool", type=click.Choice(["ncu", "nsys", "both"]), default="both", help="Only commands of this tool.")
@click.option("--no-config", is_flag=True, help="Read no configuration file.")
@debug_option
def command(files: tuple[str, ...], **options: Any) -> None:
    """Print commands to be read and run by you; nothing is run here.

    With FILE, they collect what the file lacks, for its slowest kernels and in one of its steady training steps.
    Without, they collect everything the rules need. The program to profile goes behind --.
    """
    from nsight_insight.collection import Wish, capability_of
    from nsight_insight.config_file import load_config

    program = click.get_current_context().meta[_PROGRAM]
    config = load_config(use_file=not options["no_config"], options={"select": options["globs"], "gpu": options["gpu"]})
    wish = Wish(options["tool"], capability_of(config.gpu, options["cc"]), options["kernels"], program)
    plan = _plan(files, config, wish)
    if not plan.commands:
        click.echo("nothing to collect" + (": no rule lacks anything" if files else ""), err=True)
    click.echo(plan.text, nl=False)


def _plan(files: tuple[str, ...], config: Any, wish: Any) -> Plan:
    from nsight_insight import api
    from nsight_insight.collection import plan

    profile = api.load(*files, gpu=config.gpu or None) if files else None
    return plan(profile, config, wish)
