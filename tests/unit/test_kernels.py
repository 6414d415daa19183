"""What kernel names say: every entry of kernels.yaml, an expert's table, real captures, known operations."""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from nsight_insight.catalog import kernels
from nsight_insight.catalog.kernels import KernelClass, classify, load_patterns, required_literals
from nsight_insight.catalog.names import base_name
from nsight_insight.catalog.yamlio import load_data
from nsight_insight.errors import RuleError
from nsight_insight.views.facts import FAMILIES
from tests.paths import CORPUS, FIXTURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FP32 = FIXTURES / "nsys-csv" / "2025.3-h200-fp32" / "fp32_cuda_gpu_kern_sum.csv"
AMP = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_kern_sum.csv"
OPERATIONS = FIXTURES / "kernel-names" / "torch-2.11-h200" / "operations.tsv"
EXPERT = CORPUS / "kernel-names.tsv"
PATTERNS = load_patterns()
DTYPES = {
    *load_data("kernels.yaml")["dtypes"].values(),
    *load_data("kernels.yaml")["letters"].values(),
    "16bit",
    "mixed",
}


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


# --- the entries themselves ---------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.id)
def test_examples_reach_their_entry(pattern: kernels.KernelPattern) -> None:
    assert pattern.examples
    assert [classify(name).pattern for name in pattern.examples] == [pattern.id] * len(pattern.examples)
    assert pattern.id not in [classify(name).pattern for name in pattern.not_examples]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.id)
def test_entries_use_the_vocabulary(pattern: kernels.KernelPattern) -> None:
    assert pattern.family in FAMILIES
    assert pattern.tensor_core in ("yes", "no", "unknown")
    for name in pattern.examples:
        found = classify(name)
        assert {found.dtype_in, found.dtype_out} <= DTYPES | {""}
        assert found.arch == 0.0 or 3.0 <= found.arch <= 13.0


def test_literal_types_of_entries_are_known() -> None:
    literal = {text for p in PATTERNS for text in (*p.dtype_in, *p.dtype_out) if text[0] not in "$~"}
    assert literal <= DTYPES


def _with_entry(monkeypatch: pytest.MonkeyPatch, *entries: Mapping[str, Any]) -> None:
    data = {**load_data("kernels.yaml"), "patterns": list(entries)}
    monkeypatch.setattr(kernels, "load_data", lambda _: data)


ENTRY = {"id": "x", "match": "foo_kernel", "family": "copy"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"match": "foo("}, "regular expression"),
        ({"family": "gemm"}, "tensor_core must be given"),
        ({"family": ""}, "family"),
        ({"dtype_in": "$type"}, r"nothing called '\$type'"),
        ({"dtype_out": "~last"}, "nothing called '~last'"),
        ({"arch": "$arch"}, r"nothing called '\$arch'"),
        ({"where": "parameters"}, "where is name or function"),
    ],
)
def test_faulty_entries_are_refused(monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], text: str) -> None:
    _with_entry(monkeypatch, ENTRY | change)
    with pytest.raises(RuleError, match=text):
        load_patterns.__wrapped__()


def test_repeated_ids_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_entry(monkeypatch, ENTRY, ENTRY | {"match": "bar_kernel"})
    with pytest.raises(RuleError, match="repeated ids: x"):
        load_patterns.__wrapped__()


@pytest.mark.parametrize(
    ("expression", "literals"),
    [
        ("foo_kernel | bar", ("foo_kernel", "bar")),
        (r"^sm(?P<arch>\d+)_xmma_gemm_\w*", ("_xmma_gemm_",)),
        ("foox? | bar", ()),
        ("(?:foo|bar)", ()),
        (r"\bquant_ | a[bc]longest_word", ("quant_", "longest_word")),
    ],
)
def test_required_literals(expression: str, literals: tuple[str, ...]) -> None:
    assert required_literals(expression) == literals
    compiled = re.compile(expression, re.VERBOSE)
    for word in ("foo_kernel", "bar", "sm80_xmma_gemm_f16", "fo", "foo", "quant_8", "ablongest_word", "foox"):
        assert not literals or not compiled.search(word) or any(literal in word for literal in literals)


