"""Rules on kernel metrics against real captures: what fires, what stays silent, what is promised."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.config import Config
from nsight_insight.model.profile import Profile
from nsight_insight.rules.engine import analyze_profile
from nsight_insight.rules.evaluate import Outcome, evaluate
from nsight_insight.rules.loader import builtin_rules
from nsight_insight.rules.model import Rule
from nsight_insight.views.build import build
from nsight_insight.views.facts import LAUNCH, TRACE, FactTable
from tests.paths import CORPUS, FIXTURES

H200 = FIXTURES / "ncu-csv/2025.3.1-h200-amp"
CATEGORIES = ("memory", "latency", "occupancy", "imbalance")
AMP, FP32 = H200 / "raw.csv", H200 / "raw_fp32.csv"
NEVER = ("not_selected", "selected", "gmma", "misc")

pytestmark = pytest.mark.filterwarnings("error")


@lru_cache(maxsize=1)
def kernel_rules() -> Mapping[str, Rule]:
    """Launch rules of the kernel categories."""
    return {
        rule_id: rule
        for rule_id, rule in builtin_rules().items()
        if rule.scope == LAUNCH and (rule.category in CATEGORIES or rule_id == "precision/fp64-arithmetic")
    }


@lru_cache(maxsize=8)
def profile_of(path: Path) -> Profile:
    return api.load(path)


def judged(table: FactTable, trace: FactTable) -> dict[str, Outcome]:
    tools = np.full(len(table), "ncu", dtype=object)
    return {rule_id: evaluate(rule, table, trace, tools) for rule_id, rule in kernel_rules().items()}


@lru_cache(maxsize=8)
def outcomes(path: Path) -> dict[str, Outcome]:
    profile = profile_of(path)
    return judged(build(profile, LAUNCH), build(profile, TRACE))


def fired(path: Path) -> dict[str, list[str]]:
    """Rule -> start of the function name of each launch it fired on."""
    found: dict[str, list[str]] = {}
    for rule_id, outcome in outcomes(path).items():
        for row in np.flatnonzero(outcome.fired):
            found.setdefault(rule_id, []).append(str(outcome.table.values["base"][row]).split("[")[0])
    return found


def test_the_small_transformer_step_has_one_kernel_worth_a_word() -> None:
    """60 launches, 54 of them below 10 us: NVIDIA's own rules print 452 estimates for them."""
    assert fired(AMP) == {"occupancy/small-grid": ["nll_loss_forward_reduce_cuda_kernel_2d"]}


def test_the_fp32_step_adds_the_attention_kernel_that_spills() -> None:
    assert fired(FP32) == {
        "occupancy/small-grid": ["nll_loss_forward_reduce_cuda_kernel_2d"],
        "memory/local-memory-traffic": ["fmha_cutlassF_f32_aligned_64x64_rf_sm80"],
    }


@pytest.mark.parametrize("path", [AMP, FP32], ids=["amp", "fp32"])
def test_full_sections_leave_nothing_unknown(path: Path) -> None:
    assert {rule_id for rule_id, outcome in outcomes(path).items() if outcome.unknown.any()} == set()


@pytest.mark.parametrize("path", [AMP, FP32], ids=["amp", "fp32"])
def test_launches_below_ten_microseconds_are_left_to_the_launch_rules(path: Path) -> None:
    for rule_id, outcome in outcomes(path).items():
        assert not outcome.fired[outcome.table.values["duration"] < 10e-6].any(), rule_id


def test_one_block_is_promised_less_than_nvidia_claims() -> None:
    outcome = outcomes(AMP)["occupancy/small-grid"]
    row = int(np.flatnonzero(outcome.fired)[0])
    duration = outcome.table.values["duration"][row]
    assert duration == pytest.approx(18.6e-6, rel=0.01)
    assert outcome.upper[row] == pytest.approx((duration - 3e-6) * 131 / 132, rel=1e-6)
    assert outcome.expected[row] == pytest.approx(0.9 * outcome.upper[row], rel=1e-6)


def test_nvidia_claims_more_than_all_time_on_most_kernels_and_we_never_do() -> None:
    profile = profile_of(H200 / "details.csv")  # the first 20 launches
    claims = np.zeros(len(profile.activities))
    for finding in profile.vendor:
        if finding.scope == "global" and finding.row is not None:
            claims[finding.row] += finding.estimated_speedup or 0.0
    assert (claims > 1.0).sum() == 19
    report = analyze_profile(profile_of(AMP), kernel_rules(), Config())
    assert 0.0 < report.potential.share < 0.05
    assert report.potential.upper_ns <= report.totals.kernel_ns


def test_sectors_that_l1_serves_are_not_called_uncoalesced() -> None:
    """A cast of eight floats per thread touches each sector twice; the second time hits L1."""
    outcome = outcomes(AMP)["memory/uncoalesced-global-access"]
    values = outcome.table.values
    casts = np.array(["float16_copy_kernel" in name for name in values["name"]]) & (values["grid"] > 100)
    assert casts.sum() >= 7
    assert values["excess_sectors"][casts] == pytest.approx(0.4, abs=1e-6)
    assert values["l1_hit_rate"][casts] == pytest.approx(0.4, abs=0.01)
    assert outcome.scope["beyond_l1"][casts] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("path", [AMP, FP32], ids=["amp", "fp32"])
