"""Laws of comparing: a capture is like itself, swapping sides turns signs, order and template names do not count."""

from __future__ import annotations

import random
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nsight_insight as ni
from nsight_insight.model.comparison import Comparison
from nsight_insight.model.profile import Profile
from tests.paths import FIXTURES, ROOT
from tests.unit.make_trace import steps_of

PROOF = ROOT / "bench" / "proof" / "captures"
CAPTURES = {
    "fp32 trace": FIXTURES / "nsys-csv" / "2025.3-h200-fp32",
    "amp trace": FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_trace.csv",
    "amp summary": FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_kern_sum.csv",
    "amp ncu": FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv",
    "one launch": PROOF / "P21-bad.tar.xz",
    "host-bound": PROOF / "P118-bad.tar.xz",
    "copies": PROOF / "P119-bad.tar.xz",
    "no kernels": PROOF / "P44-good.tar.xz",
}
PAIRS = [("fp32 trace", "amp trace"), ("host-bound", "copies"), ("one launch", "one launch"), ("amp ncu", "one launch")]
TURNED = {"faster": "slower", "slower": "faster"}
STATES = {"new": "fixed", "fixed": "new", "worse": "better", "better": "worse"}


@pytest.fixture(scope="module")
def profiles() -> dict[str, Profile]:
    return {name: ni.load(path) for name, path in CAPTURES.items()}


def outline(found: Comparison) -> list[object]:
    """Everything a comparison says, apart from where it was read."""
    return [
        found.unit, found.verdict, found.wall, found.kernel, found.launches, found.bytes, found.groups, found.cautions,
        [(k.match, k.what, k.time, [p.name for p in k.before], [p.name for p in k.after]) for k in found.kernels],
        [(f.rule, f.state, f.kernel, f.saving_before, f.saving_after) for f in found.findings],
    ]  # fmt: skip


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_is_the_same_as_itself(name: str, profiles: dict[str, Profile]) -> None:
    found = ni.compare(profiles[name], profiles[name])
    assert found.verdict == ("same" if found.kernels else "unknown")
    assert {change.time.verdict for change in found.kernels} <= {"same"}
    assert {group.time.verdict for group in found.groups} <= {"same"}
    assert {change.match for change in found.kernels} <= {"name"}
    assert {change.state for change in found.findings} <= {"unchanged"}


@pytest.mark.parametrize("name", CAPTURES)
def test_nothing_is_confirmed_by_the_same_capture(name: str, profiles: dict[str, Profile]) -> None:
    found = ni.verify(profiles[name], profiles[name])
    assert {one.outcome for one in found.findings} <= {"refuted", "unknown"}
    assert all(not one.measured for one in found.findings)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_swapping_the_sides_turns_the_signs(first: str, second: str, profiles: dict[str, Profile]) -> None:
    there, back = (ni.compare(profiles[a], profiles[b], steps=(1, 1)) for a, b in ((first, second), (second, first)))
    assert back.verdict == TURNED.get(there.verdict, there.verdict)
    assert back.unit == there.unit
    for one, other in ((there.kernel, back.kernel), (there.wall, back.wall)):
        if one is not None and other is not None:
            assert other.difference == pytest.approx(-(one.difference or 0.0))
            assert other.least == pytest.approx(one.least)
    groups = {(group.kind, group.name): group for group in back.groups}
    for group in there.groups:
        turned = groups[group.kind, group.name].time
        assert turned.verdict == TURNED.get(group.time.verdict, group.time.verdict)
        assert turned.difference == pytest.approx(-(group.time.difference or 0.0), abs=1e-6)
    assert sorted((f.rule, STATES.get(f.state, f.state)) for f in there.findings) == sorted(
        (f.rule, f.state) for f in back.findings
    )


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000))
@pytest.mark.parametrize("case", ["P05", "P118"])
def test_row_order_does_not_matter(case: str, seed: int, tmp_path: Path) -> None:
    before, after = (ni.load(PROOF / f"{case}-{side}.tar.xz") for side in ("bad", "good"))
    with tarfile.open(PROOF / f"{case}-good.tar.xz") as archive:
        for member in archive.getmembers():
            data = archive.extractfile(member)
            assert data is not None
            head, *rows = data.read().decode().splitlines(keepends=True)
            random.Random(seed).shuffle(rows)  # noqa: S311
            (tmp_path / member.name).write_text(head + "".join(rows), encoding="utf-8")
    assert outline(ni.compare(before, ni.load(tmp_path))) == outline(ni.compare(before, after))


@given(factor=st.floats(0.3, 3.0), jitter=st.lists(st.floats(0.99, 1.01), min_size=8, max_size=8))
@settings(max_examples=10, deadline=None)
def test_a_planted_factor_is_measured(factor: float, jitter: list[float]) -> None:
    """One of three kernels takes ``factor`` times as long, under a template argument of its own."""
    slow = "void work_kernel<float, 4>(float *, int)"
    renamed = "void work_kernel<float, 8>(float *, int)"
    others = [("void stencil<float>(float *)", 2e5), ("void scan_rows<float>(float *)", 1e5)] * 5
    before = steps_of([(slow, 3e6), *others], 8, jitter=jitter)
    after = steps_of([(renamed, 3e6 * factor), *others], 8, jitter=jitter[::-1])
    found = ni.compare(before, after)
    assert found.wall is not None
    expected = 3e6 * (factor - 1)
    assert abs((found.wall.difference or 0.0) - expected) <= (found.wall.least or 0.0) + 0.02 * 6e6
    if abs(expected) > 2 * (found.wall.least or 0.0):
        assert found.verdict == ("slower" if factor > 1 else "faster")
    elif expected == 0:
        assert found.verdict in ("same", "unknown")
    [change] = [c for c in found.kernels if c.before and c.before[0].base == "work_kernel"]
    assert (change.match, [part.name for part in change.after]) == ("template", [renamed])
