"""Which of NVIDIA's rules name the cause that a rule of ours names: by the product's own table."""

from __future__ import annotations

from fnmatch import fnmatchcase

from bench.proof.findings import Found
from nsight_insight.catalog.vendor_rules import readings_of


def names_cause(found: Found, expect: tuple[str, ...]) -> bool:
    """Whether NVIDIA's finding names one of the causes that ``expect`` names."""
    return any(
        fnmatchcase(rule, pattern)
        for reading in readings_of(found.rule, found.text)
        for rule in reading.same
        for pattern in expect
    )
