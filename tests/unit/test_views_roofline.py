"""The roofline against numbers read from the raw page by other means, and against physics."""

from __future__ import annotations

import csv
import math
from functools import cache

import pytest

import nsight_insight as ni
from nsight_insight.catalog.gpus import find_gpu
from nsight_insight.model.charts import Roofline, RooflinePoint
from nsight_insight.model.profile import Device, Profile
from nsight_insight.views import roofline as view
from nsight_insight.views.build import build_all
from nsight_insight.views.facts import KERNEL
from tests.paths import FIXTURES, ROOT
from tests.unit.make_profile import make_profile

RAW = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
PROOF = ROOT / "bench" / "proof" / "captures"
SCALE = {"": 1.0, "%": 0.01, "cycle": 1.0, "inst/cycle": 1.0, "sector": 1.0,
         **{f"{prefix}{unit}": factor for prefix, factor in (("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
            for unit in ("byte", "byte/s", "byte/cycle", "hz")},
         "us": 1e-6, "ns": 1e-9}  # fmt: skip
FP16_PEAK = "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum.peak_sustained"
OPS_16 = "sm__ops_path_tensor_src_fp16.sum"
FLOP = {"ffma": 2.0, "fadd": 1.0, "fmul": 1.0, "dfma": 2.0, "dadd": 1.0, "dmul": 1.0}


def chart(profile: Profile) -> Roofline:
    views = build_all(profile)
    (found,) = view.rooflines(views.activities, views[KERNEL])
    return found


@cache
def amp() -> Roofline:
    return chart(ni.load(RAW))


@cache
def launches() -> list[dict[str, float | str]]:
    """Launches of the raw page in SI units, read without the project's readers."""
    with RAW.open(newline="", encoding="utf-8") as file:
        header, units, *rows = csv.reader(file)
    return [{name: _number(cell, unit) for name, unit, cell in zip(header, units, row, strict=True)} for row in rows]


def _number(cell: str, unit: str) -> float | str:
    try:
        return float(cell.replace(",", "")) * SCALE.get(unit, 1.0)
    except ValueError:
        return cell


def value(launch: dict[str, float | str], name: str) -> float:
    found = launch[name]
    assert isinstance(found, float), name
    return found


def bytes_moved(launch: dict[str, float | str]) -> float:
    return value(launch, "dram__bytes_read.sum") + value(launch, "dram__bytes_write.sum")


def vector_ops(launch: dict[str, float | str], kinds: tuple[str, ...]) -> float:
    per_cycle = sum(
        FLOP[kind] * value(launch, f"smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum.per_cycle_elapsed")
        for kind in kinds
    )
    return per_cycle * value(launch, "gpc__cycles_elapsed.max")


def of(name: str) -> tuple[RooflinePoint, list[dict[str, float | str]]]:
    """The point of a kernel and its launches in the raw page."""
    (point,) = (point for point in amp().points if name in point.kernel)
    return point, [launch for launch in launches() if name in str(launch["Kernel Name"])]


def test_tensor_core_gemm_by_hand() -> None:
    """4,294,967,296 operations, 5,264,384 bytes, 10.784 us: read in the file."""
    point, (launch,) = of("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_TNT")
    assert (value(launch, OPS_16), bytes_moved(launch)) == (4_294_967_296, pytest.approx(5_264_384))
    assert point.path == "fp16 tensor"
    assert point.intensity["DRAM"] == pytest.approx(4_294_967_296 / 5_264_384)
    assert point.rate == pytest.approx(4_294_967_296 / 10.784e-6)
    clock = value(launch, "gpc__cycles_elapsed.avg.per_second")
    assert clock == pytest.approx(1.755645e9)
    # 540,672 operations per cycle: the counter's peak of 1,081,344 is that of sparse operands.
    assert point.peak == pytest.approx(540_672 * clock)
    assert point.ceiling == pytest.approx(point.peak)
    assert point.bound == "compute"
    bandwidth = value(launch, "dram__bytes.sum.peak_sustained") * value(launch, "dram__cycles_elapsed.avg.per_second")
    assert point.ridge == pytest.approx(540_672 * clock / bandwidth)
    # ncu prints the rate and the share of the (sparse) peak itself.
    assert point.rate == pytest.approx(value(launch, f"{OPS_16}.per_second"), rel=1e-3)
    assert point.reached == pytest.approx(2 * value(launch, f"{OPS_16}.pct_of_peak_sustained_elapsed"), rel=0.03)


def test_levels_by_hand() -> None:
    point, (launch,) = of("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_TNT")
    seconds = value(launch, "gpu__time_duration.sum")
    l2 = value(launch, "derived__lts__lts2xbar_bytes.sum.per_second") * seconds
    l1 = value(launch, "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.per_second") * seconds
    assert point.intensity["L2"] == pytest.approx(4_294_967_296 / l2)
    assert point.intensity["L1"] == pytest.approx(4_294_967_296 / l1)
    assert amp().bandwidths["L1"] == pytest.approx(132 * 128 * 1.9555e9, rel=0.01)
    assert amp().bandwidths["DRAM"] == pytest.approx(4.8e12, rel=0.01)


def test_elementwise_kernel_is_bound_by_memory() -> None:
    point, (launch,) = of("multi_tensor_apply_kernel")
    ops = vector_ops(launch, ("ffma", "fadd", "fmul"))
    assert point.path == "fp32"
    assert point.intensity["DRAM"] == pytest.approx(ops / bytes_moved(launch), rel=1e-5)
    assert point.bound == "memory"
    bandwidth = value(launch, "dram__bytes.sum.peak_sustained") * value(launch, "dram__cycles_elapsed.avg.per_second")
    assert point.ceiling == pytest.approx(point.intensity["DRAM"] * bandwidth)
    assert point.reached == pytest.approx(
        value(launch, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), rel=0.05
    )


def test_several_launches_are_added_and_spread() -> None:
    name = "nvjet_sm90_hsh_64x64_64x13_2x1_v_bz_bias_TNT"
    point, found = of(name)
    ops = [value(one, OPS_16) + vector_ops(one, ("ffma", "fadd", "fmul", "dfma", "dadd", "dmul")) for one in found]
    seconds = [value(one, "gpu__time_duration.sum") for one in found]
    assert point.measured == point.launches == len(found) == 2
    assert point.rate == pytest.approx(sum(ops) / sum(seconds), rel=1e-5)
    rates = sorted(o / s for o, s in zip(ops, seconds, strict=True))
    assert point.rates.low == pytest.approx(rates[0], rel=1e-5)
    assert point.rates.high == pytest.approx(rates[1], rel=1e-5)
    assert point.rates.median == pytest.approx(sum(rates) / 2, rel=1e-5)
    assert point.rates.median < point.rates.p95 < point.rates.high
    assert point.intensity["DRAM"] == pytest.approx(sum(ops) / sum(map(bytes_moved, found)), rel=1e-5)


def test_every_kernel_is_placed_or_has_a_reason() -> None:
    found = amp()
    names = {str(launch["Kernel Name"]) for launch in launches()}
    assert len(found.points) + len(found.unplaced) == len(names)
    assert sum(p.share for p in found.points) + sum(u.share for u in found.unplaced) == pytest.approx(1.0)
    for entry in found.unplaced:
        assert entry.reason == view.NO_WORK
        own = [launch for launch in launches() if launch["Kernel Name"] == entry.kernel]
        assert own
        for launch in own:
            assert value(launch, OPS_16) == 0
            assert vector_ops(launch, tuple(FLOP)) == 0


def captures() -> list[str]:
    files = sorted(path.name for path in PROOF.glob("*.tar.xz"))
    return files[::20]


@pytest.mark.parametrize("name", captures())
def test_no_kernel_is_above_its_ceiling(name: str) -> None:
    """Counters of one launch come from several replays, so a little more than the ceiling is possible."""
    _assert_physical(chart(ni.load(PROOF / name)))


def test_no_kernel_of_the_amp_step_is_above_its_ceiling() -> None:
    _assert_physical(amp())
    assert len(amp().points) == 20


def _assert_physical(found: Roofline) -> None:
    for point in found.points:
        assert point.intensity["DRAM"] > 0
        assert point.rates.low <= point.rate * (1 + 1e-9)
        assert point.rate <= point.rates.high * (1 + 1e-9)
        assert point.rates.low <= point.rates.median <= point.rates.p95 <= point.rates.high
        if point.ceiling is not None:
            assert point.rate <= point.ceiling * 1.05, point.kernel
            assert point.peak is not None
            assert point.ceiling <= point.peak * (1 + 1e-9)


def launch(**metrics: object) -> dict[str, object]:
    """A launch of 10 us on an H200 that does 1e9 FP32 operations and moves 1e6 bytes."""
    return {
        "name": "saxpy(float *)", "duration": 10_000.0, "elapsed_cycles": 1e4, "sm_clock": 1e9, "dram_bytes": 1e6,
        "fp32_fma_per_cycle": 5e4, "fp32_add_per_cycle": 0.0, "fp32_mul_per_cycle": 0.0, "tensor_active": 0.0,
        **metrics,
    }  # fmt: skip


def one(*rows: dict[str, object], gpu: str = "NVIDIA H200") -> Roofline:
    return chart(make_profile(ncu=rows, devices=[Device(0, gpu, 9.0)] if gpu else []))


def test_peak_follows_the_measured_clock() -> None:
    (point,) = one(launch()).points
    assert point.rate == pytest.approx(1e14)
    assert point.peak == pytest.approx(132 * 128 * 2 * 1e9)
    (faster,) = one(launch(sm_clock=1.5e9)).points
    assert faster.peak == pytest.approx(1.5 * point.peak)


@pytest.mark.parametrize(("tensor", "path"), [(1e9, "fp32"), (1e10, "fp16 tensor")])
def test_two_paths_need_the_time_of_the_busier_one(tensor: float, path: str) -> None:
    """Tensor Cores and CUDA cores work side by side: the peak of one of them alone would be exceeded."""
    (point,) = one(launch(tensor_ops_fp16=tensor, tensor_active=0.5, fp32_fma_per_cycle=1e4)).points
    seconds = {"fp16 tensor": tensor / (132 * 4096 * 1e9), "fp32": 2e8 / (132 * 128 * 2 * 1e9)}
    assert point.path == path == max(seconds, key=lambda name: seconds[name])
    assert point.peak == pytest.approx((tensor + 2e8) / seconds[path])


def test_without_a_known_gpu_kernels_are_placed_without_ceiling() -> None:
    found = one(launch(), gpu="")
    (point,) = found.points
    assert (point.peak, point.ceiling, point.reached, point.bound, point.ridge) == (None, None, None, "", None)
    assert found.peaks == {}
    assert point.intensity["DRAM"] == pytest.approx(1000.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"dram_bytes": math.nan}, view.NO_BYTES),
        ({"fp32_fma_per_cycle": math.nan}, view.NO_OPERATIONS),
        ({"tensor_active": 0.4}, view.NO_TENSOR),
        ({"fp32_fma_per_cycle": 0.0}, view.NO_WORK),
        ({"fp32_fma_per_cycle": 0.0, "fp16_instructions": 7.0}, view.HALF),
        ({"dram_bytes": 0.0}, view.NO_TRAFFIC),
    ],
)
def test_what_is_missing_is_said(changes: dict[str, object], reason: str) -> None:
    found = one(launch(**changes))
    assert found.points == ()
    (entry,) = found.unplaced
    assert entry.reason == reason
    assert found.note == (view.HOW if reason in view.LACKING else "")


