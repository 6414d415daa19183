"""Run the console blocks of the documentation: ``python docs/snippets.py [--check] [PAGE...]`` rewrites their output.

A ``console`` block is commands after ``$ `` with what they print. They run in a folder that holds ``fixtures`` and
``bench`` of the checkout and what earlier blocks of the same page wrote, at 90 columns and without colour. A command
line ``nsight-insight ... | rest`` runs the program in this process and ``rest`` in bash, so that a page takes seconds.
Output is shown whole; a page that wants less says so with ``head`` or ``grep``. ``<!-- not run: why -->`` before a
block leaves it alone; ``<!-- file: PATH -->`` before a block of any language saves it there for the commands after it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs"
LINKED = ("fixtures", "bench")
WIDTH = "90"
PROGRAM = "nsight-insight "
_BLOCK = re.compile(
    r"^(?:<!-- (?P<note>[^\n]+) -->\n)?```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_FILE = "file: "
_NOT_RUN = "not run: "


def pages() -> list[Path]:
    """Every page that has console blocks to run."""
    found = [path for path in sorted(PAGES.rglob("*.md")) if not {"_build", "reference"} & set(path.parts)]
    return [path for path in found if "```console" in path.read_text(encoding="utf-8")]


def updated(text: str, folder: Path) -> str:
    """A page's text with what its commands print now, run in ``folder``."""

    def rerun(block: re.Match[str]) -> str:
        note = block["note"] or ""
        if note.startswith(_FILE):
            file = folder / note.removeprefix(_FILE)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block["body"], encoding="utf-8")
        if block["language"] != "console" or note.startswith(_NOT_RUN):
            return block[0]
        shown = "".join(f"$ {command}\n{output(command, folder)}" for command in commands(block["body"]))
        return block[0].replace(block["body"], shown)

    return _BLOCK.sub(rerun, text)


def commands(body: str) -> list[str]:
    """The commands of a block; a backslash at the end of a line goes on."""
    found = re.findall(r"^\$ ((?:.*\\\n)*.*)\n", body, re.MULTILINE)
    return [str(command) for command in found]


def output(command: str, folder: Path) -> str:
    """What a command prints, standard error after standard output."""
    whole = command.replace("\\\n", " ")
    head, pipe, rest = whole.partition(" | ")
    if whole.startswith(PROGRAM) and not re.search(r"[<>&;$`*]", head):
        printed = _program(shlex.split(head.removeprefix(PROGRAM)), folder)
        printed = _bash(rest, folder, printed) if pipe else printed
    else:
        printed = _bash(whole, folder, "")
    return "".join(line.rstrip() + "\n" for line in printed.splitlines())


def _program(arguments: list[str], folder: Path) -> str:
    from nsight_insight.cli.main import INTERNAL, main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        if main(arguments) == INTERNAL:
            raise RuntimeError(f"{PROGRAM}{shlex.join(arguments)}: {err.buffer.getvalue().decode()}")
    return "".join(stream.buffer.getvalue().decode() for stream in (out, err))


def _bash(command: str, folder: Path, text: str) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(  # noqa: S603  the commands are those of our own pages
        ["bash", "-c", command],  # noqa: S607
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    return done.stdout + done.stderr


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """An empty folder with the checkout's captures in it."""
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ.update(COLUMNS=WIDTH, NO_COLOR="1")
    try:
        with tempfile.TemporaryDirectory() as name:
            for linked in LINKED:
                (Path(name) / linked).symlink_to(ROOT / linked)
            yield Path(name)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def main(arguments: list[str]) -> int:
    """Rewrite the pages, or with ``--check`` tell which differ; 1 when some do."""
    chosen = [Path(one).resolve() for one in arguments if one != "--check"] or pages()
    stale = 0
    for page in chosen:
        old = page.read_text(encoding="utf-8")
        with workplace() as folder:
            new = updated(old, folder)
        if new != old:
            stale += 1
            print(page.relative_to(ROOT))
            if "--check" not in arguments:
                page.write_text(new, encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
