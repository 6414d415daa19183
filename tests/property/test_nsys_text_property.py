"""Printed tables of nsys and nvprof with any content, in any notation, and texts that only look like them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight.errors import InputError
from nsight_insight.model.profile import ReadResult
from nsight_insight.readers import nsys_csv, nsys_text, nvprof
from nsight_insight.readers.text import SourceText
from tests.tools import make_nvprof
from tests.tools.make_nsys_text import ENGLISH, FRENCH, GERMAN, PLAIN, Item, Locale, cut, sizes, summary

LOCALES = (PLAIN, ENGLISH, GERMAN, FRENCH, Locale("'"), Locale("\u2019"), Locale(" ", ","), Locale("\u00a0", ","))
NAMES = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=("Cc", "Cf", "Zs", "Zl", "Zp"))
    | st.just(" "),
    min_size=1,
    max_size=140,
).filter(lambda name: name.strip() == name)
TIMES = st.lists(st.integers(1, 10**13), min_size=1, max_size=5).map(tuple)
ITEMS = st.lists(st.builds(Item, NAMES, TIMES), min_size=1, max_size=6, unique_by=lambda item: item.name)


def parse(lines: list[str]) -> ReadResult:
    return nsys_text.read(SourceText("x", "\n".join(lines).encode()))


@settings(deadline=None)
@given(ITEMS, st.sampled_from(LOCALES), st.sampled_from([2020, 2024]))
def test_any_summary_in_any_notation(items: list[Item], locale: Locale, era: int) -> None:
    result = parse(summary(items, locale, era, "Instances", "Name"))
    (table,) = result.tables
    ordered = sorted(items, key=lambda item: -sum(item.times))
    assert table.columns["name"].tolist() == [cut(item.name).strip() for item in ordered]
    assert table.columns["duration"].tolist() == [sum(item.times) for item in ordered]
    assert table.columns["count"].tolist() == [len(item.times) for item in ordered]
    assert table.columns["max"].tolist() == [max(item.times) for item in ordered]
    np.testing.assert_allclose(table.columns["avg"], [np.mean(item.times) for item in ordered], rtol=1e-15, atol=0.051)
    assert all("cut" in issue.text for issue in result.issues)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 10**12), min_size=1, max_size=4), st.sampled_from(LOCALES), st.sampled_from([2021, 2024])
)
def test_any_sizes_in_any_notation(copied: list[int], locale: Locale, era: int) -> None:
    item = Item("[CUDA memcpy HtoD]", (1,), tuple(copied))
    (table,) = parse(sizes([item], locale, era)).tables
    assert abs(table.columns["bytes"][0] - sum(copied)) <= (0.512 if era < 2022 else 500) + 1e-9 * sum(copied)
    assert table.columns["count"].tolist() == [len(copied)]


@settings(deadline=None)
@given(ITEMS)
def test_json_tsv_and_columns_hold_the_same(items: list[Item]) -> None:
    heading, _, *lines = summary(items, PLAIN, 2024, "Instances", "Name")
    headings = [text for text in heading.strip().split("  ") if text.strip()]
    names = [text.strip() for text in headings]
    ordered = sorted(items, key=lambda item: -sum(item.times))
    rows = [[*line.split(None, len(names) - 1)[:-1], item.name] for line, item in zip(lines, ordered, strict=True)]
    objects = json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2)
    forms = [objects.split("\n"), ["\t".join(names), *("\t".join(row) for row in rows)]]
    (columns,) = parse([heading, _, *lines]).tables
    for form in forms:
        (table,) = parse(form).tables
        for name in ("duration", "count", "avg", "median", "min", "max", "std"):
            np.testing.assert_array_equal(table.columns[name], columns.columns[name])
        if form is forms[0]:
            assert table.columns["name"].tolist() == [item.name for item in ordered]


NOISE = st.sampled_from(
    [
        *("", "loss: 0.25", "-----", "==1== hello", "12 34", "a  b  c", "| a | b |", "#", "```", "Time: 5 s"),
        *("1,5", "{", "...x", "\r[1/8]", "[5/8] Executing 'cuda_api_sum' stats report"),
        "SKIPPED: x.sqlite does not contain OpenMP event data.",
    ]
)


@settings(deadline=None)
@given(st.lists(NOISE, max_size=6), st.lists(NOISE, max_size=6), st.sampled_from(LOCALES))
def test_what_stands_around_a_table_changes_nothing(before: list[str], after: list[str], locale: Locale) -> None:
    items = [Item("k<int>(T1)", (5_000_123, 70)), Item("add", (1_001,))]
    lines = summary(items, locale, 2024, "Instances", "Name")
    (alone,) = parse(lines).tables
    (within,) = parse([*before, *lines, *after]).tables
    for name in alone.columns.keys() - {"line"}:
        np.testing.assert_array_equal(within.columns[name], alone.columns[name])
    assert (within.columns["line"] - len(before)).tolist() == alone.columns["line"].tolist()


HUGE = "9" * 400
PIECES = [
    *summary([Item("k", (1, 2))], ENGLISH, 2024, "Instances", "Name"),
    *make_nvprof.FILES["processes.txt"](),
    *make_nvprof.FILES["metrics.txt"](),
    *make_nvprof.FILES["gpu-trace.csv"]()[:9],
    make_nvprof.TRACE_HEADING,
    f"{HUGE}s  1e99ms  (1 1 1)  (1 1 {HUGE})  {HUGE}  0B  0B  -  -  -  -  GPU ({HUGE})  {HUGE}  {HUGE}  k [{HUGE}]",
    f"=={HUGE}== NVPROF is profiling process {HUGE}, command: x",
    f"  {HUGE}  inst_executed  Instructions  {HUGE}  {HUGE}  {HUGE}",
    "==1== Profiling result:",
    "   Start  Duration  Name",
    "1e99ms  2ms  k",
    "-- --- ----",
    "+--+---+----+",
    "| Time (%) | x |",
    '[{"Time (%)": 1,',
    '"Total Time (ns)": 5, "Instances": [',
    "<table><th>Time (%)<th>Total Time (ns)<th>Instances<th>Name",
    "<td>1<td>2<td>3<td>k",
    f"<td>1<td>{HUGE}<td>3<td>k",
    "</table>",
    "Time (%)\tTotal Time (ns)\tInstances\tName",
    "1\t2\t3\tk",
    " ** GPU Gaps (gpu_gaps):",
    *("\x00", "\x1b[31m", "\ufeff", '"'),
]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=30), max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
def test_no_text_breaks_the_readers(lines: list[str], end: str) -> None:
    text = SourceText("x", end.join(lines).encode("utf-8", errors="replace"))
    for reader in (nsys_text, nsys_csv, nvprof):
        assert 0.0 <= reader.sniff(text) <= 1.0
        try:
            result = reader.read(text)
        except InputError:
            continue
        for table in result.tables:
            assert all(len(values) == len(table) for values in table.columns.values())
            for name in table.source.columns:
                for row in range(len(table)):
                    assert table.source.locate(row, name, int(table.columns["line"][row])).line


@pytest.mark.parametrize("reader", [nsys_text, nvprof])
@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=300))
def test_no_bytes_break_the_readers(reader: object, data: bytes) -> None:
    text = SourceText("x", data)
    assert 0.0 <= reader.sniff(text) <= 1.0  # type: ignore[attr-defined]
    try:
        reader.read(text)  # type: ignore[attr-defined]
    except InputError:
        return
