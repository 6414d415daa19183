"""Every verb of the command line with its options, as click knows them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from generated_pages.markdown import cell, fence, prose, table
from nsight_insight.cli._program import PROGRAM, cli

HEAD = """Data goes to standard output, everything else to standard error. `-` is standard input; folders are walked;
compressed files and archives are read in place.
"""
EXIT_CODES = (
    ("0", "ran; without `--fail-on` findings never change it"),
    ("1", "a finding at or above `--fail-on`"),
    ("2", "usage, configuration or rule error"),
    ("3", "input missing or not understood; with `--strict` also lost data"),
    ("4", "a fault of the program, never taken for a finding"),
)


def pages() -> dict[str, str]:
    """``cli.md``."""
    parts = [
        "# Command line\n",
        HEAD,
        "## Exit codes\n",
        table(["code", "meaning"], EXIT_CODES),
        *verbs(),
    ]
    return {"cli.md": "\n".join(parts)}


def verbs() -> Iterator[str]:
    """A section per verb and sub-verb."""
    context = cli.make_context(PROGRAM, [], resilient_parsing=True)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is not None:
            yield from section(command, click.Context(command, info_name=name, parent=context), 2)


def section(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    """Usage, help and options of a command, then of its own commands."""
    with context:
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        yield f"{'#' * level} {context.command_path.removeprefix(PROGRAM).strip()}\n"
        yield fence(usage, "text")
        yield from _paragraphs(command.help or "")
        records = [param.get_help_record(context) for param in command.get_params(context)]
        rows = [[cell(names), prose(text)] for names, text in filter(None, records) if text]
        yield table(["option", "meaning"], rows)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                if inner is not None:
                    yield from section(inner, click.Context(inner, info_name=name, parent=context), level + 1)


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a help text; those that click must not wrap, after a backspace, stay as they are."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield fence(paragraph.removeprefix("\b").strip("\n"), "text")
        else:
            yield prose(paragraph) + "\n"
