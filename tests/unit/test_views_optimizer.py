"""The per-parameter optimizer loop, and what only looks like one."""

from __future__ import annotations

from typing import Any

import pytest

from nsight_insight.catalog.kernels import load_patterns
from nsight_insight.views.build import build
from nsight_insight.views.facts import KERNEL, TRACE
from nsight_insight.views.optimizer import ANCHOR, COMPANIONS
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
VECTORIZED = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::"
TAIL = ", std::array<char *, (unsigned long)2>>(int, T2, T3)"
LAMBDA = "(at::TensorIteratorBase &, const c10::Scalar &)::[lambda() (instance 2)]::operator ()() const::[lambda() (instance 7)]::operator ()() const::[lambda(float, float, float) (instance 1)]"  # noqa: E501
ADDCDIV = f"{VECTORIZED}addcdiv_cuda_kernel{LAMBDA}{TAIL}"
ADDCMUL = f"{VECTORIZED}addcmul_cuda_kernel{LAMBDA}{TAIL}"
SQRT = f"{VECTORIZED}sqrt_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 2)]::operator ()() const::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)]{TAIL}"  # noqa: E501
MUL = f"{VECTORIZED}AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>{TAIL}"
GELU = f"{VECTORIZED}GeluCUDAKernelImpl(at::TensorIteratorBase &, at::native::GeluType)::[lambda() (instance 2)]::operator ()() const::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)]{TAIL}"  # noqa: E501
GEMM = {"name": "nvjet_sm90_hsh_64x64", "family": "gemm", "dtype_in": "fp16", "tensor_core": "yes", "duration": 9e6}


def _rows(launches: int, mean: float = 5000.0) -> list[Row]:
    counts = {ADDCDIV: launches, ADDCMUL: launches, SQRT: launches, MUL: 2 * launches, GELU: launches}
    return [{"name": name, "count": count, "duration": count * mean} for name, count in counts.items()]


def _trace(rows: list[Row]) -> dict[str, float]:
    table = build(make_profile(rows), TRACE)
    return {name: float(column[0]) for name, column in table.values.items() if column.dtype == float}


def test_its_patterns_are_in_the_catalogue() -> None:
    assert {ANCHOR, *COMPANIONS} <= {pattern.id for pattern in load_patterns()}


def test_the_loop_is_found_with_its_members() -> None:
    found = _trace([*_rows(40), GEMM])
    assert found["optimizer_loop_kernels"] == 4
    assert found["optimizer_loop_launches"] == 5 * 40
    assert found["optimizer_loop_time"] == pytest.approx(200 * 5e-6)
    assert found["master_cast_time"] == pytest.approx(0.75 * 40 * 5e-6)


def test_kernels_know_that_they_are_members() -> None:
    table = build(make_profile(_rows(40)), KERNEL)
    assert dict(zip(table.values["name"], table.values["optimizer_loop"], strict=True)) == {
        ADDCDIV: 1, ADDCMUL: 1, SQRT: 1, MUL: 1, GELU: 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "rows",
    [_rows(19), _rows(40, mean=200_000.0), _rows(40)[1:], _rows(40)[:1]],
    ids=["few launches", "long kernels", "no addcdiv", "addcdiv alone"],
)
def test_no_loop(rows: list[Row]) -> None:
    found = _trace(rows)
    assert found["optimizer_loop_launches"] == 0
    assert found["optimizer_loop_time"] == 0
    assert "master_cast_time" not in found


def test_an_unrelated_count_is_no_member() -> None:
    rows = _rows(40)
    rows[3]["count"] = 81
    assert _trace(rows)["optimizer_loop_kernels"] == 3


def test_names_cut_before_the_operation_count_by_their_launches() -> None:
    """nsys cuts names at 100 characters in tables for people; a name cut behind the operation still tells it."""
    whole = _trace([*_rows(200), GEMM])
    cut = [{**row, "name": f"{row['name'][:99]}\u2026"} for row in _rows(200)]
    found = _trace([*cut, GEMM])
    assert cut[3]["name"].endswith("AUnaryFunctor<float, float, floa\u2026")
    for fact in ("optimizer_loop_launches", "optimizer_loop_time"):
        assert found[fact] == whole[fact] > 0


def test_master_weights_need_narrow_matrix_kernels() -> None:
    assert "master_cast_time" not in _trace(_rows(40))


def test_a_trace_and_its_summary_agree() -> None:
    trace = [
        {"name": row["name"], "start": 10.0 * place, "duration": 5000.0}
        for row in _rows(20)
        for place in range(row["count"])
    ]
    ours, theirs = _trace(trace), _trace(_rows(20))
    for name in ("optimizer_loop_time", "optimizer_loop_launches", "optimizer_loop_kernels"):
        assert ours[name] == pytest.approx(theirs[name])
