"""What captures are compared by: steps, the same launches, or nothing; and what the reader is warned of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import nsight_insight as ni
from nsight_insight.model.comparison import Comparison
from nsight_insight.model.profile import Device, Profile
from tests.paths import FIXTURES, ROOT
from tests.unit.make_profile import make_profile
from tests.unit.make_trace import Kernel, steps_of

PROOF = ROOT / "bench" / "proof" / "captures"
AMP_TRACE = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_trace.csv"
STEP: list[Kernel] = [("void stencil<float>(float *)", 5e6), ("void scan_rows<float>(float *)", 1e6)] * 6


def without_ranges(profile: Profile) -> Profile:
    profile.activities["nvtx"] = ""
    return profile


def summary(*kernels: tuple[str, int, float, float]) -> Profile:
    """A kernel summary of (name, launches, mean ns, standard deviation)."""
    rows = [{"name": n, "count": c, "duration": c * mean, "avg": mean, "std": std} for n, c, mean, std in kernels]
    return make_profile(rows)


def cautioned(found: Comparison, words: str) -> bool:
    return any(words in text for text in found.cautions)


def test_the_number_of_steps_does_not_matter() -> None:
    found = ni.compare(steps_of(STEP, 5), steps_of(STEP, 12))
    assert (found.unit, found.verdict, found.before.steps, found.after.steps) == ("step", "same", 4, 11)
    assert {change.time.verdict for change in found.kernels} == {"same"}


def test_steps_that_the_user_counts() -> None:
    one, two = without_ranges(steps_of(STEP[:2], 2)), without_ranges(steps_of(STEP[:2], 5))
    assert ni.compare(one, two).unit == ""
    found = ni.compare(one, two, steps=(2, 5))
    assert (found.unit, found.verdict) == ("step", "same")
    assert found.kernel is not None
    assert found.kernel.before == pytest.approx(6e6)


def test_the_same_launches_are_compared_as_wholes() -> None:
    found = ni.compare(
        summary(("a", 10, 1e5, 1e3), ("b", 5, 1e5, 1e3)), summary(("a", 10, 5e4, 1e3), ("b", 5, 1e5, 1e3))
    )
    assert (found.unit, found.measure, found.verdict) == ("capture", "kernel", "faster")
    assert found.kernel is not None
    assert (found.kernel.before, found.kernel.after) == (1.5e6, 1e6)


def test_a_summary_carries_its_own_uncertainty() -> None:
    """The same means; once launches are alike, once they spread by as much as they take."""
    for spread, verdict in ((1e3, "faster"), (1e5, "unknown")):
        found = ni.compare(summary(("a", 10, 1e5, spread)), summary(("a", 10, 8e4, spread)))
        assert found.verdict == verdict


def test_launches_of_summaries_are_compared_where_totals_are_not() -> None:
    before = summary(("a", 10, 1e5, 1e3), ("b", 20, 1e5, 1e3), ("c", 10, 1e5, 1e3))
    after = summary(("a", 20, 5e4, 1e3), ("b", 40, 1e5, 1e3), ("c", 25, 1e5, 1e3))
    found = ni.compare(before, after)
    verdicts = {change.lead.base: change.time.verdict for change in found.kernels}
    assert found.unit == ""
    # c is launched 2.5 times as often, others twice: its mix of sizes may be another.
    assert verdicts == {"a": "faster", "b": "same", "c": "unknown"}


def test_another_grid_is_other_work() -> None:
    before, after = (steps_of(STEP, grid=grid) for grid in (264.0, 528.0))
    found = ni.compare(before, after)
    assert cautioned(found, "other grids")
    for profile in (before, after):
        without_ranges(profile)
    cut = replace(after, activities=after.activities.iloc[:7].reset_index(drop=True))
    alone = ni.compare(before, cut)
    assert alone.unit == ""
    assert {change.time.verdict for change in alone.kernels} == {"unknown"}


def test_twice_the_work_in_a_step_is_told() -> None:
    assert cautioned(ni.compare(steps_of(STEP), steps_of([*STEP, *STEP])), "2 times as often")
    assert not ni.compare(steps_of(STEP), steps_of(STEP)).cautions


def test_steps_recognised_in_two_ways_must_agree() -> None:
    """Without ranges, half of what the ranges call a step repeats: no time of the two may be compared."""
    layer: list[Kernel] = [(f"void layer_{letter}<float>(float *)", 1e6) for letter in "abcdefghijkl"]
    before, after = steps_of([*layer, *layer], 6), without_ranges(steps_of([*layer, *layer], 8))
    found = ni.compare(before, after)
    assert (found.unit, found.verdict) == ("", "unknown")
    assert "recognised by NVTX ranges before and by kernels that repeat exactly after" in found.reason
    assert ni.compare(before, after, steps=(6, 8)).verdict == "same"


def test_other_gpus_and_numbers_of_gpus_are_told() -> None:
    before, after = steps_of(STEP), steps_of(STEP)
    other = replace(
        after, devices=(Device(0, "NVIDIA A100-SXM4-80GB", cc=8.0), Device(1, "NVIDIA A100-SXM4-80GB", cc=8.0))
    )
    found = ni.compare(before, other)
    assert cautioned(found, "other GPUs: NVIDIA H200 before, NVIDIA A100-SXM4-80GB after")
    assert cautioned(found, "1 before, 2 after")


def test_other_clocks_widen_the_noise() -> None:
    """Captured at 1.2 and 1.0 GHz: a difference of a fifth may be the clock's."""
    found = ni.compare(*(ni.load(PROOF / f"P90-{side}.tar.xz") for side in ("bad", "good")))
    assert cautioned(found, "SM clock after is 0.83 times")
    assert found.kernel is not None
    assert found.kernel.before is not None
    assert found.kernel.after is not None
    assert found.kernel.least == pytest.approx(0.17 * (found.kernel.before + found.kernel.after) / 2, rel=0.05)


