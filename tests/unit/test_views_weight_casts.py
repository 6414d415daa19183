from __future__ import annotations

from pathlib import Path

import pytest

import nsight_insight as ni
from nsight_insight.config import Config, Threshold
from nsight_insight.model.finding import Finding
from nsight_insight.views.activity import Activities
from nsight_insight.views.weight_casts import weight_casts
from tests.paths import FIXTURES
from tests.repeat_casts import TRACE, repeated_casts

RULE = "precision/repeated-weight-casts"
ALL = Config(min_saving=Threshold(share=0.0))


def found(path: Path) -> list[Finding]:
    report = ni.analyze(ni.load(path), ALL)
    return [each for top in report.findings for each in (top, *top.explains) if each.rule == RULE]


def test_weights_of_the_autocast_run_are_cast_once_per_step() -> None:
    assert weight_casts(Activities(ni.load(TRACE))) == 1
    assert found(TRACE) == []


@pytest.mark.parametrize("times", [2, 3])
def test_repeated_casts_are_counted_and_priced(tmp_path: Path, times: int) -> None:
    path = tmp_path / "trace.csv"
    added_ns = repeated_casts(path, times)
    assert weight_casts(Activities(ni.load(path))) == times
    [finding] = found(path)
    assert f"{times} times per step" in finding.message
    # Which cast of a size is a weight's and which an activation's is not known: the average stands for each.
    assert finding.saving.upper_ns == pytest.approx(added_ns, rel=0.1)
    assert finding.saving.expected_ns <= finding.saving.upper_ns


def test_without_an_optimizer_loop_sizes_do_not_tell(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    repeated_casts(path, 2)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "addcdiv" not in line]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert weight_casts(Activities(ni.load(path))) is None
    assert found(path) == []


def test_a_multiple_in_two_sizes_only_may_be_chance(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    repeated_casts(path, 2)
    original = TRACE.read_text(encoding="utf-8").splitlines()
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if line in set(original) or size(line) == 3]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    assert weight_casts(Activities(ni.load(path))) in (1, None)
    assert found(path) == []


def size(line: str) -> int:
    grid = line.split(",")[3]
    return int(grid) if grid.isdigit() else 0


@pytest.mark.parametrize(
    "name", ["nsys-csv/2025.3-h200-amp/amp_fp16_cuda_gpu_kern_sum.csv", "ncu-csv/2025.3.1-h200-amp/raw.csv"]
)
def test_summaries_and_parts_of_a_step_say_nothing(name: str) -> None:
    assert weight_casts(Activities(ni.load(FIXTURES / name))) is None
