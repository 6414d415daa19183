"""Function names as ncu compares them, against what ncu itself printed with ``--print-kernel-base function``."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.catalog.function_names import function_name
from tests.paths import CORPUS, FIXTURES

XMMA = (
    "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32_warpgroupsize1x1x1_execute_segment_k_off"
    "_kernel__5x_cublas"
)
# Left: demangled name of ncu 2025.3.1 (H200, PyTorch 2.11). Right: the same launch with --print-kernel-base function.
PRINTED = {
    XMMA: XMMA,
    "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT": "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT",
    "void at::vectorized_elementwise_kernel<4, at::GeluCUDAKernelImpl(at::TensorIteratorBase &, at::GeluType)::"
    "[lambda() (instance 2)]::operator ()() const::[lambda() (instance 2)]::operator ()() const::"
    "[lambda(float) (instance 1)], std::array<char *, 2>>(int, T2, T3)": "vectorized_elementwise_kernel",
    "void at::reduce_kernel<512, 1, at::ReduceOp<float, at::func_wrapper_t<float, at::sum_functor<float, float, float>"
    "::operator ()(at::TensorIterator &)::[lambda(float, float) (instance 1)]>, unsigned int, float, 4, 4>>(T3)":
        "reduce_kernel",
    "void at::<unnamed>::multi_tensor_apply_kernel<at::<unnamed>::TensorListMetadata<2>, at::<unnamed>::"
    "BinaryOpScalarFunctor<float, 2, 1, 1>, std::plus<float>, float>(T1, T2, T3...)": "multi_tensor_apply_kernel",
    "void <unnamed>::elementwise_kernel_with_index<int, at::arange_cuda_out(const c10::Scalar &, at::Tensor &)::"
    "[lambda() (instance 1)]::operator ()() const::[lambda(long) (instance 1)]>(T1, T2, function_traits<T2>::"
    "result_type *)": "elementwise_kernel_with_index",
    "void at::radixSortKVInPlace<(int)-2, (int)-1, 32, 32, float, long, unsigned int>(cuda::TensorInfo<T5, T7>, T7)":
        "radixSortKVInPlace",
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_as_ncu_prints_it(name: str) -> None:
    assert function_name(name) == PRINTED[name]


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(T1::Params)", "Kernel2"),
        ("step 1/forward/void at::native::reduce_kernel<(int)512>(T3)", "reduce_kernel"),
        ("_Z18silu_kernel_vectorPfS_i", "silu_kernel_vector"),
        ("triton_poi_fused_cos_sin_0", "triton_poi_fused_cos_sin_0"),
        ("void gemm<float, int=128, bool=1>(float*, int)", "gemm"),
        ("void Outer<int>::inner<float>(int)", "inner"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
         "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
        ("void at::native::vectorized_elementwise_kernel<(int)4, at::native::AUnaryFunctor<float, fl…",
         "vectorized_elementwise_kernel"),
    ],
)  # fmt: skip
def test_other_dialects(name: str, function: str) -> None:
    assert function_name(name) == function


@pytest.mark.parametrize(
    "name",
    ["", "[CUDA memcpy Host-to-Device]", "[CUDA memset]", "sm90_xmma_gemm_bf16bf16_bf16f32_k_of…", "a-b", "naïve"],
)
def test_what_cannot_be_asked_for(name: str) -> None:
    assert function_name(name) == ""


@pytest.mark.skipif(not CORPUS.exists(), reason="other people's files are not here")
def test_demangled_mangled_and_function_pages_of_one_report() -> None:
    pages = [f"h100_details_{what}_cli2024.csv" for what in ("function", "name", "mangled")]
    functions, names, mangled = (_kernel_names(CORPUS / "ncu/cli" / page) for page in pages)
    assert [function_name(name) for name in names] == functions
    assert [function_name(name) for name in mangled] == functions


def test_mangled_and_demangled_fixture_agree() -> None:
    folder = FIXTURES / "ncu-csv/2025.3.1-h200-amp"
    demangled, mangled = _kernel_names(folder / "raw.csv"), _kernel_names(folder / "raw_mangled_fp.csv")
    assert len(mangled) == 20
    assert [function_name(name) for name in mangled] == [function_name(name) for name in demangled[: len(mangled)]]


def _kernel_names(path: object) -> list[str]:
    names: dict[str, str] = {}
    with open(str(path), encoding="utf-8", newline="") as file:  # noqa: PTH123
        place = -1
        for row in csv.reader(file):
            if "Kernel Name" in row:
                place = row.index("Kernel Name")
            elif place >= 0 and row and row[0].isdigit():
                names.setdefault(row[0], row[place])
    return list(names.values())


@given(st.text(max_size=200))
def test_any_text_gives_an_identifier_or_nothing(name: str) -> None:
    found = function_name(name)
    assert found == "" or (found.isascii() and found.replace("$", "_").isidentifier())
