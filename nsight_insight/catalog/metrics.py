"""The metric catalogue: what each canonical metric means and which names and labels of ncu carry it.

The knowledge is in ``metrics.yaml`` (metrics, activity columns, device attributes) and ``sections.yaml``;
this module turns it into frozen dataclasses and look-up tables. One concept is one entry, however many
names it had on different chips and in different tool versions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any, Literal, cast

from nsight_insight.catalog.sections import display_names
from nsight_insight.catalog.yamlio import load_data
from nsight_insight.model.units import BYTES, Dimension, Unit, parse_unit

Combine = Literal["sum", "max", "min", "mean", "first"]
Ranges = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Alias:
    """One name under which ncu prints a metric.

    Attributes:
        metric: name as printed on the raw page.
        plus: further names whose values must be added to that of ``metric``; the alias is usable only
            where all of them are (read and written bytes; one counter per accumulator type).
        cc: compute capabilities the name exists on, inclusive ranges; empty: all.
        labels: (section display name, label) under which the details page prints ``metric``.
        section: identifier of the ncu section that collects it, "" when only ``--metrics`` does.
        scale: factor from the alias's meaning to the metric's, both in SI.
        base_unit: unit of the value when the file's unit cell is empty.
        unit_is_count: ncu prints a byte unit for what is a count; its prefix still scales the number.
        ignore_unit: ncu prints a wrong unit in some versions; the value is always in ``base_unit``.
    """

    metric: str
    plus: tuple[str, ...] = ()
    cc: Ranges = ()
    labels: tuple[tuple[str, str], ...] = ()
    section: str = ""
    scale: float = 1.0
    base_unit: str = ""
    unit_is_count: bool = False
    ignore_unit: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """Every name whose values add up to the alias's value."""
        return (self.metric, *self.plus)

    def exists_on(self, cc: float | None) -> bool:
        """Whether chips of this compute capability have the name; True when ``cc`` is unknown."""
        return cc is None or not self.cc or any(low <= cc <= high for low, high in self.cc)


@dataclass(frozen=True)
class Metric:
    """A canonical metric.

    Attributes:
        unit: unit of its column: ``fraction``, ``byte``, ``byte/s``, ``Hz``, ``1`` or, for time columns, ``ns``.
        combine: how launches are put together; ``mean`` is weighted with duration.
        maximum: a larger value is an input error, None where the tool itself prints larger ones.
        column: True for activity columns (``columns:`` of the YAML file).
    """

    name: str
    doc: str
    unit: str
    dimension: Dimension
    combine: Combine
    maximum: float | None
    aliases: tuple[Alias, ...]
    column: bool = False

    def factor(self, alias: Alias, unit: str) -> float | None:
        """What to multiply a printed number by, given its unit cell; None when the unit is of another kind."""
        parsed = parse_unit(alias.base_unit if alias.ignore_unit else unit.strip() or alias.base_unit)
        own = parse_unit(self.unit)
        if parsed is None or own is None:
            return None
        if alias.unit_is_count and parsed.dimension == BYTES:
            parsed = Unit(parsed.name, self.dimension, parsed.scale)
        if not parsed.dimension.same_kind(self.dimension):
            return None
        # 1e-6 / 1e-9 is 999.9999999999999; a duration must come out as whole nanoseconds.
        return float(f"{parsed.scale / own.scale * alias.scale:.12g}")


@dataclass(frozen=True)
class Attribute:
    """A fact about the GPU that ncu repeats in every row; ``scale`` brings a number to SI."""

    name: str
    doc: str
    metrics: tuple[str, ...]
    kind: Literal["text", "number"]
    unit: str
    scale: float


@lru_cache(maxsize=1)
def load_metrics() -> Mapping[str, Metric]:
    """Canonical metric name -> metric, in the order of the file."""
    return {name: _metric(name, entry) for name, entry in _data()["metrics"].items()}


@lru_cache(maxsize=1)
def load_columns() -> Mapping[str, Metric]:
    """Activity column -> how ncu metrics fill it."""
    return {name: _metric(name, entry, column=True) for name, entry in _data()["columns"].items()}


