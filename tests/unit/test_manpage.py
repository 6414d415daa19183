"""The man page: what is committed names every command and option, and roff reads it."""

from __future__ import annotations

import re
import shutil
import subprocess

import click
import pytest

from docs.make_manpage import FILE, page
from nsight_insight._version import __version__
from nsight_insight.cli._program import PROGRAM, cli

REGENERATE = "python docs/make_manpage.py writes it anew"


def plain(text: str) -> str:
    return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def commands(group: click.Command = cli, names: tuple[str, ...] = (PROGRAM,)) -> dict[str, set[str]]:
    """Every command -> its options."""
    options = {word for parameter in group.params if isinstance(parameter, click.Option) and not parameter.hidden
               for word in parameter.opts}  # fmt: skip
    found = {" ".join(names): options}
    if isinstance(group, click.Group):
        context = cli.make_context(PROGRAM, [], resilient_parsing=True)
        for name in group.list_commands(context):
            inner = group.get_command(context, name)
            assert inner is not None
            found |= commands(inner, (*names, name))
    return found


def documented(text: str) -> dict[str, set[str]]:
    """Every command of a page -> the options described under it."""
    parts = re.split(r"^\.SS (.*)$", plain(text), flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    found[PROGRAM] = parts[0]
    entries = {name: re.findall(r"^\.TP\n\\fB(-.*?)\\fR$", body, re.MULTILINE) for name, body in found.items()}
    return {name: {word for entry in names for word in re.findall(r"(?<![\w-])--?[a-z][\w-]*", entry)}
            for name, names in entries.items()}  # fmt: skip


@pytest.mark.parametrize("text", [FILE.read_text(encoding="utf-8"), page()], ids=["committed", "generated"])
def test_every_command_and_option_is_in_the_page(text: str) -> None:
    told = {name: options - {"-h", "--help"} for name, options in documented(text).items()}
    assert told == commands(), REGENERATE
    assert f"{PROGRAM} {__version__}" in text, REGENERATE


def test_every_option_is_described() -> None:
    for line, following in zip(page().split("\n"), page().split("\n")[1:], strict=False):
        if line.startswith(r"\fB\-"):
            assert following.strip(), line


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_roff_has_no_complaint() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8"], input=page(), capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stderr == ""
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "--fail-on" in shown.replace("\u2010", "-").replace("\u2212", "-")
    assert "EXIT STATUS" in shown
