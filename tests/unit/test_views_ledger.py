from __future__ import annotations

from typing import Any

import pytest

from nsight_insight.catalog.conversions import conversion_kind
from nsight_insight.model.ledger import Conversion, Flow, PrecisionLedger
from nsight_insight.model.profile import Device
from nsight_insight.views.build import build_all
from nsight_insight.views.ledger import precision_ledger
from tests.unit.make_profile import make_profile

US = 1000.0
H200 = (Device(0, "NVIDIA H200", 9.0),)


def row(family: str, duration: float, start: float | None = None, **more: Any) -> dict[str, Any]:
    timed = {} if start is None else {"start": start}
    return {"name": f"{family}_kernel", "family": family, "duration": duration, "device": 0, **timed, **more}


def cast(source: str, target: str, duration: float, start: float | None = None, **more: Any) -> dict[str, Any]:
    return row("cast", duration, start, dtype_in=source, dtype_out=target, name=f"{source}_to_{target}", **more)


def ledger(*rows: dict[str, Any], **more: Any) -> PrecisionLedger:
    found = precision_ledger(build_all(make_profile(rows, devices=H200, **more)))
    assert found is not None
    return found


def only(found: PrecisionLedger, kind: str) -> Conversion:
    [entry] = [entry for entry in found.conversions if entry.kind == kind]
    return entry


@pytest.mark.parametrize(
    ("family", "source", "target", "name", "kind"),
    [
        ("cast", "fp32", "fp16", "x", "cast down"),
        ("cast", "fp32", "bf16", "x", "cast down"),
        ("cast", "fp16", "fp32", "x", "cast up"),
        ("cast", "fp64", "fp32", "x", "cast down"),
        ("cast", "", "fp32", "x", "cast up"),
        ("cast", "", "bf16", "x", "cast down"),
        ("cast", "", "", "x", "cast"),
        ("cast", "", "int64", "x", "cast"),
        ("cast", "fp16", "bf16", "x", "cast"),
        ("cast", "fp16", "", "x", "cast"),
        ("layout", "fp16", "fp16", "x", "layout"),
        ("quantize", "", "", "scaled_fp8_quant_kernel", "quantize"),
        ("quantize", "", "", "dequantize_block_q4_K", "dequantize"),
        (
            "elementwise",
            "",
            "",
            "unrolled_elementwise_kernel<CUDAFunctor_add<float>, memory::LoadWithCast<2>>",
            "fused",
        ),
        ("elementwise", "", "", "unrolled_elementwise_kernel<f, memory::LoadWithoutCast>", None),
        ("reduction", "", "", "triton_per_fused__to_copy_add_mean_0", "fused"),
        ("gemm", "fp16", "fp32", "nvjet_hsh_128x256", None),
    ],
)
def test_kind_of_a_conversion(family: str, source: str, target: str, name: str, kind: str | None) -> None:
    assert conversion_kind(family, source, target, name) == kind


def test_nothing_that_converts_gives_no_ledger() -> None:
    assert precision_ledger(build_all(make_profile([row("gemm", 5.0), row("norm", 3.0)]))) is None
    assert precision_ledger(build_all(make_profile())) is None


def test_entries_by_kind_and_types_add_up_and_fused_ones_stay_beside() -> None:
    promoted = "void at::unrolled_elementwise_kernel<CUDAFunctor_add<float>, memory::LoadWithCast<2>>(int)"
    found = ledger(
        cast("fp32", "fp16", 10.0), cast("fp32", "fp16", 20.0, count=2), cast("fp16", "fp32", 5.0),
        row("layout", 15.0), row("gemm", 40.0), row("elementwise", 10.0, name=promoted),
    )  # fmt: skip
    assert (found.time_ns, found.launches, found.share) == (pytest.approx(50.0), 5, pytest.approx(0.5))
    assert [entry.kind for entry in found.conversions] == ["cast down", "layout", "cast up", "fused"]
    down = only(found, "cast down")
    assert (down.launches, down.time_ns, down.share) == (3, pytest.approx(30.0), pytest.approx(0.3))
    assert only(found, "fused").time_ns == pytest.approx(10.0)
    assert down.flows == ()
    assert (found.steps, found.pingpong_launches, down.step_ns) == (None, None, None)


def test_producers_and_consumers_skip_other_conversions_and_stay_on_their_stream() -> None:
    found = ledger(
        row("norm", 1.0, 0.0, stream=7), cast("fp32", "fp16", 4.0, 10.0, stream=7),
        row("softmax", 1.0, 12.0, stream=9), cast("fp32", "fp16", 3.0, 20.0, stream=7),
        row("gemm", 9.0, 30.0, stream=7), cast("fp32", "fp16", 1.0, 40.0, stream=9),
    )  # fmt: skip
    flows = only(found, "cast down").flows
    assert flows[0] == Flow("norm", "gemm", 2, pytest.approx(7.0))
    assert flows[1] == Flow("softmax", "", 1, pytest.approx(1.0))


