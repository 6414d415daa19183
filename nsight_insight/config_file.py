"""Configuration from files, the environment and the command line, in rising order of precedence.

``nsight-insight.toml``, or the table ``[tool.nsight-insight]`` of ``pyproject.toml``, is looked for in the
current folder and its parents. Environment variables are named ``NSIGHT_INSIGHT_<OPTION>``.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import fields, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from nsight_insight.config import Config, Suppression, parse_fail_on, parse_min_saving, suggestion
from nsight_insight.errors import ConfigError
from nsight_insight.model.finding import SEVERITY_ORDER
from nsight_insight.model.issues import Location
from nsight_insight.toml_lines import key_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from nsight_insight.config import ConfigPath, Threshold
    from nsight_insight.model.finding import Severity

FILE_NAME: Final = "nsight-insight.toml"
TABLE: Final = "nsight-insight"
PREFIX: Final = "NSIGHT_INSIGHT_"


def load_config(
    *,
    start: Path | None = None,
    file: Path | None = None,
    use_file: bool = True,
    environ: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Config:
    """The configuration in force.

    Args:
        start: folder the search for a file begins in; the current one by default.
        file: a file to use instead of searching.
        use_file: False leaves every file unread.
        environ: environment; the process's own by default.
        options: options given on the command line, by ``Config`` field name; None and () mean not given.

    Raises:
        ConfigError: a file or variable that cannot be used, with its place.
    """
    config = Config()
    if use_file:
        found = file or find_file(start or Path.cwd())
        config = read_file(found) if found else config
    config = _with_environment(config, os.environ if environ is None else environ)
    given = {key: value for key, value in (options or {}).items() if value is not None and value != ()}
    if not given:
        return config
    values: dict[str, Any] = {
        key: _Reader(f"--{_kebab(key)}", Path()).value(key, value, ()) for key, value in given.items()
    }
    return replace(config, **values)


def find_file(start: Path) -> Path | None:
    """The nearest configuration file in ``start`` or above, None when there is none."""
    start = start.resolve()
    for folder in (start, *start.parents):
        own, project = folder / FILE_NAME, folder / "pyproject.toml"
        if own.is_file():
            return own
        if project.is_file() and _has_table(project):
            return project
    return None


def read_file(path: Path) -> Config:
    """The configuration of one file.

    Raises:
        ConfigError: the file is missing, not TOML, or holds a key or value that is not understood.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    prefix: ConfigPath = ("tool", TABLE) if path.name == "pyproject.toml" else ()
    table = data.get("tool", {}).get(TABLE, {}) if prefix else data
    lines = {key[len(prefix) :]: line for key, line in key_lines(text).items() if key[: len(prefix)] == prefix}
    return _Reader(str(path), path.parent, lines).config(table)


def _has_table(project: Path) -> bool:
    try:
        text = project.read_text(encoding="utf-8")
        # A file that does not mention us may be as broken as it likes.
        return TABLE in text and TABLE in tomllib.loads(text).get("tool", {})
    except (OSError, UnicodeDecodeError):
        return False
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{project}: not valid TOML: {error}") from error


def _with_environment(config: Config, environ: Mapping[str, str]) -> Config:
    values: dict[str, Any] = {}
    for key in ("select", "ignore", "disable", "rules", "gpu", "fail_on", "min_saving", "top"):
        name = PREFIX + key.upper()
        if not (text := environ.get(name, "").strip()):
            continue
        raw: object = text
        if key == "rules":
            raw = text.split(os.pathsep)
        elif key in ("select", "ignore", "disable"):
            raw = text.replace(",", " ").split()
        elif key == "top":
            raw = int(text) if text.isdecimal() else text
        values[key] = _Reader(f"environment variable {name}", Path()).value(key, raw, ())
    return replace(config, **values) if values else config


