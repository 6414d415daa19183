"""The captures among what a user named, and what they tell of people and machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nsight_insight.errors import InputError, UnrecognizedInput
from nsight_insight.redact.editor import Editor
from nsight_insight.redact.mask import HOST

if TYPE_CHECKING:
    from nsight_insight.model.profile import ReadResult
    from nsight_insight.readers.text import SourceText

_COMPRESSED: Final = (".gz", ".xz", ".bz2", ".zst")
_BY_HAND: Final = {
    "ncu_rep": "a binary report cannot be cleaned: print it and clean that; ncu --import FILE --csv --page raw > F.csv",
    "nsys_rep": "a binary report cannot be cleaned: export it and clean that; nsys export --type sqlite FILE",
    "nsys_parquet": "Parquet files cannot be cleaned; give the SQLite export: nsys export --type sqlite FILE",
}


@dataclass
class Item:
    """One capture: the name of its copy below the output, its text, what was read of it and by which reader."""

    name: str
    text: SourceText
    result: ReadResult
    reader: str


@dataclass
class Call:
    """All captures of one call; ``passed`` says why other files are none, or cannot be cleaned."""

    editor: Editor
    items: list[Item] = field(default_factory=list)
    passed: dict[str, str] = field(default_factory=dict)


def collect(call: Call, path: Path) -> None:
    """Every capture of a path the user named."""
    from nsight_insight.readers._budget import Budget
    from nsight_insight.readers._inputs import _files
    from nsight_insight.readers.containers import expand, is_container
    from nsight_insight.readers.text import open_path

    budget = Budget()
    for file in _files(path) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        try:
            text = open_path(file)
            found = expand(text, budget) if is_container(text.magic) else iter([text])
            for inner in found:
                if isinstance(inner, InputError):
                    call.passed[inner.path] = inner.text
                else:
                    member = inner.path.removeprefix(str(file)).lstrip("!").replace("!", "/")
                    _take(call, f"{name}/{member}" if member else _plain(name), inner)
        except InputError as error:
            call.passed[error.path] = error.text


def _take(call: Call, name: str, text: SourceText) -> None:
    from nsight_insight.readers import ncu_rep, nsys_rep, read

    for module in (ncu_rep, nsys_rep):
        if module.sniff(text) >= 1.0:
            raise UnrecognizedInput(_BY_HAND[module.NAME], path=text.path)
    result = read(text)
    reader = result.tables[0].source.reader if result.tables else ""
    if reader in _BY_HAND:
        raise UnrecognizedInput(_BY_HAND[reader], path=text.path)
    call.items.append(Item(name, text, result, reader))


def _plain(name: str) -> str:
    """``raw.csv.gz`` -> ``raw.csv``."""
    return next((name.removesuffix(end) for end in _COMPRESSED if name.endswith(end)), name)


def learn(item: Item, editor: Editor) -> None:
    """What identifies in one file is looked for in all of them."""
    from nsight_insight.redact.database import learn_database
    from nsight_insight.redact.hosts import hosts_in

    if item.reader == "nsys_sqlite":
        learn_database(item.text, editor)
        return
    editor.mask.learn_homes(item.text.text)
    for host in hosts_in(item.text.lines):
        editor.mask.learn(HOST, host)


def kernel_names(result: ReadResult) -> set[str]:
    """Names of kernels in the tables of an input, those of samples included."""
    found = {line.kernel for table in result.tables for line in table.hot_lines}
    for table in result.tables:
        kinds, names = table.columns.get("kind"), table.columns.get("name")
        if names is not None:
            kind = kinds.tolist() if kinds is not None else ["kernel"] * len(names)
            found.update(str(name) for what, name in zip(kind, names.tolist(), strict=True) if what == "kernel")
    return found


def to_rename(result: ReadResult, editor: Editor) -> dict[str, str]:
    """Names of an original -> what its copy has in their place."""
    kernels = kernel_names(result)
    ranges: set[str] = set()
    for table in result.tables:
        if "nvtx" in table.columns:
            ranges.update(str(name) for name in table.columns["nvtx"].tolist() if name)
        if "kind" in table.columns and "name" in table.columns:
            rows = zip(table.columns["kind"].tolist(), table.columns["name"].tolist(), strict=True)
            ranges.update(str(name) for kind, name in rows if kind == "range")
    found = {name: editor.kernel(name) for name in kernels} if editor.hash_kernels else {}
    return {**found, **({name: editor.range(name) for name in ranges} if editor.hash_ranges else {})}
