"""``nsight-insight completion``: the shell code that completes commands, options and rules."""

from __future__ import annotations

from typing import Final

import click

from nsight_insight.cli._options import debug_option

SHELLS: Final = ("bash", "zsh", "fish")
COMPLETE: Final = "_NSIGHT_INSIGHT_COMPLETE"
"""The variable that click reads: the shell code sets it and runs the program to be told what fits."""


@click.command("completion", short_help="Print shell code that completes commands.")
@click.argument("shell", type=click.Choice(SHELLS))
@debug_option
def command(shell: str) -> None:
    """Print the shell code that completes commands, options, formats and rules.

    bash: eval "$(nsight-insight completion bash)" in ~/.bashrc

    zsh: eval "$(nsight-insight completion zsh)" in ~/.zshrc, after compinit

    fish: nsight-insight completion fish > ~/.config/fish/completions/nsight-insight.fish
    """
    from click.shell_completion import get_completion_class

    from nsight_insight.cli._program import PROGRAM, cli
    from nsight_insight.errors import UsageError

    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"click knows no completion for {shell}")
    # source() would start bash to ask for its version; the code alone is what is wanted.
    complete = kind(cli, {}, PROGRAM, COMPLETE)
    click.echo((complete.source_template % complete.source_vars()).strip("\n"))
