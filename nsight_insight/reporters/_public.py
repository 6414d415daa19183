"""Reports without the folders of the reader's machine, which name users: paths are relative, or file names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from nsight_insight.model.issues import Location
from nsight_insight.model.profile import Source

if TYPE_CHECKING:
    from nsight_insight.model.finding import Report

_Thing = TypeVar("_Thing")
_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def without_folders(report: Report, base: Path | None = None) -> Report:
    """The report with other paths.

    A path that was given relative stays: links of CI servers need it. An absolute one becomes relative to ``base``
    (the current folder) where it lies in it, else as many of its last parts as tell it from the others.
    """
    absolute = {path for path in _paths(report) if _is_absolute(path)}
    return _with(report, _names(absolute, (base or Path.cwd()).as_posix())) if absolute else report


def _names(paths: Iterable[str], base: str) -> dict[str, str]:
    """Absolute path -> what is shown of it."""
    shown: dict[str, str] = {}
    apart: list[str] = []
    for path in sorted(paths):
        plain = path.replace("\\", "/") if _WINDOWS.match(path) else path
        if plain.startswith(f"{base}/"):
            shown[path] = plain[len(base) + 1 :]
        else:
            apart.append(path)
    parts = {path: re.split(r"[/\\]", _outer(path)) for path in apart}
    for path in apart:
        length = next(
            size
            for size in range(1, len(parts[path]) + 1)
            if all(parts[path][-size:] != other[-size:] for key, other in parts.items() if other != parts[path])
        )
        shown[path] = "/".join(parts[path][-length:]) + path[len(_outer(path)) :]
    return shown


def _outer(path: str) -> str:
    """The archive of a member ``archive.zip!folder/raw.csv``; any other path itself."""
    return path.partition("!")[0]


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _WINDOWS.match(path) is not None


def _paths(thing: Any) -> Iterator[str]:
    """Every path in a report."""
    if isinstance(thing, Location | Source):
        yield thing.path
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from _paths(getattr(thing, field.name))
    elif isinstance(thing, tuple):
        for item in thing:
            yield from _paths(item)
    elif isinstance(thing, Mapping):
        for item in thing.values():
            yield from _paths(item)


def _with(thing: _Thing, names: Mapping[str, str]) -> _Thing:
    """The same with other paths; what holds none comes back as it is."""
    new: Any = thing
    if isinstance(thing, Location | Source):
        new = replace(thing, path=names[thing.path]) if thing.path in names else thing
    elif is_dataclass(thing) and not isinstance(thing, type):
        old = {field.name: getattr(thing, field.name) for field in fields(thing)}
        changed = {name: value for name in old if (value := _with(old[name], names)) is not old[name]}
        new = replace(thing, **changed) if changed else thing
    elif isinstance(thing, tuple):
        items = [_with(item, names) for item in thing]
        same = all(first is second for first, second in zip(thing, items, strict=True))
        new = thing if same else tuple(items)
    elif isinstance(thing, Mapping):
        values = {key: _with(item, names) for key, item in thing.items()}
        new = thing if all(values[key] is item for key, item in thing.items()) else values
    return new  # type: ignore[no-any-return]