@lru_cache(maxsize=1)
def load_attributes() -> Mapping[str, Attribute]:
    """Device attribute -> the ncu metrics that hold it, preferred first."""
    return {
        name: Attribute(
            name,
            entry["doc"],
            tuple(entry["metrics"]),
            entry.get("kind", "number"),
            entry.get("unit", "1"),
            float(entry.get("scale", 1.0)),
        )
        for name, entry in _data()["attributes"].items()
    }


@lru_cache(maxsize=1)
def metric_index() -> Mapping[str, tuple[tuple[Metric, Alias], ...]]:
    """Name as printed on the raw page -> the metrics and columns that use it, as a term of which alias."""
    index: dict[str, tuple[tuple[Metric, Alias], ...]] = {}
    for metric, alias in _pairs():
        for term in alias.terms:
            index[term] = (*index.get(term, ()), (metric, alias))
    return index


@lru_cache(maxsize=1)
def label_index() -> Mapping[tuple[str, str], tuple[tuple[Metric, Alias], ...]]:
    """(section display name, label) of the details page -> the metrics and columns that use it.

    The label stands for ``alias.metric``. Labels name header rows; several entries differ in compute capability.
    """
    index: dict[tuple[str, str], tuple[tuple[Metric, Alias], ...]] = {}
    for metric, alias in _pairs():
        for label in alias.labels:
            index[label] = (*index.get(label, ()), (metric, alias))
    return index


def resolve(metric: Metric, available: Collection[str], cc: float | None) -> list[tuple[int, Alias]]:
    """The aliases a file can serve, preferred first, each with its place in ``metric.aliases``.

    Args:
        metric: the metric looked for.
        available: metric names in the file; a set, for speed.
        cc: compute capability of the row; None when unknown, then every chip's names are considered.
    """
    return [
        (place, alias)
        for place, alias in enumerate(metric.aliases)
        if alias.exists_on(cc) and all(term in available for term in alias.terms)
    ]


def parse_ranges(text: str) -> Ranges:
    """``"7.0-8.9, 10.0, 12.0+"`` as inclusive ranges of compute capabilities."""
    ranges = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        low, dash, high = part.removesuffix("+").partition("-")
        top = inf if part.endswith("+") else float(high if dash else low)
        ranges.append((float(low), top))
    return tuple(ranges)


def _data() -> Mapping[str, Mapping[str, Any]]:
    return cast("Mapping[str, Mapping[str, Any]]", load_data("metrics.yaml"))


def _pairs() -> Iterator[tuple[Metric, Alias]]:
    for metric in (*load_metrics().values(), *load_columns().values()):
        for alias in metric.aliases:
            yield metric, alias


def _metric(name: str, entry: Mapping[str, Any], *, column: bool = False) -> Metric:
    unit = entry["unit"]
    parsed = parse_unit(unit)
    if parsed is None:
        raise ValueError(f"metrics.yaml: {name}: unknown unit {unit!r}")
    aliases = tuple(_alias(alias, entry) for alias in entry["aliases"])
    return Metric(name, entry["doc"], unit, parsed.dimension, entry["combine"], entry.get("maximum"), aliases, column)


def _alias(entry: Mapping[str, Any] | str, metric: Mapping[str, Any]) -> Alias:
    fields: Mapping[str, Any] = {"metric": entry} if isinstance(entry, str) else entry
    return Alias(
        fields["metric"],
        tuple(fields.get("plus", ())),
        parse_ranges(str(fields.get("cc", ""))),
        tuple(_labels(fields.get("labels", {}))),
        fields.get("section", metric.get("section", "")),
        float(fields.get("scale", 1.0)),
        fields.get("base_unit", metric.get("base_unit", "")),
        fields.get("unit_is_count", False),
        fields.get("ignore_unit", False),
    )


def _labels(labels: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    for section, texts in labels.items():
        for display in display_names(section):
            for text in texts:
                yield display, text
