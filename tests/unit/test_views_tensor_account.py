from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nsight_insight.model.ledger import TensorAccount
from nsight_insight.model.profile import Device
from nsight_insight.rules.accounts import MATRIX_CAUSES
from nsight_insight.rules.loader import load_rules
from nsight_insight.views.build import build_all
from nsight_insight.views.facts import KERNEL, LAUNCH
from nsight_insight.views.tensor_account import (
    AT_PEAK,
    BELOW_RIDGE,
    NOT_COUNTED,
    NOTHING,
    Verdicts,
    tensor_account,
)
from tests.unit.make_profile import make_profile

H200 = (Device(0, "NVIDIA H200", 9.0),)


def matrix(name: str, duration: float, dtype: str = "fp16", tensor: str = "yes", **more: Any) -> dict[str, Any]:
    return {
        "name": name, "family": "gemm", "dtype_in": dtype, "tensor_core": tensor, "duration": duration, "device": 0,
        **more,
    }  # fmt: skip


def account(*nsys: dict[str, Any], ncu: tuple[dict[str, Any], ...] = (), **fired: list[str]) -> TensorAccount:
    """``fired``: scope -> names of the kernels a rule of that scope fires on, one rule per scope."""
    views = build_all(make_profile(nsys, ncu=ncu, devices=H200))
    verdicts = [
        Verdicts(f"by {scope}", f"x/{scope}", scope, np.isin(views[scope].values["name"].astype(str), names))
        for scope, names in fired.items()
    ]
    found = tensor_account(views, verdicts)
    assert found is not None
    return found


def causes(found: TensorAccount) -> dict[str, float]:
    return {cause.cause: pytest.approx(cause.time_ns) for cause in found.causes}


def test_no_matrix_work_no_account() -> None:
    assert tensor_account(build_all(make_profile([{"name": "x", "family": "norm", "duration": 5.0}])), []) is None
    assert tensor_account(build_all(make_profile()), []) is None


def test_names_say_the_path_without_counters() -> None:
    found = account(
        matrix("a", 60.0, count=3), matrix("b", 30.0, "fp32", "no"), matrix("c", 10.0, "", "unknown"),
        {"name": "d", "family": "norm", "duration": 100.0, "device": 0},
    )  # fmt: skip
    assert (found.time_ns, found.launches) == (pytest.approx(100.0), 5)
    assert found.share == pytest.approx(0.5)
    assert (found.tensor_ns, found.unknown_ns, found.counted_ns) == (pytest.approx(60.0), pytest.approx(10.0), 0.0)
    assert [(part.path, part.dtype) for part in found.parts] == [
        ("Tensor Cores", "fp16"), ("CUDA cores", "fp32"), ("unknown", ""),
    ]  # fmt: skip
    assert all(part.peak_share is None for part in found.parts)
    assert causes(found) == {NOT_COUNTED: 60.0, NOTHING: 40.0}


@pytest.mark.parametrize(
    ("named", "active", "path", "counted"),
    [
        ("no", 0.5, "Tensor Cores", True),
        ("unknown", 0.5, "Tensor Cores", True),
        ("yes", 0.0, "CUDA cores", True),
        ("unknown", 0.01, "CUDA cores", True),
        ("no", 0.01, "CUDA cores", True),
        ("yes", 0.01, "Tensor Cores", False),
        ("yes", float("nan"), "Tensor Cores", False),
    ],
)
def test_counters_correct_names(named: str, active: float, path: str, counted: bool) -> None:
    found = account(ncu=(matrix("a", 10.0, tensor=named, tensor_active=active),))
    assert [part.path for part in found.parts] == [path]
    assert (found.counted_ns > 0) == counted


def test_counted_operations_say_type_and_share_of_the_peak() -> None:
    seconds = 1e-4
    [busy] = account(ncu=(matrix("a", 1e5, "fp32", "yes", tensor_active=0.4),)).parts
    assert busy.peak_share == pytest.approx(0.4)
    views = build_all(make_profile(ncu=[matrix("a", 1e5)], devices=H200))
    peak = float(views[KERNEL].values["peak_tf32"][0])
    found = account(ncu=(matrix("a", 1e5, "fp32", "yes", tensor_active=0.4, tensor_ops_tf32=0.5 * peak * seconds),))
    [part] = found.parts
    assert (part.dtype, part.peak_share) == ("tf32", pytest.approx(0.5))
    assert part.measured_ns == pytest.approx(1e5)


def test_what_no_rule_explains_is_told_apart_by_counters() -> None:
    found = account(
        ncu=(
            matrix("good", 40.0, tensor_active=0.8),
            matrix("bad", 20.0, tensor_active=0.3),
            matrix("silent", 10.0),
        )
    )
    assert causes(found) == {AT_PEAK: 40.0, NOTHING: 20.0, NOT_COUNTED: 10.0}


def test_below_the_ridge_bytes_are_the_roof() -> None:
    work = {"tensor_active": 0.1, "tensor_ops_fp16": 1e6, "dram_bytes": 1e6}
    assert causes(account(ncu=(matrix("a", 10.0, **work),))) == {BELOW_RIDGE: 10.0}


def test_the_first_rule_takes_the_time_and_launch_rules_their_launches_only() -> None:
    found = account(matrix("a", 30.0), matrix("b", 50.0), kernel=["a"], launch=["a"])
    assert causes(found) == {"by kernel": 30.0, NOT_COUNTED: 50.0}
    assert {cause.rule for cause in found.causes} == {"x/kernel", ""}


def test_launch_rules_stand_for_the_time_of_their_launches() -> None:
    ncu = (
        matrix("a", 5.0, grid_x=1, block_x=128, tensor_active=0.3),
        matrix("a", 15.0, grid_x=2, block_x=128, tensor_active=0.3),
    )
    views = build_all(
        make_profile(
            [matrix("a", 20.0, grid_x=1, block_x=128), matrix("a", 60.0, grid_x=2, block_x=128)], ncu=ncu, devices=H200
        )
    )
    fired = views[LAUNCH].values["grid"] == 2
    found = tensor_account(views, [Verdicts("small", "x/y", LAUNCH, fired), Verdicts("again", "x/z", LAUNCH, fired)])
    assert found is not None
    assert causes(found) == {"small": 60.0, NOTHING: 20.0}


def test_every_rule_that_is_asked_exists_and_judges_kernels_or_launches() -> None:
    rules = load_rules(())
    assert MATRIX_CAUSES.keys() <= rules.keys()
    assert {rules[rule].scope for rule in MATRIX_CAUSES} <= {KERNEL, LAUNCH}
