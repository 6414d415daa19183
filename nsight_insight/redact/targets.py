"""Where clean copies go: never onto or beside an input unless told, never over a file unless forced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nsight_insight.errors import OutputError
from nsight_insight.redact.captures import Call


def targets(call: Call, output: Path, inputs: Sequence[Path], *, single: bool, force: bool) -> list[Path]:
    """Where each copy goes.

    Raises:
        OutputError: it exists, is an input, or its folder is not there.
    """
    if output.resolve() in {path.resolve() for path in inputs}:
        raise OutputError(f"{output}: is an input; inputs are never written to")
    if not output.absolute().parent.is_dir():
        raise OutputError(f"{output}: folder {output.parent} does not exist")
    alone = single and len(call.items) == 1 and not output.is_dir()
    places = [output] if alone else [output / name for name in _names(call)]
    for target in places:
        if target.exists() and not force:
            raise OutputError(f"{target}: exists; --force overwrites it")
        if any(path.is_dir() and target.resolve().is_relative_to(path.resolve()) for path in inputs):
            raise OutputError(f"{target}: lies in an input folder; copies go elsewhere")
    return places


def _names(call: Call) -> list[str]:
    """Names below the output folder, all different, none leading out of it."""
    taken: dict[str, None] = {}
    for item in call.items:
        parts = [part for part in item.name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        stem, dot, end = call.editor.mask.file_name("/".join(parts)).rpartition(".")
        stem, end = (stem, f".{end}") if dot else (end, "")
        name, number = f"{stem}{end}", 1
        while name in taken:
            number += 1
            name = f"{stem}-{number}{end}"
        taken[name] = None
    return list(taken)
