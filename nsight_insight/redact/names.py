"""Kernel and range names without their words: what tells the family of a kernel or the number of a step stays.

Words are replaced by others of the same length, so that tables keep their columns, and by the same everywhere in one
call, so that files of one program still match. The key is random and kept nowhere: words cannot be guessed back from
a clean copy.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from nsight_insight.catalog.kernels import KernelClass, classify
from nsight_insight.catalog.names import demangle

SHORT: Final = 2
"""Words up to this length stay: they tell nothing, and too few others of their length exist."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PSEUDO: Final = ("[CUDA ", "Memcpy ", "Memset ", "[kernel ")
_LANGUAGE: Final = frozenset({
    "void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "half", "const",
    "volatile", "struct", "class", "enum", "std", "operator", "lambda", "instance", "unnamed", "anonymous", "namespace",
    "template", "true", "false", "auto", "bfloat", "nv", "fp", "size", "ptr", "uint", "ulong", "uchar", "ushort",
    "complex",
})  # fmt: skip
"""Words of C++ and CUDA, which are nobody's."""
_STEP_WORDS: Final = frozenset({
    "step", "iteration", "iter", "batch", "train", "training", "profiler", "global", "data", "load", "loader",
    "loading", "dataset", "datasets", "fetch", "fetching", "collate", "augment", "augmentation", "next", "get", "read",
    "decode", "prepare", "preprocess", "preprocessing", "input", "inputs", "sample", "samples", "image", "images",
    "batches", "time", "enumerate", "dataloader", "forward", "backward", "optimizer", "the", "fwd", "bwd",
})  # fmt: skip
"""Words of ranges by which steps and waits for data are recognised (``views/steps.py``, ``views/idle.py``)."""


@dataclass
class Words:
    """Replaces words, each always by the same other one, and never two by one.

    Attributes:
        kernels: kernel names that were changed, old -> new; likewise ``ranges``.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    kernels: dict[str, str] = field(default_factory=dict)
    ranges: dict[str, str] = field(default_factory=dict)
    _new: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def kernel(self, name: str) -> str:
        """A kernel's name; names that a library gave stay, of others what tells the family, types and dialect."""
        if name not in self.kernels:
            self.kernels[name] = self._kernel(name)
        return self.kernels[name]

    def range(self, name: str) -> str:
        """A range's name; words that tell steps and waits for data stay."""
        if name not in self.ranges:
            self.ranges[name] = self._replace(name, _STEP_WORDS)
        return self.ranges[name]

    def _kernel(self, name: str) -> str:
        told = classify(name)
        if not name or told.library or name.startswith(_PSEUDO):
            return name
        text = demangle(name)
        if _tells(new := self._replace(text, _LANGUAGE)) == _tells(name):
            return new
        kept = {*_LANGUAGE, *(word.lower() for word in _WORD.findall(text))}
        for word in sorted(kept - _LANGUAGE):
            if _tells(self._replace(text, kept - {word})) == _tells(name):
                kept.discard(word)
        return self._replace(text, kept)

    def _replace(self, text: str, kept: Iterable[str]) -> str:
        return _WORD.sub(lambda found: found[0] if found[0].lower() in kept else self._word(found[0]), text)

    def _word(self, word: str) -> str:
        if len(word) <= SHORT:
            return word
        lower = word.lower()
        if lower not in self._new:
            self._new[lower] = self._fresh(lower)
        new = self._new[lower]
        return new.upper() if word.isupper() else new.capitalize() if word[0].isupper() else new

    def _fresh(self, word: str) -> str:
        for attempt in range(10_000):
            digest = hmac.digest(self.key, f"{attempt}:{word}".encode(), hashlib.sha512)
            letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest)
            new = (letters * (len(word) // len(letters) + 1))[: len(word)]
            if new not in self._taken and new not in _LANGUAGE and new != word:
                self._taken.add(new)
                return new
        return word


def _tells(name: str) -> tuple[object, ...]:
    told: KernelClass = classify(name)
    return (told.family, told.dtype_in, told.dtype_out, told.tensor_core, told.library, told.arch, told.pattern)
