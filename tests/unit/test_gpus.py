"""The GPU catalogue against the figures NVIDIA publishes, names as drivers print them, and the traps of such tables."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.catalog.gpus import (
    GAINS,
    Gpu,
    compute_capability,
    find_gpu,
    load_gpus,
    near_matches,
    unknown_gpu,
)
from tests.paths import CORPUS

GPUS = load_gpus()
TOLERANCE = 0.025
ROUNDED_BY_NVIDIA = {
    # Published numbers that are rounded, or follow a clock or unit count that NVIDIA does not publish.
    ("l4", "fp32"): 0.035,
    ("h800-sxm5", "fp64"): 0.046,
    ("h800-sxm5", "fp64_tc"): 0.046,
    ("h20", "fp64"): 0.074,
    ("h20", "fp32"): 0.102,
    ("b300", "fp64"): 0.038,
    ("b300", "fp32"): 0.027,
    ("gb10", "fp4"): 0.05,
    ("rtx-pro-5000", "fp4"): 0.038,
}
BOOST_CLOCK = ("fp32", "fp64", "fp64_tc", "fp16_vec", "bf16_vec")
SHARED_NAME = {"jetson-agx-orin-64gb", "jetson-agx-orin-32gb", "jetson-orin-nx-16gb", "jetson-orin-nano-8gb"}


def gpu(name: str) -> Gpu:
    found = find_gpu(name)
    assert found is not None, name
    return found


def tera(value: float | None) -> float:
    assert value is not None
    return value / 1e12


# --- the table ---------------------------------------------------------------------------------------------


def deviations(gpu: Gpu) -> dict[str, float]:
    """Rate -> computed over published peak, minus one, from the table's own numbers."""
    clocks = {rate: gpu.boost_clock_hz if rate in BOOST_CLOCK else gpu.tensor_clock_hz for rate in gpu.published}
    return {
        rate: 2 * gpu.rates[rate] * gpu.sm_count * clocks[rate] / (published * 1e12) - 1
        for rate, published in gpu.published.items()
    }


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.id)
def test_computed_peaks_reproduce_the_published_ones(gpu: Gpu) -> None:
    for rate, deviation in deviations(gpu).items():
        assert abs(deviation) <= ROUNDED_BY_NVIDIA.get((gpu.id, rate), TOLERANCE), (rate, deviation)


def test_exceptions_are_needed() -> None:
    for (gpu_id, rate), allowed in ROUNDED_BY_NVIDIA.items():
        assert TOLERANCE < abs(deviations(gpu(gpu_id))[rate]) <= allowed, gpu_id


def test_most_gpus_have_a_published_peak_and_it_is_reproduced_closely() -> None:
    worst = [max(map(abs, deviations(gpu).values())) for gpu in GPUS if gpu.published]
    assert len(worst) >= 104
    assert median(worst) < 0.003


@pytest.mark.parametrize(
    ("name", "dtype", "tflops"),
    [
        ("Tesla V100-SXM2-16GB", "fp16", 125.0),
        ("Tesla T4", "fp16", 65.0),
        ("Tesla T4", "int8", 130.0),
        ("NVIDIA A100-SXM4-80GB", "fp32", 19.5),
        ("NVIDIA A100-SXM4-80GB", "tf32", 156.0),
        ("NVIDIA A100-SXM4-80GB", "bf16", 312.0),
        ("NVIDIA A100-SXM4-80GB", "fp64", 19.5),
        ("NVIDIA H100 80GB HBM3", "fp32", 67.0),
        ("NVIDIA H100 80GB HBM3", "bf16", 989.4),
        ("NVIDIA H100 80GB HBM3", "fp8", 1978.9),
        ("NVIDIA H200", "tf32", 494.7),
        ("NVIDIA GeForce RTX 4090", "fp16", 165.2),
        ("NVIDIA GeForce RTX 4090", "fp32", 82.6),
        ("NVIDIA L4", "bf16", 121.0),
    ],
)
def test_peak_by_type(name: str, dtype: str, tflops: float) -> None:
    assert tera(gpu(name).peak(dtype)) == pytest.approx(tflops, rel=0.02)


