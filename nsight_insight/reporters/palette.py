"""How pictures tell things apart: colour and pattern, never colour alone.

Colours are those of Okabe and Ito (Color Universal Design, 2008), which people with any common colour vision
deficiency can tell apart; what shares a colour differs in its pattern, and in scatter plots in its marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
GREY, LIGHT = "#8C8C8C", "#C8C8C8"


@dataclass(frozen=True)
class Look:
    """Fill, pattern ("" plain, ``/``, ``.``, ``x``, ``-``, as matplotlib hatches) and marker."""

    color: str
    hatch: str = ""
    marker: str = "o"


FAMILY: Final[Mapping[str, Look]] = {
    "gemm": Look(BLUE, "", "o"),
    "gemv": Look(BLUE, "/", "s"),
    "splitk": Look(BLUE, ".", "D"),
    "conv": Look(SKY, "", "s"),
    "rnn": Look(SKY, "x", "d"),
    "embedding": Look(SKY, "/", "<"),
    "gather": Look(SKY, ".", ">"),
    "attention": Look(GREEN, "", "^"),
    "fft": Look(GREEN, "/", "v"),
    "rng": Look(GREEN, ".", "8"),
    "sort": Look(GREEN, "x", "h"),
    "scan": Look(GREEN, "-", "H"),
    "elementwise": Look(ORANGE, "", "v"),
    "optimizer": Look(ORANGE, "/", "d"),
    "amp": Look(ORANGE, ".", "p"),
    "pooling": Look(ORANGE, "x", "s"),
    "cast": Look(RED, "", "X"),
    "layout": Look(RED, "/", "P"),
    "quantize": Look(RED, ".", "*"),
    "reduction": Look(PURPLE, "", "h"),
    "norm": Look(PURPLE, "/", "H"),
    "softmax": Look(PURPLE, ".", "p"),
    "loss": Look(PURPLE, "x", "8"),
    "copy": Look(YELLOW, "", "<"),
    "fill": Look(YELLOW, "/", ">"),
    "memcpy": Look(YELLOW, ".", "D"),
    "memset": Look(YELLOW, "x", "d"),
    "collective": Look(BLACK, "", "P"),
    "graph": Look(GREY, "/", "s"),
    "unknown": Look(GREY, "", "o"),
}
CAUSE: Final[Mapping[str, Look]] = {
    "launch": Look(ORANGE),
    "sync": Look(RED, "/"),
    "allocation": Look(PURPLE, "."),
    "mpi": Look(BLUE, "/"),
    "module": Look(PURPLE, "x"),
    "copy": Look(YELLOW, "/"),
    "data": Look(GREEN, "/"),
    "host": Look(BLUE, "x"),
    "queued": Look(SKY, "."),
    "unknown": Look(LIGHT),
}
_WAITING: Final = (
    "Long Scoreboard", "Short Scoreboard", "MIO Throttle", "LG Throttle", "Tex Throttle", "Math Pipe Throttle", "Wait",
    "Barrier", "Membar", "Branch Resolving", "No Instruction", "Dispatch Stall", "Drain", "IMC Miss", "Sleeping",
    "GMMA", "Misc", "Not Selected", "Selected",
)  # fmt: skip
_LOOKS: Final = (
    Look(BLUE), Look(SKY), Look(ORANGE), Look(ORANGE, "/"), Look(ORANGE, "."), Look(GREEN), Look(YELLOW),
    Look(RED), Look(RED, "/"), Look(PURPLE), Look(PURPLE, "/"), Look(PURPLE, "."), Look(SKY, "/"), Look(SKY, "."),
    Look(BLUE, "/"), Look(GREEN, "/"), Look(YELLOW, "/"), Look(LIGHT), Look(GREY),
)  # fmt: skip
STALL: Final[Mapping[str, Look]] = dict(zip(_WAITING, _LOOKS, strict=True))
"""Stall reasons, in the order in which bars stack them: the two that are no waiting come last."""
OTHER: Final = Look(GREY)


def family_look(family: str) -> Look:
    """The look of a kernel family."""
    return FAMILY.get(family, OTHER)