@pytest.mark.parametrize("factor", [1.0, 20.0, 1000.0])
def test_savings_stay_within_the_launch_however_long_it_is(path: Path, factor: float) -> None:
    for rule_id, outcome in stretched(path, factor).items():
        duration = outcome.table.values["duration"][outcome.fired]
        expected, upper = outcome.expected[outcome.fired], outcome.upper[outcome.fired]
        assert (expected >= 0).all(), rule_id
        assert (expected <= upper).all(), rule_id
        assert (upper <= duration * (1 + 1e-12)).all(), rule_id


def stretched(path: Path, factor: float) -> dict[str, Outcome]:
    """The capture as if every launch took ``factor`` times as long at the same rates."""
    profile = profile_of(path)
    table, trace = build(profile, LAUNCH), build(profile, TRACE)
    for name in ("duration", "mean_duration"):
        table.values[name] = table.values[name] * factor
    table.time = table.time * factor
    return judged(table, trace)


@pytest.mark.parametrize("path", [AMP, FP32], ids=["amp", "fp32"])
def test_one_launch_gets_one_cause(path: Path) -> None:
    """Stretched to durations that count, every launch below a wave of blocks is told so and nothing else."""
    results = stretched(path, 1000.0)
    small = results["occupancy/small-grid"].fired
    assert small.sum() > 20
    for rule_id, outcome in results.items():
        if rule_id.startswith(("latency/", "imbalance/")) or rule_id == "memory/uncoalesced-global-access":
            assert not (outcome.fired & small).any(), rule_id
    stalls = [outcome.fired for rule_id, outcome in results.items() if rule_id.startswith("latency/stall-")]
    assert np.sum(stalls, axis=0).max() <= 1


@pytest.mark.parametrize("path", [AMP, FP32], ids=["amp", "fp32"])
def test_library_matrix_kernels_are_not_told_to_raise_their_occupancy(path: Path) -> None:
    """Warp-specialised kernels run at 12 to 25 % occupancy on purpose; NVIDIA claims up to 79 % for them."""
    results = stretched(path, 1000.0)
    values = results["occupancy/low-theoretical-occupancy"].table.values
    matrix = np.isin(values["family"].astype(str), ["gemm", "attention"])
    assert (values["theoretical_occupancy"][matrix] <= 0.25).all()
    for rule_id, outcome in results.items():
        if rule_id.startswith(("latency/", "occupancy/", "imbalance/")):
            assert not (outcome.fired & matrix).any(), rule_id


def test_a_bandwidth_roof_silences_everything_that_would_be_its_symptom() -> None:
    table, trace = build(profile_of(AMP), LAUNCH), build(profile_of(AMP), TRACE)
    size = len(table)
    for name in ("duration", "mean_duration"):
        table.values[name] = np.full(size, 1e-3)
    for name in ("dram_throughput", "memory_throughput", "max_throughput"):
        table.values[name] = np.full(size, 0.92)
    table.time = np.full(size, 1e-3)
    table.values["time_share"] = np.full(size, 1.0 / size)
    results = judged(table, trace)
    assert results["memory/dram-bandwidth-bound"].fired.all()
    for rule_id, outcome in results.items():
        if rule_id.startswith(("latency/", "occupancy/", "imbalance/", "precision/")):
            assert not outcome.fired.any(), rule_id


def test_every_stall_that_waits_for_something_has_a_rule() -> None:
    from nsight_insight.views.facts import STALLS

    names = {rule_id.removeprefix("latency/stall-") for rule_id in kernel_rules() if "/stall-" in rule_id}
    assert names == {
        stall.replace("dispatch_stall", "dispatch").replace("_", "-") for stall in STALLS if stall not in NEVER
    }


@pytest.mark.parametrize("rule_id", sorted(kernel_rules()))
def test_consequences_are_named_with_their_cause(rule_id: str) -> None:
    """A stall explains the idle issue slots it causes; no rule explains itself or what it may be caused by."""
    rule = kernel_rules()[rule_id]
    assert rule_id not in rule.explains
    if "/stall-" in rule_id:
        assert "latency/low-issue-slot-utilization" in rule.explains
    if rule_id == "latency/low-issue-slot-utilization":
        assert rule.explains == ()


corpus = pytest.mark.skipif(not CORPUS.exists(), reason="the published files are not here")


def report_of(name: str) -> list[tuple[str, str, list[str]]]:
    report = analyze_profile(profile_of(CORPUS / "ncu" / name), kernel_rules(), Config())
    return [
        (finding.rule, finding.subject.kernel, sorted(other.rule for other in finding.explains))
        for finding in report.findings
    ]


@corpus
def test_register_limited_kernel_of_an_a100_is_named_first() -> None:
    """30.9 of 31.1 ms in one kernel: 255 registers, 12.5 % occupancy, no unit above a third."""
    rule, kernel, folded = report_of("csv_details_julia_a100.csv")[0]
    assert rule == "occupancy/low-theoretical-occupancy"
    assert kernel.endswith("L1013")
    assert folded == ["latency/low-issue-slot-utilization"]


@corpus
def test_basic_sections_only_allow_a_note_on_occupancy() -> None:
    """855 launches on a laptop GPU, 7 ms each, blocks of 1024 threads that fit once per SM."""
    found = report_of("csv_raw_919_kernels_true_size.csv")
    assert {rule for rule, _, _ in found} == {"occupancy/low-achieved-occupancy"}
    assert found[0][1].startswith("cmuldual2DKernel")


@corpus
@pytest.mark.parametrize("name", ["csv_raw_b200_full_size.csv", "csv_raw_b200_475cols.csv"])
def test_without_throughput_nothing_is_claimed(name: str) -> None:
    path = CORPUS / "ncu" / name
    assert report_of(name) == []
    assert any(outcome.unknown.any() for outcome in outcomes(path).values())
