"""Launch calls that wait for their kernels."""

from __future__ import annotations

from typing import Any

import pytest

from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
US = 1000.0


def _pair(number: int, *, waits: bool, length: float = 50 * US) -> list[Row]:
    """A launch call and its kernel, one every 100 us."""
    begin = number * 100 * US
    call = {
        "kind": "api", "name": "cudaLaunchKernel", "start": begin, "duration": length + 9 * US if waits else 4 * US,
        "correlation": number, "process": 1, "thread": 1,
    }  # fmt: skip
    kernel = {
        "name": "mine",
        "start": begin + 5 * US,
        "duration": length,
        "correlation": number,
        "device": 0,
        "process": 1,
    }
    return [call, kernel]


def _found(rows: list[Row]) -> dict[str, Any]:
    return build(make_profile(rows, report="cuda_gpu_trace"), TRACE).values


@pytest.mark.parametrize(("blocking", "share"), [(0, 0.0), (3, 0.15), (20, 1.0)])
def test_the_part_of_launches_that_waited(blocking: int, share: float) -> None:
    rows = [row for number in range(20) for row in _pair(number, waits=number < blocking)]
    assert _found(rows)["blocking_launches"][0] == pytest.approx(share)


def test_short_kernels_end_before_their_call_without_waiting() -> None:
    rows = [row for number in range(20) for row in _pair(number, waits=True, length=3 * US)]
    assert _found(rows)["blocking_launches"][0] == 0


def test_a_few_long_kernels_do_not_tell() -> None:
    rows = [row for number in range(9) for row in _pair(number, waits=True)]
    assert _found(rows)["blocking_launches"][0] == 0


def test_unknown_without_calls() -> None:
    rows = [row for number in range(20) for row in _pair(number, waits=True) if row.get("kind") != "api"]
    assert "blocking_launches" not in _found(rows)


def test_unknown_where_no_call_belongs_to_a_kernel() -> None:
    rows = [row for number in range(20) for row in _pair(number, waits=True)]
    strangers = [{**row, "correlation": 1000} if row.get("kind") == "api" else row for row in rows]
    assert "blocking_launches" not in _found(strangers)
