"""How much containers may expand to: one file, all files of a run, and how densely they may be packed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from nsight_insight.errors import InputError

RATIO_FROM: Final = 64 << 20
"""Bytes that may come out of a container before its compression ratio is looked at: so little cannot hurt."""


@dataclass(frozen=True)
class Limits:
    """What a container may grow to.

    Attributes:
        member_bytes: one expanded file.
        total_bytes: everything that is expanded in one run.
        ratio: expanded over compressed bytes; real profiles stay below 100, gzip alone can reach 1,032.
        depth: containers inside each other; ``x.csv.gz`` is one, ``x.csv`` in a tar.gz two.
        members: entries of all archives of one run.
    """

    member_bytes: int = 4 << 30
    total_bytes: int = 8 << 30
    ratio: float = 500.0
    depth: int = 5
    members: int = 10_000


@dataclass
class Budget:
    """What is left of the limits in one run."""

    limits: Limits = field(default_factory=Limits)
    spent: int = 0
    members: int = 0

    def spend(self, count: int, path: str) -> None:
        """Count expanded bytes.

        Raises:
            InputError: there are too many.
        """
        self.spent += count
        if self.spent > self.limits.total_bytes:
            raise too_large(path, self.limits.total_bytes)

    def enter(self, path: str) -> None:
        """Count a member of an archive.

        Raises:
            InputError: there are too many.
        """
        self.members += 1
        if self.members > self.limits.members:
            text = f"more than {self.limits.members:,} members, the limit: unpack it and pass the files that matter"
            raise InputError(text, path=path)


def too_large(path: str, cap: int) -> InputError:
    """The error for a file that grows beyond the limit."""
    text = f"expands to more than {_size(cap)}, the limit: unpack it and pass the files that matter"
    return InputError(text, path=path)


def too_dense(path: str, ratio: float) -> InputError:
    """The error for a compression ratio that no profile has."""
    text = f"expands more than {ratio:.0f}-fold, as decompression bombs do: unpack it yourself if you trust it"
    return InputError(text, path=path)


def _size(count: int) -> str:
    return f"{count / 2**30:.4g} GiB" if count >= 1 << 20 else f"{count} bytes"
