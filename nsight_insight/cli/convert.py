"""``nsight-insight convert``: what was read, as one table for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nsight_insight.cli._options import NameType, _readers, debug_option


@click.command("convert", short_help="Write the activities of captures as one table.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The table; its ending chooses the form: .csv, .csv.gz, .jsonl, .parquet (needs pyarrow) or "
                   ".sqlite.")  # fmt: skip
@click.option("--primary", is_flag=True, help="Leave out rows whose work another row counts.")
@click.option("--from", "from_", metavar="FORMAT", type=NameType("format", _readers),
              help="Input format, where detection by content is not wanted.")  # fmt: skip
@click.option("--gpu", metavar="NAME", help="The GPU, where the input does not name it.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@debug_option
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Read captures of one program and write a row per launch, copy, call or line of a summary.

    Columns carry their unit in their names (_ns, _bytes, _bytes_per_s, _hz, _fraction); missing is empty, never zero.
    kind tells kernels from copies, calls and ranges. nsight-insight explain NAME tells what a metric means.
    """
    from nsight_insight import api
    from nsight_insight.cli import _output
    from nsight_insight.errors import OutputError
    from nsight_insight.table_files import form_of, write_frame

    file: Path = options["output"]
    form = form_of(file)
    _output.check([_output.Target(file, form)], list(inputs), force=options["force"])
    frame = api.load(*inputs, format=options["from_"], gpu=options["gpu"]).to_pandas()
    if options["primary"]:
        frame = frame[frame["primary"]].drop(columns="primary")
    try:
        write_frame(frame, file, form)
    except OSError as error:
        raise OutputError(f"{file}: {error.strerror or error}") from error
    click.echo(f"wrote {file}: {len(frame):,} rows, {len(frame.columns)} columns", err=True)
