"""A trace cut at the end of a line beside the whole summary: the summary counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nsight_insight.model.profile import Profile
from nsight_insight.readers import nsys_csv, nsys_text
from nsight_insight.readers.assemble import assemble
from nsight_insight.readers.text import from_bytes, open_path
from tests.nsys_capture import Capture, Launch
from tests.paths import CORPUS, FIXTURES

LAUNCHES = tuple(Launch(name, start, start % 37 + 100) for start in range(0, 8_000, 200) for name in ("a", "b"))
RUN = Capture(LAUNCHES)
CUT = RUN.without_last(31)
PUBLISHED = CORPUS / "nsys/european-locale-2021-kmeans.txt"


def profile_of(*texts: str) -> Profile:
    return assemble([nsys_csv.read(from_bytes(f"{number}.log", text.encode())) for number, text in enumerate(texts)])


def launches(profile: Profile) -> int:
    frame = profile.activities
    return int(frame.loc[frame["primary"] & (frame["kind"] == "kernel"), "count"].sum())


def test_the_summary_counts_and_it_is_said() -> None:
    profile = profile_of(RUN.kern_sum() + "\n" + CUT.gpu_trace())
    assert launches(profile) == 80
    assert [issue.text for issue in profile.issues] == [
        "cuda_gpu_trace: a table that lost rows is not counted, cuda_gpu_kern_sum holds the same work"
    ]


@pytest.mark.parametrize("lost", [1, 40, 79])
def test_wherever_it_was_cut(lost: int) -> None:
    assert launches(profile_of(RUN.kern_sum() + "\n" + RUN.without_last(lost).gpu_trace())) == 80


def test_a_whole_trace_stands_for_its_summary() -> None:
    profile = profile_of(RUN.kern_sum() + "\n" + RUN.gpu_trace())
    frame = profile.activities
    assert launches(profile) == 80
    assert {profile.sources[number].report for number in frame.loc[frame["primary"], "source"]} == {"cuda_gpu_trace"}


def test_other_inputs_are_other_captures() -> None:
    """Two files may be two ranks: which reports belong together is not known, so nothing is left out."""
    assert launches(profile_of(RUN.kern_sum(), CUT.gpu_trace())) == 80 + 49


def test_a_trace_with_a_longer_kernel_is_another_run() -> None:
    odd = replace(CUT, launches=(*CUT.launches, Launch("a", 90_000, 500)))
    assert launches(profile_of(RUN.kern_sum() + "\n" + odd.gpu_trace())) == 80 + 50


def test_a_trace_before_other_tables_was_not_cut_off() -> None:
    assert launches(profile_of(CUT.gpu_trace() + "\n" + RUN.kern_sum())) == 80 + 49


def test_made_log_of_2021() -> None:
    made = FIXTURES / "nsys-text/made-2019-to-2024/job-2021-german.log"
    assert launches(assemble([nsys_text.read(open_path(made))])) == 54


@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the folder of published files")
def test_five_runs_the_last_of_them_cut() -> None:
    assert launches(assemble([nsys_text.read(open_path(Path(PUBLISHED)))])) == 9 + 22 + 51 + 47 + 49
