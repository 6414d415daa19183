"""Writes docs/nsight-insight.1, the man page, from the program's own help.

Run it after changing a command or an option: ``python docs/make_manpage.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from nsight_insight._version import __version__
from nsight_insight.cli._program import PROGRAM, cli

FILE = Path(__file__).with_name("nsight-insight.1")
EXIT_CODES = (
    ("0", "ran; findings, if any, stayed below --fail-on"),
    ("1", "findings at or above --fail-on"),
    ("2", "usage, configuration or rule error, an output that exists, a tool that is not installed"),
    ("3", "an input that is missing or not understood, or with --strict incomplete"),
    ("4", "a fault of the program's own"),
)
FILES = (
    ("nsight-insight.toml", "configuration of a project, found upwards from the current folder"),
    ("pyproject.toml", "the same under [tool.nsight-insight]"),
)


def main() -> None:
    """Write the page beside this script."""
    FILE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page as roff; the same program gives the same bytes."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    context = cli.make_context(PROGRAM, [], resilient_parsing=True)
    yield f'.TH NSIGHT-INSIGHT 1 "" "{PROGRAM} {__version__}" "User Commands"'
    yield from (".SH NAME", rf"{_text(PROGRAM)} \- {_text(cli.help or '')}")
    yield from (".SH SYNOPSIS", rf".B {_text(PROGRAM)}", r"[OPTIONS] \fICOMMAND\fR [ARGS]...")
    yield ".SH DESCRIPTION"
    yield _text(
        "Reads exports and reports of NVIDIA Nsight Compute, Nsight Systems and nvprof, on any machine, and says where "
        "the time goes, what could be saved and why. Data goes to standard output, everything else to standard error. "
        "Inputs are only read; no network is used."
    )
    yield from (".SH OPTIONS", *_options(cli, context))
    yield ".SH COMMANDS"
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if command is not None:
            yield from _command(command, context, (PROGRAM, name))
    yield from _table("EXIT STATUS", EXIT_CODES)
    yield from _table("FILES", FILES)
    yield from _table("ENVIRONMENT", _environment(context))
    yield from (".SH SEE ALSO", ".BR ncu (1),", ".BR nsys (1)")


def _command(command: click.Command, parent: click.Context, names: tuple[str, ...]) -> Iterator[str]:
    """A command and those below it."""
    context = click.Context(command, info_name=names[-1], parent=parent)
    usage = " ".join([*names, *command.collect_usage_pieces(context)])
    yield from (f".SS {_text(' '.join(names))}", rf"\fB{_text(usage)}\fR", ".PP")
    yield from _prose(command.help or "")
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _command(inner, context, (*names, name))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", rf"\fB{_text(record[0])}\fR", _text(record[1]))


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; those that click is told to leave alone keep their lines."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        lines = [line.strip() for line in paragraph.split("\n")]
        if number:
            yield ".PP"
        if lines[0] == "\b":
            yield from (".nf", *map(_text, lines[1:]), ".fi")
        else:
            yield _text(" ".join(lines))


def _table(title: str, rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    yield f".SH {title}"
    for name, text in rows:
        yield from (".TP", rf"\fB{_text(name)}\fR", _text(text))


def _environment(context: click.Context) -> tuple[tuple[str, str], ...]:
    """Variables that options read, and those of the terminal."""
    found: dict[str, str] = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        for parameter in command.params if command is not None else ():
            if isinstance(parameter, click.Option) and isinstance(parameter.envvar, str):
                found.setdefault(parameter.envvar, f"as {parameter.opts[-1]}")
    found["NO_COLOR, FORCE_COLOR, TERM, COLUMNS"] = "colours and width of text output"
    return tuple(sorted(found.items()))


def _text(text: str) -> str:
    """A text that roff takes for nothing else: backslashes and dashes escaped, no line that begins like a request."""
    escaped = re.sub(r"\s+", " ", text).strip().replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    main()
