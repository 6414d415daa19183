"""Grouped combination against pandas, and what NaN means in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nsight_insight.views.groups import Groups, single

NAN = float("nan")


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 13, 400)
    values = np.where(rng.random(400) < 0.3, NAN, rng.normal(size=400))
    return codes.astype(np.int64), values, rng.random(400)


def test_sum_min_max_agree_with_pandas(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    codes, values, _ = data
    groups, grouped = Groups(codes, 13), pd.Series(values).groupby(codes)
    np.testing.assert_allclose(groups.sum(values), grouped.sum(min_count=1).to_numpy())
    np.testing.assert_array_equal(groups.min(values), grouped.min().to_numpy())
    np.testing.assert_array_equal(groups.max(values), grouped.max().to_numpy())
    np.testing.assert_array_equal(groups.count(~np.isnan(values)), grouped.count().to_numpy())


def test_mean_is_weighted_over_known_values(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    codes, values, weights = data
    found = Groups(codes, 13).mean(values, weights)
    for group in range(13):
        known = (codes == group) & ~np.isnan(values)
        assert found[group] == pytest.approx(np.average(values[known], weights=weights[known]))


def test_empty_and_unknown_groups_are_unknown_not_zero() -> None:
    groups = Groups(np.array([0, 0, 2]), 3)
    values = np.array([NAN, NAN, 5.0])
    for found in (groups.sum(values), groups.min(values), groups.max(values), groups.mean(values, np.ones(3))):
        np.testing.assert_array_equal(found, [NAN, NAN, 5.0])


def test_mean_without_weight_is_plain() -> None:
    assert Groups(np.array([0, 0]), 1).mean(np.array([1.0, 3.0]), np.zeros(2))[0] == 2.0


def test_same_keeps_a_common_value_exactly_and_averages_others() -> None:
    groups = Groups(np.array([0, 0, 0, 1, 1]), 2)
    found = groups.same(np.array([0.1, 0.1, 0.1, 10.0, 40.0]), np.array([3.0, 7.0, 11.0, 2.0, 1.0]))
    assert found[0] == 0.1
    assert found[1] == 20.0


def test_coverage_is_by_weight_else_by_rows() -> None:
    groups = Groups(np.array([0, 0, 1, 1]), 2)
    values = np.array([1.0, NAN, 1.0, NAN])
    found = groups.coverage(values, np.array([1.0, 3.0, 0.0, 0.0]), np.array([4.0, 0.0]))
    np.testing.assert_allclose(found, [0.25, 0.5])


def test_lead_is_the_first_largest_known() -> None:
    groups = Groups(np.array([1, 0, 1, 1, 0]), 3)
    np.testing.assert_array_equal(groups.lead(np.array([5.0, NAN, 9.0, 9.0, 2.0])), [4, 2, -1])
    assert single(np.array([])) == -1


def test_members_keep_order_and_every_row(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    codes, _, _ = data
    rows = np.arange(1000, 1400)
    members = Groups(codes, 13).members(rows)
    assert [list(found) for found in members] == [list(rows[codes == group]) for group in range(13)]
    alone = Groups(np.arange(3), 3).members(np.array([7, 8, 9]))
    assert [list(found) for found in alone] == [[7], [8], [9]]
