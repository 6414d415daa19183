"""Copies: what counts, what was a one-off, and what an input cannot say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE, FactTable
from tests.unit.make_profile import make_profile


def _copy(start: float = np.nan, size: float = 1000.0, **more: Any) -> dict[str, Any]:
    row = {"kind": "memcpy", "name": "[CUDA memcpy Host-to-Device]", "start": start, "duration": 100.0, "bytes": size}
    return {**row, "direction": "HtoD", "src_kind": "pageable", "dst_kind": "device", **more}


def _trace(*rows: dict[str, Any], report: str = "cuda_gpu_trace", **kernel: Any) -> FactTable:
    return build(make_profile([{"name": "saxpy", "duration": 500.0, **kernel}, *rows], report=report), TRACE)


def _value(table: FactTable, name: str) -> float:
    return float(table.values[name][0]) if name in table.values else float("nan")


def test_copies_before_the_first_kernel_are_start_up() -> None:
    table = _trace(_copy(10.0, 5e6), _copy(990.0, 100.0), _copy(1200.0, 70000.0), _copy(1300.0, 200.0), start=1000.0)
    assert _value(table, "startup_copy_time") == pytest.approx(200e-9)
    assert _value(table, "startup_copy_bytes") == 5e6 + 100
    assert _value(table, "copies") == 2
    assert _value(table, "copy_bytes") == 70200
    assert _value(table, "small_copies") == 1
    assert _value(table, "pageable_copies") == 2
    assert _value(table, "copies_have_order") == 1


def test_summaries_keep_every_copy_and_say_that_order_is_unknown() -> None:
    table = _trace(_copy(count=4, size=8000.0, src_kind="", dst_kind=""), report="cuda_gpu_sum")
    assert _value(table, "copies_have_order") == 0
    assert _value(table, "copy_time") == pytest.approx(100e-9)
    assert _value(table, "small_copies") == 4
    assert np.isnan(_value(table, "startup_copy_time"))
    assert np.isnan(_value(table, "pageable_time")), "a summary does not say where memory lies"


def test_a_summary_is_small_by_its_average() -> None:
    table = _trace(_copy(count=2, size=2 * 65536.0), _copy(count=2, size=2 * 65537.0), report="cuda_gpu_sum")
    assert _value(table, "small_copies") == 2


def test_directions() -> None:
    table = _trace(
        _copy(2000.0),
        _copy(2100.0, direction="DtoH", src_kind="device", dst_kind="pinned"),
        _copy(2200.0, direction="DtoD", src_kind="device"),
        start=1000.0,
    )
    for stem in ("h2d", "d2h", "d2d"):
        assert _value(table, f"{stem}_time") == pytest.approx(100e-9)
    assert _value(table, "copy_time") == pytest.approx(300e-9)
    assert _value(table, "pageable_copies") == 1
    assert table.evidence_rows["d2h_time"][0] == 2


def test_a_trace_without_copies_has_none_and_a_kernel_summary_does_not_know() -> None:
    assert _value(_trace(start=1.0), "copies") == 0
    assert np.isnan(_value(_trace(report="cuda_gpu_kern_sum"), "copies"))


def test_unknown_sizes_leave_byte_facts_unknown() -> None:
    table = _trace(_copy(size=np.nan, count=3), report="cuda_gpu_mem_time_sum")
    assert _value(table, "copies") == 3
    assert np.isnan(_value(table, "copy_bytes"))
    assert np.isnan(_value(table, "small_copies"))


def test_copies_that_other_rows_stand_for_do_not_count() -> None:
    assert _value(_trace(_copy(2000.0, primary=False), start=1.0), "copies") == 0
