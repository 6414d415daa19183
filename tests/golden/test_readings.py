"""Profiles that a person read first (``docs/readings``): the product names the same causes and gives no wrong advice.

The readings were written from the files with other tools, before the product ran on them. The files do not ship with
the project; each reading is skipped where its file is absent.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from typing import TYPE_CHECKING

import pytest

import nsight_insight as ni
from nsight_insight.model.finding import Report
from nsight_insight.rules.loader import load_rules
from tests.paths import LAB, ROOT

sys.path.insert(0, str(ROOT / "docs"))
try:
    from readings_agreement import TOP, Agreement, Reading, analyzed, distinct, judge, load_readings, place_of
finally:
    sys.path.remove(str(ROOT / "docs"))

if TYPE_CHECKING:
    from collections.abc import Iterable

READINGS = load_readings()
DIFFERENT = {
    "06-ddp-3090x2-nsys": "the product judges the one backward pass that was recorded",
    "07-fsdp-2rank-text": "exposed communication needs the time line, which a summary has not",
    "16-windows-gtx1060-nsys": "allocation between one-off phases looks like set-up",
    "19-vllm-a100-csv": "the reading knows the model's sizes, the file does not",
    "20-llmc-bf16-nvprof": "the input does not name the GPU, and the rule does not guess it",
    "30-flashinfer-b200-raw": "no rule for attention on CUDA cores",
    "34-reduction-t4-text": "the basic set holds nothing that tells L1's reasons apart",
}
"""Readings whose verdict the product does not reach, with the reason; each argues it at length in its file."""
SECOND_MISSED = {
    "09-openacc-mpi8-text": "the kind of host memory is not in the tables",
    "12-torch-27b-text": "without start times an upload cannot be told from traffic",
    "16-windows-gtx1060-nsys": "the blocks of several kernels share the GPU",
    "26-seqalign-4090-ncu-rep": "barriers of a single block are not judged beside the missing blocks",
    "27-montecarlo-3080-win-ncu-rep": "divergence stands under the set-up that it is part of",
    "29-template-match-3060-raw": "the set holds no FP64 instruction counts",
    "32-quda-ada-text": "the basic set holds no FP64 counts",
}
"""Readings whose second cause is not among the product's first three findings."""


def of(readings: Iterable[Reading]) -> list[object]:
    return [pytest.param(reading, id=reading.name) for reading in readings]


@cache
def report_of(name: str) -> Report:
    reading = next(one for one in READINGS if one.name == name)
    if not (LAB / reading.file).exists():
        pytest.skip(f"{reading.file} is not here")
    if reading.file.endswith(".ncu-rep") and importlib.util.find_spec("ncu_report") is None:
        pytest.skip("ncu-report is not installed")
    return analyzed(reading, LAB)


def agreement(reading: Reading) -> Agreement:
    return judge(reading, report_of(reading.name))


@pytest.mark.parametrize("reading", of(READINGS))
def test_the_reading_and_the_product_agree_or_the_difference_is_known(reading: Reading) -> None:
    found = agreement(reading)
    assert found.agrees == (reading.name not in DIFFERENT), (found.place, found.advice)


@pytest.mark.parametrize("reading", of(READINGS))
def test_no_advice_that_the_reading_calls_wrong(reading: Reading) -> None:
    assert agreement(reading).misled == ()


@pytest.mark.parametrize("reading", of(one for one in READINGS if one.answer == "healthy"))
def test_a_healthy_profile_gets_no_advice(reading: Reading) -> None:
    assert agreement(reading).advice == ()


@pytest.mark.parametrize("reading", of(one for one in READINGS if len(one.causes) > 1))
def test_the_second_cause_is_among_the_first_three_findings(reading: Reading) -> None:
    place = place_of(reading.causes[1], distinct(report_of(reading.name)))
    assert (place is not None and place <= TOP) == (reading.name not in SECOND_MISSED), place


def test_the_gpu_that_the_input_does_not_name_decides() -> None:
    reading = next(one for one in READINGS if one.name == "20-llmc-bf16-nvprof")
    report_of(reading.name)
    named = ni.analyze(ni.load(LAB / reading.file, gpu="Tesla V100-SXM2-16GB"))
    assert place_of(reading.causes[0], distinct(named)) == 1


def test_differences_are_argued_and_nothing_else_is() -> None:
    assert {one.name for one in READINGS if one.differs} == DIFFERENT.keys()


def test_what_cannot_be_told_is_said_to_be_unknown() -> None:
    graphs, nothing = report_of("13-graph-trace-a100-nsys"), report_of("18-wsl2-no-kernels-nsys")
    assert graphs.findings == ()
    assert "--cuda-graph-trace=node" in graphs.collect
    assert nothing.findings == ()
    assert nothing.totals.launches == 0


def test_readings_name_rules_that_exist() -> None:
    known = load_rules()
    named = {rule for reading in READINGS for cause in reading.causes for rule in cause.rules}
    assert named <= known.keys()


def test_readings_cover_many_kinds_of_input_and_some_without_advice() -> None:
    assert len(READINGS) >= 30
    assert sum(one.answer != "causes" for one in READINGS) >= 8
