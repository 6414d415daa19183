"""A stall finding names the hottest lines of its kernel, those that wait for its own reason first."""

from __future__ import annotations

from dataclasses import replace

from nsight_insight.model.finding import Finding
from nsight_insight.model.issues import Location
from nsight_insight.model.profile import HotLine
from nsight_insight.reporters.json import to_dict
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.reporters.text import render
from nsight_insight.rules.hot_lines import SHOWN, with_hot_lines
from tests.unit.make_profile import make_profile
from tests.unit.make_report import fp32_matrix, report

GEMM = fp32_matrix()
KEY = GEMM.subject.members[0].key


def line(text: str, samples: int, stall: str, key: str = KEY) -> HotLine:
    place = Location("source.csv", 10 + samples, 3, "# Samples")
    return HotLine("k", key, 0, 1, "sass", "0x10", text, samples, 100, stall, samples, place)


LINES = (
    line("FFMA R1", 40, "math_pipe_throttle"),
    line("LDG [a]", 30, "long_scoreboard"),
    line("LDG [b]", 20, "long_scoreboard"),
    line("BAR", 5, "barrier"),
    line("other", 99, "", "another"),
)
PROFILE = replace(make_profile(nsys=[{"name": "k", "duration": 1.0}]), hot_lines=LINES)


def finding(rule: str, category: str) -> Finding:
    return with_hot_lines(replace(GEMM, rule=rule, category=category), PROFILE)


def test_lines_with_the_finding_s_own_reason_come_first() -> None:
    texts = [hot.text for hot in finding("latency/stall-long-scoreboard", "latency").hot_lines]
    assert texts == ["LDG [a]", "LDG [b]", "FFMA R1"]
    assert len(texts) == SHOWN


def test_other_findings_name_the_hottest_lines() -> None:
    assert finding("memory/uncoalesced-global-access", "memory").hot_lines[0].text == "FFMA R1"
    assert finding("precision/cast-kernels", "precision").hot_lines == ()


def test_reporters_show_them() -> None:
    told = report(finding("latency/stall-long-scoreboard", "latency"))
    text = render(told, RenderOptions())
    assert "hot lines" in text
    assert "30 %  LDG [a] (long scoreboard) [source.csv:40:3" in text
    assert to_dict(told)["findings"][0]["hot_lines"][0]["samples"] == 30
