"""Kernel names of every tool in one dialect, and the short names reports print."""

from __future__ import annotations

import csv
import sqlite3
import time
from itertools import product
from typing import TYPE_CHECKING

import pytest

from nsight_insight.catalog.itanium import MangledError
from nsight_insight.catalog.kernels import classify
from nsight_insight.catalog.mangled import demangle_itanium
from nsight_insight.catalog.names import base_name, demangle, normalize
from tests.paths import CAPTURES, CORPUS, FIXTURES

if TYPE_CHECKING:
    from pathlib import Path

NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp"
NSYS = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_kern_sum.csv"
SPELLINGS = FIXTURES / "kernel-names" / "ncu-2025.3.1-h200" / "spellings.tsv"
OPERATIONS = FIXTURES / "kernel-names" / "torch-2.11-h200" / "operations.tsv"

COPY = "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const"
SCOPE_LOST = {"at::gatherTopK<float, unsigned int, 2, 0>"}
"""ncu prints sbtopk::gatherTopK: nothing is left of at::native."""


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def _ncu_names(file: str) -> dict[str, str]:
    return {row["ID"]: row["Kernel Name"] for row in _rows(NCU / file) if row["ID"]}


def _mangled_names() -> set[str]:
    names = {row["mangled"] for row in _rows(SPELLINGS, "\t")} | set(_ncu_names("raw_mangled_fp.csv").values())
    return {name for name in names | {row["kernel"] for row in _rows(OPERATIONS, "\t")} if name.startswith("_Z")}


ONE_KERNEL = [
    (
        "void at::native::vectorized_elementwise_kernel<(int)4, at::native::<unnamed>::CompareFunctor<c10::Half>, "
        "std::array<char *, (unsigned long)3>>(int, T2, T3)"
    ),
    (
        "void at::vectorized_elementwise_kernel<4, at::<unnamed>::CompareFunctor<c10::Half>, std::array<char *, 3>>"
        "(int, T2, T3)"
    ),
    (
        "void native::vectorized_elementwise_kernel<4, native::<unnamed>::CompareFunctor<c10::Half>, "
        "std::array<char *, 3>>(int, T2, T3)"
    ),
    (
        "void at::native::vectorized_elementwise_kernel<int=4, at::native::_GLOBAL__N__3f::CompareFunctor<c10::Half>, "
        "std::array<char*, unsigned long=3>>(int, std::array<char*, unsigned long=3>)"
    ),
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::CompareFunctor<"
        "c10::Half>, std::array<char*, 3ul> >(int, at::native::(anonymous namespace)::CompareFunctor<c10::Half>, "
        "std::array<char*, 3ul>)"
    ),
    (
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_12_GLOBAL__N_114CompareFunctorIN3c104HalfEEE"
        "St5arrayIPcLm3EEEEviT0_T1_"
    ),
]


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_every_dialect_gives_one_name(name: str) -> None:
    assert normalize(name) == "at::vectorized_elementwise_kernel<4, CompareFunctor<Half>, array<char*, 3>>"
    assert base_name(name) == "vectorized_elementwise_kernel[CompareFunctor Half]"


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("copy(float *, const float *)", "copy(float*, float*)"),
        ("copy(float*, float const*)", "copy(float*, float*)"),
        ("_Z4copyPfPKf", "copy(float*, float*)"),
        ("void f<(bool)1, (unsigned int)-3>(int)", "f<1, -3>"),
        ("void f<true, false>(int)", "f<1, 0>"),
        ("void f<bool=1, unsigned int=32>(int)", "f<1, 32>"),
        ("void f<(cudnnKernelDataType_t)2>(T1)", "f<2>"),
        ("f(T1, T2, T3...)", "f(T1, T2, T3...)"),
        ("nvjet_sm90_hsh_64x64_64x13_2x1_v_bz_bias_TNT", "nvjet_sm90_hsh_64x64_64x13_2x1_v_bz_bias_TNT"),
        ("load/forward/void cutlass::Kernel2<cutlass_80_simt>(T1::Params)", "cutlass::Kernel2<cutlass_80_simt>"),
        ("std::enable_if<!T7, void>::type internal::gemvx::kernel<int, float>(T1)", "kernel<int, float>"),
        ("[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]"),
        ("", ""),
    ],
)
def test_normal_form(name: str, normal: str) -> None:
    assert normalize(name) == normal


