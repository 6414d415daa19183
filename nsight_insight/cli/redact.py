"""``nsight-insight redact``: clean copies of captures, for sharing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsight_insight.cli._options import debug_option

if TYPE_CHECKING:
    from nsight_insight.redact import Summary

LEFT_OUT = 3
"""Exit code when a file that was named could not be cleaned."""


@click.command("redact", short_help="Write clean copies of captures for sharing.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="CLEAN",
              help="The copy of a single file, or the folder for copies of several.")  # fmt: skip
@click.option("--hash-kernels", is_flag=True,
              help="Replace words of kernel names that no library gave; what tells families stays.")  # fmt: skip
@click.option("--hash-nvtx", is_flag=True, help="Replace the words of NVTX ranges; those that tell steps stay.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.json", help="Write what was taken out.")
@click.option("--force", is_flag=True, help="Overwrite CLEAN.")
@debug_option
def command(inputs: tuple[Path, ...], **options: Any) -> int:
    """Copy captures without what tells who ran them and where; the analysis of a copy is that of its original.

    Taken out: environment, user, host, folders, internet addresses, e-mails, tokens, command lines, process lists, call
    stacks, source code and the program's own output. Kept: times, metrics, names of kernels, calls and ranges, the GPU,
    releases of tools and driver. Every copy is opened again and searched for all of it, and one that is not clean is
    removed.

    \b
    Exit codes: 0 clean, 2 usage or an existing CLEAN, 3 an input missing, not understood or left out, 4 not clean.
    """  # noqa: D301
    from nsight_insight.cli import _output
    from nsight_insight.errors import OutputError
    from nsight_insight.redact import redact

    report: Path | None = options["report"]
    if report is not None:
        _output.check([_output.Target(report, "json")], list(map(str, inputs)), force=options["force"])
        if report.resolve() == options["output"].resolve():
            raise OutputError(f"{report}: is named twice as an output")
    done = redact(inputs, options["output"], hash_kernels=options["hash_kernels"], hash_nvtx=options["hash_nvtx"],
                  force=options["force"])  # fmt: skip
    if report is not None:
        _output.to_file(report, _json(done))
    _tell(done)
    return LEFT_OUT if any(str(path) in done.passed for path in inputs) else 0


def _json(done: Summary) -> str:
    from nsight_insight.reporters._machine import json_text

    files = [{"file": file.path.name, "format": file.reader} for file in done.files]
    value = {"files": files, "removed": dict(done.counts), "renamed": done.renamed, "left_out": len(done.passed)}
    return json_text(value)


def _tell(done: Summary) -> None:
    from nsight_insight.model.text import clean

    for kind, count in done.counts.items():
        click.echo(f"{count:>9,}  {kind}")
    if done.renamed:
        click.echo(f"{done.renamed:>9,}  kernel and range names with other words")
    for path, reason in done.passed.items():
        click.echo(f"left out: {clean(path)}: {clean(reason)}", err=True)
    for file in done.files:
        click.echo(f"wrote {file.path}: searched, nothing left; reads as its original", err=True)
