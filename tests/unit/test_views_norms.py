"""Normalizations, softmaxes and attention written as several kernels, and multi-tensor optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.catalog.kernels import load_patterns
from nsight_insight.views.build import build
from nsight_insight.views.facts import KERNEL, TRACE
from nsight_insight.views.optimizer import FOREACH
from tests.paths import FIXTURES
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
VECTOR = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::"
LAMBDA = "(at::TensorIteratorBase &)::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)]"
TAIL = ", std::array<char *, (unsigned long)2>>(int, T2, T3)"
REDUCE = "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::"
NAMES = {
    "square": f"{VECTOR}<unnamed>::pow_tensor_scalar_kernel_impl<float, float>{LAMBDA}{TAIL}",
    "mean": f"{REDUCE}MeanOps<float, float, float, float>, unsigned int, float, (int)4, (int)4>>(T3)",
    "max": f"{REDUCE}MaxOps<float>, unsigned int, float, (int)4, (int)4>>(T3)",
    "sum": f"{REDUCE}func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator ()>>>(T3)",
    "variance": f"{REDUCE}WelfordOps<float, float, int, cuda::std::__4::pair<float, float>>, unsigned int, float>>(T3)",
    "sqrt": f"{VECTOR}sqrt_kernel_cuda{LAMBDA}{TAIL}",
    "eps": f"{VECTOR}CUDAFunctorOnSelf_add<float>{TAIL}",
    "rsqrt": f"{VECTOR}rsqrt_kernel_cuda{LAMBDA}{TAIL}",
    "exp": f"{VECTOR}exp_kernel_cuda{LAMBDA}{TAIL}",
    "mul": f"{VECTOR}BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>>{TAIL}",
    "div": f"{VECTOR}BinaryFunctor<float, float, float, at::native::binary_internal::DivFunctor<float>>{TAIL}",
    "add": f"{VECTOR}CUDAFunctor_add<float>{TAIL}",
    "gemm": "ampere_sgemm_128x128_tn",
}
FAMILIES = {"mean": "reduction", "variance": "reduction", "max": "reduction", "sum": "reduction", "gemm": "gemm"}
RMS = (("square", 50), ("mean", 90), ("eps", 2), ("rsqrt", 3), ("mul", 80), ("mul", 70))
LAYER = (
    ("mean", 40), ("variance", 60), ("add", 70), ("eps", 2), ("sqrt", 3), ("div", 80), ("mul", 75), ("add", 76),
)  # fmt: skip
SOFTMAX = (("max", 60), ("add", 70), ("exp", 72), ("sum", 54), ("div", 81))
US = 1000.0


def _rows(*kernels: tuple[str, float], stream: int = 7) -> list[Row]:
    start, rows = 0.0, []
    for what, length in kernels:
        family = FAMILIES.get(what, "elementwise")
        rows.append({"name": NAMES[what], "family": family, "start": start, "duration": length * US, "stream": stream})
        start += length * US + 500
    return [{**row, "device": 0, "dtype_in": "fp32", "tensor_core": "no"} for row in rows]


def _trace(rows: list[Row], name: str) -> float:
    return float(build(make_profile(rows, report="cuda_gpu_trace"), TRACE).values[name][0])


def test_a_normalization_of_six_kernels_keeps_one_pass() -> None:
    rows = _rows(("gemm", 500), *RMS, ("gemm", 500))
    assert _trace(rows, "norm_chain_time") == pytest.approx(295e-6)
    table = build(make_profile(rows, report="cuda_gpu_trace"), KERNEL)
    assert np.nansum(table.values["norm_fusible_time"]) == pytest.approx((295 - 80) * 1e-6)
    gemm = [place for place, key in enumerate(table.keys) if "sgemm" in key]
    assert table.values["norm_fusible_time"][gemm] == pytest.approx([0])


@pytest.mark.parametrize(
    "kernels",
    [RMS[2:], (RMS[0], RMS[1], ("gemm", 9), *RMS[3:4], ("gemm", 9)), (*RMS[:3], *RMS[4:]), (("add", 50), *RMS[1:])],
    ids=["no mean", "a product between", "no inverse root", "mean of something else"],
)
def test_parts_of_a_normalization_are_none(kernels: tuple[tuple[str, float], ...]) -> None:
    assert _trace(_rows(("gemm", 500), *kernels, ("gemm", 500)), "norm_chain_time") == 0


def test_a_layer_normalization_of_eight_kernels_keeps_one_pass() -> None:
    rows = _rows(("gemm", 500), *LAYER, ("gemm", 500), *LAYER, ("gemm", 500))
    assert _trace(rows, "norm_chain_time") == pytest.approx(2 * 406e-6)
    table = build(make_profile(rows, report="cuda_gpu_trace"), KERNEL)
    assert np.nansum(table.values["norm_fusible_time"]) == pytest.approx(2 * (406 - 80) * 1e-6)


@pytest.mark.parametrize(
    "kernels",
    [
        (LAYER[0], *LAYER[2:]),
        (*LAYER[:4], *LAYER[5:]),
        (*LAYER[:5], *LAYER[7:]),
        (LAYER[1], ("gemm", 9), *LAYER[2:4], ("gemm", 9), LAYER[4]),
    ],
    ids=["no variance", "no root", "no quotient", "variance far away"],
)
def test_parts_of_a_layer_normalization_are_none(kernels: tuple[tuple[str, float], ...]) -> None:
    assert _trace(_rows(("gemm", 500), *kernels, ("gemm", 500)), "norm_chain_time") == 0


def test_kernels_of_another_stream_do_not_belong() -> None:
    rows = _rows(("gemm", 500), *RMS, ("gemm", 500))
    rows[2] = {**rows[2], "stream": 9}
    assert _trace(rows, "norm_chain_time") == 0


def test_a_softmax_by_hand_is_a_chain_where_it_is_no_attention() -> None:
    assert _trace(_rows(("add", 5), *SOFTMAX, ("add", 5)), "norm_chain_time") == pytest.approx(337e-6)


def test_between_two_products_it_is_attention() -> None:
    rows = _rows(("gemm", 100), ("mul", 75), *SOFTMAX, ("gemm", 200))
    assert _trace(rows, "attention_chain_time") == pytest.approx((100 + 75 + 337 + 200) * 1e-6)
    assert _trace(rows, "attention_between_time") == pytest.approx((75 + 337) * 1e-6)
    assert _trace(rows, "norm_chain_time") == 0, "counted once"


def test_what_one_rule_names_another_does_not_count_again() -> None:
    rows = _rows(
        ("gemm", 100), ("mul", 75), *SOFTMAX, ("gemm", 200), ("add", 40), *RMS, ("gemm", 90), ("add", 50), ("mul", 50)
    )
    table = build(make_profile(rows, report="cuda_gpu_trace"), KERNEL)
    assert np.nansum(table.values["fusible_time"]) == pytest.approx(50e-6), "only the last two kernels are a chain"


def test_a_reduction_alone_does_not_make_attention_of_two_products() -> None:
    assert _trace(_rows(("gemm", 100), ("max", 60), ("exp", 70), ("gemm", 200)), "attention_chain_time") == 0


def test_without_start_times_chains_are_unknown() -> None:
    rows = [{key: value for key, value in row.items() if key != "start"} for row in _rows(*RMS)]
    table = build(make_profile(rows), KERNEL)
    assert np.isnan(table.values["norm_fusible_time"]).all()


def _recorded(operation: str) -> list[str]:
    text = (FIXTURES / "kernel-names/torch-2.11-h200/operations.tsv").read_text(encoding="utf-8")
    return [line.split("\t")[1] for line in text.splitlines() if line.startswith(f"{operation}\t")]


@pytest.mark.parametrize(
    ("operation", "kernels"), [("optim:Adam:foreachTrue:fp32", 6), ("optim:SGD:foreachTrue:fp32", 0)]
)
def test_names_recorded_of_multi_tensor_optimizers(operation: str, kernels: int) -> None:
    names = _recorded(operation)
    assert len(names) >= 2
    rows = [{"name": name, "duration": 5000.0, "family": "elementwise"} for name in names]
    table = build(make_profile(rows), KERNEL)
    found = int(table.values["foreach_optimizer"].sum())
    assert found >= kernels if kernels else found == 0, "SGD divides by nothing, so clipping cannot be told from it"
    assert _trace_sum(rows) == pytest.approx(5e-6 * found)


def _trace_sum(rows: list[Row]) -> float:
    return float(build(make_profile(rows), TRACE).values["foreach_optimizer_time"][0])


def test_the_fused_optimizer_is_none() -> None:
    fused = [one.examples[0] for one in load_patterns() if "Adam" in one.examples[0] and one.family == "optimizer"]
    assert fused
    assert _trace_sum([{"name": name, "duration": 5000.0} for name in fused]) == 0


def test_its_pattern_is_in_the_catalogue() -> None:
    assert FOREACH in {pattern.id for pattern in load_patterns()}