def test_kernels_that_ncu_did_not_see_are_told() -> None:
    profile = make_profile(
        [{"name": "saxpy(float *)", "duration": 10_000.0}, {"name": "other(float *)", "duration": 30_000.0}],
        ncu=[launch()], devices=[Device(0, "NVIDIA H200", 9.0)],
    )  # fmt: skip
    found = chart(profile)
    (point,) = found.points
    assert point.share == pytest.approx(0.25)
    assert [(entry.kernel, entry.reason, entry.share) for entry in found.unplaced] == [
        ("other(float *)", view.NOT_PROFILED, pytest.approx(0.75))
    ]


def test_a_trace_alone_says_what_collects_the_counters() -> None:
    found = chart(make_profile([{"name": "saxpy(float *)", "duration": 1000.0}]))
    assert found.points == found.unplaced == ()
    assert "ncu --set roofline" in found.note


def test_fp64_on_cuda_cores_has_its_own_roof() -> None:
    """An H200's published FP64 peak is that of its Tensor Cores, twice what DFMA reaches."""
    double = launch(fp32_fma_per_cycle=0.0, fp64_fma_per_cycle=1e3, fp64_add_per_cycle=0.0, fp64_mul_per_cycle=0.0)
    (point,) = one(double).points
    gpu = find_gpu("NVIDIA H200")
    assert gpu is not None
    assert point.path == "fp64"
    assert point.peak == pytest.approx(gpu.rates["fp64"] * 2 * 132 * 1e9)
    assert point.peak == pytest.approx((gpu.peak("fp64", clock_hz=1e9) or 0) / 2)


def test_fp16_accumulation_may_be_faster_than_the_fp32_accumulating_peak() -> None:
    """A GeForce halves FP32 accumulation; a kernel above that roof accumulates in FP16."""
    gpu = find_gpu("NVIDIA GeForce RTX 4090")
    assert gpu is not None
    slow = gpu.peak("fp16", clock_hz=1e9) or 0.0
    fast = gpu.peak("fp16_f16acc", clock_hz=1e9) or 0.0
    assert fast == pytest.approx(2 * slow)
    for part, peak in ((0.5, slow), (1.5, fast)):
        found = one(
            launch(tensor_ops_fp16=part * slow * 1e-5, tensor_active=0.9, fp32_fma_per_cycle=0.0),
            gpu="NVIDIA GeForce RTX 4090",
        )
        assert found.points[0].peak == pytest.approx(peak)
