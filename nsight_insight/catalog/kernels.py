"""What a kernel's name says about it: family, operand and result type, Tensor Cores, library.

The knowledge is in ``kernels.yaml``; this module compiles and applies it. First match wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from nsight_insight.catalog.dtypes import SOURCES, Resolver
from nsight_insight.catalog.names import normalize
from nsight_insight.catalog.yamlio import load_data
from nsight_insight.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = "kernels.yaml"
_MATRIX: Final = frozenset({"gemm", "gemv", "conv", "attention", "rnn", "splitk", "unknown"})
"""Families whose entries must say whether they use Tensor Cores; the others do not."""
_KEYS: Final = frozenset(
    {"id", "where", "match", "unless", "family", "dtype_in", "dtype_out", "tensor_core", "library", "arch", "note",
     "examples", "not_examples"}
)  # fmt: skip
MAX_LENGTH: Final = 4096
"""Characters of a normalised name that are searched; the longest real one seen has 2,315."""
_FUNCTION: Final = re.compile(r"[<(]")
_LITERAL: Final = re.compile(r"[A-Za-z_][\w]{2,}")


@dataclass(frozen=True)
class KernelClass:
    """What a name says; "" and ``unknown`` mean that it does not say.

    Attributes:
        family: one of the families of the activity frame (gemm, conv, cast, layout ...).
        dtype_in: operand type in memory or, for tf32, in arithmetic: fp64 fp32 tf32 fp16 bf16 16bit fp8 fp4
            int64 ... bool, complex64, mixed (operands of different types).
        dtype_out: result type.
        tensor_core: ``yes``, ``no`` or ``unknown``.
        library: who wrote the kernel: cublas, cutlass, cudnn, pytorch, nccl ...
        pattern: id of the entry that matched.
        arch: lowest compute capability of a GPU that can run it, 0.0 when the name proves none.
        note: what is worth knowing about the entry.
    """

    family: str = "unknown"
    dtype_in: str = ""
    dtype_out: str = ""
    tensor_core: str = "unknown"
    library: str = ""
    pattern: str = ""
    arch: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class KernelPattern:
    """One entry of ``kernels.yaml``.

    Attributes:
        function: ``match`` and ``unless`` are searched in the lower-case function name without scopes,
            template arguments and parameters, not in the whole normalised name.
        dtype_in: candidates, the first that gives something counts; ``dtype_out`` and ``arch`` likewise.
        literals: texts of which a matching name has at least one; empty when none is certain.
    """

    id: str
    function: bool
    match: re.Pattern[str]
    unless: re.Pattern[str] | None
    family: str
    dtype_in: tuple[str, ...]
    dtype_out: tuple[str, ...]
    tensor_core: str
    library: str
    arch: tuple[str, ...]
    note: str
    examples: tuple[str, ...]
    not_examples: tuple[str, ...]
    literals: tuple[str, ...] = field(default=(), repr=False)

    def search(self, name: str, function: str) -> re.Match[str] | None:
        """The match in a normalised name or its function, None when the entry does not apply."""
        if self.function:
            name = function
        for literal in self.literals:
            if literal in name:
                break
        else:
            if self.literals:
                return None
        found = self.match.search(name)
        return None if found and self.unless and self.unless.search(name) else found


@lru_cache(maxsize=1)
def load_patterns() -> tuple[KernelPattern, ...]:
    """All entries of ``kernels.yaml`` in order, compiled.

    Raises:
        RuleError: an entry with an unknown key, a bad regular expression or a missing statement.
    """
    entries = load_data(FILE)["patterns"]
    patterns = tuple(_pattern(entry) for entry in entries)
    repeated = {pattern.id for pattern in patterns if sum(other.id == pattern.id for other in patterns) > 1}
    if repeated:
        raise RuleError(f"repeated ids: {', '.join(sorted(repeated))}", file=FILE)
    return patterns


def classify(name: str) -> KernelClass:
    """What the name of a kernel says, in whatever dialect it is written."""
    return _classify(normalize(name))


@lru_cache(maxsize=16_384)
def _classify(name: str) -> KernelClass:
    resolver = _resolver()
    name = name[:MAX_LENGTH]
    function = _FUNCTION.split(name, maxsplit=1)[0].rpartition("::")[2].lower()
    for pattern in load_patterns():
        if found := pattern.search(name, function):
            return KernelClass(
                pattern.family,
                resolver.dtype(pattern.dtype_in, found, name),
                resolver.dtype(pattern.dtype_out, found, name),
                pattern.tensor_core,
                pattern.library,
                pattern.id,
                resolver.arch(pattern.arch, found),
                pattern.note,
            )
    return KernelClass()


@lru_cache(maxsize=1)
def _resolver() -> Resolver:
    data = load_data(FILE)
    return Resolver(data["dtypes"], data["letters"], data["arch"])


def _pattern(entry: Mapping[str, Any]) -> KernelPattern:
    where = str(entry.get("id", "?"))
    if unknown := entry.keys() - _KEYS:
        raise RuleError(f"unknown key {min(unknown)!r}", file=FILE, path=where)
    family = entry.get("family", "")
    if not family or (family in _MATRIX and "tensor_core" not in entry):
        raise RuleError("family and, for matrix work, tensor_core must be given", file=FILE, path=where)
    match = _compile(entry["match"], where)
    dtype_in = _candidates(entry.get("dtype_in", ""))
    return KernelPattern(
        id=where,
        function=_function_only(entry, where),
        match=match,
        unless=_compile(entry["unless"], where) if "unless" in entry else None,
        family=family,
        dtype_in=_checked(dtype_in, match, where),
        dtype_out=_checked(_candidates(entry["dtype_out"]), match, where) if "dtype_out" in entry else dtype_in,
        tensor_core=entry.get("tensor_core", "no"),
        library=entry.get("library", ""),
        arch=_checked(_candidates(entry.get("arch", "")), match, where),
        note=entry.get("note", ""),
        examples=tuple(entry.get("examples", ())),
        not_examples=tuple(entry.get("not_examples", ())),
        literals=required_literals(entry["match"]),
    )


def _function_only(entry: Mapping[str, Any], where: str) -> bool:
    value = entry.get("where", "name")
    if value not in ("name", "function"):
        raise RuleError(f"where is name or function, not {value!r}", file=FILE, path=where)
    return bool(value == "function")


def _candidates(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in values if item != "")


def _checked(candidates: tuple[str, ...], match: re.Pattern[str], where: str) -> tuple[str, ...]:
    """Candidates whose groups and sources exist; types and capabilities are checked when they are resolved."""
    for candidate in candidates:
        known = match.groupindex if candidate.startswith("$") else SOURCES
        if candidate[0] in "$~" and candidate.removeprefix("$") not in known:
            raise RuleError(f"nothing called {candidate!r}", file=FILE, path=where)
    return candidates


def _compile(text: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.VERBOSE)
    except re.error as error:
        raise RuleError(f"regular expression: {error}", file=FILE, path=where) from error


def required_literals(text: str) -> tuple[str, ...]:
    """For each alternative of a regular expression a text that it cannot match without; () when unsure.

    Only plain words outside groups count, and only when no quantifier follows them.
    """
    literals = []
    for branch in _branches(re.sub(r"\s+", "", re.sub(r"\\.", "\x00", text))):
        words = [word for word, after in branch if not (after and after in "?*{+")]
        if not words:
            return ()
        literals.append(max(words, key=len))
    return tuple(literals)


def _branches(text: str) -> list[list[tuple[str, str]]]:
    """Top-level alternatives, each as words with the character after them."""
    branches: list[list[tuple[str, str]]] = [[]]
    depth = position = 0
    while position < len(text):
        char = text[position]
        if char == "[":
            position = text.find("]", position + 2)
            if position < 0:
                return [[]]
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif not depth and char == "|":
            branches.append([])
        elif not depth and (word := _LITERAL.match(text, position)):
            branches[-1].append((word[0], text[word.end() : word.end() + 1]))
            position = word.end() - 1
        position += 1
    return branches
