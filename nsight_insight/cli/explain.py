"""``nsight-insight explain``: what a rule, metric or stall reason means."""

from __future__ import annotations

import os
from pathlib import Path

import click

from nsight_insight.cli._options import complete_rules, debug_option


@click.command("explain", short_help="Explain a rule, metric or stall reason.")
@click.argument("name", metavar="RULE|METRIC|STALL", shell_complete=complete_rules)
@click.option(
    "--rules", "dirs", multiple=True, metavar="DIR", type=click.Path(path_type=Path), help="A folder of further rules."
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours.")
@click.option("--no-config", is_flag=True, help="Read no configuration file.")
@debug_option
def command(name: str, dirs: tuple[Path, ...], color: str, no_config: bool) -> None:
    """Explain a rule, a metric (by our name, ncu's name or ncu's label), a fact of rules, or a stall reason.

    A rule's page says why it matters, what it compares, how the saving is estimated, what to do, and when
    the rule is wrong.
    """
    from nsight_insight.cli import _output
    from nsight_insight.cli._explain import explain
    from nsight_insight.config_file import load_config
    from nsight_insight.reporters.options import RenderOptions
    from nsight_insight.reporters.text import render_sections
    from nsight_insight.rules.loader import load_rules

    config = load_config(use_file=not no_config, options={"rules": dirs})
    options = RenderOptions(
        width=_output.terminal_width(),
        color=_output.wants_color(color, os.environ),
        unicode=_output.stdout_unicode(),
    )
    pages = explain(name, load_rules(config.rules))
    _output.to_stdout("\n".join(render_sections(title, sections, options) for title, sections in pages))
