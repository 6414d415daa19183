"""What a caller may ask of any reporter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nsight_insight.config import Threshold

FRAMEWORKS: Final = ("pytorch", "tensorflow", "jax", "cuda", "triton")
"""Whose code a remedy may carry."""


@dataclass(frozen=True)
class RenderOptions:
    """Presentation only: no option changes what was found.

    Attributes:
        width: columns of text output.
        color: ANSI colours in text output.
        unicode: False restricts text output to ASCII (kernel names aside).
        verbose: everything that is known instead of what fits a screen.
        framework: show remedies' code for this framework only, "" for all.
        top: findings to show, None for the reporter's own choice.
        fail_on: findings that the caller counts as failures, None for none.
        assume: rules (ids, shell patterns, ``all``) whose findings the report shows as if they were fixed.
    """

    width: int = 80
    color: bool = False
    unicode: bool = True
    verbose: bool = False
    framework: str = ""
    top: int | None = None
    fail_on: Threshold | None = None
    assume: tuple[str, ...] = ()