@pytest.mark.parametrize(
    ("name", "base"),
    [
        (
            ("void at::native::vectorized_elementwise_kernel<(int)8, at::native::float16_copy_kernel_cuda("
            "at::TensorIteratorBase &)::[lambda(float) (instance 1)], std::array<char *, (unsigned "
            "long)2>>(int, T2, T3)"),
            "vectorized_elementwise_kernel[float16_copy_kernel_cuda]",
        ),
        (
            ("void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<"
            f"{COPY}::[lambda() (instance 7)]::operator ()() const::[lambda(float) (instance 1)]>"
            "(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)"),
            "elementwise_kernel[direct_copy_kernel_cuda nocast float]",
        ),
        (
            ("void at::native::unrolled_elementwise_kernel<"
            f"{COPY}::[lambda() (instance 7)]::operator ()() const::[lambda(float) (instance 1)], std::array<char *, "
            "(unsigned long)2>, (int)4, TrivialOffsetCalculator<(int)1, unsigned int>, TrivialOffsetCalculator<(int)1, "
            "unsigned int>, at::native::memory::LoadWithCast<(int)1>, "
            "at::native::memory::StoreWithCast<(int)1>>(int, T1)"),
            "unrolled_elementwise_kernel[direct_copy_kernel_cuda cast float]",
        ),
        (
            "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(T1::Params)",
            "cutlass_80_simt_sgemm_128x256_8x4_nt_align1",
        ),
        ("void Kernel2<cutlass_80_tensorop_i16832gemm_s8>(Params)", "cutlass_80_tensorop_i16832gemm_s8"),
        (
            ("void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::TensorListMetadata<(int)1>, "
            "at::native::<unnamed>::UnaryOpFunctor<float, (int)1, (int)1, (int)0>, at::native::"
            "_amp_foreach_non_finite_check_and_unscale_cuda_(c10::ArrayRef<at::Tensor>, at::Tensor &, const "
            "at::Tensor &)::"
            "[lambda() (instance 1)]::operator ()() const::[lambda() (instance 2)]::operator ()() "
            "const::[lambda(float) "
            "(instance 1)]>(T1, T2, T3...)"),
            "multi_tensor_apply_kernel[_amp_foreach_non_finite_check_and_unscale]",
        ),
        (
            ("void at::native::reduce_kernel<(int)128, (int)4, at::native::ReduceOp<c10::Half, "
            "at::native::func_wrapper_t<"
            "c10::Half, at::native::sum_functor<c10::Half, float, c10::Half>::operator ()(at::TensorIterator "
            "&)::[lambda("
            "float, float) (instance 1)]>, unsigned int, c10::Half, (int)4, (int)8>>(T3)"),
            "reduce_kernel[sum_functor Half]",
        ),
        (
            ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4_execute_"
            "kernel__5x_cublas"),
            "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4",
        ),
        (
            ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_"
            "split_k_kernel__5x_cublas"),
            "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_split_k",
        ),
        (("std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, float, (bool)0, cublasGemvParamsEx<int, "
         "cublasGemvTensorStridedBatched<const float>>>(T13)"), "gemvx::kernel[float]"),
        (("std::enable_if<T2>(int)0&&vllm::_typeConvert<T1>::exists, void>::type vllm::fused_add_rms_norm_kernel<"
         "c10::BFloat16, (int)8>(T1 *, long)"), "fused_add_rms_norm_kernel"),
        (("void clover::par_ranged2d_kernel<PdV_kernel(bool, clover::Buffer2D<double> &)::[lambda(int, int) "
         "(instance 2)]>"
         "(clover::Range2d, T1)"), "par_ranged2d_kernel[PdV_kernel#2]"),
        ("cudapy::__main__::reduce_kernel[abi:v1,cw51cXTLSUwv1sCUt9Uw](Array<double, 1>)", "reduce_kernel"),
        ("void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<at::n\u2026",
         "elementwise_kernel[\u2026 nocast]"),
        ("void quda::Kernel3D<quda::CopyGauge_, quda::CopyGaugeArg<double>, (bool)0>(T2)", "Kernel3D[CopyGauge_]"),
        ("rtracer::trace(renv::Scene*)", "trace"),
        ("mine::kernel(int)", "mine::kernel"),
        ("kernel", "kernel"),
    ],
)  # fmt: skip
def test_short_names(name: str, base: str) -> None:
    assert base_name(name) == base


def test_spellings_of_one_launch_agree() -> None:
    rows = _rows(SPELLINGS, "\t")
    assert len(rows) == 104
    for row in rows:
        simplified, full, mangled = row["simplified"], row["full"], row["mangled"]
        assert base_name(simplified) == base_name(full) == base_name(mangled)
        assert normalize(mangled) == normalize(full)
        if normalize(full) not in SCOPE_LOST:
            assert normalize(simplified) == normalize(full)
        assert classify(simplified) == classify(full) == classify(mangled)


