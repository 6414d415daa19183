"""What is done to the texts of captures: one object for all files of a call, so that names agree between them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape

from nsight_insight.redact.mask import Mask
from nsight_insight.redact.names import Words


@dataclass
class Editor:
    """The wishes of a call and what is known of its files so far.

    Attributes:
        hash_kernels: replace the words of kernel names that no library gave.
        hash_ranges: replace the words of NVTX ranges.
    """

    hash_kernels: bool = False
    hash_ranges: bool = False
    mask: Mask = field(default_factory=Mask)
    words: Words = field(default_factory=Words)

    def kernel(self, name: str) -> str:
        """A kernel's name as the clean copy has it."""
        text = self.mask.text(name, figures=True)
        return self.words.kernel(text) if self.hash_kernels else text

    def range(self, name: str) -> str:
        """A range's name, or several of them with what stands between."""
        text = self.mask.text(name, figures=True)
        return self.words.range(text) if self.hash_ranges else text

    def pairs(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Kernel names of a file that change, longest first, and what they change to."""
        if not self.hash_kernels:
            return []
        found = {name: self.words.kernel(name) for name in {self.mask.text(name, figures=True) for name in names}}
        for quote in (True, False):
            found |= {escape(old, quote=quote): escape(new, quote=quote) for old, new in found.items()}
        changed = [(old, new) for old, new in found.items() if old != new and old]
        return sorted(changed, key=lambda pair: (-len(pair[0]), pair))


def renamed(line: str, pairs: Iterable[tuple[str, str]]) -> str:
    """A line with kernel names replaced where they stand whole, in HTML too; never inside a longer name."""
    for old, new in pairs:
        if old in line:
            whole = rf"(?<![\w:~]){re.escape(old)}(?![\w:(\u2026]|<(?!/)|&lt;)"
            line = re.sub(whole, new.replace("\\", r"\\"), line)
    return line
