"""What may be concluded from two times: formulas against numpy, and error rates on simulated captures."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.comparison.noise import (
    FLOORS,
    SAME,
    Estimate,
    Floor,
    judged,
    mean_of,
    median_of,
    student,
    total,
)
from nsight_insight.views.facts import Floats

NO_FLOOR = Floor(0.0, 0.0, "")
times = st.floats(1.0, 1e9)


def test_the_error_of_a_mean_is_the_textbook_one() -> None:
    samples = np.array([10.0, 12.0, 11.0, 13.0])
    found = mean_of(samples)
    assert found.value == 11.5
    assert found.error == pytest.approx(np.std(samples, ddof=1) / sqrt(4))
    assert found.freedom == 3


def test_one_outlier_hardly_moves_the_median() -> None:
    quiet = np.array([100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8])
    loud = quiet.copy()
    loud[-1] = 10_000.0
    clean, dirty = median_of(quiet), median_of(loud)
    assert dirty.value == pytest.approx(clean.value, abs=1.0)
    assert dirty.error is not None
    assert dirty.error < 1.0 < (mean_of(loud).error or 0.0)


@pytest.mark.parametrize("measure", [mean_of, median_of])
def test_a_single_measurement_has_no_error(measure: Callable[[Floats], Estimate]) -> None:
    assert measure(np.array([5.0])) == Estimate(5.0, None)


def drifting(rng: np.random.Generator, size: int, correlation: float, runs: int) -> Floats:
    """Samples around 1,000 whose neighbours correlate, standard deviation 10."""
    noise = rng.normal(0.0, 1.0, (runs, size))
    found = np.empty_like(noise)
    found[:, 0] = noise[:, 0]
    for place in range(1, size):
        found[:, place] = correlation * found[:, place - 1] + sqrt(1 - correlation**2) * noise[:, place]
    return 1000.0 + 10.0 * found


def test_correlated_neighbours_widen_the_error() -> None:
    rng = np.random.default_rng(1)
    independent = np.mean([mean_of(one).error or 0.0 for one in drifting(rng, 100, 0.0, 50)])
    correlated = np.mean([mean_of(one).error or 0.0 for one in drifting(rng, 100, 0.7, 50)])
    true = np.std([one.mean() for one in drifting(rng, 100, 0.7, 2000)])
    assert independent == pytest.approx(1.0, rel=0.15)
    assert correlated == pytest.approx(true, rel=0.25)


@pytest.mark.parametrize(
    ("measure", "size", "correlation", "limit"),
    [
        (mean_of, 3, 0.0, 0.015), (mean_of, 9, 0.0, 0.015), (mean_of, 50, 0.0, 0.02), (mean_of, 50, 0.5, 0.04),
        (median_of, 3, 0.0, 0.04), (median_of, 9, 0.0, 0.025), (median_of, 50, 0.0, 0.02), (median_of, 50, 0.5, 0.03),
    ],
)  # fmt: skip
def test_repetitions_of_one_program_are_seldom_called_different(
    measure: Callable[[Floats], Estimate], size: int, correlation: float, limit: float
) -> None:
    """False alarms without any floor; 1 % is aimed at, few or correlated repetitions tell less of their spread."""
    pairs = drifting(np.random.default_rng(size), size, correlation, 4000).reshape(2000, 2, size)
    verdicts = [judged(measure(a), measure(b), NO_FLOOR).verdict for a, b in pairs]
    assert sum(verdict in ("faster", "slower") for verdict in verdicts) <= limit * len(verdicts)


def test_a_difference_of_twice_the_least_one_is_seen() -> None:
    rng = np.random.default_rng(5)
    seen = 0
    for before, after in drifting(rng, 20, 0.0, 400).reshape(200, 2, 20):
        least = judged(mean_of(before), mean_of(after), NO_FLOOR).least or 0.0
        seen += judged(mean_of(before), mean_of(after - 2 * least), NO_FLOOR).verdict == "faster"
    assert seen >= 195


@given(before=times, after=times, errors=st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)))
def test_swapping_the_sides_turns_the_verdict(before: float, after: float, errors: tuple[float, float]) -> None:
    ours, theirs = Estimate(before, errors[0], 5), Estimate(after, errors[1], 9)
    there, back = (judged(*pair, FLOORS["kernel"], 3.0) for pair in ((ours, theirs), (theirs, ours)))
    turned = {"faster": "slower", "slower": "faster"}
    assert back.verdict == turned.get(there.verdict, there.verdict)
    assert back.least == pytest.approx(there.least)
    assert back.difference == pytest.approx(-(there.difference or 0.0))


@given(value=times, error=st.floats(0, 1e8))
def test_a_time_is_the_same_as_itself(value: float, error: float) -> None:
    one = Estimate(value, error, 2)
    assert judged(one, one, FLOORS["ncu"], 1.0).verdict == "same"


def test_same_is_only_said_where_a_difference_would_have_been_seen() -> None:
    tight, wide = Estimate(1000.0, 1.0, 20), Estimate(1000.0, 100.0, 20)
    assert judged(tight, Estimate(1001.0, 1.0, 20), NO_FLOOR).verdict == "same"
    assert judged(wide, Estimate(1001.0, 100.0, 20), NO_FLOOR).verdict == "unknown"
    edge = judged(tight, Estimate(1001.0, 1.0, 20), Floor(SAME * 1.1, 0.0, ""))
    assert edge.verdict == "unknown"


def test_single_launches_need_more_than_the_floor() -> None:
    """As ncu profiles them: no noise of their own."""
    before = Estimate(12_544.0, None)
    assert judged(before, Estimate(12_032.0, None), FLOORS["ncu"], 1.0).verdict == "unknown"
    assert judged(before, Estimate(11_000.0, None), FLOORS["ncu"], 1.0).verdict == "faster"


def test_sums_add_variances_and_lean_on_what_is_known() -> None:
    both = total([Estimate(100.0, 3.0), Estimate(50.0, 4.0)])
    assert (both.value, both.error) == (150.0, 5.0)
    assert total([Estimate(100.0, 3.0), Estimate(50.0, None)]).error == pytest.approx(4.5)
    assert total([Estimate(50.0, 3.0), Estimate(100.0, None)]).error is None
    assert total([]).value == 0.0


def test_degrees_of_freedom_of_a_sum_are_welch_s() -> None:
    a, b = Estimate(0.0, 2.0, 4), Estimate(0.0, 1.0, 9)
    expected = (4 + 1) ** 2 / (16 / 4 + 1 / 9)
    assert total([a, b]).freedom == pytest.approx(expected)


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 63.66), (2, 9.925), (2.9, 9.925), (10, 3.169), (11, 3.169), (inf, 2.576)]
)
def test_student_is_on_the_safe_side(freedom: float, quantile: float) -> None:
    assert student(freedom) == quantile