def test_ids_are_unique_and_rows_are_plausible() -> None:
    assert max(Counter(gpu.id for gpu in GPUS).values()) == 1
    for gpu in GPUS:
        assert compute_capability(gpu.cc) is not None, gpu.id
        assert {"fp32", "fp64"} <= set(gpu.rates), gpu.id
        assert gpu.segment in ("datacenter", "workstation", "geforce", "jetson"), gpu.id
        assert 6 <= gpu.sm_count <= 200, gpu.id
        assert (gpu.base_clock_hz or 0) <= gpu.tensor_clock_hz <= gpu.boost_clock_hz < 3e9, gpu.id
        assert 60e9 <= gpu.bandwidth <= 8e12, gpu.id
        assert 2**20 <= gpu.l2_bytes <= 130 * 2**20, gpu.id
        assert gpu.source, gpu.id
        assert gpu.confidence in ("high", "medium", "low"), gpu.id


def test_cuda_cores_per_sm_agree_with_the_rates() -> None:
    for gpu in GPUS:
        limits = compute_capability(gpu.cc)
        assert limits is not None
        assert gpu.rates["fp32"] == limits.cuda_cores, gpu.id


def test_a_type_the_gpu_lacks_has_no_peak() -> None:
    assert gpu("Tesla V100-SXM2-16GB").peak("bf16") is None
    assert gpu("Tesla T4").peak("tf32") is None
    assert gpu("NVIDIA A100-SXM4-40GB").peak("fp8") is None
    assert gpu("NVIDIA GeForce GTX 1660 SUPER").peak("fp16") is None
    assert gpu("NVIDIA H200").peak("no such type") is None


@pytest.mark.parametrize(
    ("cc", "warps", "blocks", "shared_kb", "block_kb"),
    [(7.5, 32, 16, 64, 64), (8.0, 64, 32, 164, 163), (8.6, 48, 16, 100, 99), (8.9, 48, 24, 100, 99)]
    + [(cc, 64, 32, 228, 227) for cc in (9.0, 10.0, 10.3)]
    + [(12.0, 48, 24, 100, 99)],
)
def test_limits_per_compute_capability(cc: float, warps: int, blocks: int, shared_kb: int, block_kb: int) -> None:
    limits = compute_capability(cc)
    assert limits is not None
    assert (limits.max_warps, limits.max_blocks) == (warps, blocks)
    assert (limits.shared_memory, limits.block_shared_memory) == (shared_kb * 1024, block_kb * 1024)
    assert (limits.registers, limits.registers_per_thread, limits.issue_per_cycle) == (65536, 255, 4)


def test_no_limits_for_an_unknown_compute_capability() -> None:
    assert compute_capability(6.1) is None
    assert compute_capability(13.0) is None


