"""The command ``nsight-insight`` as click sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from nsight_insight.cli._group import LazyGroup
from nsight_insight.cli._options import debug_option

PROGRAM: Final = "nsight-insight"
USAGE, INTERRUPTED = 2, 130


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from nsight_insight._version import __version__
    from nsight_insight.catalog.gpus import load_gpus
    from nsight_insight.catalog.metrics import load_metrics
    from nsight_insight.data import rules_dir

    rules = len(list(rules_dir().rglob("*.yaml")))
    click.echo(f"{PROGRAM} {__version__} ({rules} rules, {len(load_metrics())} metrics, {len(load_gpus())} GPUs)")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: nsight-insight demo",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show versions and exit."
)
@debug_option
def cli() -> None:
    """Ranked, evidence-backed performance advice from NVIDIA Nsight profiles."""


def invoke(args: Sequence[str]) -> int:
    """Run a command line; click's own complaints end here, errors of the analysis do not."""
    try:
        code = cli.main(list(args), prog_name=PROGRAM, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return USAGE
    except click.Abort:
        return INTERRUPTED
    return code if isinstance(code, int) else 0
