"""Tables of ``ncu --csv`` among other output, torn and cut."""

from __future__ import annotations

import pytest

from nsight_insight.errors import EmptyInput
from nsight_insight.model.issues import Level
from nsight_insight.readers import ncu_csv
from nsight_insight.readers.text import from_bytes
from tests.unit.make_ncu import DURATION, ONE, PAGE, SM, Long, line, read, table


def test_program_output_everywhere() -> None:
    found = table(
        "epoch 1, loss 0.5",
        "==PROF== Connected to process 963",
        '"quoted", "output"',
        PAGE.heading,
        PAGE.metric(0, DURATION, "ns", "1"),
        '==PROF== Profiling "k" - 1: 0%....50%....100% - 9 passes',
        "Source,Target",
        '{"loss": 1.5, "step": "3"}',
        PAGE.metric(1, DURATION, "ns", "2"),
        "",
        "  " + PAGE.metric(2, DURATION, "ns", "3"),
        "\r 10%|# | 1/9" + PAGE.metric(3, DURATION, "ns", "4"),
        PAGE.metric(4, DURATION, "ns", "5") + "==PROF== Disconnected from process 963",
        PAGE.metric(5, DURATION, "ns", "6") + "step 4, loss 0.1",
        "done",
    )
    assert found.columns["duration"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found.columns["line"].tolist() == [5, 9, 11, 12, 13, 14]


def test_a_heading_behind_program_output() -> None:
    found = table("loss 1, 2" + ONE[0], *ONE[1:])
    assert found.columns["duration"].tolist() == [2720.0]


def test_output_glued_behind_a_metric_row_of_a_page_with_rules() -> None:
    page = Long("C")
    found = table(page.heading, page.metric(0, DURATION, "ns", "1") + "step 4", page.metric(1, DURATION, "ns", "2"))
    assert found.columns["duration"].tolist() == [1, 2]


def test_two_runs_in_one_file_are_two_tables() -> None:
    other = Long("A0")
    result = read(*ONE, "between", other.heading, other.metric(0, DURATION, "nsecond", "5"))
    assert [found.columns["duration"].tolist() for found in result.tables] == [[2720.0], [5.0]]
    assert [found.columns["correlation"].tolist() for found in result.tables] == [[0], [0]]


def test_processes_share_one_sequence_of_launches() -> None:
    found = table(
        PAGE.heading,
        PAGE.metric(0, DURATION, "ns", "1"),
        PAGE.metric(0, DURATION, "ns", "2", **{"Process ID": "964"}),
        PAGE.metric(0, SM, "%", "50.00"),
    )
    assert found.columns["process"].tolist() == [963, 964]
    assert found.columns["duration"].tolist() == [1, 2]


def test_texts_of_rules_may_hold_line_ends() -> None:
    page = Long("C")
    text = {"Rule Name": "SOLBottleneck", "Rule Type": "ERR", "Rule Description": "failed\n/usr/x.py:45"}
    found = table(page.heading, page.rule(0, **text), page.metric(0, DURATION, "ns", "4"))
    assert found.vendor[0].text == "failed\nx.py:45"  # folders may name users
    assert found.vendor[0].location.line == 2
    assert found.source.columns["duration"][0].lines.tolist() == [4]  # type: ignore[union-attr]


def test_a_record_torn_by_other_output_is_not_stitched() -> None:
    record = PAGE.metric(1, DURATION, "ns", "7")
    result = read(*ONE, record[:20] + "step 3", record[20:], PAGE.metric(2, DURATION, "ns", "9"))
    assert result.tables[0].columns["duration"].tolist() == [2720.0, 9.0]
    assert [(issue.level, issue.location.line) for issue in result.issues] == [
        (Level.DATA_LOSS, 3),
        (Level.DATA_LOSS, 4),
    ]


@pytest.mark.parametrize(("generation", "comma"), [("B0", ""), ("C+N", ",")])
def test_a_file_cut_anywhere_keeps_every_whole_record(generation: str, comma: str) -> None:
    page = Long(generation, {"Kernel Name": 'f<"a, b">(int)'})
    rows = [page.heading, *(page.metric(i, DURATION, "ns", "1234") for i in range(2))]
    text = "\n".join(rows)
    ends = [len("\n".join(rows[: count + 1]).removesuffix(comma)) for count in (1, 2)]
    for cut in range(len(rows[0]) + 2, len(text)):
        whole = sum(end <= cut for end in ends)
        try:
            result = ncu_csv.read(from_bytes("t", text[:cut].encode()))
        except EmptyInput:
            assert whole == 0
            continue
        assert result.tables[0].columns["duration"].tolist() == [1234.0] * whole
        fragment = text[:cut].split("\n")[whole + 1 :]
        assert len(result.issues) <= 1
        if fragment and len(fragment[0]) > len('"1","963","'):
            assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.DATA_LOSS, whole + 2)]


def test_damaged_records_are_counted_and_capped() -> None:
    bad = [line(["9", "963", "x"])] * 30
    result = read(*ONE, *bad)
    losses = [issue for issue in result.issues if issue.level is Level.DATA_LOSS]
    assert len(losses) == 21
    assert losses[0].location.line == 3
    assert "3 fields where 15 or 16 are expected" in losses[0].text
    assert "10 more damaged records skipped, 30 in all" in losses[-1].text


def test_banners_are_kept_once_and_without_directories() -> None:
    result = read(
        "==WARNING== Unable to open source file /home/someone/src/nw1.cu.",
        "==PROF== Connected to process 1 (/home/someone/a.out)",
        *ONE,
        "==ERROR== The application returned an error code (1).",
        "==WARNING== Unable to open source file /home/someone/src/nw1.cu.",
        "==WARNING== See https://docs.nvidia.com/nsight-compute/index.html",
    )
    assert result.tables[0].source.banners == (
        "==WARNING== Unable to open source file nw1.cu.",
        "==ERROR== The application returned an error code (1).",
        "==WARNING== See https://docs.nvidia.com/nsight-compute/index.html",
    )
    assert [(issue.level, issue.location.line) for issue in result.issues] == [(Level.INFO, 5)]