def test_the_table_loads_without_pandas() -> None:
    code = (
        "import nsight_insight.catalog.gpus as g; g.load_gpus()\n"
        "import sys; print('pandas' in sys.modules, 'numpy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


# --- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.id)
def test_every_name_finds_its_own_row_only(gpu: Gpu) -> None:
    for name in (gpu.id, *gpu.aliases, *(gpu.names if gpu.id not in SHARED_NAME else ())):
        assert find_gpu(name) is gpu, name
        assert find_gpu(name.lower()) is gpu, name
        assert find_gpu(f" {name.removeprefix('NVIDIA ')} (3)") is gpu, name


def test_shared_names_are_the_known_ones_and_the_sm_count_decides() -> None:
    holders = Counter(name for gpu in GPUS for name in gpu.names)
    shared = {name for name, count in holders.items() if count > 1}
    assert {gpu.id for gpu in GPUS if shared & set(gpu.names)} == SHARED_NAME
    assert find_gpu("Orin") is None
    by_count = find_gpu("Orin", 16), find_gpu("Orin", 14), find_gpu("Orin", 8)
    assert [found and found.id for found in by_count] == ["jetson-agx-orin-64gb", "jetson-agx-orin-32gb", None]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("h200", "h200-sxm"),
        ("a100-80gb", "a100-sxm4-80gb"),
        ("rtx4090", "rtx-4090"),
        ("RTX 4090", "rtx-4090"),
        ("H100 SXM", "h100-sxm5-80gb"),
        ("H100 NVL", "h100-nvl"),
        ("h100 pcie", "h100-pcie-80gb"),
        ("A100 PCIe 40 GB", "a100-pcie-40gb"),
        ("RTX 6000 Ada", "rtx-6000-ada"),
        ("l40s", "l40s"),
        ("l40", "l40"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q", "rtx-pro-6000-maxq"),
        ("GeForce RTX 3060 Laptop GPU", "rtx-3060-laptop"),
        ("GeForce RTX 3060", "rtx-3060"),
    ],
)
def test_what_users_type(name: str, expected: str) -> None:
    assert gpu(name).id == expected


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "NVIDIA",
        "NVIDIA Graphics Device",
        "GPU",
        "GeForce RTX",
        "server",
        "NVIDIA H100",
        "h100",
        "A100",
        "V100",
        "Tesla V100-SXM2",
        "RTX 4000",
        "RTX 6000",
        "Quadro 4000",
        "Quadro 6000",
        "NVIDIA RTX PRO 6000 Blackwell",
        "NVIDIA GH200",
        "NVIDIA L2",
        "NVIDIA A100X",
        "NVIDIA A100-SXM-64GB",
        "NVIDIA H100 80GB HBM2e",
        "GeForce GTX 1080",
        "NVIDIA GeForce RTX 3050 6GB",
        "NVIDIA GeForce RTX 4090 Ti",
        "(0)",
    ],
)
def test_ambiguous_and_unknown_names_find_nothing(name: str) -> None:
    assert find_gpu(name) is None


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["nvidia", "a100", "h100", "rtx", "4090", "mig", "1g.5gb", "-", "-24Q"])).map(" ".join)
)
def test_no_name_breaks_the_lookup(name: str) -> None:
    found = find_gpu(name)
    assert found is None or found.id in {gpu.id for gpu in GPUS}
    assert all(isinstance(match, str) for match in near_matches(name))


def test_near_matches_offer_ids_to_choose_from() -> None:
    assert set(near_matches("h100")) == {"h100-sxm5-80gb", "h100-pcie-80gb", "h100-nvl"}
    assert near_matches("4090")[0] == "rtx-4090"
    assert set(near_matches("Orin")) == SHARED_NAME
    assert "rtx-4070-ti" in near_matches("RTX 4070Ti Supr")
    assert near_matches("") == []
    assert all(find_gpu(match) for match in near_matches("A100"))


@pytest.mark.skipif(not CORPUS.exists(), reason="published captures are not here")
def test_the_table_agrees_with_what_devices_report_of_themselves() -> None:
    devices = [device for path in sorted((CORPUS / "nsys").glob("*.sqlite")) for device in _devices(path.as_posix())]
    agreed = set()
    for device in devices:
        found = find_gpu(str(device["name"]), int(device["smCount"]))
        if found is None:
            continue
        limits = compute_capability(found.cc)
        assert limits is not None
        assert device["smCount"] == found.sm_count, found.id
        assert found.cc == device["computeMajor"] + device["computeMinor"] / 10, found.id
        assert device["maxWarpsPerSm"] == limits.max_warps, found.id
        assert device["maxBlocksPerSm"] == limits.max_blocks, found.id
        assert device["maxShmemPerBlockOptin"] == limits.block_shared_memory, found.id
        assert device["clockRate"] == pytest.approx(found.boost_clock_hz, rel=0.04), found.id
        if device["chipName"] != found.chip:  # one name sold with another chip, other cache
            continue
        assert device["l2CacheSize"] == pytest.approx(found.l2_bytes, rel=0.01), found.id
        if not found.integrated:
            assert device["memoryBandwidth"] == pytest.approx(found.bandwidth, rel=0.01), found.id
        agreed.add(found.id)
    assert len(agreed) >= 15


