"""How sure a time is, and what may be said of two of them.

An estimate has a standard error from the repetitions inside its own capture. What repetitions cannot show, the
difference between two captures of the same program, is covered by a floor (``FLOORS``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from typing import Final

import numpy as np

from nsight_insight.model.comparison import Change
from nsight_insight.views.facts import Floats

_T99: Final = (
    (1, 63.66), (2, 9.925), (3, 5.841), (4, 4.604), (5, 4.032), (6, 3.707), (7, 3.499), (8, 3.355), (9, 3.250),
    (10, 3.169), (12, 3.055), (15, 2.947), (20, 2.845), (30, 2.750), (60, 2.660), (inf, 2.576),
)  # fmt: skip
"""Student's t, two-sided 99 %, by degrees of freedom. 99 and not 95 %: a comparison makes many at once."""
_MAD: Final = 1.4826
"""Standard deviation over median absolute deviation, of the normal distribution."""
_MEDIAN: Final = 1.2533
"""Standard error of the median over that of the mean, of the normal distribution."""
_CORRELATED: Final = 8
"""Repetitions needed before their correlation says anything."""
_MOST_CORRELATED: Final = 0.8
SAME: Final = 0.05
"""Two times are called the same only if a difference of this share would have been seen."""


@dataclass(frozen=True)
class Floor:
    """Differences that two captures of one program show without any cause, as a share and in ns per launch."""

    share: float
    launch_ns: float
    why: str


FLOORS: Final = {
    "kernel": Floor(0.03, 100.0, "kernel times of one program differ by up to 1.5 % between captures"),
    "part": Floor(0.05, 100.0, "times of one kernel differ by up to 3.4 % between captures"),
    "wall": Floor(0.03, 0.0, "steps of one program differ by up to 1.3 % between captures"),
    "host": Floor(0.05, 0.0, "steps that wait for the host differ by up to 2.2 % between captures"),
    "ncu": Floor(0.05, 1000.0, "single launches under ncu's locked clocks differ by up to 4.1 % between captures"),
}
"""Above the largest difference between two captures of one program on two H200, most of them by a factor of two
(docs/comparison.md, 20 captures of 10 programs): a difference at the floor is not yet an effect."""


@dataclass(frozen=True)
class Estimate:
    """A time in ns with its standard error (None: a single measurement) and degrees of freedom."""

    value: float
    error: float | None
    freedom: float = inf

    def scaled(self, factor: float) -> Estimate:
        """The estimate of ``factor`` times the quantity."""
        return Estimate(self.value * factor, None if self.error is None else self.error * factor, self.freedom)


ZERO: Final = Estimate(0.0, 0.0)


def mean_of(samples: Floats) -> Estimate:
    """The mean of ordered repetitions, its error widened by the correlation of neighbours."""
    size = len(samples)
    value = float(samples.mean())
    if size < 2:
        return Estimate(value, None)
    return Estimate(value, float(samples.std(ddof=1)) * sqrt(_inflation(samples) / size), size - 1)


def median_of(samples: Floats) -> Estimate:
    """The median of ordered repetitions; its error from the median absolute deviation, so that outliers count once."""
    size = len(samples)
    value = float(np.median(samples))
    if size < 2:
        return Estimate(value, None)
    spread = float(np.median(np.abs(samples - value))) * _MAD
    return Estimate(value, _MEDIAN * spread * sqrt(_inflation(samples) / size), size - 1)


def _inflation(samples: Floats) -> float:
    """Variance of the mean over that of independent samples: (1 + r) / (1 - r) for neighbours that correlate by r."""
    if len(samples) < _CORRELATED:
        return 1.0
    centred = samples - samples.mean()
    power = float((centred**2).sum())
    if power <= 0:
        return 1.0
    r = min(max(float((centred[1:] * centred[:-1]).sum()) / power, 0.0), _MOST_CORRELATED)
    return (1.0 + r) / (1.0 - r)


def total(estimates: Iterable[Estimate]) -> Estimate:
    """The sum of independent estimates.

    Single measurements are taken to be as noisy as the others while they are the smaller half of the sum; otherwise
    the sum has no error.
    """
    every = list(estimates)
    value = sum(one.value for one in every)
    variances = [(one.error**2, one.freedom) for one in every if one.error is not None]
    known = sum(one.value for one in every if one.error is not None)
    if 2 * known < value:
        return Estimate(value, None)
    variance = sum(v for v, _ in variances)
    small = sum(v**2 / freedom for v, freedom in variances if isfinite(freedom))
    error = sqrt(variance) * (value / known if known else 1.0)
    return Estimate(value, error, variance**2 / small if small > 0 else inf)


def least_difference(before: Estimate, after: Estimate, floor: Floor, launches: float) -> float:
    """The smallest difference that neither the noise of the repetitions nor the floor explains, ns.

    Args:
        before: the time before.
        after: the time after.
        floor: what applies to this kind of time.
        launches: launches that the time is a sum of, for the part of the floor that each adds.
    """
    lowest = max(floor.share * (before.value + after.value) / 2, floor.launch_ns * launches)
    if before.error is None or after.error is None:
        return lowest
    both = total([before, after])
    return max(lowest, student(both.freedom) * (both.error or 0.0))


def student(freedom: float) -> float:
    """The 99 % quantile for at most ``freedom`` degrees of freedom, on the safe side between the table's entries."""
    known = [t for size, t in _T99 if size <= freedom]
    return known[-1] if known else _T99[0][1]


def judged(before: Estimate, after: Estimate, floor: Floor, launches: float = 0.0) -> Change:
    """Compare two times."""
    least = least_difference(before, after, floor, launches)
    difference = after.value - before.value
    if difference == 0:
        return Change(before.value, after.value, least, "same")
    if abs(difference) > least:
        return Change(before.value, after.value, least, "slower" if difference > 0 else "faster")
    if least <= SAME * max(before.value, after.value):
        return Change(before.value, after.value, least, "same")
    return Change(before.value, after.value, least, "unknown", "the difference is within the noise")