def test_a_cast_and_its_reverse_are_counted_as_undone() -> None:
    found = ledger(
        row("gemm", 9.0, 0.0, dtype_in="fp16"), cast("fp16", "fp32", 4.0, 10.0, grid_x=8, block_x=128),
        row("softmax", 1.0, 20.0), cast("fp32", "fp16", 4.0, 30.0, grid_x=8, block_x=128),
    )  # fmt: skip
    assert (found.pingpong_launches, found.pingpong_ns) == (1, pytest.approx(4.0))


def step_rows(steps: int) -> list[dict[str, Any]]:
    rows = []
    for step in range(steps):
        at = step * 100.0
        nvtx = f"step {step}/forward/block/inner"
        rows += [
            row("gemm", 50.0, at, nvtx=nvtx), cast("fp32", "fp16", 10.0 * (1 + (step == 0)), at + 55, nvtx=nvtx),
            cast("fp16", "fp32", 4.0, at + 80, nvtx=f"step {step}"),
        ]  # fmt: skip
    return rows


def test_averages_per_step_leave_the_warm_up_out() -> None:
    found = ledger(*step_rows(4))
    assert found.steps == 3
    down = only(found, "cast down")
    assert (down.step_launches, down.step_ns) == (1.0, pytest.approx(10.0))
    assert down.time_ns == pytest.approx(50.0)


def test_costs_by_range_are_those_below_the_step() -> None:
    found = ledger(*step_rows(4))
    assert [(cost.name, cost.launches) for cost in found.ranges] == [("forward/block", 4), ("", 4)]
    assert found.ranges[0].time_ns == pytest.approx(50.0)
    assert found.ranges[0].range_ns == pytest.approx(250.0)


def test_bytes_are_those_of_the_measured_part() -> None:
    found = ledger(
        cast("fp32", "fp16", 10.0, grid_x=4, block_x=128, count=2), row("layout", 5.0),
        ncu=[cast("fp32", "fp16", 6.0, grid_x=4, block_x=128, dram_bytes=600.0)],
    )  # fmt: skip
    down = only(found, "cast down")
    assert (down.bytes, down.measured_ns) == (pytest.approx(1200.0), pytest.approx(10.0))
    assert only(found, "layout").bytes is None


def test_instructions_are_weighted_by_execution() -> None:
    counted = {"thread_instructions": 1000.0}
    found = precision_ledger(
        build_all(
            make_profile(
                ncu=[
                    row("gemm", 30.0, name="a", conversion_instructions=100.0, **counted),
                    row("gemm", 10.0, name="b", conversion_instructions=300.0, **counted),
                    row("norm", 60.0, name="c"),
                ]
            )
        )
    )
    assert found is not None
    assert found.instructions is not None
    assert (found.instructions.converting, found.instructions.executed) == (400.0, 2000.0)
    assert (found.instructions.top, found.instructions.top_share) == ("b", pytest.approx(0.3))
    assert found.instructions.covered == pytest.approx(0.4)
    assert found.conversions == ()


def balance_verdicts(gpu: str, casts: float, **matrix: Any) -> dict[str, str]:
    narrow = {"dtype_in": "fp16", "tensor_core": "yes", **matrix}
    rows = [row("gemm", 10 * US, **narrow), cast("fp32", "fp16", casts * US)]
    devices = (Device(0, gpu),) if gpu else ()
    found = precision_ledger(build_all(make_profile(rows, devices=devices)))
    assert found is not None
    assert found.balance is not None
    return {entry.baseline: entry.verdict for entry in found.balance.comparisons}


def test_balance_says_only_what_the_peaks_allow() -> None:
    # 10 us of FP16 products on an A100: 16 times the FP32 peak, twice the TF32 peak.
    assert balance_verdicts("NVIDIA A100-SXM4-80GB", 2) == {"FP32": "pays", "TF32": "pays"}
    assert balance_verdicts("NVIDIA A100-SXM4-80GB", 6) == {"FP32": "pays", "TF32": "undecided"}
    assert balance_verdicts("NVIDIA A100-SXM4-80GB", 11) == {"FP32": "pays", "TF32": "costs more"}
    assert balance_verdicts("NVIDIA A100-SXM4-80GB", 200) == {"FP32": "costs more", "TF32": "costs more"}
    assert balance_verdicts("Tesla T4", 6) == {"FP32": "pays"}


def test_an_unknown_gpu_gives_no_verdict() -> None:
    assert set(balance_verdicts("", 200).values()) == {"undecided"}


def test_8_bit_products_gain_twice_as_much() -> None:
    assert balance_verdicts("NVIDIA H200", 25, dtype_in="fp8")["TF32"] == "undecided"
    assert balance_verdicts("NVIDIA H200", 25, dtype_in="fp16")["TF32"] == "costs more"


def test_ncu_alone_sees_a_part_of_the_step_and_gives_no_verdict() -> None:
    found = precision_ledger(
        build_all(
            make_profile(
                ncu=[row("gemm", 1.0, dtype_in="fp16", tensor_core="yes"), cast("fp32", "fp16", 500.0)], devices=H200
            )
        )
    )
    assert found is not None
    assert found.balance is not None
    assert {entry.verdict for entry in found.balance.comparisons} == {"undecided"}
    assert found.steps is None
