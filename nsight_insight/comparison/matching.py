"""Kernels of one capture found again in another, across renames, recompilation, other precision and fusion."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nsight_insight.comparison.alignment import Places, align
from nsight_insight.comparison.capture import Capture, Kernel
from nsight_insight.model.comparison import Match
from nsight_insight.views.facts import Floats

_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_TYPE: Final = re.compile(
    r"(?:c10|at|cutlass)?_?(?:float|double|half|bfloat|bf|fp|tf|f|nv_bfloat|float_?e\dm\d)\d*(?:_t)?|half_t|bfloat16_t",
    re.IGNORECASE,
)
"""Words of a kernel name that only say in which precision it computes."""
_MATRIX: Final = frozenset({"gemm", "gemv", "splitk"})
_LEFT_OVER: Final = frozenset(
    {"gemm", "gemv", "conv", "attention", "norm", "softmax", "optimizer", "loss", "rnn", "fft"}
)
"""Families whose kernels do the same work whatever their names are, if nothing else of the family is left."""
_FUSIBLE: Final = frozenset(
    {"elementwise", "cast", "layout", "copy", "fill", "reduction", "norm", "softmax", "loss", "quantize", "optimizer"}
)
_OF_ATTENTION: Final = _FUSIBLE | {"gemm", "rng"}
"""Families of the kernels that attention takes where it is written out."""
_FUSED: Final = re.compile(r"fused|triton|inductor|multi_tensor", re.IGNORECASE)
HALF: Final = 0.5
"""Part of a kernel's launches that must stand at the same place as the other's."""


@dataclass(frozen=True)
class Pairing:
    """Kernels before and what they are after; both sides are filled except for new and gone kernels."""

    before: tuple[Kernel, ...]
    after: tuple[Kernel, ...]
    match: Match


def stem(base: str) -> str:
    """A short kernel name without the words for types and without case: the same for other template arguments."""
    return " ".join(word for word in _WORD.findall(base.replace("_", " ")) if not _TYPE.fullmatch(word)).lower()


def match(before: Capture, after: Capture) -> list[Pairing]:
    """Every kernel of both sides in exactly one pairing."""
    matcher = _Matcher(before, after)
    matcher.by_name()
    matcher.by_template()
    matcher.by_position()
    matcher.by_family()
    return matcher.pairings()


class _Matcher:
    """Pairs as they are found; a kernel without a group has none yet."""

    def __init__(self, before: Capture, after: Capture) -> None:
        self.before, self.after = before, after
        self.groups: list[tuple[set[int], set[int], Match]] = []
        self.ours: dict[int, int] = {}
        self.theirs: dict[int, int] = {}

    def _add(self, ours: Iterable[int], theirs: Iterable[int], level: Match) -> None:
        group = (set(ours), set(theirs), level)
        self.groups.append(group)
        self.ours.update(dict.fromkeys(group[0], len(self.groups) - 1))
        self.theirs.update(dict.fromkeys(group[1], len(self.groups) - 1))

    def _left(self) -> tuple[list[Kernel], list[Kernel]]:
        return (
            [kernel for kernel in self.before.kernels if kernel.number not in self.ours],
            [kernel for kernel in self.after.kernels if kernel.number not in self.theirs],
        )

    def by_name(self) -> None:
        """Same names; where one function has other instances on the two sides, only if launches agree as well."""
        ours, theirs = _by(self.before.kernels, lambda k: k.key), _by(self.after.kernels, lambda k: k.key)
        changed = self._changed_stems()
        for key in ours:
            if key in theirs:
                [b], [a] = ours[key], theirs[key]
                if _stem_of(b) not in changed or self._same_launches(b, a):
                    self._add([b.number], [a.number], "name")

    def _changed_stems(self) -> set[str]:
        """Functions whose instances differ, so that work may have moved from one instance to another."""
        ours, theirs = _by(self.before.kernels, _stem_of), _by(self.after.kernels, _stem_of)
        return {
            name
            for name in ours.keys() & theirs.keys()
            if {kernel.key for kernel in ours[name]} != {kernel.key for kernel in theirs[name]}
        }

    def _same_launches(self, b: Kernel, a: Kernel) -> bool:
        return abs(b.count(self.before.divisor) - a.count(self.after.divisor)) < HALF

    def by_template(self) -> None:
        """Instances of one function, all together: their launches may have moved between instances."""
        left, right = self._left()
        ours, theirs = _by(left, _stem_of), _by(right, _stem_of)
        for name in ours:
            if name and name in theirs:
                self._add((k.number for k in ours[name]), (k.number for k in theirs[name]), "template")

    def by_position(self) -> None:
        """Kernels at the same place of the step, between kernels that are already matched."""
        left, right = self._left()
        if not left or not right or not self.before.sequence or not self.after.sequence:
            return
        places = align(self.before.sequence, self.after.sequence, self._likeness())
        counts = _Counts(self.before.sequence, self.after.sequence)
        edges = {pair: number for pair, number in places.paired.items() if self._open(*pair)}
        for pair, number in places.facing.items():
            if self._open(*pair) and self._may_face(*pair):
                edges[pair] = edges.get(pair, 0) + number
        self._fuse(places, edges)
        strong = [pair for pair, number in edges.items() if number >= HALF * min(counts.of(*pair))]
        strong += self._attention(places, counts)
        for ours, theirs in _components(strong):
            self._add(ours, theirs, "position")

    def _open(self, b: int, a: int) -> bool:
        return b not in self.ours and a not in self.theirs

    def _may_face(self, b: int, a: int) -> bool:
        """Whether unmatched neighbours may be the same work: a fused kernel and pieces, or both of unknown family."""
        before, after = self.before.kernels[b], self.after.kernels[a]
        pieces = before.family in _FUSIBLE and after.family in _FUSIBLE
        fused = bool(_FUSED.search(before.name)) != bool(_FUSED.search(after.name))
        return (pieces and fused) or before.family == after.family == "unknown"

    def _fuse(self, places: Places, edges: dict[tuple[int, int], int]) -> None:
        """Add what stands beside a pair to it: pieces of a fused kernel, further kernels of a matrix family."""
        for beside, fused in ((places.beside, self.after.kernels), (places.beside_after, self.before.kernels)):
            for (b, a), number in beside.items():
                kernel = fused[a if fused is self.after.kernels else b]
                pieces = self._open(b, a) and self._may_face(b, a) and _FUSED.search(kernel.name)
                if pieces or (self._open(b, a) and self._same_work(b, a)):
                    edges[b, a] = edges.get((b, a), 0) + number

    def _attention(self, places: Places, counts: _Counts) -> list[tuple[int, int]]:
        """Products, a softmax and what is between them that face an attention kernel and do little else."""
        found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        softmax: set[tuple[int, int]] = set()
        for (b, a), number in places.facing.items():
            families = self.before.kernels[b].family, self.after.kernels[a].family
            if not self._open(b, a) or (families[0] == "attention") == (families[1] == "attention"):
                continue
            side = families.index("attention")
            if families[1 - side] in _OF_ATTENTION and number >= HALF * counts.of(b, a)[1 - side]:
                found[side, (b, a)[side]].append((b, a))
                if families[1 - side] == "softmax":
                    softmax.add((side, (b, a)[side]))
        return [pair for kernel, pairs in found.items() if kernel in softmax for pair in pairs]

    def _same_work(self, b: int, a: int) -> bool:
        role = _role(self.before.kernels[b].family)
        return role in _LEFT_OVER and role == _role(self.after.kernels[a].family)

    def _likeness(self) -> Floats:
        """4 for matched kernels, 1 to 2 by common words for kernels of one family that are still open, else 0."""
        table = np.zeros((len(self.before.kernels), len(self.after.kernels)))
        for ours, theirs, _ in self.groups:
            table[np.ix_(sorted(ours), sorted(theirs))] = 4.0
        left, right = self._left()
        candidates = _by(right, lambda kernel: _role(kernel.family))
        words = {kernel.number: frozenset(_stem_of(kernel).split()) for kernel in right}
        for kernel in left:
            mine = frozenset(_stem_of(kernel).split())
            for other in candidates.get(_role(kernel.family), []) if kernel.family != "unknown" else []:
                shared = mine & words[other.number]
                table[kernel.number, other.number] = 1.0 + len(shared) / max(len(mine | words[other.number]), 1)
        return table

    def by_family(self) -> None:
        """What is left of a family on both sides, where the family means the same work."""
        left, right = self._left()
        ours, theirs = _by(left, lambda k: _role(k.family)), _by(right, lambda k: _role(k.family))
        for family in ours:
            if family in _LEFT_OVER and family in theirs:
                self._add((k.number for k in ours[family]), (k.number for k in theirs[family]), "family")
        self._join_left_over()
        left, right = self._left()
        if len(left) == 1 and len(right) == 1 and left[0].family == right[0].family == "unknown":
            [b], [a] = left, right
            if self._same_launches(b, a):
                self._add([b.number], [a.number], "position")

    def _join_left_over(self) -> None:
        """What is left of a family on one side belongs to the only group that replaced others of the family."""
        for side, left in enumerate(self._left()):
            for family, kernels in _by(left, lambda k: _role(k.family)).items():
                groups = [at for at in range(len(self.groups)) if self._replaced(at, family)]
                if family in _LEFT_OVER and len(groups) == 1:
                    numbers = [kernel.number for kernel in kernels]
                    ours, theirs, _ = self.groups[groups[0]]
                    (ours, theirs)[side].update(numbers)
                    (self.ours, self.theirs)[side].update(dict.fromkeys(numbers, groups[0]))

    def _replaced(self, at: int, family: str) -> bool:
        """Whether a group is of one family and was not found by names."""
        ours, theirs, how = self.groups[at]
        return how in ("position", "family") and self._families(ours, 0) == self._families(theirs, 1) == {family}

    def _families(self, numbers: set[int], side: int) -> set[str]:
        kernels = (self.before, self.after)[side].kernels
        return {_role(kernels[number].family) for number in numbers}

    def pairings(self) -> list[Pairing]:
        """Everything found, and what is new or gone."""
        left, right = self._left()
        return [
            *(Pairing(_take(self.before, ours), _take(self.after, theirs), how) for ours, theirs, how in self.groups),
            *(Pairing((kernel,), (), "none") for kernel in left),
            *(Pairing((), (kernel,), "none") for kernel in right),
        ]


class _Counts:
    """Launches of each kernel in the sequences."""

    def __init__(self, before: Sequence[int], after: Sequence[int]) -> None:
        self.before, self.after = np.bincount(before), np.bincount(after)

    def of(self, b: int, a: int) -> tuple[int, int]:
        """Launches of kernel ``b`` before and of ``a`` after."""
        return int(self.before[b]), int(self.after[a])


def _role(family: str) -> str:
    return "gemm" if family in _MATRIX else family


def _stem_of(kernel: Kernel) -> str:
    return stem(kernel.base)


def _by(kernels: Iterable[Kernel], key: Callable[[Kernel], str]) -> dict[str, list[Kernel]]:
    found: dict[str, list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        found[key(kernel)].append(kernel)
    return found


def _take(capture: Capture, numbers: Iterable[int]) -> tuple[Kernel, ...]:
    return tuple(capture.kernels[number] for number in sorted(numbers))


def _components(edges: Iterable[tuple[int, int]]) -> list[tuple[set[int], set[int]]]:
    """Connected groups of a bipartite graph."""
    groups: list[tuple[set[int], set[int]]] = []
    for b, a in sorted(edges):
        touched = [group for group in groups if b in group[0] or a in group[1]]
        merged: tuple[set[int], set[int]] = ({b}, {a})
        for group in touched:
            merged[0].update(group[0])
            merged[1].update(group[1])
            groups.remove(group)
        groups.append(merged)
    return groups
