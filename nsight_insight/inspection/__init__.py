"""What captures are, what they hold, and what can be concluded from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nsight_insight.errors import InputError, UsageError
from nsight_insight.model.inspection import Inspection

if TYPE_CHECKING:
    from nsight_insight.catalog.gpus import Gpu
    from nsight_insight.config import Config
    from nsight_insight.model.inspection import InspectedFile
    from nsight_insight.readers._inputs import Inputs
    from nsight_insight.readers.text import SourceText


def inspect(
    *paths: str | Path | SourceText,
    format: str | None = None,  # noqa: A002
    gpu: str | None = None,
    config: Config | None = None,
) -> Inspection:
    """Look at captures of one program, readable or not.

    Args:
        paths: files, directories (walked), "-" for standard input, or texts already in memory.
        format: reader to use for all of them; None recognises each by its content.
        gpu: name of the GPU the program ran on, where the inputs do not say or are to be overruled.
        config: selection of rules; None takes every rule.

    Raises:
        UsageError: no paths, an unknown format or an unknown GPU.
        RuleErrors: faults in the rule files of ``config.rules``.
    """
    from nsight_insight._version import __version__
    from nsight_insight.config import Config

    inputs, files, device = _looked_at(paths, format, gpu)
    if not any(len(table) for result in inputs.results for table in result.tables):
        return Inspection(__version__, files, issues=tuple(inputs.issues))
    from nsight_insight.inspection.together import judged
    from nsight_insight.readers.assemble import assemble

    profile = assemble(inputs.results, device, inputs.issues)
    return judged(profile, files, config or Config())


def inspect_files(
    *paths: str | Path | SourceText,
    format: str | None = None,  # noqa: A002
    gpu: str | None = None,
) -> tuple[InspectedFile, ...]:
    """As ``inspect``, file by file only: nothing is judged.

    Raises:
        UsageError: no paths, an unknown format or an unknown GPU.
    """
    return _looked_at(paths, format, gpu)[1]


def _looked_at(
    paths: Sequence[str | Path | SourceText], format_: str | None, gpu: str | None
) -> tuple[Inputs, tuple[InspectedFile, ...], Gpu | None]:
    from nsight_insight.catalog.gpu_choice import chosen_gpu
    from nsight_insight.inspection.files import described, unreadable
    from nsight_insight.readers._inputs import Inputs

    if not paths:
        raise UsageError("no input given")
    device = chosen_gpu(gpu) if gpu is not None else None
    inputs = Inputs(format_)
    for path in paths:
        inputs.add(path)
    files = [described(result, device) for result in inputs.results]
    files += [unreadable(error) for error in _failed(inputs.errors)]
    return inputs, tuple(files), device


def _failed(errors: list[InputError]) -> Iterator[InputError]:
    """Each path's first error; an archive of which a part was read has its own."""
    seen: set[str] = set()
    for error in errors:
        if error.path not in seen:
            seen.add(error.path)
            yield error
