"""Reports of Nsight Systems (``.nsys-rep``, ``.qdrep``), by way of NVIDIA's own ``nsys export`` where it is installed.

The format is not published. Nothing but ``nsys export`` is ever run, into a temporary folder that is removed.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Final

from nsight_insight.errors import UnrecognizedInput
from nsight_insight.model.profile import ReadResult
from nsight_insight.model.text import clean
from nsight_insight.readers._nsys_banners import without_paths
from nsight_insight.readers.nsys_sqlite import read_as
from nsight_insight.readers.text import MAGIC_NUMBERS, SourceText

NAME: Final = "nsys_rep"
_MAGIC: Final = b"NVIDIA Tegra Profiler Report"
"""Still how a report of Nsight Systems begins: the product's first name."""
_STREAM: Final = b"NVIDIA Nsight Systems Stream"
"""Near the start of the raw capture (.qdstrm) that becomes a report when it is imported."""
_SUFFIXES: Final = (".nsys-rep", ".qdrep")
_BY_SUFFIX: Final = 0.2
_NEAR: Final = 256
TIMEOUT_S: Final = 900
"""An export takes about a minute for each GB of report."""
_MESSAGE: Final = 200


def sniff(text: SourceText) -> float:
    """1 by the first bytes; 0.2 for binary content of an unknown kind under a report's file name."""
    if text.magic.startswith(_MAGIC) or _STREAM in text.magic[:_NEAR]:
        return 1.0
    named = PurePath(text.path).suffix in _SUFFIXES
    return _BY_SUFFIX if named and b"\x00" in text.magic and not text.magic.startswith(MAGIC_NUMBERS) else 0.0


def read(text: SourceText) -> ReadResult:
    """Every table of the report.

    Raises:
        UnrecognizedInput: nsys is not installed, or cannot export the report; the text says what to run.
        EmptyInput: no CUDA activity in it.
    """
    if _STREAM in text.magic[:_NEAR]:
        message = "a raw capture of Nsight Systems (.qdstrm), not yet a report: import it with QdstrmImporter -i FILE"
        raise UnrecognizedInput(message, path=text.path)
    program = shutil.which("nsys")
    if program is None:
        message = f"a report of Nsight Systems, and nsys is not installed here: where it is, run {_by_hand(text.path)}"
        raise UnrecognizedInput(message, path=text.path)
    with TemporaryDirectory(prefix="nsight-insight-") as folder:
        export = _export(program, text, Path(folder))
        return read_as(SourceText(text.path, None, export), NAME)


def _export(program: str, text: SourceText, folder: Path) -> Path:
    """The report as a database in ``folder``."""
    report, target = folder / "report.nsys-rep", folder / "report.sqlite"
    if text.file is not None and text.content is None:
        report = text.file.absolute()
    else:
        report.write_bytes(text.data)
    command = [program, *_arguments(str(target), str(report))]
    try:
        done = subprocess.run(  # noqa: S603 - the program is nsys, the arguments are our own and two file names
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"nsys export took longer than {TIMEOUT_S} s; run {_by_hand(text.path)}"
        raise UnrecognizedInput(message, path=text.path) from error
    except OSError as error:
        raise UnrecognizedInput(f"nsys cannot be run: {error.strerror or error}", path=text.path) from error
    if done.returncode or not target.is_file():
        said = _last_line(done.stderr) or _last_line(done.stdout) or "it said nothing"
        message = f"nsys export failed with exit code {done.returncode}: {said}; try {_by_hand(text.path)}"
        raise UnrecognizedInput(message, path=text.path)
    return target


def _arguments(target: str, report: str) -> tuple[str, ...]:
    return ("export", "--type", "sqlite", "--force-overwrite", "true", "-o", target, report)


def _by_hand(path: str) -> str:
    """The command a person would run."""
    name = "report.nsys-rep" if path == "-" else path
    return f"`nsys {shlex.join(_arguments(str(PurePath(name).with_suffix('.sqlite')), name))}`"


def _last_line(output: bytes) -> str:
    lines = [line.rpartition("\r")[2].strip() for line in output.decode("utf-8", "replace").splitlines()]
    return clean(without_paths(next((line for line in reversed(lines) if line), "")))[:_MESSAGE]