def _devices(path: str) -> list[sqlite3.Row]:
    """Rows of a recent export's GPU table; older exports do not have all of its columns."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        columns = {row["name"] for row in connection.execute("PRAGMA table_info(TARGET_INFO_GPU)")}
        if not {"smCount", "chipName", "maxBlocksPerSm", "maxShmemPerBlockOptin"} <= columns:
            return []
        return connection.execute("SELECT * FROM TARGET_INFO_GPU WHERE smCount IS NOT NULL").fetchall()


# --- the ten traps of GPU tables ---------------------------------------------------------------------------


def test_trap_1_peaks_are_dense() -> None:
    # Datasheets since Hopper print twice this, "with sparsity"; widely copied tables give L4 242 and H100 1979.
    assert tera(gpu("NVIDIA L4").peak("bf16")) == pytest.approx(121, rel=0.01)
    assert tera(gpu("NVIDIA H100 80GB HBM3").peak("bf16")) == pytest.approx(989, rel=0.01)
    assert gpu("NVIDIA L4").bandwidth == 300e9


def test_trap_2_geforce_halves_16_bit_with_fp32_accumulation() -> None:
    for name in (
        "NVIDIA GeForce RTX 3090",
        "NVIDIA GeForce RTX 4090",
        "NVIDIA GeForce RTX 5090",
        "NVIDIA L40",
        "NVIDIA A10G",
    ):
        card = gpu(name)
        assert card.gain("gain_tf32") == pytest.approx(1.0), name
        assert card.gain("gain_16bit") == pytest.approx(2.0), name
        assert [card.tensor_cap(dtype) for dtype in ("fp16", "bf16", "16bit", "tf32")] == [0.5] * 4, name
        assert card.tensor_cap("int8") == 1.0, name
    for name in (
        "NVIDIA RTX A6000",
        "NVIDIA L40S",
        "NVIDIA L4",
        "NVIDIA A10",
        "NVIDIA A40",
        "TITAN RTX",
        "Tesla T4",
        "NVIDIA H200",
    ):
        card = gpu(name)
        assert {card.tensor_cap(dtype) for dtype in ("fp16", "bf16", "tf32", "fp8", "int8")} == {1.0}, name
        assert (card.gain("gain_16bit") or 0) >= 3.8, name
    l40, l40s = gpu("NVIDIA L40"), gpu("NVIDIA L40S")
    assert l40.rates["int8"] * 2 == l40s.rates["int8"]
    assert l40.rates["fp8_f32acc"] * 2 == l40s.rates["fp8_f32acc"]


def test_trap_2_the_cap_is_where_fp32_accumulation_is_slower() -> None:
    for card in GPUS:
        for dtype in ("fp16", "fp8"):
            fast, slow = card.rates.get(f"{dtype}_f16acc"), card.rates.get(f"{dtype}_f32acc")
            if fast and slow:
                assert card.tensor_cap(dtype) == slow / fast, (card.id, dtype)


def test_trap_3_cuda_cores_and_tensor_cores_have_their_own_clock() -> None:
    h100 = gpu("NVIDIA H100 80GB HBM3")
    assert (h100.boost_clock_hz, h100.tensor_clock_hz) == (1.98e9, 1.83e9)
    assert tera(h100.peak("fp32")) == pytest.approx(66.9, rel=0.01)
    assert tera(h100.peak("fp32", clock_hz=1.83e9)) == pytest.approx(61.8, rel=0.01)
    assert h100.gain("gain_16bit") == pytest.approx(14.8, rel=0.01)
    assert h100.gain("gain_16bit", clock_hz=1.5e9) == pytest.approx(16.0)


def test_trap_4_a_measured_clock_beats_the_table() -> None:
    a100 = gpu("NVIDIA A100-PCIE-40GB")
    assert a100.base_clock_hz is not None
    locked = a100.peak("bf16", clock_hz=a100.base_clock_hz)
    assert tera(a100.peak("bf16")) / tera(locked) == pytest.approx(1.84, abs=0.01)


def test_trap_5_a_measured_sm_count_beats_the_table() -> None:
    b300 = gpu("NVIDIA B300")
    assert b300.sm_count == 148
    assert tera(b300.peak("bf16", sm_count=152)) / tera(b300.peak("bf16")) == pytest.approx(152 / 148)


def test_trap_6_mig_and_virtual_gpus() -> None:
    part = gpu("NVIDIA A100-SXM4-40GB MIG 1g.5gb")
    assert (part.id, part.partition) == ("a100-sxm4-40gb", "1g.5gb")
    assert part.peak("bf16") is None, "the whole GPU's SMs would be a lie"
    assert tera(part.peak("bf16", sm_count=14)) == pytest.approx(312 * 14 / 108, rel=0.01)
    assert part.bandwidth == pytest.approx(1555e9 / 8)
    assert part.gain("gain_16bit") == pytest.approx(16.0)
    assert gpu("NVIDIA H100 80GB HBM3 MIG 1c.2g.20gb").bandwidth == pytest.approx(3350e9 / 4)
    assert gpu("NVIDIA H200 MIG 7g.141gb").bandwidth == pytest.approx(4800e9)
    assert gpu("NVIDIA A100-SXM4-40GB MIG 1g.10gb+me").partition == "1g.10gb+me"
    assert gpu("NVIDIA A40-24Q").id == "a40"
    assert gpu("GRID T4-8Q").id == "t4"
    assert gpu("NVIDIA L40S-48C").id == "l40s"
    assert not gpu("NVIDIA A40-24Q").partition


def test_trap_6_old_drivers_leave_the_prefix_out_and_gh200_names_the_cpu_memory() -> None:
    assert gpu("A100-SXM4-40GB") is gpu("NVIDIA A100-SXM4-40GB")
    assert gpu("GeForce RTX 3090") is gpu("NVIDIA GeForce RTX 3090")
    assert gpu("T4") is gpu("Tesla T4")
    gh200 = gpu("NVIDIA GH200 480GB")
    assert (gh200.id, gh200.memory_bytes) == ("gh200-96gb", 96e9)
    assert gpu("NVIDIA H200").id == "h200-sxm"


def test_trap_7_blackwell_ultra_gave_up_int8_and_fp64() -> None:
    for name in ("NVIDIA B300", "NVIDIA GB300"):
        ultra = gpu(name)
        assert tera(ultra.peak("int8")) < tera(ultra.peak("bf16")) / 10
        assert tera(ultra.peak("fp64")) < 2
    assert tera(gpu("NVIDIA B200").peak("int8")) > 4000
    assert tera(gpu("NVIDIA B200").peak("fp64")) > 30


def test_trap_8_superchips_and_integrated_gpus_do_not_copy_over_pcie() -> None:
    for name in ("NVIDIA GH200 480GB", "NVIDIA GH200 144G HBM3e", "NVIDIA GB200", "NVIDIA GB300"):
        assert gpu(name).host_bandwidth == 450e9, name
        assert not gpu(name).integrated, name
    h200 = gpu("NVIDIA H200")
    assert (h200.host_bandwidth, h200.nvlink) == (63e9, 450e9)
    integrated = {card.id for card in GPUS if card.integrated}
    assert integrated == SHARED_NAME | {"jetson-agx-thor", "gb10"}
    assert gpu("NVIDIA GB10").host_bandwidth is None


def test_trap_9_a_name_that_begins_several_names_finds_none() -> None:
    assert find_gpu("NVIDIA H100") is None
    assert {gpu(name).id for name in ("NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H100 NVL")} == {
        "h100-sxm5-80gb",
        "h100-pcie-80gb",
        "h100-nvl",
    }
    assert find_gpu("NVIDIA RTX 4000") is None
    assert gpu("Quadro RTX 4000").cc == 7.5
    assert gpu("NVIDIA RTX 4000 Ada Generation").bandwidth != gpu("NVIDIA RTX 4000 SFF Ada Generation").bandwidth


def test_trap_10_achievable_is_not_peak() -> None:
    assert gpu("NVIDIA A100-SXM4-80GB").achievable("bf16") == 0.87
    assert gpu("NVIDIA A100 80GB PCIe").achievable("fp16") == 0.81
    assert gpu("NVIDIA H200").achievable("fp8") == 0.73
    assert gpu("NVIDIA GeForce RTX 4090").achievable("bf16") == 0.80
    assert gpu("NVIDIA GeForce RTX 4090").achievable("bandwidth") == 0.90
    one_per_board = "a100-sxm4-40gb a100-pcie-40gb h100-sxm5-80gb h200-sxm gh200-96gb b200 b300 gb200"
    for key in ("bf16", "fp8"):
        measured = [gpu(name).measured[key] for name in one_per_board.split() if key in gpu(name).measured]
        assert gpu("NVIDIA L4").achievable(key) == pytest.approx(median(measured)), key


# --- a GPU that is not named --------------------------------------------------------------------------------


def test_an_unnamed_gpu_gets_the_median_of_the_data_centre_and_the_range_of_all() -> None:
    guess = unknown_gpu(8.0)
    discrete = [card for card in GPUS if card.cc >= 8.0 and not card.integrated]
    for name in GAINS:
        every = [value for card in discrete if (value := card.gain(name))]
        central = [value for card in discrete if card.segment == "datacenter" and (value := card.gain(name))]
        assert guess.gain(name) == pytest.approx(median(central))
        assert (guess.gains[name].low, guess.gains[name].high) == (min(every), max(every))
    assert guess.gains["gain_16bit"].low == pytest.approx(2.0)
    assert guess.gains["gain_tf32"].low == pytest.approx(1.0)
    assert guess.text == (
        "GPU not named in the input: assumed the median data-centre GPU of compute capability ≥ 8.0 "
        "(16-bit Tensor Core peak 14.8x FP32); on GeForce-class GPUs it is 2x. Pass --gpu NAME."
    )


@pytest.mark.parametrize("min_cc", [0.0, 7.0, 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 12.0])
def test_the_expected_gain_lies_in_the_range(min_cc: float) -> None:
    guess = unknown_gpu(min_cc)
    for name, gain in guess.gains.items():
        assert gain.low <= gain.expected <= gain.high, name
    assert "assumed" in guess.text
    assert guess.text.endswith("Pass --gpu NAME.")


def test_a_gpu_without_the_better_type_gains_nothing() -> None:
    assert unknown_gpu(7.0).gains["gain_tf32"].low == 1.0
    assert unknown_gpu(7.0).gains["gain_16bit"].low == 1.0
    assert unknown_gpu(7.0).gains["gain_16bit_over_tf32"].low == pytest.approx(2.0)


def test_a_stated_compute_capability_and_product_line_narrow_the_guess() -> None:
    laptop = unknown_gpu(7.0, cc=8.6, name="NVIDIA GeForce RTX 3070 Max-Q Something")
    assert laptop.gain("gain_16bit") == pytest.approx(2.0)
    assert laptop.gains["gain_16bit"].high == pytest.approx(2.0)
    assert "'NVIDIA GeForce RTX 3070 Max-Q Something' is not in the catalogue" in laptop.text
    assert unknown_gpu(7.0, cc=8.6).gain("gain_16bit") == pytest.approx(4.0)
    assert unknown_gpu(7.0, cc=12.0, name="NVIDIA RTX PRO 3000 Blackwell").gain("gain_16bit") == pytest.approx(4.0)
    assert unknown_gpu(7.0, cc=8.7).gain("gain_16bit") == pytest.approx(8.0)


def test_gpus_without_tensor_cores_and_unknown_generations_are_not_given_gains() -> None:
    gtx = unknown_gpu(7.0, cc=7.5, name="GeForce GTX 1650 Ti")
    assert math.isnan(gtx.gain("gain_16bit"))
    assert "no 16-bit Tensor Cores" in gtx.text
    pascal = unknown_gpu(7.0, cc=6.1, name="GeForce GTX 1080")
    assert all(math.isnan(gain.expected) for gain in pascal.gains.values())
    assert "no peaks are assumed" in pascal.text


def test_hostile_names_are_cleaned_in_the_sentence() -> None:
    assert "\x1b" not in unknown_gpu(8.0, name="\x1b[31mGPU\x07").text
