"""Steps from optimizer kernels and from the computing stream, on data-parallel sequences whose streams interleave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.views.activity import Activities
from nsight_insight.views.cadence import compute_rows, optimizer_ends
from nsight_insight.views.steps import Steps, find_steps
from tests.unit.make_profile import make_profile

Row = dict[str, Any]
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
GEMM = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn"
ADAM = (
    "void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::FusedOptimizerTensorListMetadata"
    "<(int)4>, at::native::<unnamed>::FusedAdamMathFunctor<float, (int)4, (at::native::<unnamed>::ADAM_MODE)0, "
    "(bool)0>>(T1, T2, T3...)"
)
STEP = 20
"""Kernels of a step on the computing stream; each takes 5 and starts 10 after the one before."""


def step(number: int, *, collectives: int = 3, extra: int = 0, optimizer: bool = True, seed: int = 0) -> list[Row]:
    """One step: compute kernels of which every fourth multiplies, then two optimizer kernels; collectives at random."""
    jitter = np.random.default_rng(seed * 100 + number)
    start = 1000.0 * number
    names = [GEMM if place % 4 == 0 else f"work_{place}(float *)" for place in range(STEP + extra)]
    names += [ADAM, ADAM] if optimizer else []
    rows: list[Row] = [
        {"name": name, "start": start + 10 * place, "duration": 5.0, "stream": 7} for place, name in enumerate(names)
    ]
    times = jitter.choice(np.arange(20.0, 180.0), collectives, replace=False)
    return rows + [{"name": NCCL, "start": start + at, "duration": 3.0, "stream": 17} for at in times]


def activities(*steps: list[Row]) -> Activities:
    return Activities(make_profile([row for one in steps for row in one], report="cuda_gpu_trace"))


def found(acts: Activities) -> Steps | None:
    return find_steps(acts, acts.base)


def test_the_example_kernels_are_what_they_stand_for() -> None:
    acts = activities(step(0))
    assert {"optimizer", "collective", "gemm"} <= set(acts.family(acts.base))


def test_optimizer_kernels_end_steps_although_collectives_interleave() -> None:
    steps = found(activities(*(step(number) for number in range(5))))
    assert steps is not None
    assert (steps.count, steps.basis) == (5, "optimizer kernels")
    assert steps.edges is not None
    np.testing.assert_array_equal(steps.edges[:-1], [0.0, 1000.0, 2000.0, 3000.0, 4000.0])
    assert steps.index is not None
    assert np.bincount(steps.index).tolist() == [STEP + 2 + 3] * 5


def test_what_follows_the_last_optimizer_belongs_to_no_step() -> None:
    steps = found(activities(*(step(number) for number in range(3)), step(3, optimizer=False)))
    assert steps is not None
    assert steps.index is not None
    assert (steps.index == -1).sum() == STEP + 3


@pytest.mark.parametrize(
    "steps",
    [
        [step(0), step(1)],
        [step(0), step(1, extra=9), step(2), step(3, extra=9)],
        [[row for row in step(number) if row["name"] != GEMM] for number in range(4)],
        [[row for row in step(number) if row["name"] == ADAM] for number in range(4)],
    ],
    ids=["two steps", "unlike steps", "no products", "optimizer kernels only"],
)
def test_a_cadence_that_is_not_certain_is_refused(steps: list[list[Row]]) -> None:
    acts = activities(*steps)
    assert optimizer_ends(acts, acts.base) is None


def test_a_longer_first_step_is_allowed_only_within_five_percent() -> None:
    near = activities(step(0, extra=1), *(step(number) for number in range(1, 5)))
    assert optimizer_ends(near, near.base) is not None
    # The lengths compared are those between the ends of steps: what comes before the first end may be anything.
    far = activities(step(0), step(1, extra=4), *(step(number) for number in range(2, 5)))
    assert optimizer_ends(far, far.base) is None


def test_the_computing_stream_repeats_exactly_where_all_streams_together_do_not() -> None:
    acts = activities(*(step(number, optimizer=False) for number in range(6)), step(6, optimizer=False)[:1])
    computing = compute_rows(acts, acts.base)
    assert computing is not None
    assert set(acts.column("stream")[computing]) == {7}
    steps = found(acts)
    assert steps is not None
    assert (steps.count, steps.basis) == (5, "kernels that repeat exactly on the computing stream")
    assert steps.edges is not None
    assert steps.index is not None
    np.testing.assert_array_equal(np.diff(steps.edges), 1000.0)
    start = acts.column("start")[acts.base]
    inside = (start >= steps.edges[0]) & (start < steps.edges[-1])
    np.testing.assert_array_equal(steps.index >= 0, inside)
    assert acts.family(acts.base)[inside].tolist().count("collective") > 10


def test_one_stream_needs_no_second_look() -> None:
    acts = activities(*(step(number, collectives=0) for number in range(4)))
    assert compute_rows(acts, acts.base) is None


@pytest.mark.parametrize("seed", range(5))
def test_steps_do_not_depend_on_when_collectives_start_nor_on_row_order(seed: int) -> None:
    rows = [row for number in range(5) for row in step(number, seed=seed)]
    order = np.random.default_rng(seed).permutation(len(rows))
    steps = found(Activities(make_profile([rows[place] for place in order], report="cuda_gpu_trace")))
    assert steps is not None
    np.testing.assert_array_equal(steps.edges, [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 4215.0])
