"""Kernels found again: by name, template, place in the step and family; what is new, gone, fused or split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nsight_insight as ni
from nsight_insight.comparison.alignment import align
from nsight_insight.comparison.capture import capture_of
from nsight_insight.comparison.changes import what_happened
from nsight_insight.comparison.matching import Pairing, match, stem
from nsight_insight.model.profile import Profile
from nsight_insight.views.build import build_all
from tests.paths import ROOT
from tests.unit.make_trace import Kernel, steps_of

ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int)"
)
ADD_HALF = ADD.replace("float", "c10::Half")
GELU = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#1}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>>(int)"
)
MUL = ADD.replace("CUDAFunctor_add", "MulFunctor")
SGEMM = "cutlass_80_simt_sgemm_128x256_8x4_nt_align1"
NVJET = "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NTT"
SOFTMAX = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>(float *, int)"
CAST = ADD.replace("CUDAFunctor_add<float>", "float16_copy_kernel_cuda(at::TensorIteratorBase&)")
FUSED = "triton_poi_fused_add_gelu_mul_0"
STEP: list[Kernel] = [(SGEMM, 9e5), (ADD, 2e4), (GELU, 3e4), (SOFTMAX, 1e5)]


def matched(before: Profile, after: Profile) -> list[Pairing]:
    return match(*(capture_of(side, build_all(side)) for side in (before, after)))


def of(pairings: list[Pairing], base: str) -> Pairing:
    """The pairing that holds a kernel, by a part of its short name."""
    [found] = [p for p in pairings if any(base in kernel.base for kernel in (*p.before, *p.after))]
    return found


def renamed(step: list[Kernel], old: str, *new: str) -> list[Kernel]:
    found: list[Kernel] = []
    for name, duration in step:
        found += [(other, duration / len(new)) for other in new] if name == old else [(name, duration)]
    return found


def test_the_same_program_matches_by_name() -> None:
    pairings = matched(steps_of(STEP), steps_of(STEP))
    assert {(p.match, what_happened(p)) for p in pairings} == {("name", "same")}
    assert len(pairings) == len(STEP)


@pytest.mark.parametrize(
    ("old", "new", "match_", "what"),
    [
        (ADD, ADD_HALF, "template", "precision"),
        (SOFTMAX, SOFTMAX.replace("<4,", "<8,"), "template", "recompiled"),
        (SGEMM, NVJET, "position", "precision"),
        (SGEMM, "cutlass_80_simt_sgemm_256x128_8x4_nn_align1", "position", "replaced"),
        (
            SOFTMAX,
            "void softmax_warp_forward<float, float, float, 10, false, false>(float *, int)",
            "position",
            "replaced",
        ),
    ],
)
def test_a_renamed_kernel_is_found_again(old: str, new: str, match_: str, what: str) -> None:
    there = matched(steps_of(STEP), steps_of(renamed(STEP, old, new)))
    back = matched(steps_of(renamed(STEP, old, new)), steps_of(STEP))
    for pairings in (there, back):
        assert len(pairings) == len(STEP)
        [found] = [p for p in pairings if p.match != "name"]
        assert (found.match, what_happened(found)) == (match_, what)


def test_casts_beside_a_product_are_new_and_not_a_part_of_it() -> None:
    pairings = matched(steps_of(STEP), steps_of(renamed(STEP, SGEMM, CAST, NVJET)))
    assert of(pairings, "nvjet").before[0].base.startswith("cutlass")
    cast = of(pairings, "float16_copy")
    assert (cast.match, cast.before) == ("none", ())


def test_pieces_and_their_fused_kernel() -> None:
    pieces = [(SGEMM, 9e5), (ADD, 2e4), (GELU, 3e4), (MUL, 2e4), (SOFTMAX, 1e5)]
    fused = [(SGEMM, 9e5), (FUSED, 2.5e4), (SOFTMAX, 1e5)]
    there = of(matched(steps_of(pieces), steps_of(fused)), "triton")
    assert len(there.before) == 3
    assert what_happened(there) == "fused"
    back = of(matched(steps_of(fused), steps_of(pieces)), "triton")
    assert {kernel.base for kernel in back.after} == {kernel.base for kernel in there.before}
    assert what_happened(back) == "split"


def test_attention_written_out_and_its_kernel() -> None:
    """Two products with a scaling and a softmax between them become one attention kernel; the projection stays."""
    score, value = NVJET.replace("256x128", "128x128"), NVJET.replace("256x128", "64x256")
    mul_half = MUL.replace("float", "c10::BFloat16")
    flash = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0"
    written_out = [(NVJET, 5e5), (score, 2e5), (mul_half, 1e5), (SOFTMAX, 3e5), (value, 2e5), (GELU, 1e5)]
    fused = [(NVJET, 5e5), (flash, 1.5e5), (GELU, 1e5)]
    there = of(matched(steps_of(written_out), steps_of(fused)), "sdpa")
    assert {kernel.family for kernel in there.before} == {"gemm", "elementwise", "softmax"}
    assert len(there.before) == 4
    back = of(matched(steps_of(fused), steps_of(written_out)), "sdpa")
    assert {kernel.key for kernel in back.after} == {kernel.key for kernel in there.before}
    no_softmax = [one for one in written_out if one[0] != SOFTMAX]
    assert of(matched(steps_of(no_softmax), steps_of(fused)), "sdpa").before == ()


def test_pieces_of_a_convolution_join_its_only_successor() -> None:
    """From a real capture: an FFT convolution became an implicit GEMM; its transforms are not just gone."""
    sides = (ni.load(ROOT / "bench" / "proof" / "captures" / f"P03-{side}.tar.xz") for side in ("bad", "good"))
    found = of(matched(*sides), "implicit_gemm")
    assert {kernel.family for kernel in found.before} == {"conv"}
    assert len(found.before) == 4


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [("bf16", "16bit", "replaced"), ("fp32", "16bit", "precision"), ("fp16", "bf16", "precision")],
)
def test_sixteen_bits_of_either_kind_are_no_other_precision(old: str, new: str, what: str) -> None:
    [one] = matched(steps_of([(SGEMM, 9e5)]), steps_of([(SGEMM, 9e5)]))
    before, after = replace(one.before[0], dtype=old), replace(one.after[0], dtype=new)
    assert what_happened(Pairing((before,), (after,), "position")) == what


def test_a_split_product_keeps_its_reduction() -> None:
    split = renamed(
        STEP, SGEMM, "gemmSN_NN_kernel", "void cublasLt::splitKreduce_kernel<32, 16, int, float, float>(int)"
    )
    found = of(matched(steps_of(STEP), steps_of(split)), "sgemm")
    assert len(found.after) == 2


def test_other_work_is_new_and_gone() -> None:
    pairings = matched(steps_of(STEP), steps_of(renamed(STEP, SOFTMAX, CAST)))
    assert of(pairings, "SoftMax").after == ()
    assert of(pairings, "float16_copy").before == ()


def test_work_that_moves_between_instances_is_matched_together() -> None:
    """Autocast runs some of the additions in FP16: the FP32 instance alone would look faster than it is."""
    before = [(SGEMM, 9e5), *[(ADD, 2e4)] * 4]
    after = [(SGEMM, 9e5), *[(ADD, 2e4)] * 2, *[(ADD_HALF, 1e4)] * 2]
    found = of(matched(steps_of(before), steps_of(after)), "CUDAFunctor_add")
    assert (len(found.before), len(found.after), found.match) == (1, 2, "template")


def test_without_an_order_what_is_left_of_a_family_matches() -> None:
    before, after = steps_of(STEP), steps_of(renamed(STEP, SGEMM, CAST, NVJET))
    for profile in (before, after):
        profile.activities["start"] = np.nan
        profile.activities["correlation"] = -1
        profile.activities["count"] = 2
    pairings = matched(before, after)
    assert of(pairings, "nvjet").match == "family"
    assert of(pairings, "float16_copy").before == ()


def test_every_kernel_is_in_exactly_one_pairing() -> None:
    before, after = steps_of(STEP), steps_of([(CAST, 1e4), (NVJET, 9e4), (FUSED, 1e4), (ADD_HALF, 1e4)])
    pairings = matched(before, after)
    ours = [kernel.number for p in pairings for kernel in p.before]
    theirs = [kernel.number for p in pairings for kernel in p.after]
    assert sorted(ours) == list(range(4))
    assert sorted(theirs) == list(range(4))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("vectorized_elementwise_kernel[CUDAFunctor_add float]", "vectorized_elementwise_kernel[CUDAFunctor_add Half]"),
        ("reduce_kernel[sum_functor float]", "reduce_kernel[sum_functor BFloat16]"),
        ("fused_kernel[fp32]", "fused_kernel[bf16]"),
    ],
)
def test_types_do_not_count_in_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other) != ""


def test_stems_of_other_functions_differ() -> None:
    assert stem("vectorized_elementwise_kernel[CUDAFunctor_add float]") != stem(
        "vectorized_elementwise_kernel[MulFunctor float]"
    )
    assert stem("float16_copy_kernel_cuda") != stem("direct_copy_kernel_cuda")


sequences = st.lists(st.integers(0, 4), min_size=1, max_size=30)


@given(first=sequences, second=sequences)
def test_alignment_keeps_both_orders_and_pairs_only_the_like(first: list[int], second: list[int]) -> None:
    """The longest common subsequence, as a textbook program finds it."""
    likeness = np.eye(5)
    places = align(first, second, likeness)
    assert all(b == a for b, a in places.paired)
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, x in enumerate(first):
        for j, y in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    assert sum(places.paired.values()) == table[-1][-1]


@given(sequence=sequences)
def test_a_sequence_aligns_with_itself(sequence: list[int]) -> None:
    places = align(sequence, sequence, np.eye(5))
    assert sum(places.paired.values()) == len(sequence)
    assert not places.facing
