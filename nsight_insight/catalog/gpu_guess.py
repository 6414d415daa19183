"""What to assume about a GPU that a profile does not name, or that the catalogue does not know.

The peaks of an unknown GPU are unknown. How much faster one type is than another can be bounded: by the data-centre
GPUs (where most profiles of this kind come from) for the expected value, by all GPUs for the range.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isnan, nan
from statistics import median
from typing import TYPE_CHECKING, Final

from nsight_insight.catalog.gpu_table import GAINS, Gpu, load_gpus
from nsight_insight.model.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SEGMENT: Final = (
    ("geforce", re.compile(r"GeForce|\bGTX\b", re.IGNORECASE)),
    ("jetson", re.compile(r"Orin|Thor|Xavier|Tegra|Jetson", re.IGNORECASE)),
    ("workstation", re.compile(r"RTX|Quadro|TITAN", re.IGNORECASE)),
)
_LABEL: Final = {
    "datacenter": "data-centre",
    "geforce": "GeForce",
    "workstation": "workstation",
    "jetson": "Jetson",
}


@dataclass(frozen=True)
class Gain:
    """How many times faster one type's peak is than another's; NaN where nothing can be assumed."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class GpuGuess:
    """Assumed gains, by the names of ``GAINS``, and a sentence that says what was assumed."""

    gains: Mapping[str, Gain] = field(hash=False)
    text: str

    def gain(self, name: str) -> float:
        """The expected gain, as ``Gpu.gain`` gives it for a known GPU; NaN where nothing can be assumed."""
        return self.gains[name].expected


def unknown_gpu(min_cc: float, *, cc: float | None = None, name: str = "") -> GpuGuess:
    """Gains to assume when a profile names no GPU, or one that the catalogue does not have.

    Args:
        min_cc: lowest compute capability that the profile is consistent with.
        cc: the compute capability itself where the profile states it; narrows the choice to it.
        name: the unknown name; narrows the choice to its product line.

    Returns:
        ``expected`` is the median over the data-centre GPUs (over the named product line) that qualify, ``low``
        and ``high`` are the extremes over all discrete ones.
    """
    pool = _of_line(_qualified(min_cc, cc), name)
    typical = [gpu for gpu in pool if gpu.segment == "datacenter"] or pool
    gains = {gain: _spread(gain, typical, pool) for gain in GAINS}
    return GpuGuess(gains, _sentence(name, min_cc, cc, typical, pool, gains["gain_16bit"]))


def _qualified(min_cc: float, cc: float | None) -> list[Gpu]:
    fitting = [gpu for gpu in load_gpus() if (gpu.cc >= min_cc if cc is None else gpu.cc == cc)]
    return [gpu for gpu in fitting if not gpu.integrated] or fitting


def _of_line(pool: list[Gpu], name: str) -> list[Gpu]:
    segment = next((segment for segment, pattern in _SEGMENT if pattern.search(name)), "")
    if re.search(r"\bGTX\b", name):
        return [gpu for gpu in pool if any("GTX" in known for known in gpu.names)] or pool
    return [gpu for gpu in pool if gpu.segment == segment] or pool


def _spread(gain: str, typical: Sequence[Gpu], pool: Sequence[Gpu]) -> Gain:
    values = _values(gain, pool)
    if not values:
        return Gain(nan, nan, nan)
    return Gain(median(_values(gain, typical) or values), min(values), max(values))


def _values(gain: str, gpus: Sequence[Gpu]) -> list[float]:
    """Gains of the GPUs. One that lacks the better type gains nothing; one that lacks the worse does not count."""
    better, worse = GAINS[gain]
    present = [gpu for gpu in gpus if gpu.peak(worse) is not None]
    return [gpu.gain(gain) or 1.0 for gpu in present] if any(gpu.peak(better) for gpu in present) else []


def _sentence(
    name: str, min_cc: float, cc: float | None, typical: Sequence[Gpu], pool: Sequence[Gpu], gain: Gain
) -> str:
    who = f"GPU {clean(name)!r} is not in the catalogue" if name else "GPU not named in the input"
    which = f"compute capability ≥ {min_cc:.1f}" if cc is None else f"compute capability {cc:.1f}"
    if not pool:
        return f"{who}, and no GPU of {which} is known: no peaks are assumed. Pass --gpu NAME."
    segments = {gpu.segment for gpu in typical}
    kind = f"{_LABEL[segments.pop()]} GPU" if len(segments) == 1 else "GPU"
    text = f"{who}: assumed the median {kind} of {which}"
    if isnan(gain.expected):
        return f"{text}, which has no 16-bit Tensor Cores. Pass --gpu NAME."
    return f"{text} (16-bit Tensor Core peak {gain.expected:.3g}x FP32){_caveat(pool, gain)}. Pass --gpu NAME."


def _caveat(pool: Sequence[Gpu], gain: Gain) -> str:
    consumer = _values("gain_16bit", [gpu for gpu in pool if gpu.segment == "geforce"])
    if consumer and median(consumer) < gain.expected:
        return f"; on GeForce-class GPUs it is {median(consumer):.3g}x"
    return f"; on some it is {gain.low:.3g}x" if gain.low < gain.expected else ""
