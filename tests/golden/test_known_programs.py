"""What rules about operators, optimizers, grids and several devices say of other people's programs.

Expected numbers are counted here from the same files by other means: plain SQL over the database, or the lines of the
text. The files do not ship with the project.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import nsight_insight as ni
from nsight_insight.config import Config, Threshold
from nsight_insight.model.finding import Finding, Report
from nsight_insight.model.profile import Profile
from nsight_insight.views.build import build
from nsight_insight.views.facts import TRACE
from tests.paths import CORPUS, FIXTURES

ALL = Config(min_saving=Threshold(share=0.0))
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName"
RESNET = "nsys/resnet50-a100-2025.3.2.sqlite"
TWO_H100 = "nsys/h100-2gpu-1s-2026.2.1.sqlite"
DDP = "nsys/ddp-rtx3090x2-nccl-2026.3.1.sqlite"
FORWARD = "nsys/torch-small-fwd-a100-captured2025.1.3-exported2026.3.1.sqlite"


def path(name: str) -> Path:
    found = CORPUS / name
    if not found.exists():
        pytest.skip(f"{name} is not here")
    return found


@cache
def _loaded(file: Path) -> Profile:
    return ni.load(file)


def profile(name: str) -> Profile:
    return _loaded(path(name))


@cache
def _judged(file: Path) -> Report:
    return ni.analyze(_loaded(file), ALL)


def found(name: str, rule: str) -> list[Finding]:
    """Findings of a rule that stand for themselves, by device."""
    report = _judged(path(name))
    return sorted((one for one in report.findings if one.rule == rule), key=lambda one: one.subject.device)


def rows(name: str, query: str) -> list[tuple[Any, ...]]:
    """Rows of a query over the database; ``{kernels}`` stands for the kernels with their names."""
    query = query.replace("{kernels}", KERNELS)
    with closing(sqlite3.connect(f"{path(name).as_uri()}?mode=ro&immutable=1", uri=True)) as base:
        return base.execute(query).fetchall()


def test_batch_normalization_of_an_inference_run() -> None:
    ((time, launches),) = rows(
        RESNET, "select sum(end - start), count(*) from {kernels} where s.value like '%bn_fw_inf%'"
    )
    ((total,),) = rows(RESNET, "select sum(end - start) from CUPTI_ACTIVITY_KIND_KERNEL")
    (finding,) = found(RESNET, "launch/inference-batch-norm")
    assert finding.subject.time_ns == pytest.approx(time)
    assert finding.subject.launches == launches == 424
    assert finding.saving.expected_ns == pytest.approx(0.9 * time)
    assert finding.subject.time_share == pytest.approx(time / total) == pytest.approx(0.2315, abs=1e-3)
    assert _judged(path(RESNET)).findings[0].rule == "launch/inference-batch-norm"


def test_normalizations_by_hand_of_a_diffusion_model() -> None:
    means = rows(TWO_H100, "select k.deviceId, count(*) from {kernels} where s.value like '%MeanOps%' group by 1")
    roots = rows(TWO_H100, "select k.deviceId, count(*) from {kernels} where s.value like '%rsqrt_kernel%' group by 1")
    assert means == roots == [(0, 56), (1, 56)], "each mean belongs to one inverse root"
    ((mean_time,),) = rows(TWO_H100, "select sum(end - start) / 2 from {kernels} where s.value like '%MeanOps%'")
    for finding in found(TWO_H100, "launch/handwritten-normalization"):
        bases = {member.base for member in finding.subject.members}
        assert any("rsqrt" in base for base in bases)
        assert finding.saving.upper_ns > mean_time, "square and products come on top of the means"
        assert finding.saving.upper_ns < 2.5 * mean_time
        (said,) = [value for clause in finding.evidence for value in clause.values if value.name == "norm_fusible_time"]
        assert said.value == pytest.approx(finding.saving.upper_ns * 1e-9), "the sum over kernels, not one of them"


def test_attention_with_a_softmax_of_five_kernels() -> None:
    query = "select sum(end - start), count(*) from {kernels} where s.value like '%exp_kernel_cuda%'"
    ((time, softmaxes),) = rows(FORWARD, query)
    assert softmaxes == 12, "one per layer of GPT-2 small"
    (finding,) = found(FORWARD, "launch/unfused-attention")
    table = build(profile(FORWARD), TRACE)
    between, chain = (float(table.values[f"attention_{part}_time"][0]) for part in ("between", "chain"))
    assert 5 * time * 1e-9 < between < 10 * time * 1e-9, "eight passes over the scores, one of them the exponential"
    assert between < chain < 2 * between
    assert finding.saving.expected_ns == pytest.approx(0.9 * between * 1e9)


def test_the_optimizer_of_a_sharded_training_run() -> None:
    name = "nsys/fsdp-2rank-stats-2024.7.1.txt"
    (finding,) = found(name, "launch/foreach-optimizer")
    text = path(name).read_text(encoding="utf-8").splitlines()
    section = next(place for place, line in enumerate(text) if "cuda_gpu_kern_sum" in line)
    cells = [line.split() for line in text[section : section + 200] if "multi_tensor_apply_kernel" in line]
    assert finding.subject.launches == sum(int(row[2].replace(",", "")) for row in cells) == 1312
    assert finding.subject.time_ns == pytest.approx(sum(float(row[1].replace(",", "")) for row in cells))
    assert finding.saving.expected_ns == pytest.approx(0.9 * 0.67 * finding.subject.time_ns)


@pytest.mark.parametrize(
    ("name", "sms"),
    [
        ("nsys/a100x4-um-2022.2.1.sqlite", 108),
        ("nsys/mpi-saxpy-a100-nonlazy-2022.2.1.sqlite", 108),
        ("nsys/rtx2080ti-x2-um-2024.4.1.sqlite", 68),
    ],
)
def test_kernels_of_one_or_two_blocks(name: str, sms: int) -> None:
    ((blocks, time),) = rows(
        name, "select max(gridX * gridY * gridZ), sum(end - start) from CUPTI_ACTIVITY_KIND_KERNEL"
    )
    (finding,) = found(name, "occupancy/few-blocks")
    assert blocks <= 2
    assert finding.saving.upper_ns == pytest.approx(time * (1 - blocks / sms))


@pytest.mark.parametrize("name", ["nsys/gtx1060-windows-2022.1.1-nonutf8.sqlite", FORWARD, RESNET, DDP])
def test_small_grids_that_are_no_fault(name: str) -> None:
    assert found(name, "occupancy/few-blocks") == [], "library kernels, collectives, or kernels on several streams"


def _reductions(device: int) -> list[tuple[int, int]]:
    query = "select start, end, deviceId from {kernels} where s.value like '%AllReduce%bf16%' order by 1"
    return [(int(start), int(end)) for start, end, own in rows(DDP, query) if own == device]


def test_two_devices_join_their_reductions_within_microseconds() -> None:
    pairs = list(zip(_reductions(0), _reductions(1), strict=True))
    waits = [max(0, (one[1] - one[0]) - (other[1] - other[0])) for one, other in pairs]
    table = build(profile(DDP), TRACE)
    waited = table.values["comm_wait_time"]
    assert 0 < waited[0] * 1e9 <= sum(waits) + 30e6, "the other types of reductions wait at most 30 ms more"
    assert found(DDP, "imbalance/late-device") == [], "2 % of the kernel time"


def test_half_precision_reductions_are_not_told_to_use_half_precision() -> None:
    findings = found(DDP, "communication/exposed-collectives")
    assert len(findings) == 2
    assert all("smaller" not in {remedy.id for remedy in one.remedies} for one in findings)


def test_kernels_are_slower_beside_the_reductions() -> None:
    findings = found(DDP, "communication/slowed-computation")
    assert [one.subject.device for one in findings] == [0, 1]
    busy = _reductions(0)
    query = """select start, end, k.demangledName, gridX, gridY, gridZ, blockX from {kernels}
        where deviceId = 0 and s.value not like 'nccl%'"""
    beside: dict[tuple[Any, ...], list[int]] = {}
    alone: dict[tuple[Any, ...], list[int]] = {}
    for start, end, *key in rows(DDP, query):
        inside = any(first <= start and end <= last for first, last in busy)
        apart = all(end <= first or last <= start for first, last in busy)
        (beside if inside else alone if apart else {}).setdefault(tuple(key), []).append(end - start)
    slower = [sorted(beside[key])[len(beside[key]) // 2] / sorted(alone[key])[len(alone[key]) // 2]
              for key in beside.keys() & alone.keys() if min(len(beside[key]), len(alone[key])) >= 3]  # fmt: skip
    assert len(slower) >= 5
    assert sum(ratio > 1 for ratio in slower) > 0.8 * len(slower), "nearly all of the compared kernels take longer"


def test_a_device_made_late_keeps_the_other_waiting() -> None:
    """Device 1 joins each reduction at 80 % of its time, as if its own work before had taken so much longer."""
    real = profile(DDP)
    rows = real.activities.copy()
    late = rows["name"].str.contains("AllReduce") & (rows["device"] == 1) & (rows["kind"] == "kernel")
    rows.loc[late, "start"] += 0.8 * rows.loc[late, "duration"]
    rows.loc[late, "duration"] *= 0.2
    changed = replace(real, activities=rows)
    before, after = build(real, TRACE).values, build(changed, TRACE).values
    assert after["comm_wait_time"][0] > 3 * before["comm_wait_time"][0]
    assert after["comm_wait_time"][1] < 0.1 * after["comm_wait_time"][0]
    assert after["comm_joined_last"][1] > 0.95
    (finding,) = [one for one in ni.analyze(changed, ALL).findings if one.rule == "imbalance/late-device"]
    assert finding.subject.device == 0
    assert "communication/exposed-collectives" in {one.rule for one in finding.explains}


def test_launches_made_to_wait_are_noticed() -> None:
    """Every launch call of the recorded training step lasts until its kernel has ended."""
    real = ni.load(FIXTURES / "nsys-sqlite" / "2025.3-h200-amp" / "amp_fp16.sqlite")
    rows = real.activities.copy()
    kernels = rows[(rows["kind"] == "kernel") & (rows["correlation"] >= 0)]
    ends = dict(zip(kernels["correlation"], kernels["start"] + kernels["duration"], strict=True))
    calls = (rows["kind"] == "api") & rows["correlation"].isin(list(ends))
    finish = rows.loc[calls, "correlation"].map(ends) + 2000.0
    rows.loc[calls, "duration"] = finish - rows.loc[calls, "start"]
    waiting = replace(real, activities=rows)
    assert build(real, TRACE).values["blocking_launches"][0] == 0
    assert build(waiting, TRACE).values["blocking_launches"][0] == 1
    assert all(one.rule != "sync/blocking-launches" for one in ni.analyze(real, ALL).findings)
    (finding,) = [one for one in ni.analyze(waiting, ALL).findings if one.rule == "sync/blocking-launches"]
    assert "idle/launch-bound" in {one.rule for one in finding.explains}


def test_matrix_vector_products_of_a_power_iteration() -> None:
    name = "nsys/t4-cupy-nvtx-2025.3.1.sqlite"
    ((time,),) = rows(name, "select sum(end - start) from {kernels} where s.value like '%gemv%'")
    (finding,) = found(name, "memory/matrix-vector-products")
    assert finding.saving.upper_ns == pytest.approx(0.75 * time)
    assert finding.confidence == "low"


def test_device_copies_beside_a_model_that_is_streamed_in() -> None:
    query = """select m.deviceId, sum(m.end - m.start) from CUPTI_ACTIVITY_KIND_MEMCPY m
        where m.copyKind = 8 and m.start >=
        (select min(k.start) from CUPTI_ACTIVITY_KIND_KERNEL k where k.deviceId = m.deviceId) group by 1"""
    times = build(profile(TWO_H100), TRACE).values["d2d_time"]
    assert list(times * 1e9) == pytest.approx([time for _, time in rows(TWO_H100, query)], rel=1e-6)


@pytest.mark.parametrize("name", ["nvprof/llmc-bf16-summary.txt", "nsys/mlora-2node-head-profile-stats.txt"])
def test_products_in_16_bits_on_cuda_cores_stay_open_without_the_gpu(name: str) -> None:
    gaps = {gap.rule: gap for gap in _judged(path(name)).not_evaluated}
    assert "cc" in gaps["tensor-core/16bit-matrix-on-cuda-cores"].missing
    report = ni.analyze(ni.load(path(name), gpu="Tesla V100-SXM2-16GB"), ALL)
    assert report.findings[0].rule == "tensor-core/16bit-matrix-on-cuda-cores"
    assert report.findings[0].subject.time_share > 0.7
    without = ni.analyze(ni.load(path(name), gpu="NVIDIA GeForce GTX 1660"), ALL)
    assert all(one.rule != "tensor-core/16bit-matrix-on-cuda-cores" for one in without.findings), (
        "it has no Tensor Cores"
    )


def test_a_product_written_by_hand_takes_all_of_seven_seconds() -> None:
    name = "nsys/kernsum-many-reports-spaces-in-path.txt"
    (finding,) = found(name, "tensor-core/own-matrix-kernel")
    lines = [line for line in path(name).read_text(encoding="utf-8").splitlines() if "matrixMul(const double" in line]
    assert len(lines) == finding.subject.launches == 7
    assert finding.saving.expected_ns == pytest.approx(
        0.8 * (1 - 0.2 / 0.85) * sum(float(line.split()[1]) for line in lines)
    )
    assert finding.confidence == "low"


def test_double_precision_on_a_geforce() -> None:
    name = "nsys/rtx3060-2023.3.1.sqlite"
    ((time,),) = rows(name, "select sum(end - start) from {kernels} where s.value like '%double%'")
    (finding,) = found(name, "precision/fp64-on-consumer-gpu")
    assert finding.saving.expected_ns == pytest.approx(time / 2)
    assert finding.saving.upper_ns == pytest.approx(time * 63 / 64), (
        "compute capability 8.6 has 2 FP64 and 128 FP32 units"
    )


@pytest.mark.parametrize("name", ["nsys/mpi-saxpy-a100-nonlazy-2022.2.1.sqlite", DDP, RESNET, FORWARD])
def test_double_precision_is_no_fault_elsewhere(name: str) -> None:
    assert found(name, "precision/fp64-on-consumer-gpu") == []


def test_the_loss_of_a_language_model() -> None:
    report = ni.analyze(ni.load(FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_kern_sum.csv"), ALL)
    (finding,) = [one for one in report.findings if one.rule == "launch/unfused-cross-entropy"]
    assert finding.subject.launches == 8, "forward and backward of four steps"
    assert finding.subject.time_ns == pytest.approx((551.6 + 420.9) * 4e3, rel=1e-3)
