"""Units as Nsight prints them, their dimensions, and conversion to SI.

Nsight uses about sixty spellings in a dozen dimensions (``ns``, ``nsecond``, ``Kbyte/second``,
``cycle/nsecond``, ``register/thread``, ``%`` ...). All prefixes are powers of 1000, for bytes too
(Nsight Compute release notes 2019.1: "all byte-based metrics use a factor of 1000"), except the
KiB of the 2019-2021 ``nsys`` memory table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Dimension:
    """Exponents of time, byte and flop; ``fraction`` marks a share between 0 and 1.

    Things that are merely counted (cycles, warps, sectors, instructions, launches) carry no exponent.
    """

    time: int = 0
    byte: int = 0
    flop: int = 0
    fraction: bool = False

    def __mul__(self, other: Dimension) -> Dimension:
        """Dimension of a product; only a product of two fractions is a fraction."""
        return Dimension(
            self.time + other.time,
            self.byte + other.byte,
            self.flop + other.flop,
            self.fraction and other.fraction,
        )

    def __truediv__(self, other: Dimension) -> Dimension:
        """Dimension of a quotient; a quotient is a plain number at best, never a fraction by kind."""
        return Dimension(self.time - other.time, self.byte - other.byte, self.flop - other.flop)

    @property
    def plain(self) -> bool:
        """True for numbers without a unit, fractions included."""
        return not (self.time or self.byte or self.flop)

    def same_kind(self, other: Dimension) -> bool:
        """True when the exponents agree; a fraction agrees with a plain number."""
        return (self.time, self.byte, self.flop) == (other.time, other.byte, other.flop)

    def __str__(self) -> str:
        if self.plain:
            return "fraction" if self.fraction else "number"
        parts = [
            name if power == 1 else f"{name}^{power}"
            for name in ("time", "byte", "flop")
            if (power := getattr(self, name))
        ]
        return "*".join(parts)


NUMBER = Dimension()
FRACTION = Dimension(fraction=True)
TIME = Dimension(time=1)
BYTES = Dimension(byte=1)
BANDWIDTH = Dimension(byte=1, time=-1)
FLOP_RATE = Dimension(flop=1, time=-1)
FREQUENCY = Dimension(time=-1)


@dataclass(frozen=True)
class Unit:
    """A unit spelling: multiply a printed number by ``scale`` to get SI (s, byte, flop, Hz, fraction)."""

    name: str
    dimension: Dimension
    scale: float


_TIME = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "msecond": 1e-3,
    "us": 1e-6, "usec": 1e-6, "usecond": 1e-6, "µs": 1e-6,
    "ns": 1e-9, "nsec": 1e-9, "nsecond": 1e-9,
}  # fmt: skip
_PREFIX = {"": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BYTES = {
    **{f"{p}byte": f for p, f in _PREFIX.items()},
    "B": 1.0, "KB": 1e3, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1024.0, "MiB": 1048576.0,
}  # fmt: skip
_HERTZ = {f"{p}{hz}": f for p, f in _PREFIX.items() for hz in ("hz", "Hz")}
_FLOP = {f"{p}{f}": factor for p, factor in _PREFIX.items() for f in ("flop", "FLOP")}
_COUNTED = frozenset(
    [
        "cycle",
        "cycles",
        "inst",
        "warp",
        "warps",
        "block",
        "blocks",
        "thread",
        "threads",
        "register",
        "registers",
        "sector",
        "sectors",
        "request",
        "requests",
        "sample",
        "samples",
        "branch",
        "branches",
        "SM",
        "pass",
        "passes",
        "cluster",
        "clusters",
        "wavefront",
        "wavefronts",
        "issue",
        "launch",
        "instruction",
        "instructions",
        "count",
        "number",
        "transaction",
        "transactions",
        "byte_count",
        "op",
        "ops",
    ]
)


@lru_cache(maxsize=512)
def parse_unit(text: str) -> Unit | None:
    """The unit a spelling stands for, or None when it is not one we know.

    ``Mbyte/second`` and ``byte/s`` are bandwidths, ``%`` is a fraction of scale 0.01, an empty text is
    a plain number (callers decide whether an empty unit cell may be trusted: see the ncu reader).
    """
    text = text.strip()
    if not text:
        return Unit("", NUMBER, 1.0)
    if text == "%" or text.startswith("%/"):
        return Unit(text, FRACTION if text == "%" else NUMBER, 0.01)
    numerator, slash, denominator = text.partition("/")
    top = _atom(numerator or "1")  # ncu 2024 prints operations per cycle as "/cycle"
    if top is None or not slash:
        return top and Unit(text, top.dimension, top.scale)
    bottom = _atom(denominator)
    if bottom is None:
        return None
    return Unit(text, top.dimension / bottom.dimension, top.scale / bottom.scale)


def _atom(text: str) -> Unit | None:
    text = text.strip()
    for table, dimension in (
        (_TIME, TIME),
        (_BYTES, BYTES),
        (_HERTZ, FREQUENCY),
        (_FLOP, FLOP_RATE * TIME),
    ):
        if text in table:
            return Unit(text, dimension, table[text])
    if text in ("MBps", "GBps"):
        return Unit(text, BANDWIDTH, 1e6 if text[0] == "M" else 1e9)
    if text == "fraction":
        return Unit(text, FRACTION, 1.0)
    if text == "1" or text in _COUNTED:
        return Unit(text, NUMBER, 1.0)
    return _prefixed_count(text)


def _prefixed_count(text: str) -> Unit | None:
    if len(text) > 1 and text[0] in _PREFIX and text[1:] in _COUNTED:
        return Unit(text, NUMBER, _PREFIX[text[0]])
    return None
