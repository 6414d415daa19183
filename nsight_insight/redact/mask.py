"""What tells about people and machines in a text, and the names that take its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

USER, HOST, PROCESS, PATH = "user", "host", "process", "path"
ENVIRONMENT, COMMAND, OUTPUT = "environment variable", "command line", "program output"
MIN_LITERAL: Final = 4
"""A shorter text is too common to be searched for wherever it may stand."""
MIN_VALUE: Final = 8
"""Values of environment variables that are shorter (``1``, ``true``, ``C.UTF-8``) tell nothing."""
_COMMON: Final = frozenset({
    "root", "user", "users", "ubuntu", "admin", "home", "test", "nvidia", "runner", "vagrant", "docker", "host",
    "localhost", "none", "unknown", "default", "public", "shared", "work", "workspace", "cuda", "kernel", "node", "vm",
    "python", "python3", "linux", "windows", "removed",
})  # fmt: skip
"""Words that stand for nobody, and that masking everywhere would only harm."""
_OWN: Final = re.compile(r"(?:user|host|process|path|email|address|id|secret|url|value)_\d+")
_HOMES: Final = re.compile(r"(?:/home|/Users|/users|[A-Za-z]:[\\/]Users)[\\/]([\w.-]{2,32})(?=[\\/]|$)", re.MULTILINE)
_TOOLS: Final = re.compile(
    r"(?:nsight[-_ ]?(?:systems|compute)(?:-cli)?[-/\\ ]20\d\d\.\d[\w./\\-]*|reports[/\\][A-Za-z0-9_]+\.py)$",
    re.IGNORECASE,
)
"""The end of a path into an installation of NVIDIA's tools, which tells their release and the report."""
_EXTENSION: Final = re.compile(r"\.[A-Za-z0-9_-]{1,12}$")
_ROOTS: Final = (
    "home|Users|users|root|tmp|var|opt|usr|etc|mnt|media|srv|dev|proc|run|lib64?|bin|nfs|lustre|gpfs|scratch|project|"
    "projects|global|workspace|work|workdir|data|datasets|storage|share|shared|cluster|private|Volumes|app|code|content|"
    "kaggle|p|g|u|fs\\d*|net|mount|local"
)
"""First folders of paths. Layers of networks are named like paths, too (``/transformer/layer_0/MatMul``)."""
_PATTERNS: Final = (
    ("url", re.compile(r"\b[a-z][a-z0-9+.-]{1,9}://(?!(?:docs|developer)\.nvidia\.com)[^\s'\"<>]+")),
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")),
    ("secret", re.compile(
        r"\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{24,}|sk-[\w-]{20,}"
        r"|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]+\.[\w-]*)"
        r"|(?<![A-Za-z])(?i:password|passwd|secret|token|api[_-]?key)\s*[=:]\s*[^\s\"',;]{6,}")),
    ("id", re.compile(r"\b(?:GPU-|MIG-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)),
    (PATH, re.compile(
        rf"(?<![\w/.%)>\]*&])(?:~[\w.-]*|/(?:{_ROOTS}))/(?:[\w.@+,~#-]+/)*[\w.@+,~%#=-]*"
        r"|(?<![\w.])[A-Za-z]:\\(?:[^\\/:*?\"<>|\r\n\]\t]+\\)*[^\\/:*?\"<>|\r\n\]\s]*"
        r"|(?<!\\)\\\\[\w.-]+\\[\w$.-]+(?:\\[^\\/:*?\"<>|\r\n\]\s]+)*")),
)  # fmt: skip
_PROSE: Final = (
    (PATH, re.compile(r"(?<![\w/.%)>\]*&])/(?:[\w.@+,~#-]+/)+[\w.@+,~%#=-]*")),
    ("address", re.compile(r"(?<![\w.,])(?!127\.|0\.0\.0\.0)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}"
                           r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w,]|\.\d)")),
    ("address", re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){5,7}[0-9A-Fa-f]{1,4}(?![\w:])")),
)  # fmt: skip
"""Paths of any kind and addresses of the internet and of network cards. Layers of networks and numbers with dots for
thousands look the same, so tables are spared."""


@dataclass
class Mask:
    """Takes texts that identify out of others; the same text gets the same name wherever it stands.

    Attributes:
        counts: kind -> texts taken out.
        removed: text -> kind, of all that must not be left anywhere.
    """

    counts: Counter[str] = field(default_factory=Counter)
    removed: dict[str, str] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _literals: dict[str, str] = field(default_factory=dict)
    _finders: dict[bool, re.Pattern[str] | None] = field(default_factory=dict)

    def learn(self, kind: str, text: str) -> None:
        """Take a text out wherever it stands as a word of its own."""
        text = text.strip()
        least = MIN_VALUE if kind == ENVIRONMENT else MIN_LITERAL
        if len(text) < least or text.lower() in _COMMON or _OWN.fullmatch(text) or text.isdigit() or _local(text):
            return
        self.removed.setdefault(text, kind)
        if text not in self._literals:
            self._literals[text] = kind
            self._finders.clear()

    def learn_homes(self, text: str) -> None:
        """Users whose home folders a text names."""
        for found in _HOMES.finditer(text):
            self.learn(USER, found[1])

    def name(self, kind: str, text: str) -> str:
        """The name that stands for a text known to be of a kind by its place."""
        if not text or _OWN.fullmatch(text):
            return text
        self.counts[kind] += 1
        return self._name(kind, text)

    def text(self, text: str, *, figures: bool = False) -> str:
        """A text with what identifies replaced.

        Args:
            text: any text.
            figures: it is of a table: numbers are not taken for internet addresses, layers of a network for paths, nor
                names of kernels for values of the environment.
        """
        if not text:
            return text
        for kind, pattern in _PATTERNS if figures else (*_PATTERNS, *_PROSE):
            if pattern.search(text):
                text = pattern.sub(partial(self._masked, kind), text)
        finder = self._literal_finder(figures=figures)
        return finder.sub(lambda found: self._found(self._literals[found[0]], found[0]), text) if finder else text

    def drop(self, kind: str, text: str) -> None:
        """Count a text that is left out whole, and remember what in it must not be found elsewhere."""
        self.counts[kind] += 1
        for what, found in private_in(text):
            self.removed.setdefault(found, what)

    def _masked(self, kind: str, found: re.Match[str]) -> str:
        return self._found(kind, found[0])

    def _found(self, kind: str, text: str) -> str:
        if _OWN.fullmatch(text):
            return text
        end = text[len(text.rstrip(".,;:)")) :]
        whole = text.removesuffix(end) if end else text
        self.removed.setdefault(whole, kind)
        self.counts[kind] += 1
        return (self._path(whole) if kind == PATH else self._name(kind, whole)) + end

    def _path(self, text: str) -> str:
        """A path keeps its extension, and what it tells about the release of the tool."""
        tool = _TOOLS.search(text)
        if tool:
            return tool[0]
        extension = _EXTENSION.search(text)
        return self._name(PATH, text) + (extension[0] if extension else "")

    def _name(self, kind: str, text: str) -> str:
        word = "value" if " " in kind else kind
        number = sum(1 for known, _ in self._names if known == kind) + 1
        return self._names.setdefault((kind, text), f"{word}_{number}")

    def _literal_finder(self, *, figures: bool) -> re.Pattern[str] | None:
        if figures not in self._finders:
            chosen = [text for text, kind in self._literals.items() if not (figures and kind == ENVIRONMENT)]
            words = "|".join(re.escape(text) for text in sorted(chosen, key=len, reverse=True))
            self._finders[figures] = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])") if words else None
        return self._finders[figures]

    def file_name(self, name: str) -> str:
        """A file's name without the users and hosts that are known."""
        for text, kind in self._literals.items():
            if kind in (USER, HOST) and text in name:
                name = name.replace(text, self.name(kind, text))
        return name


def private_in(text: str, *, figures: bool = False) -> Iterator[tuple[str, str]]:
    """Kind and text of whatever looks private in a text, names of ours and paths of the tools aside."""
    for kind, pattern in _PATTERNS if figures else (*_PATTERNS, *_PROSE):
        for found in pattern.finditer(text):
            whole = found[0].rstrip(".,;:)")
            if kind != PATH or not _TOOLS.fullmatch(whole):
                yield kind, whole


def _local(text: str) -> bool:
    return text.startswith("127.") or text in ("::1", "0.0.0.0")  # noqa: S104 - a name to leave alone, not a socket
