"""What must not matter: the order of inputs and rows, file names, and how a report is split over files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight import api
from nsight_insight.model.profile import Profile
from nsight_insight.readers.text import SourceText
from tests.nsys_capture import Capture, Launch, records, shuffled, split
from tests.paths import FIXTURES

FOLDER = FIXTURES / "nsys-csv"
NAMES = ("gemm<float>", "gemm<half>", "copy_kernel", "void softmax<float>(int, T1)")
OPERATIONS = ("[CUDA memcpy Host-to-Device]", "[CUDA memcpy Device-to-Host]", "[CUDA memset]")
REPORTS = ("kern_sum", "kern_gb_sum", "gpu_sum", "gpu_trace", "exec_trace", "mem_time_sum", "mem_size_sum")
KERNEL_REPORTS = frozenset(REPORTS[:5])

Totals = dict[str, tuple[int, float]]


@st.composite
def captures(draw: st.DrawFn) -> Capture:
    """A run of up to 12 operations with distinct starts and plausible durations."""
    kinds = st.tuples(st.sampled_from(NAMES + OPERATIONS), st.integers(500, 5_000_000), st.integers(1, 4))
    start, launches = 0, []
    for name, duration, grid in draw(st.lists(kinds, min_size=1, max_size=12)):
        launches.append(Launch(name, start, duration, grid, size=grid * 4096 if name in OPERATIONS else None))
        start += duration + 100
    return Capture(tuple(launches))


def load(texts: Sequence[str], names: Callable[[int], str] = "file{}.csv".format) -> Profile:
    return api.load(*(SourceText(names(i), text.encode()) for i, text in enumerate(texts)))


def totals(profile: Profile, *kinds: str) -> Totals:
    """Launches and time of the primary rows per kind."""
    frame = profile.activities[profile.activities["primary"]]
    groups = frame.groupby("kind")
    return {
        kind: (int(rows["count"].sum()), float(rows["duration"].sum()))
        for kind, rows in groups
        if not kinds or kind in kinds
    }


def has_rows(text: str) -> bool:
    return bool(records(text)[1])


@given(capture=captures(), chosen=st.sets(st.sampled_from(REPORTS), min_size=1), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=150)
def test_any_set_of_reports_gives_the_true_totals(capture: Capture, chosen: set[str], seed: int) -> None:
    texts = [getattr(capture, report)() for report in sorted(chosen)]
    texts = [text for text in texts if has_rows(text)]
    if not texts:
        return
    texts = shuffled(texts, seed)
    found = totals(load(texts))
    if chosen & KERNEL_REPORTS and capture.kernels:
        assert found["kernel"] == (len(capture.kernels), sum(k.duration for k in capture.kernels))
    if chosen & {"gpu_sum", "gpu_trace", "mem_time_sum"}:
        for kind in ("memcpy", "memset"):
            rows = [launch for launch in capture.memory if kind in launch.name]
            assert found.get(kind, (0, 0.0)) == (len(rows), sum(launch.duration for launch in rows))


@given(first=captures(), second=captures(), at=st.integers(0, 12), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=80)
def test_two_ranks_add_up_however_their_reports_are_split(first: Capture, second: Capture, at: int, seed: int) -> None:
    if not first.kernels or not second.kernels:
        return
    longer = [Launch(k.name, k.start, k.duration + 5_000_001 + i, k.grid) for i, k in enumerate(second.kernels)]
    ranks = (first, Capture(tuple(longer), process=2))
    texts = [part for rank in ranks for report in (rank.gpu_trace(), rank.kern_sum()) for part in split(report, at)]
    texts = shuffled(texts, seed)
    true = sum(len(rank.kernels) for rank in ranks), float(sum(k.duration for rank in ranks for k in rank.kernels))
    assert totals(load(texts), "kernel") == {"kernel": true}


@given(capture=captures(), at=st.integers(0, 12))
@settings(deadline=None, max_examples=80)
def test_another_run_is_never_taken_for_the_same(capture: Capture, at: int) -> None:
    if not capture.kernels:
        return
    slower = [Launch(k.name, k.start, k.duration + (i == at % len(capture.kernels)), k.grid)
              for i, k in enumerate(capture.kernels)]  # fmt: skip
    found = totals(load([capture.kern_sum(), Capture(tuple(slower)).gpu_trace()]), "kernel")
    assert found["kernel"] == (2 * len(slower), 2.0 * sum(k.duration for k in capture.kernels) + 1)


# --- the same with real captures ------------------------------------------------------------------------------------


def real(name: str) -> str:
    return next(FOLDER.glob(f"*/{name}.csv")).read_text()


AMP = {
    report: real(f"amp_fp16_{report}") for report in ("cuda_gpu_kern_sum", "cuda_gpu_trace", "cuda_gpu_mem_time_sum")
}
FP32 = {report: real(f"fp32_{report}") for report in ("cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_sum")}
BOTH = [*AMP.values(), *FP32.values()]
EXPECTED = totals(load(BOTH))


@given(order=st.permutations(range(len(BOTH))))
@settings(deadline=None, max_examples=10)
def test_the_order_of_files_does_not_matter(order: list[int]) -> None:
    assert totals(load([BOTH[i] for i in order])) == EXPECTED


@given(prefix=st.text(alphabet="abc_./-", max_size=12))
@settings(deadline=None, max_examples=5)
def test_the_names_of_files_do_not_matter(prefix: str) -> None:
    assert totals(load(BOTH, names=lambda i: f"{prefix}{len(BOTH) - i}")) == EXPECTED


@pytest.mark.parametrize("texts", [list(AMP.values()), list(FP32.values())], ids=["amp", "fp32"])
@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=6)
def test_the_order_of_rows_does_not_matter(texts: list[str], seed: int) -> None:
    mixed = []
    for text in texts:
        heading, rows = records(text)
        mixed.append("\n".join([heading, *shuffled(rows, seed)]) + "\n")
    assert totals(load(mixed)) == totals(load(texts))


@given(cuts=st.tuples(st.integers(1, 3070), st.integers(1, 50), st.integers(1, 50)))
@settings(deadline=None, max_examples=10)
def test_splitting_files_does_not_matter(cuts: tuple[int, int, int]) -> None:
    parts = [
        *split(AMP["cuda_gpu_trace"], cuts[0]),
        *split(AMP["cuda_gpu_kern_sum"], cuts[1]),
        AMP["cuda_gpu_mem_time_sum"],
        *split(FP32["cuda_gpu_kern_sum"], cuts[2]),
        FP32["cuda_gpu_kern_gb_sum"],
        FP32["cuda_gpu_sum"],
    ]
    assert totals(load(parts)) == EXPECTED


def test_expected_totals_are_those_of_the_captures() -> None:
    assert EXPECTED["kernel"] == (2810 + 2428, 40_079_365 + 194_275_177)


@given(at=st.integers(1, 3070))
@settings(deadline=None, max_examples=5)
def test_rows_keep_their_lines_when_files_are_split(at: int) -> None:
    parts = split(AMP["cuda_gpu_trace"], at)
    profile = load(parts)
    frame = profile.activities
    assert len(frame) == 3072
    for source, following in pairwise((*profile.sources, None)):
        rows = frame.iloc[source.first_row : source.first_row + source.rows]
        np.testing.assert_array_equal(rows["line"], np.arange(source.rows) + 2)
        assert following is None or following.first_row == source.first_row + source.rows