def test_mangled_page_names_the_same_kernels() -> None:
    plain, mangled = _ncu_names("raw.csv"), _ncu_names("raw_mangled_fp.csv")
    assert len(mangled) == 20
    for launch, name in mangled.items():
        assert normalize(name) == normalize(plain[launch])
        assert base_name(name) == base_name(plain[launch])
        assert classify(name) == classify(plain[launch])


def test_ncu_and_nsys_name_the_same_kernels() -> None:
    nsys = {normalize(row["Name"]): row["Name"] for row in _rows(NSYS)}
    shared = {name for name in _ncu_names("raw.csv").values() if normalize(name) in nsys}
    assert len(shared) >= 19
    for name in shared:
        assert base_name(name) == base_name(nsys[normalize(name)])
        assert classify(name) == classify(nsys[normalize(name)])


def test_mangled_names_read_as_the_c_plus_plus_runtime_reads_them() -> None:
    cxxfilt = pytest.importorskip("cxxfilt")
    names = _mangled_names()
    compared = 0
    for name in names:
        try:
            expected = cxxfilt.demangle(name)
        except cxxfilt.InvalidName:
            continue
        compared += 1
        assert normalize(expected) == normalize(name)
    assert compared > 80


@pytest.mark.skipif(not CORPUS.exists(), reason="published files are not here")
def test_every_mangled_name_of_published_databases_is_read() -> None:
    pairs = set[tuple[str, str]]()
    for path in [*CORPUS.glob("nsys/*.sqlite"), *CAPTURES.glob("**/*.sqlite")]:
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as db:
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            if db.execute("select count(*) from pragma_table_info('CUPTI_ACTIVITY_KIND_KERNEL')"
                          " where name in ('demangledName', 'mangledName')").fetchone() == (2,):  # fmt: skip
                pairs |= set(
                    db.execute(
                        "select d.value, m.value from CUPTI_ACTIVITY_KIND_KERNEL k"
                        " join StringIds d on d.id = k.demangledName"
                        " join StringIds m on m.id = k.mangledName where m.value like '\\_Z%' escape '\\'"
                    )
                )
    assert len(pairs) > 250
    unread = [mangled for _, mangled in pairs if demangle(mangled) == mangled]
    assert not unread
    assert not [pair for pair in pairs if base_name(pair[0]) != base_name(pair[1])]
    assert not [pair for pair in pairs if classify(pair[0]) != classify(pair[1])]


@pytest.mark.parametrize(
    "name", ["kernel", "_Znonsense", "_Z", "_ZN", "_Z3ab", "_Z1fS_", "_Z1fIiE9", "__omp_offloading__Z_1"]
)
def test_what_cannot_be_demangled_comes_back(name: str) -> None:
    assert demangle(name) == name or base_name(name) == "f"


def _doubling(levels: int) -> str:
    """A short name that expands to 2**levels copies of A<int, int>."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    steps = [f"S_IS{number}_S{number}_E" for number in ([*digits] + [a + b for a, b in product(digits[1:], digits)])]
    return "_Z1f1AIiiE" + "".join(steps[:levels])


def test_short_mangled_names_cannot_blow_up() -> None:
    assert demangle(_doubling(3)).count("A<int, int>") == 2**4 - 1
    with pytest.raises(MangledError):
        demangle_itanium(_doubling(40).replace("_Z1f", "_Z1fI") + "Ev")
    started = time.process_time()
    assert len(demangle(_doubling(400))) < 250_000
    assert time.process_time() - started < 5


HOSTILE = {
    "open": "<",
    "close": "a>",
    "nested": "f<(",
    "lambda": "[lambda(",
    "instance": "[lambda() (instance 1)]",
    "scope": "a::",
    "operator": "operator ",
    "const": "const ",
    "equals": "a=1, ",
    "words": "<a b c d ",
    "digits": "9",
    "commas": ",",
    "blanks": " ",
    "letters": "x",
    "anonymous": "(anonymous namespace)::",
    "slashes": "/",
    "casts": "(a b",
    "abi": "[abi:v1",
    "template": "void f<g<",
    "bidi": "\u202e",
    "nul": "\0",
    "unsigned": "1ul",
    "mangled": "_ZN",
    "pointers": "_Z1fPPPP",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_take_milliseconds(piece: str) -> None:
    name = piece * (100_000 // len(piece))
    started = time.process_time()
    assert isinstance(base_name(name), str)
    assert isinstance(normalize(name), str)
    classify(name)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("name", ["void f<\x1b[31m>(int)", "[\x1b]0;x\x07", "f\u202etxt", "a\nb(int)", "Memset (\x00)"])
def test_no_control_characters_survive(name: str) -> None:
    assert base_name(name).isprintable()
    assert normalize(name).isprintable()
