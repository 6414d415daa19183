"""YAML without surprises, and with a place for every value.

A restricted YAML 1.2: mappings with text keys, lists, text, ``true``/``false``, ``null``, decimal integers and
floats. ``no``, ``on``, ``1:30``, ``0x10`` and ``010`` are text; ``1e3`` is a number. Repeated keys, anchors,
aliases, tags and further documents are refused. libyaml's parser is used where PyYAML was built with it,
PyYAML's own otherwise; both yield the same events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import isinf
from pathlib import Path
from typing import Any, Final

import yaml

from nsight_insight.errors import RuleError

MAX_DEPTH: Final = 40
MAX_DIGITS: Final = 300
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None, "~": None, "": None}
_NUMERIC_START: Final = frozenset("+-.0123456789")


@dataclass(slots=True)
class _Mark:
    line: int
    column: int
    children: dict[str | int, _Mark] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Marks:
    """Where each value of a document stands; paths are keys and list indices from the root."""

    _root: _Mark

    def at(self, path: tuple[str | int, ...]) -> tuple[int, int]:
        """1-based line and column of the value at ``path``, or of the nearest parent that exists.

        A text stands where its first character is (after an opening quote), a mapping or list that is the
        value of a key where that key is.
        """
        mark = self._root
        for step in path:
            child = mark.children.get(step)
            if child is None:
                break
            mark = child
        return mark.line, mark.column


def load_yaml(text: str, file: str) -> Any:
    """The document as dicts, lists, text, bool, int, float and None.

    Raises:
        RuleError: not YAML, or YAML that is refused here, with file, line and column.
    """
    return load_marked(text, file)[0]


def load_marked(text: str, file: str) -> tuple[Any, Marks]:
    """The document as ``load_yaml`` gives it, and the place of every value.

    Raises:
        RuleError: as ``load_yaml``.
    """
    try:
        loader = _LOADER(text.removeprefix("\ufeff"))
        try:
            value, root = _Composer(loader, file).document()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, file) from error
    except yaml.reader.ReaderError as error:
        raise RuleError(f"character {_shown(error.character)} is not allowed", file=file, **_place(text)) from error
    except UnicodeEncodeError as error:
        raise RuleError("text is not valid Unicode", file=file, **_place(text)) from error
    return value, Marks(root)


@lru_cache(maxsize=16)
def load_data(package_file: str) -> Any:
    """A YAML file that ships inside ``nsight_insight/catalog``. Callers must not change the result."""
    path = Path(__file__).with_name(package_file)
    return load_yaml(path.read_text(encoding="utf-8"), package_file)


class _Composer:
    """Builds values and marks from parser events, refusing what this dialect leaves out."""

    def __init__(self, loader: Any, file: str) -> None:
        self.next = loader.get_event
        self.file = file

    def document(self) -> tuple[Any, _Mark]:
        self.next()
        event = self.next()
        if isinstance(event, yaml.StreamEndEvent):
            return None, _Mark(1, 1)
        value, mark = self.node(self.next(), 0)
        self.next()
        rest = self.next()
        if not isinstance(rest, yaml.StreamEndEvent):
            raise self.fault(rest, "a second document; one file holds one")
        return value, mark

    def node(self, event: Any, depth: int) -> tuple[Any, _Mark]:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self.fault(event, "anchors and aliases are not supported; write the value out")
        if event.tag is not None:
            raise self.fault(event, f"tag {event.tag!r} is not supported")
        start = event.start_mark
        if isinstance(event, yaml.ScalarEvent):
            quoted = event.style in ("'", '"')
            return self.scalar(event), _Mark(start.line + 1, start.column + 1 + quoted)
        if depth == MAX_DEPTH:
            raise self.fault(event, f"nested deeper than {MAX_DEPTH}")
        mark = _Mark(start.line + 1, start.column + 1)
        build = self.mapping if isinstance(event, yaml.MappingStartEvent) else self.sequence
        return build(mark, depth + 1), mark

    def mapping(self, mark: _Mark, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            key = self.key(event)
            if key in result:
                first = mark.children[key].line
                raise self.fault(event, f"key {key!r} is repeated; its first value is in line {first}")
            result[key], child = self.node(self.next(), depth)
            if child.children or isinstance(result[key], dict | list):
                child.line, child.column = event.start_mark.line + 1, event.start_mark.column + 1
            mark.children[key] = child
        return result

    def key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self.fault(event, "a key must be a plain text")
        if event.anchor is not None or event.tag is not None:
            raise self.fault(event, "anchors and tags are not supported")
        return str(event.value)

    def sequence(self, mark: _Mark, depth: int) -> list[Any]:
        result: list[Any] = []
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            value, mark.children[len(result)] = self.node(event, depth)
            result.append(value)
        return result

    def scalar(self, event: Any) -> Any:
        text: str = event.value
        if not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in _NUMERIC_START:
            return text
        if _INT.fullmatch(text) and len(text) <= MAX_DIGITS:
            return int(text)
        if not _FLOAT.fullmatch(text):
            return text
        number = float(text)
        if isinf(number):
            raise self.fault(event, f"number {text[:20]} is too large")
        return number

    def fault(self, event: Any, text: str) -> RuleError:
        mark = event.start_mark
        return RuleError(text, file=self.file, line=mark.line + 1, column=mark.column + 1)


def _syntax_error(error: yaml.MarkedYAMLError, file: str) -> RuleError:
    mark = error.problem_mark or error.context_mark
    text = " ".join(part for part in (error.problem, error.context) if part) or "not YAML"
    if mark is None:
        return RuleError(text, file=file)
    return RuleError(text, file=file, line=mark.line + 1, column=mark.column + 1)


def _shown(character: object) -> str:
    code = ord(character) if isinstance(character, str) and len(character) == 1 else character
    return f"U+{code:04X}" if isinstance(code, int) else "(unreadable)"


def _place(text: str) -> dict[str, Any]:
    """Line and column of the first character YAML does not allow."""
    found = yaml.reader.Reader.NON_PRINTABLE.search(text.removeprefix("\ufeff"))
    before = text[: found.start()] if found else ""
    return {"line": before.count("\n") + 1, "column": len(before) - before.rfind("\n")}