# --- statements that published lists get wrong --------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "family", "dtypes", "tensor_core", "arch"),
    [
        ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_ffma_aligna4", "gemm", "fp32 fp32", "no", 8.0),
        ("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32_warpgroupsize", "gemm", "tf32 fp32", "yes", 9.0),
        ("sm80_xmma_gemm_cf32cf32_f32f32_cf32_nn_n_ffma_aligna8", "gemm", "complex64 complex64", "no", 8.0),
        ("sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x16_tensor16x8x8", "gemm", "fp64 fp64", "yes", 9.0),
        ("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128", "gemm", "fp8 bf16", "yes", 9.0),
        ("ampere_sgemm_128x64_nn", "gemm", "fp32 fp32", "no", 8.0),
        ("volta_sgemm_128x64_nn", "gemm", "fp32 fp32", "no", 7.0),
        ("maxwell_fp16_sgemm_fp16_128x64_nn", "gemm", "fp16 fp16", "no", 5.0),
        ("volta_h884gemm_64x128_ldg8_nt", "gemm", "fp16 fp16", "yes", 7.0),
        ("volta_s884gemm_128x128_ldg8_f2f_nn", "gemm", "fp16 fp32", "yes", 7.0),
        ("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", "gemm", "fp16 fp16", "yes", 7.0),
        ("ampere_s16816gemm_bf16_64x64_ldg8_stages_64x6_tn", "gemm", "bf16 fp32", "yes", 8.0),
        ("cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4", "gemm", "tf32 fp32", "yes", 8.0),
        ("cutlass_75_tensorop_f16_s1688gemm_f16_256x128_nn_align2", "gemm", "fp16 fp16", "yes", 7.5),
        ("cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align4", "gemm", "int8 ", "yes", 8.0),
        ("cutlass_80_tensorop_d884gemm_32x32_16x5_nn_align1", "gemm", "fp64 fp64", "yes", 8.0),
        ("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "gemm", "fp16 fp16", "yes", 9.0),
        ("nvjet_sm90_hss_256x128_64x4_1x2_h_bz_coopA_TNT", "gemm", "fp16 fp32", "yes", 9.0),
        ("nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT", "gemm", "bf16 bf16", "yes", 9.0),
        ("nvjet_sm90_qrtst_128x128_128x6_2x1_v_bz_coopA_algo2_TNT", "gemm", "fp8 bf16", "yes", 9.0),
        ("nvjet_sm100_ootst_128x128_256x7_Avec16UE4M3_Bvec16UE4M3_TNT", "gemm", "fp4 bf16", "yes", 10.0),
        ("nvjet_sm120_sss_tf32_mma_32x64x32_TNNN", "gemm", "tf32 fp32", "yes", 12.0),
        ("nvjet_sm100_sss_128x64", "gemm", " fp32", "yes", 10.0),
        ("nvjet_xyz_128x64", "gemm", " ", "yes", 9.0),
        ("fmha_cutlassF_f32_aligned_64x64_rf_sm80(Params)", "attention", "fp32 fp32", "yes", 8.0),
        ("fmha_cutlassF_f32_aligned_64x64_rf_sm75(Params)", "attention", "fp32 fp32", "no", 7.5),
        ("maxwell_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148m_nt_v1", "conv", "fp32 fp32", "no", 5.0),
        ("volta_scudnn_128x64_relu_interior_nn_v1", "conv", "fp32 fp32", "no", 7.0),
        ("sm50_xmma_pooling_fw_4d_FP16FP32NHWC_Average_FastDiv_CAlign8", "pooling", "fp16 fp16", "no", 5.0),
        ("bmm_Bfloat16_E4m3E4m3_Fp32_t128x16x128_s6", "gemm", "fp8 bf16", "yes", 10.0),
        ("matmul_kernel(const float *, const float *, float *, int)", "gemm", " ", "unknown", 0.0),
        ("my_gemm", "gemm", " ", "unknown", 0.0),
        ("Kernel2", "unknown", " ", "unknown", 0.0),
        ("render(vec3 *, int, curandStateXORWOW *)", "unknown", " ", "unknown", 0.0),
    ],
)  # fmt: skip
def test_precision_grammar(name: str, family: str, dtypes: str, tensor_core: str, arch: float) -> None:
    found = classify(name)
    assert (found.family, f"{found.dtype_in} {found.dtype_out}") == (family, dtypes)
    assert (found.tensor_core, found.arch) == (tensor_core, arch)


def test_what_no_entry_knows_is_unknown() -> None:
    assert classify("xyzzy<float>(int)") == KernelClass()


