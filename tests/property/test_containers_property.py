"""Any fixture through any container says the same, and no damage to a container brings the program down."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsight_insight import api
from nsight_insight.errors import InputError
from nsight_insight.readers._budget import Budget, Limits
from nsight_insight.readers._inputs import Inputs
from nsight_insight.readers.containers import expand, is_container
from nsight_insight.readers.text import SourceText
from nsight_insight.reporters.json import to_dict
from tests.containers import ARCHIVES, COMPRESSIONS
from tests.paths import FIXTURES

MAX_BYTES = 100_000
NAMED = {".md", ".nsys-rep"}
"""What a binary report answers is a command that holds its name."""
SMALL = sorted(
    path for path in FIXTURES.glob("*/*/*") if 0 < path.stat().st_size < MAX_BYTES and path.suffix not in NAMED
)
_SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

layers = st.lists(st.sampled_from([*COMPRESSIONS, *ARCHIVES]), min_size=1, max_size=2)


def packed(data: bytes, layers: list[str]) -> bytes:
    for layer in layers:
        data = COMPRESSIONS[layer](data) if layer in COMPRESSIONS else ARCHIVES[layer]({"folder/x.csv": data})
    return data


@lru_cache(maxsize=64)
def plain(path: Path) -> Any:
    return outcome(path.read_bytes())


def outcome(data: bytes) -> Any:
    """What a file says, its name aside; an input that cannot be used says what is wrong with it."""
    try:
        profile = api.load(SourceText("x", data))
    except InputError as error:
        return str(error.text).splitlines()[-1].rpartition("passed over: ")[2]
    document = to_dict(api.analyze(profile))
    rows = profile.activities.drop(columns="source")
    return document["totals"], [finding["fingerprint"] for finding in document["findings"]], rows.to_csv()


@_SLOW
@given(path=st.sampled_from(SMALL), layers=layers)
def test_any_fixture_through_any_container(path: Path, layers: list[str]) -> None:
    assert outcome(packed(path.read_bytes(), layers)) == plain(path)


@given(layers=layers, data=st.binary(max_size=2000).filter(lambda data: bool(data.strip())))
def test_what_goes_in_comes_out(layers: list[str], data: bytes) -> None:
    if is_container(data):
        return
    [found] = expand(SourceText("x", packed(data, layers)), Budget())
    assert isinstance(found, SourceText)
    assert found.data == data


@given(layers=layers, cut=st.floats(0, 1), flip=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=3))
def test_no_damage_gets_further_than_an_input_error(
    layers: list[str], cut: float, flip: list[tuple[float, int]]
) -> None:
    path = min(SMALL, key=lambda path: path.stat().st_size)
    data = bytearray(packed(path.read_bytes(), layers))
    for place, bits in flip:
        data[int(place * (len(data) - 1))] ^= bits
    inputs = Inputs(budget=Budget(Limits(total_bytes=1 << 24)))
    inputs.add(SourceText("x", bytes(data[: int(cut * len(data))])))
    assert inputs.results or inputs.errors


@given(
    data=st.binary(min_size=1, max_size=400), magic=st.sampled_from([b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"])
)
def test_bytes_that_only_begin_like_a_container(magic: bytes, data: bytes) -> None:
    inputs = Inputs()
    inputs.add(SourceText("x", magic + data))
    assert inputs.errors or inputs.results


@given(size=st.integers(0, 300), limit=st.integers(0, 300), layers=layers)
def test_the_limit_on_a_file_is_exact(size: int, limit: int, layers: list[str]) -> None:
    data = bytes([7]) * size + b"x"
    layer = layers[0]
    try:
        found = list(expand(SourceText("x", packed(data, [layer])), Budget(Limits(member_bytes=limit))))
    except InputError as error:
        found = [error]
    assert isinstance(found[0], SourceText) is (len(data) <= limit)
