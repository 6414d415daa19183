"""What marks steps where no range does: optimizer kernels, and the stream that does the computing.

Collectives on a stream of their own start now before, now after the kernels around them, so that the kernels of a
data-parallel step repeat exactly on their own stream only.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from nsight_insight.views.activity import Activities, codes_of
from nsight_insight.views.facts import Floats, Ints
from nsight_insight.views.kernel_totals import one_of

MIN_STEPS: Final = 3
FAR: Final = 10
"""Other kernels between two optimizer kernels from which on they belong to different steps."""
ALIKE: Final = 0.05
"""Steps of a loop launch as many kernels as the median one, within this part."""
MATRIX: Final = ("gemm", "gemv", "conv", "attention", "rnn")


def compute_rows(acts: Activities, rows: Ints) -> Ints | None:
    """Kernels of the stream that runs most of the time without collectives; None where there is only one stream."""
    kernels = rows[acts.family(rows) != "collective"]
    streams, _ = codes_of(*(acts.column(name)[kernels] for name in ("process", "context", "stream")))
    everything, _ = codes_of(*(acts.column(name)[rows] for name in ("process", "context", "stream")))
    if not len(kernels) or len(np.unique(everything)) < 2:
        return None
    time = np.bincount(streams, weights=np.nan_to_num(acts.column("duration")[kernels]))
    computing: Ints = kernels[streams == int(np.argmax(time))]
    return computing


def optimizer_ends(acts: Activities, rows: Ints) -> Floats | None:
    """Start of the last optimizer kernel of each step, ns; None unless they come in at least three like steps.

    Like steps launch as many kernels as the median one within 5 % (the first may differ) and multiply matrices.
    """
    ordered = rows[np.argsort(acts.column("start")[rows], kind="stable")]
    family = acts.family(ordered)
    places = np.flatnonzero(family == "optimizer")
    if len(places) < MIN_STEPS:
        return None
    last = np.append(np.diff(places) > FAR, True)
    ends = places[last]
    if len(ends) < MIN_STEPS:
        return None
    matrices = np.concatenate(([0], np.cumsum(one_of(family, MATRIX))))[ends + 1]
    lengths, products = np.diff(ends), np.diff(matrices)
    typical = float(np.median(lengths))
    if (np.abs(lengths - typical) > ALIKE * typical).any() or not products.all():
        return None
    return np.asarray(acts.column("start")[ordered[ends]], dtype=np.float64)