# --- captures of one program ------------------------------------------------------------------------------------


def _shares(path: Path) -> Iterator[tuple[float, KernelClass]]:
    rows = _rows(path)
    total = sum(float(row["Total Time (ns)"]) for row in rows)
    return ((float(row["Total Time (ns)"]) / total, classify(row["Name"])) for row in rows)


def test_fp32_training_step() -> None:
    shares = list(_shares(FP32))
    gemms = [(share, kernel) for share, kernel in shares if kernel.family == "gemm"]
    cuda_cores = sum(share for share, kernel in gemms if kernel.tensor_core == "no" and kernel.dtype_in == "fp32")
    assert cuda_cores == pytest.approx(0.833, abs=0.002)
    assert [kernel for _, kernel in gemms if kernel.tensor_core != "no"] == []
    assert sum(share for share, kernel in shares if kernel.family == "unknown") == 0
    assert sum(share for share, kernel in shares if kernel.family == "cast") == 0


def test_amp_training_step() -> None:
    shares = list(_shares(AMP))
    time_of = Counter[str]()
    for share, kernel in shares:
        time_of[kernel.family] += share  # type: ignore[assignment]
    assert 0.122 < time_of["cast"] < 0.130
    assert time_of["layout"] == pytest.approx(0.016, abs=0.001)
    assert time_of["amp"] == pytest.approx(0.0267, abs=0.001)
    assert time_of["unknown"] == 0
    gemms = [kernel for _, kernel in shares if kernel.family == "gemm"]
    assert len(gemms) == 6
    assert {(kernel.dtype_in, kernel.tensor_core, kernel.arch) for kernel in gemms} == {("fp16", "yes", 9.0)}
    promoted = [kernel for _, kernel in shares if kernel.dtype_in == "mixed"]
    assert [kernel.pattern for kernel in promoted] == ["pytorch-promoted"]


def test_optimizer_loop_of_a_capture_has_its_ids() -> None:
    found = {classify(row["Name"]).pattern for row in _rows(AMP)}
    assert {f"pytorch-{name}" for name in ("addcdiv", "addcmul", "lerp", "sqrt", "mul", "add")} <= found


# --- one operation at a time on an H200 ---------------------------------------------------------------------------

SIDE_WORK = {"layout", "splitk"}
"""Kernels a matrix product may bring along: making an operand contiguous, summing split-K parts."""


def _operations(*kinds: str) -> list[tuple[list[str], KernelClass, str]]:
    rows = [(row["operation"].split(":"), row["kernel"]) for row in _rows(OPERATIONS, "\t")]
    chosen = [(words, classify(name), name) for words, name in rows if words[0] in kinds]
    return [(words, kernel, name) for words, kernel, name in chosen if not name.startswith("Mem")]


def test_matrix_products_have_the_type_they_were_asked_for() -> None:
    rows = _operations("gemm", "bmm", "linear_bias", "mv")
    assert len(rows) > 100
    for words, kernel, name in rows:
        if kernel.family in SIDE_WORK:
            continue
        wanted = words[1].partition("->")[0]
        if kernel.family == "gemv":
            assert (kernel.dtype_in, kernel.tensor_core) == ("fp32" if wanted == "tf32" else wanted, "no"), name
            continue
        assert kernel.family == "gemm", name
        assert kernel.dtype_in == wanted, name
        assert kernel.tensor_core == ("no" if wanted in ("fp32", "complex64") else "yes"), name


def test_scaled_products() -> None:
    results = {}
    for words, kernel, name in _operations("scaled_mm"):
        assert (kernel.family, kernel.dtype_in, kernel.tensor_core) == ("gemm", "fp8", "yes"), name
        results[words[1]] = kernel.dtype_out
    assert results.items() >= {"fp8->bf16": "bf16", "fp8->fp16": "fp16", "fp8->fp32": "fp32"}.items()


def test_casts_are_casts_and_say_what_they_can() -> None:
    rows = _operations("cast", "cast_strided")
    assert len(rows) > 60
    for words, kernel, name in rows:
        source, result = words[1].split("->")
        assert kernel.family == "cast", name
        assert kernel.dtype_out == result, name
        assert kernel.dtype_in in ("", source), name
    assert {kernel.dtype_in for words, kernel, _ in rows if words[1] == "fp32->fp16"} == {"fp32"}
    assert {kernel.dtype_in for words, kernel, _ in rows if words[1] == "fp16->fp32"} == {""}