def test_bytes_of_the_same_work() -> None:
    """ncu's counters: the cured kernel moves a ninth of the bytes; nsys alone knows none."""
    found = ni.compare(*(ni.load(PROOF / f"P21-{side}.tar.xz") for side in ("bad", "good")))
    assert found.bytes is not None
    assert found.bytes[0] == pytest.approx(8.8 * found.bytes[1], rel=0.05)
    assert ni.compare(steps_of(STEP), steps_of(STEP)).bytes is None


def test_copies_and_idle_time_have_their_own_lines() -> None:
    found = ni.compare(*(ni.load(PROOF / f"P118-{side}.tar.xz") for side in ("bad", "good")))
    groups = {(group.kind, group.name): group for group in found.groups}
    idle = [group.time for (kind, name), group in groups.items() if kind == "idle" and name != "all"]
    whole = groups["idle", "all"].time
    assert whole.verdict == "faster"
    assert sum(time.before or 0.0 for time in idle) == pytest.approx(whole.before, rel=0.02)
    assert groups["copies", "device to host"].launches_after == 0


def test_a_capture_without_kernels_says_how_to_trace_graphs() -> None:
    found = ni.compare(*(ni.load(PROOF / f"P44-{side}.tar.xz") for side in ("bad", "good")))
    assert found.verdict == "unknown"
    assert "--cuda-graph-trace=node" in found.reason
    assert np.all([change.state == "unknown" for change in found.findings])


def on_devices(*profiles: Profile) -> Profile:
    """Each trace on a device of its own, at the same time."""
    frames = [profile.activities.assign(device=number) for number, profile in enumerate(profiles)]
    together = pd.concat(frames, ignore_index=True)
    together["line"] = np.arange(2, len(together) + 2)
    devices = tuple(Device(number, "NVIDIA H200", cc=9.0) for number in range(len(profiles)))
    return replace(profiles[0], activities=together, devices=devices)


def test_the_slowest_device_is_the_step() -> None:
    slow = [(name, 2 * duration) for name, duration in STEP]
    before = on_devices(steps_of(STEP), steps_of(slow))
    found = ni.compare(before, on_devices(steps_of(STEP), steps_of(STEP)))
    assert found.verdict == "faster"
    assert found.wall is not None
    assert found.kernel is not None
    assert found.wall.share == pytest.approx(-0.5, abs=0.01)
    assert found.kernel.share == pytest.approx(-1 / 3, abs=0.01)


def test_a_device_that_hardly_works_does_not_hide_the_steps() -> None:
    aside = without_ranges(steps_of([("void init<float>(float *)", 1e3)], 1))
    found = ni.compare(on_devices(steps_of(STEP), aside), on_devices(steps_of(STEP), aside))
    assert (found.unit, found.before.steps) == ("step", 5)


def test_one_slow_step_changes_the_noise_and_not_the_verdict() -> None:
    hiccup = steps_of(STEP, 9, jitter=(1.0, 1.0, 1.0, 1.4))
    found = ni.compare(steps_of(STEP, 9), hiccup)
    assert found.verdict == "same"
    assert found.wall is not None
    assert found.wall.difference == pytest.approx(0.0, abs=1.0)


def test_warm_up_does_not_count() -> None:
    cold = steps_of(STEP, 6, jitter=(8.0, 3.0, 2.0))
    found = ni.compare(steps_of(STEP, 6), cold)
    assert (found.verdict, found.after.steps) == ("same", 3)


def test_a_capture_that_does_not_place_its_steps_has_no_step_length() -> None:
    """The demo holds 0.4 s of start-up before its 50 ms steps: a quarter of that is no step."""
    found = ni.compare(ni.load(FIXTURES / "demo"), ni.load(AMP_TRACE), steps=(4, 4))
    assert (found.unit, found.measure, found.wall) == ("step", "kernel", None)
    assert found.kernel is not None
    assert found.kernel.before == pytest.approx(194.26e6 / 4, rel=1e-3)
    assert {group.kind for group in found.groups} == {"family"}
    assert cautioned(found, "includes warm-up")
    assert cautioned(found, "only kernel time is compared")
