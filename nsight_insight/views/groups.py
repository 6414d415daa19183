"""Combining rows that belong to one subject, without loops over subjects; NaN is unknown, not zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsight_insight.views.facts import Array, Bools, Floats, Ints


@dataclass(frozen=True)
class Groups:
    """A partition of n rows into ``size`` groups: ``codes`` is the group of each row."""

    codes: Ints
    size: int

    def count(self, mask: Bools | None = None) -> Ints:
        """Rows per group, or those where ``mask`` holds."""
        codes = self.codes if mask is None else self.codes[mask]
        return np.bincount(codes, minlength=self.size).astype(np.int64)

    def sum(self, values: Array) -> Floats:
        """Sum of the known values; NaN where a group has none."""
        known = ~np.isnan(values)
        total = np.bincount(self.codes, weights=np.where(known, values, 0.0), minlength=self.size)
        return np.where(self.count(known) > 0, total, np.nan)

    def mean(self, values: Array, weights: Array) -> Floats:
        """Weighted mean of the known values; plain mean where no known value has weight."""
        known = ~np.isnan(values)
        weights = np.where(known & ~np.isnan(weights), weights, 0.0)
        filled = np.where(known, values, 0.0)
        weight = np.bincount(self.codes, weights=weights, minlength=self.size)
        total = np.bincount(self.codes, weights=weights * filled, minlength=self.size)
        plain = np.bincount(self.codes, weights=filled, minlength=self.size)
        with np.errstate(all="ignore"):
            return np.where(weight > 0, total / weight, plain / self.count(known))

    def min(self, values: Array) -> Floats:
        """Smallest known value; NaN where a group has none."""
        found = np.full(self.size, np.inf)
        np.fmin.at(found, self.codes, values)
        return np.where(np.isinf(found), np.nan, found)

    def max(self, values: Array) -> Floats:
        """Largest known value; NaN where a group has none."""
        return -self.min(-values)

    def coverage(self, values: Array, weights: Array, total: Array) -> Floats:
        """Share of each group's ``total`` weight whose value is known; by number of rows without weights."""
        known = ~np.isnan(values)
        held = np.bincount(self.codes, weights=np.where(known, weights, 0.0), minlength=self.size)
        with np.errstate(all="ignore"):
            return np.where(total > 0, held / total, self.count(known) / self.count())

    def same(self, values: Array, weights: Array) -> Floats:
        """The common value of each group, the weighted mean where rows differ."""
        low, high = self.min(values), self.max(values)
        return np.where(low == high, low, self.mean(values, weights))

    def lead(self, values: Array) -> Ints:
        """Position of each group's largest value, the first on ties; -1 for empty groups."""
        order = np.lexsort((np.arange(len(values)), -np.where(np.isnan(values), -np.inf, values), self.codes))
        found = np.full(self.size, -1, dtype=np.int64)
        codes = self.codes[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = codes[1:] != codes[:-1]
        found[codes[first]] = order[first]
        return found

    def members(self, rows: Ints) -> list[Ints]:
        """``rows`` split by group, in order."""
        if self.size == len(rows) and np.array_equal(self.codes, np.arange(self.size)):
            return list(rows.reshape(-1, 1))
        order = np.argsort(self.codes, kind="stable")
        return np.split(rows[order], np.cumsum(self.count())[:-1]) if self.size else []


def single(values: Array) -> int:
    """The position of the largest known value, the first on ties; 0 if none is known, -1 without rows."""
    return int(np.argmax(np.where(np.isnan(values), -np.inf, values))) if len(values) else -1
