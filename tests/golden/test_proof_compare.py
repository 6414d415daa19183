"""Comparisons of planted cases with known effect, and of programs captured twice: a sample of docs/comparison.md."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.proof import compare as bench
from bench.proof.score import LOWER

SAMPLE = ("P01", "P05", "P17", "P21", "P25", "P45", "P48", "P51", "P54", "P72", "P90", "P119", "P120")
"""Products, casts, fusion, memory, launches, copies, allocation, small and noisy effects, other clocks."""
TRUE = bench.true_savings()


@pytest.fixture(scope="module")
def planted() -> dict[str, bench.Pair]:
    return {name: bench.compared(name, b, a) for name, b, a in bench.planted() if name in SAMPLE}


@pytest.fixture(scope="module")
def repeated() -> list[bench.Pair]:
    return [bench.compared(*job) for job in bench.repeated()]


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(bench.RESULTS.read_text(encoding="utf-8"))
    return loaded


def test_an_effect_above_the_noise_is_called_faster(planted: dict[str, bench.Pair]) -> None:
    seen = bench.effects(list(planted.values()), TRUE)
    assert {one.name for one in seen} >= set(SAMPLE) - {"P48"}
    assert {one.name: one.verdict for one in seen if one.verdict != "faster"} == {}


def test_the_finding_of_the_planted_cause_is_confirmed(planted: dict[str, bench.Pair]) -> None:
    assert set(bench.hits(list(planted.values())).values()) == {"confirmed"}


def test_the_measured_saving_is_near_the_true_one(planted: dict[str, bench.Pair]) -> None:
    """Profilers slow the host and lock clocks, so not exactly: never less than half, never of the other sign."""
    for name, one in planted.items():
        assert one.saved is not None
        assert LOWER * TRUE[name] <= one.saved <= max(2 * TRUE[name], TRUE[name] + 0.16), name


def test_cures_undone_are_called_slower() -> None:
    for name in ("P01", "P21", "P119"):
        assert bench.compared(name, f"{name}-good", f"{name}-bad").verdict == "slower"


def test_a_program_captured_twice_is_never_faster_or_slower(repeated: list[bench.Pair]) -> None:
    assert len(repeated) == 20
    assert {one.name: one.verdict for one in repeated if one.verdict in ("faster", "slower")} == {}
    assert sum(one.verdict == "same" for one in repeated) >= 15
    assert {one.name: one.moved for one in repeated if one.moved} == {}


def test_a_program_captured_twice_keeps_its_findings(repeated: list[bench.Pair]) -> None:
    states = {state for one in repeated for state in one.states}
    assert states <= {"unchanged"}


def test_nothing_is_confirmed_where_nothing_was_changed(repeated: list[bench.Pair]) -> None:
    outcomes = [outcome for one in repeated for outcome in one.outcomes.values()]
    assert len(outcomes) >= 10
    assert set(outcomes) <= {"refuted", "unknown"}


def test_the_written_results_are_those_of_this_version(
    planted: dict[str, bench.Pair], repeated: list[bench.Pair], written: dict[str, Any]
) -> None:
    saved = {one["name"]: one for one in written["planted"]}
    assert len(saved) == 88
    assert {name: saved[name]["verdict"] for name in planted} == {n: one.verdict for n, one in planted.items()}
    assert [one["verdict"] for one in written["again"]] == [one.verdict for one in repeated]


def test_the_floor_of_all_planted_cases(written: dict[str, Any]) -> None:
    """All but those cured by CUDA graphs, which hold no kernels, and those whose cure saves next to nothing."""
    verdicts = [one["verdict"] for one in written["planted"]]
    assert verdicts.count("faster") >= 84
    assert verdicts.count("slower") == 0