class _Reader:
    """Values of one place of origin, checked."""

    def __init__(self, origin: str, folder: Path, lines: Mapping[ConfigPath, int] | None = None) -> None:
        self.origin, self.folder, self.lines = origin, folder, lines or {}

    def config(self, table: object) -> Config:
        values: dict[str, Any] = {}
        for key, value in self._table(table, ()).items():
            if key not in _KEYS:
                self.fail((key,), f"unknown key {key!r}{suggestion(key, _KEYS)}")
            values[key.replace("-", "_")] = self.value(key.replace("-", "_"), value, (key,))
        lines = {(str(path[0]).replace("-", "_"), *path[1:]): line for path, line in self.lines.items() if path}
        return Config(**values, file=self.origin, lines=lines)

    def value(self, key: str, value: object, path: ConfigPath) -> object:
        return _FIELDS[key](self, value, path)

    def fail(self, path: ConfigPath, text: str) -> NoReturn:
        while path and path not in self.lines:
            path = path[:-1]
        line = self.lines.get(path)
        raise ConfigError(f"{self.origin}:{line}: {text}" if line else f"{self.origin}: {text}")

    def texts(self, value: object, path: ConfigPath) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            self.fail(path, f"{_name(path)}a list of texts is needed, not {value!r}")
        return tuple(value)

    def paths(self, value: object, path: ConfigPath) -> tuple[Path, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(self.folder / text for text in self.texts(value, path))

    def text(self, value: object, path: ConfigPath) -> str:
        if not isinstance(value, str) or not value.strip():
            self.fail(path, f"{_name(path)}a text is needed, not {value!r}")
        return value

    def count(self, value: object, path: ConfigPath) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.fail(path, f"{_name(path)}a whole number of at least 1 is needed, not {value!r}")
        return value

    def fail_on(self, value: object, path: ConfigPath) -> Threshold:
        return self._parsed(parse_fail_on, value, path)

    def min_saving(self, value: object, path: ConfigPath) -> Threshold:
        return self._parsed(parse_min_saving, value, path)

    def _parsed(self, parse: Callable[[str], Threshold], value: object, path: ConfigPath) -> Threshold:
        try:
            return parse(self.text(value, path))
        except ConfigError as error:
            if str(error).startswith(self.origin):
                raise
            self.fail(path, f"{_name(path)}{error}")

    def severities(self, value: object, path: ConfigPath) -> dict[str, Severity]:
        found: dict[str, Severity] = {}
        for rule, word in self._table(value, path).items():
            if word not in SEVERITY_ORDER:
                self.fail((*path, rule), f"severity of {rule}: {word!r} is not one of {', '.join(SEVERITY_ORDER)}")
            found[rule] = word
        return found

    def params(self, value: object, path: ConfigPath) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for rule, table in self._table(value, path).items():
            found[rule] = {}
            for name, number in self._table(table, (*path, rule)).items():
                if not isinstance(number, int | float) or isinstance(number, bool):
                    self.fail((*path, rule, name), f"parameter {name} of {rule}: a number is needed, not {number!r}")
                found[rule][name] = float(number)
        return found

    def suppressions(self, value: object, path: ConfigPath) -> tuple[Suppression, ...]:
        if not isinstance(value, list):
            self.fail(path, "suppressions are written as [[suppressions]] tables")
        return tuple(self._suppression(item, (*path, index)) for index, item in enumerate(value))

    def _suppression(self, value: object, path: ConfigPath) -> Suppression:
        table = self._table(value, path)
        known = [item.name for item in fields(Suppression) if item.name != "location"]
        for key in table:
            if key not in known:
                self.fail((*path, key), f"unknown key {key!r} in a suppression{suggestion(key, known)}")
        for key in ("rule", "reason"):
            if not str(table.get(key, "")).strip():
                self.fail(path, f"a suppression needs a {key}")
        expires = table.get("expires")
        if expires is not None and (not isinstance(expires, date) or isinstance(expires, datetime)):
            self.fail((*path, "expires"), f"expires: a date such as 2027-01-31 (without quotes), not {expires!r}")
        return Suppression(
            rule=self.text(table["rule"], (*path, "rule")),
            reason=self.text(table["reason"], (*path, "reason")),
            location=Location(self.origin, self.lines.get(path)),
            kernel=self.text(table.get("kernel", "*"), (*path, "kernel")),
            expires=expires,
        )

    def _table(self, value: object, path: ConfigPath) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fail(path, f"{_name(path)}a table is needed, not {value!r}")
        return value


_FIELDS: Final[Mapping[str, Callable[[_Reader, object, ConfigPath], object]]] = {
    "select": _Reader.texts,
    "ignore": _Reader.texts,
    "disable": _Reader.texts,
    "rules": _Reader.paths,
    "gpu": _Reader.text,
    "fail_on": _Reader.fail_on,
    "min_saving": _Reader.min_saving,
    "top": _Reader.count,
    "severity": _Reader.severities,
    "params": _Reader.params,
    "suppressions": _Reader.suppressions,
}
_KEYS: Final[Collection[str]] = [name.replace("_", "-") for name in _FIELDS]


def _kebab(key: str) -> str:
    return key.replace("_", "-")


def _name(path: ConfigPath) -> str:
    return f"{'.'.join(map(str, path))}: " if path else ""