POINTWISE = ("unary", "binary", "scalar", "act", "where", "clamp", "addcmul", "addcdiv", "lerp", "promote")
GLUE = {"elementwise", "fill", "copy", "cast", "layout", "reduction"}
"""Families that PyTorch's own glue around an operation may add."""


@pytest.mark.parametrize(
    ("kinds", "family", "besides"),
    [
        (("strided_copy", "permute_copy"), "layout", set()),
        (("cat",), "copy", set()),
        (("fill",), "fill", set()),
        (POINTWISE, "elementwise", set()),
        (("softmax", "log_softmax"), "softmax", {"elementwise"}),
        (("layer_norm", "rms_norm", "batch_norm", "group_norm"), "norm", GLUE),
        (("sort", "topk"), "sort", GLUE | {"scan", "gather"}),
        (("cumsum",), "scan", set()),
        (("fft",), "fft", set()),
        (("conv",), "conv", GLUE | {"gemm", "splitk"}),
        (("amp",), "amp", GLUE | {"gemm"}),
        (("rnn",), "rnn", GLUE | {"gemm", "splitk"}),
        (("embedding", "embedding_bag"), "embedding", GLUE | {"gather", "sort", "scan"}),
        (("pool",), "pooling", GLUE),
        (("quantize", "fake_quant"), "quantize", set()),
    ],
)
def test_families_of_operations(kinds: tuple[str, ...], family: str, besides: set[str]) -> None:
    found = {kernel.family: name for _, kernel, name in _operations(*kinds)}
    assert family in found
    assert {other: name for other, name in found.items() if other not in besides | {family}} == {}


def test_pointwise_types() -> None:
    for words, kernel, name in _operations("unary", "binary", "scalar", "act", "addcmul", "addcdiv", "lerp"):
        assert kernel.dtype_in == words[-1], name
    for words, kernel, name in _operations("promote"):
        assert kernel.dtype_in == ("fp32" if words[-1] == "fp32" else "mixed"), name
        assert kernel.dtype_out == "fp32"


def test_optimizer_steps() -> None:
    fused = [kernel.family for words, kernel, _ in _operations("optim") if words[2] == "fusedTrue"]
    assert set(fused) >= {"optimizer"}
    assert set(fused) <= {"optimizer", "elementwise"}
    loop = {kernel.pattern for words, kernel, _ in _operations("optim") if words[1:3] == ["Adam", "foreachFalse"]}
    assert {"pytorch-addcdiv", "pytorch-addcmul", "pytorch-lerp", "pytorch-sqrt"} <= loop
    foreach = {kernel.family for words, kernel, _ in _operations("optim") if words[2] == "foreachTrue"}
    assert foreach <= {"elementwise", "copy", "fill"}


def test_attention_backends() -> None:
    found = {(words[1], words[2]): kernel for words, kernel, _ in _operations("sdpa") if kernel.family == "attention"}
    assert found["fp16", "FLASH_ATTENTION"].dtype_in == "fp16"
    assert found["bf16", "EFFICIENT_ATTENTION"].dtype_in == "bf16"
    assert found["fp32", "EFFICIENT_ATTENTION"].dtype_in == "fp32"
    assert not any(key[1] == "MATH" for key in found)


CUSOLVER_HELPERS = {
    "batch_FnrmA_stage1", "batch_FnrmA_stage2", "batch_eye_kernel", "batch_symmetrize_kernel", "colperm_kernel",
    "column_rotate_batch", "create_pivot_v2", "ipiv_64_to_32_ker", "offA_stage1", "offA_stage2",
    "pegasus_set_identy", "row_rotate_batch_32x16_phase1", "row_rotate_batch_32x32_phase2",
}  # fmt: skip
SAY_NOTHING = {"_assert_async_cuda_kernel", "fusion_6"}


def test_every_operation_is_classified() -> None:
    names = {row["kernel"] for row in _rows(OPERATIONS, "\t")}
    unknown = {base_name(name): classify(name).library for name in names if classify(name).family == "unknown"}
    unnamed = {base for base, library in unknown.items() if library not in ("cusolver", "cusparse")}
    assert unnamed == CUSOLVER_HELPERS | SAY_NOTHING


# --- an expert's table of 453 names -----------------------------------------------------------------------------

