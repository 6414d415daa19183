"""Text pages of ncu: what is printed is read back, and no damage makes the reader fail otherwise than it may."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight.errors import InputError
from nsight_insight.readers import ncu_text
from nsight_insight.readers.text import from_bytes
from tests.paths import FIXTURES
from tests.unit.make_ncu_text import NEW, PROCESS, fixed, raw, section, table

LINES = (FIXTURES / "ncu-text" / "2025.3.1-h200-amp" / "details.txt").read_text(encoding="utf-8").split("\n")[:330]


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 99)), min_size=1, max_size=4),
    st.sampled_from(["section", "fixed", "raw"]),
    st.sampled_from([",", " ", "'", ""]),
)
def test_values_are_read_back(values: list[tuple[int, int]], layout: str, group: str) -> None:
    lines = [PROCESS]
    point = "," if group == " " else "."
    for whole, cents in values:
        text = f"{whole:,}".replace(",", group)
        name = "gpu__time_duration.sum" if layout == "raw" else "Duration"
        row = (name, "ms", f"{text}{point}{cents:02d}")
        lines += [NEW, *{"section": section, "fixed": fixed, "raw": raw}[layout]([row])]
    found = table(*lines)
    assert found.columns["duration"].tolist() == [round((whole + cents / 100) * 1e6, 3) for whole, cents in values]
    assert found.columns["correlation"].tolist() == list(range(len(values)))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_is_told_or_harmless(data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        change = data.draw(st.sampled_from(["drop", "cut", "double", "swap", "noise"]))
        if change == "drop":
            del lines[place]
        elif change == "cut":
            lines[place] = lines[place][: data.draw(st.integers(0, 60))]
        elif change == "double":
            lines.insert(place, lines[place])
        elif change == "swap":
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[place], lines[other] = lines[other], lines[place]
        else:
            lines.insert(place, data.draw(st.text(max_size=40)).replace("\n", " "))
    try:
        result = ncu_text.read(from_bytes("t.txt", "\n".join(lines).encode(errors="replace")))
    except InputError:
        return
    for found in result.tables:
        assert all(len(values) == len(found) for values in found.columns.values())
        assert all(finding.row is not None and finding.row < len(found) for finding in found.vendor)


def test_any_prefix_of_a_page(tmp_path: Path) -> None:
    for end in range(0, len(LINES), 7):
        try:
            result = ncu_text.read(from_bytes("t.txt", "\n".join([*LINES[:end], "."]).encode()))
        except InputError:
            assert end < 30
            continue
        assert 1 <= len(result.tables[0]) <= 3
