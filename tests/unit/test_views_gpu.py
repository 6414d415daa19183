"""What a device can do: measured, tabulated, assumed, unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.model.profile import Device
from nsight_insight.views.build import build
from nsight_insight.views.facts import LAUNCH, TRACE, FactTable
from tests.unit.make_profile import make_profile

FP16_GEMM = {"name": "nvjet_sm90_hsh_64x64_64x13_2x1_v_bz_bias_TNT", "tensor_core": "yes", "dtype_in": "fp16"}


def _launch(device: Device | None = None, **row: Any) -> FactTable:
    launch = {"device": 0, "duration": 1000.0, **FP16_GEMM, **row}
    return build(make_profile(ncu=[launch], devices=[device] if device else []), LAUNCH)


def _value(table: FactTable, name: str) -> Any:
    return table.values[name][0]


def test_published_peaks_of_a_known_gpu() -> None:
    table = _launch(Device(0, "NVIDIA H200"))
    assert _value(table, "peak_bf16") == pytest.approx(989e12, rel=0.01)
    assert _value(table, "peak_fp32") == pytest.approx(67e12, rel=0.02)
    assert _value(table, "peak_own") == _value(table, "peak_fp16")
    assert _value(table, "dram_bandwidth") == pytest.approx(4.8e12, rel=0.02)
    assert _value(table, "gain_tf32") == pytest.approx(494.5 / 67, rel=0.02)
    assert (_value(table, "cc"), _value(table, "sm_count"), _value(table, "min_cc")) == (9.0, 132, 9.0)
    assert not table.assumptions


def test_the_profile_comes_before_the_table() -> None:
    table = _launch(Device(0, "NVIDIA H200", sm_count=66), sm_clock=1e9)
    assert _value(table, "sm_count") == 66
    assert _value(table, "peak_fp16") == pytest.approx(66 * 4096 * 1e9)
    assert _value(table, "peak_fp32") == pytest.approx(66 * 256 * 1e9)


def test_a_clock_above_the_device_maximum_is_an_artefact() -> None:
    device = Device(0, "NVIDIA H200", sm_clock_hz=1.98e9)
    assert _value(_launch(device, sm_clock=2.2e9), "peak_fp32") == pytest.approx(132 * 256 * 1.98e9)


def test_measured_memory_clock() -> None:
    table = _launch(Device(0, "NVIDIA H200"), dram_peak_bytes_per_cycle=1504.0, dram_clock=3.2e9)
    assert _value(table, "dram_bandwidth") == pytest.approx(4.8128e12)


def test_an_unknown_gpu_has_assumed_gains_and_no_peaks() -> None:
    table = _launch()
    assert np.isnan(_value(table, "peak_fp16"))
    assert np.isnan(_value(table, "tensor_cap"))
    assert _value(table, "gpu") is None
    assert _value(table, "min_cc") == 9.0, "the kernel's name proves a Hopper GPU"
    assert _value(table, "gain_16bit") > 2
    assert "--gpu" in table.assumptions["gain_16bit"]


def test_consumer_chips_cap_the_tensor_counter() -> None:
    assert _value(_launch(Device(0, "NVIDIA GeForce RTX 4090")), "tensor_cap") == 0.5
    assert _value(_launch(Device(0, "NVIDIA H200")), "tensor_cap") == 1.0


def test_a_gpu_without_the_better_type_gains_nothing() -> None:
    table = _launch(Device(0, "Tesla V100-SXM2-16GB"))
    assert _value(table, "gain_tf32") == 1.0
    assert np.isnan(_value(table, "gain_16bit_over_tf32"))
    assert np.isnan(_value(table, "peak_tf32"))


def test_devices_of_one_profile_keep_their_own_gpu() -> None:
    rows = [{"name": "saxpy", "device": index, "duration": 5.0} for index in (0, 1)]
    devices = [Device(0, "NVIDIA H200"), Device(1, "NVIDIA GeForce RTX 4090")]
    table = build(make_profile(rows, devices=devices), TRACE)
    assert list(table.values["gpu"]) == ["NVIDIA H200", "NVIDIA GeForce RTX 4090"]
    assert list(table.values["min_cc"]) == [9.0, 8.9]


def test_rows_without_a_device_belong_to_the_only_one() -> None:
    table = build(make_profile([{"name": "saxpy", "duration": 5.0}], devices=[Device(3, "NVIDIA H200")]), TRACE)
    assert list(table.devices) == [3]
    assert table.values["gpu"][0] == "NVIDIA H200"