WORDS = {
    "tf32 (fp32 storage)": "tf32", "complex fp32": "complex64", "fp8(e4m3)": "fp8", "fp8 (template)": "fp8",
    "A fp8(e4m3), B fp8(e4m3)": "fp8", "mixed (runtime dtype)": "mixed", "bf16/fp16/fp32 (template)": "",
    "any (runtime dtype)": "", 'fp16/bf16 ("f16" = 16 bit class, inferred)': "16bit", "int32/unknown": "",
    "unsigned int": "",
}  # fmt: skip
ROLES = {
    "gemm": {"gemm", "gemv"}, "elementwise": {"elementwise", "fill", "copy"}, "conv": {"conv"},
    "reduction": {"reduction", "splitk", "scan"}, "layout-transform": {"layout", "copy"}, "norm": {"norm"},
    "attention": {"attention"}, "collective(nccl)": {"collective"}, "cast": {"cast", "quantize"}, "sort": {"sort"},
    "rng": {"rng"}, "memcpy": {"copy"}, "softmax": {"softmax"}, "embedding": {"embedding", "gather"},
    "optimizer": {"optimizer"}, "memset": {"fill"},
}  # fmt: skip
"""The table's roles; it has none of ours for splitk, scan, gather, fill, quantize, and puts cat under layout."""
TENSOR_CORES_DECIDED = {"fmha_cutlassF_f32_aligned_64x64_rf_sm80": "TF32 operations were counted on an H200"}
TENSOR_CORES_LEFT_OPEN = {"par_reduce_kernel": "a hand-written name proves nothing"}
TABLE_ERRORS = (
    (r"fill_reverse_indices_kernel\(long", "the parameter is long, not int32"),
    (r"where_kernel_impl", "the first lambda parameter is the mask, not the data"),
    (r"CUDAFunctorOnSelf_add<int>|FillFunctor<(?:bool|int|signed char)>", "the type argument is not int64"),
    (r"ArgMaxOps", "the result is an index"),
    (r"copy_device_to_device.*LoadWithoutCast", "nothing is converted"),
    (r"^init_array\(double", "the data is double; the element count is an unsigned long"),
)
NOT_CLAIMED = (
    (r"^fused_(?:force|integrate)|^test\(|^void clover::par_ranged", "no family, so no type is claimed either"),
    (r"compute_gemm_pointers|kern_precompute_indices", "fills index tables; the type is not of the data"),
    (r"^sm50_xmma_pooling_coalesced", "no type word in the name"),
)


def _excused(name: str) -> bool:
    return any(re.search(pattern, name) for pattern, _ in (*TABLE_ERRORS, *NOT_CLAIMED))


@pytest.mark.skipif(not EXPERT.exists(), reason="the table is not here")
def test_expert_table_on_tensor_cores() -> None:
    rows = _rows(EXPERT, "\t")
    assert len(rows) == 453
    for row in rows:
        found, wanted, name = classify(row["name"]).tensor_core, row["tensor_core"], base_name(row["name"])
        if wanted == "unknown":
            assert found != "yes" or name in TENSOR_CORES_DECIDED, name
        elif found == "unknown":
            assert name.partition("[")[0] in TENSOR_CORES_LEFT_OPEN, name
        else:
            assert found == wanted, name


@pytest.mark.skipif(not EXPERT.exists(), reason="the table is not here")
def test_expert_table_on_types_and_roles() -> None:
    agreed, stated = Counter[str](), Counter[str]()
    wrong = []
    for row in _rows(EXPERT, "\t"):
        found = classify(row["name"])
        pairs = [("in", WORDS.get(row["precision_in"], row["precision_in"]), found.dtype_in)]
        pairs.append(("out", WORDS.get(row["precision_out"], row["precision_out"]), found.dtype_out))
        pairs.append(("role", row["role"], row["role"] if found.family in ROLES.get(row["role"], ()) else found.family))
        for what, wanted, got in pairs:
            if not wanted or wanted == "other":
                continue
            stated[what] += 1
            agreed[what] += wanted == got
            if wanted != got and not _excused(row["name"]):
                wrong.append((what, wanted, got, row["name"][:120]))
    assert not wrong
    assert agreed["in"] / stated["in"] > 0.95
    assert agreed["out"] / stated["out"] > 0.95
    assert agreed["role"] / stated["role"] > 0.99
