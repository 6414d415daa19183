"""The table of what other tools detect: complete, about rules that exist, and on the page."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from nsight_insight.rules.loader import load_rules
from tests.paths import ROOT

SURVEYED = {
    "PREC": 11, "TC": 14, "MFU": 5, "SOL": 7, "PIPE": 5, "ISS": 3, "STALL": 19, "DIV": 3, "IMB": 5, "SYNCK": 3,
    "ATOM": 2, "PIPEL": 1, "OCC": 7, "LAU": 12, "MEM": 29, "IDLE": 12, "COPY": 8, "SYN": 4, "LCH": 7, "HOT": 6,
    "STREAM": 2, "HOST": 14, "MEMD": 3, "SHAPE": 2, "CLK": 1, "HYG": 5, "COST": 1, "COMM": 26, "DIFF": 6,
}  # fmt: skip
"""Entries of the survey by family of ids; DX-01..10 is one more."""
ASKED = "X"
FILLER = re.compile(r"(?i)\b(?:out of scope|not supported|future work|todo|low priority|not needed)\b")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield import_module("make_detections")
    sys.modules.pop("make_detections", None)


def test_every_surveyed_detection_is_there_once(script: Any) -> None:
    detections, _ = script.load()
    ids = [one.id for one in detections]
    assert len(ids) == len(set(ids))
    expected = {f"{family}-{number:02}" for family, last in SURVEYED.items() for number in range(1, last + 1)}
    assert {name for name in ids if not name.startswith(f"{ASKED}-")} == {*expected, "DX-01..10"}
    assert len(expected) + 1 == 224


def test_rules_that_are_named_exist_and_every_rule_is_named(script: Any) -> None:
    detections, ours = script.load()
    known = set(load_rules())
    named = {rule for one in detections for rule in one.rules}
    assert named - known == set()
    assert set(ours) - known == set()
    assert known - named - set(ours) == set(), "add them to docs/detections.yaml"
    assert named & set(ours) == set(), "what another tool detects is not ours alone"


def test_every_detection_says_what_became_of_it(script: Any) -> None:
    detections, _ = script.load()
    for one in detections:
        assert one.what, one.id
        assert one.rules or len(one.text) > 5, one.id
        assert not FILLER.search(one.text), one.id


def test_the_page_is_up_to_date(script: Any) -> None:
    assert script.OUTPUT.read_text(encoding="utf-8") == script.page(), "run python docs/make_detections.py"


def test_the_totals_count_every_row(script: Any) -> None:
    text = script.page()
    detections, _ = script.load()
    total = next(line for line in text.splitlines() if line.startswith("| all |"))
    counts = [int(cell) for cell in total.split("|")[2:-1]]
    assert sum(counts[:-1]) == counts[-1] == len(detections)
    assert text.count("| rule |") - 1 == counts[0]


def test_an_entry_needs_exactly_one_outcome(script: Any) -> None:
    with pytest.raises(ValueError, match="X-99: exactly one of"):
        script._detection("family", "X-99", {"what": "both", "rules": ["idle/launch-bound"], "input": "none"})
    with pytest.raises(ValueError, match="X-99"):
        script._detection("family", "X-99", {"what": "neither"})
