"""Binary reports: their outer layer, what happens without NVIDIA's library, and how its objects become a table."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.issues import Level
from nsight_insight.readers import ncu_rep, read
from nsight_insight.readers._ncu_rep_blocks import read_blocks
from nsight_insight.readers._ncu_rules import plain_message
from nsight_insight.readers.text import from_bytes, open_path

MAGIC = b"NVR\0"

# --- The outer layer


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def message(fields: Mapping[int, int | bytes]) -> bytes:
    out = b""
    for number, value in fields.items():
        out += varint(number << 3) + varint(value) if isinstance(value, int) else (
            varint(number << 3 | 2) + varint(len(value)) + value
        )  # fmt: skip
    return out


def block(results: int, payload: bytes, process: int | None = 963) -> bytes:
    fields: dict[int, int | bytes] = {1: 0, 2: results, 4: b"string table", 5: len(payload)}
    if process is not None:
        fields[6] = message({1: process, 2: b"host"})
    header = message(fields)
    return len(header).to_bytes(4, "little") + header + payload


HEADER = MAGIC + (2).to_bytes(4, "little") + message({1: 7})


def walk(tmp_path: Path, data: bytes) -> Any:
    file = tmp_path / "r.ncu-rep"
    file.write_bytes(data)
    return read_blocks(file)


def test_processes_and_version_of_a_report(tmp_path: Path) -> None:
    data = HEADER + block(0, b"\x0a\x212025.3.1.0 (build 36398880) x") + block(2, b"r" * 300) + block(1, b"", 70_000)
    found = walk(tmp_path, data)
    assert found.processes == (963, 963, 70_000)
    assert (found.whole, found.version) == (True, "2025.3.1")


def test_reports_of_2019_name_no_process_and_no_version(tmp_path: Path) -> None:
    found = walk(tmp_path, HEADER + block(1, b"payload", None))
    assert (found.processes, found.whole, found.version) == ((-1,), True, "")


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    first, second = block(1, b"a" * 40), block(1, b"b" * 40)
    whole = HEADER + first + second
    complete = {len(HEADER), len(HEADER + first), len(whole)}
    for end in range(len(MAGIC), len(whole) + 1):
        found = walk(tmp_path, whole[:end])
        assert found.whole == (end in complete), end
        assert len(found.processes) <= 2


@given(st.binary(min_size=1, max_size=200))
def test_no_bytes_break_the_walk(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    found = walk(tmp_path_factory.mktemp("noise"), HEADER + noise)
    assert len(found.processes) <= len(noise) + len(HEADER)


# --- Without the library


def test_the_missing_library_is_named_with_both_ways_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    file = tmp_path / "r.ncu-rep"
    file.write_bytes(HEADER + block(1, b"x"))
    with pytest.raises(UnrecognizedInput) as error:
        read(open_path(file))
    assert 'pip install "nsight-insight[ncu-rep]"' in str(error.value)
    assert "ncu --import FILE --csv --page raw" in str(error.value)
    assert error.value.exit_code == 3


def test_what_is_no_report_keeps_its_own_message(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    with pytest.raises(UnrecognizedInput, match="git lfs pull"):
        read(from_bytes("r.ncu-rep", pointer))
    (tmp_path / "empty.ncu-rep").write_bytes(b"")
    with pytest.raises(EmptyInput, match="the file is empty"):
        open_path(tmp_path / "empty.ncu-rep")
    with pytest.raises(UnrecognizedInput, match="not an Nsight Compute report"):
        ncu_rep.read(from_bytes("x", b"text"))


# --- The library's objects


class Value:
    """An ``IMetric``: a value, or values by address."""

    def __init__(self, value: object, unit: str = "", by_address: Mapping[int, int] | None = None) -> None:
        self._value, self._unit, self._instances = value, unit, by_address or {}

    def value(self, place: int | None = None) -> object:
        return self._value if place is None else list(self._instances.values())[place]

    def unit(self) -> str:
        return self._unit

    def num_instances(self) -> int:
        return len(self._instances)

    def has_correlation_ids(self) -> bool:
        return bool(self._instances)

    def correlation_ids(self) -> SimpleNamespace:
        return SimpleNamespace(value=lambda place: list(self._instances)[place])


class Action:
    """An ``IAction``."""

    WorkloadType_KERNEL, WorkloadType_RANGE, WorkloadType_CMDLIST, WorkloadType_GRAPH = 0, 1, 2, 3
    NameBase_DEMANGLED = 1

    def __init__(self, metrics: Mapping[str, Value], kind: int = 0, rules: Sequence[object] = ()) -> None:
        self.metrics, self.kind, self.rules = metrics, kind, rules

    def name(self, base: int = 0) -> str:
        return "void k<1>(float *)" if base else "k"

    def metric_names(self) -> list[str]:
        return list(self.metrics)

    def metric_by_name(self, name: str) -> Value | None:
        return self.metrics.get(name)

    def workload_type(self) -> int:
        return self.kind

    def nvtx_state(self) -> SimpleNamespace:
        domain = SimpleNamespace(push_pop_ranges=lambda: ("step 1", "for:ward"))
        return SimpleNamespace(domains=lambda: (0,), domain_by_id=lambda number: domain)

    def rule_results(self) -> Sequence[object]:
        return self.rules

    def sass_by_pc(self, address: int) -> str:
        return f"      NOP {address:#x}\x1b[0m"


def library(monkeypatch: pytest.MonkeyPatch, *actions: Action) -> None:
    found = SimpleNamespace(num_actions=lambda: len(actions), action_by_idx=lambda place: actions[place])
    module = ModuleType("ncu_report")
    module.load_report = lambda path: SimpleNamespace(  # type: ignore[attr-defined]
        num_ranges=lambda: 1, range_by_idx=lambda place: found, opened=Path(path).read_bytes()
    )
    monkeypatch.setitem(sys.modules, "ncu_report", module)


def duration(value: float) -> dict[str, Value]:
    return {"gpu__time_duration.sum": Value(value, "ns")}


def report(results: int) -> bytes:
    return HEADER + block(results, b"x")


def test_values_come_through_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    share = 0.10000000000000001234 / 3
    metrics = {
        **duration(2944.0),
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": Value(share, "%"),
        "dram__bytes.sum": Value(1.024e22, "byte"),
        "launch__registers_per_thread": Value(40, "register/thread"),
        "launch__grid_dim_x": Value(4.0), "launch__grid_dim_y": Value(2), "launch__grid_dim_z": Value(1),
        "device__attribute_compute_capability_major": Value(9),
        "device__attribute_compute_capability_minor": Value(0),
        "device__attribute_device_index": Value(0),
        "device__attribute_display_name": Value("NVIDIA H200"),
        "l1tex__t_sector_hit_rate.pct": Value(float("nan"), "%"),
        "lts__t_sector_hit_rate.pct": Value(None, "%"),
    }  # fmt: skip
    library(monkeypatch, Action(metrics))
    result = ncu_rep.read(from_bytes("a.zip!r.ncu-rep", report(1)))
    (table,) = result.tables
    columns = table.columns
    assert columns["sm_throughput"][0] == pytest.approx(share / 100, rel=1e-15)
    assert columns["dram_bytes"][0] == 1.024e22
    assert [columns[name][0] for name in ("duration", "registers", "grid_x", "grid_y", "grid_z")] == [2944, 40, 4, 2, 1]
    assert [columns[name][0] for name in ("cc", "device", "process", "correlation")] == [9.0, 0, 963, 0]
    assert columns["nvtx"].tolist() == ["step 1/for:ward"]
    assert np.isnan([columns["l1_hit_rate"][0], columns["l2_hit_rate"][0]]).all()
    assert [device.name for device in table.devices] == ["NVIDIA H200"]
    place = table.source.locate(0, "duration", int(columns["line"][0]))
    assert (str(place), place.field) == ("a.zip!r.ncu-rep:1", "gpu__time_duration.sum")
    assert not result.issues


def test_every_kind_of_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch, *(Action(duration(1.0), kind) for kind in range(4)))
    (table,) = ncu_rep.read(from_bytes("r", report(4))).tables
    assert table.columns["kind"].tolist() == ["kernel", "range", "graph", "graph"]


def test_rule_results(monkeypatch: pytest.MonkeyPatch) -> None:
    def rule(text: str, kind: int, estimate: tuple[int, float] | None = None) -> SimpleNamespace:
        return SimpleNamespace(
            rule_identifier=lambda: "CPIStall",
            section_identifier=lambda: "WarpStateStats",
            has_rule_message=lambda: bool(text),
            rule_message=lambda: {"title": "t", "message": text, "type": kind},
            has_speedup_estimation=lambda: estimate is not None,
            speedup_estimation=lambda: dict(zip(("type", "speedup"), estimate or (), strict=True)),
        )

    rules = [rule("See @section:SourceCounters:Source@.", 2, (2, 59.0869)), rule("ok", 1), rule("", 2)]
    library(monkeypatch, Action(duration(1.0)), Action(duration(1.0), 0, rules))
    (table,) = ncu_rep.read(from_bytes("r", report(2))).tables
    first, second = table.vendor
    assert (first.text, first.kind, first.scope, first.row) == ("See Source.", "OPT", "global", 1)
    assert first.estimated_speedup == pytest.approx(0.590869)
    assert (str(first.location), first.location.field) == ("r:2", "CPIStall")
    assert (second.kind, second.estimated_speedup) == ("INF", None)


def test_hot_lines_add_up_over_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    def sampled(counts: Mapping[int, int], stalls: Mapping[int, int]) -> Action:
        return Action({
            **duration(1.0),
            "smsp__pcsamp_sample_count": Value(sum(counts.values()), "", counts),
            "smsp__pcsamp_warps_issue_stalled_long_scoreboard": Value(0, "", stalls),
            "smsp__pcsamp_warps_issue_stalled_selected": Value(0, "", counts),
            "smsp__pcsamp_warps_issue_stalled_wait_not_issued": Value(0, "", counts),
        })  # fmt: skip

    library(monkeypatch, sampled({16: 5, 32: 1}, {16: 4}), sampled({16: 10, 48: 4}, {16: 9}))
    (table,) = ncu_rep.read(from_bytes("r", report(2))).tables
    lines = [(h.place, h.samples, h.total, h.launches, h.stall, h.stall_samples) for h in table.hot_lines]
    assert lines == [("0x10", 15, 20, 2, "long_scoreboard", 13), ("0x30", 4, 20, 2, "", 0), ("0x20", 1, 20, 2, "", 0)]
    assert table.hot_lines[0].text == "NOP 0x10"
    assert table.hot_lines[0].share == 0.75
    assert table.hot_lines[0].key == "k<1>"


def test_what_is_lost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch, Action(duration(1.0)))
    (issue,) = ncu_rep.read(from_bytes("r", report(1) + block(1, b"y" * 50)[:-3])).issues
    assert (issue.level, "cut off" in issue.text) == (Level.DATA_LOSS, True)
    (issue,) = ncu_rep.read(from_bytes("r", report(3))).issues
    assert issue.text.startswith("2 of 3 results")
    library(monkeypatch)
    with pytest.raises(EmptyInput, match="holds no results"):
        ncu_rep.read(from_bytes("r", report(0)))
    with pytest.raises(EmptyInput, match="cut off before its first result"):
        ncu_rep.read(from_bytes("r", report(1)[:-1]))


def test_a_copy_of_an_archive_member_is_private_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch, Action(duration(1.0)))
    opened: list[Path] = []
    plain = sys.modules["ncu_report"].load_report

    def load(path: str) -> object:
        opened.append(Path(path))
        assert Path(path).parent.stat().st_mode & 0o077 == 0
        return plain(path)

    monkeypatch.setattr(sys.modules["ncu_report"], "load_report", load)
    ncu_rep.read(from_bytes("a.zip!r.ncu-rep", report(1)))
    assert len(opened) == 1
    assert not opened[0].parent.exists()


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("Look at @section:LaunchStats:Launch Statistics@ now", "Look at Launch Statistics now"),
        ("See @url:Guide:https://docs.nvidia.com/a#b@.", "See Guide (https://docs.nvidia.com/a#b)."),
        ("at @sass:0x10:the load@", "at the load"),
        ("in @source:file.cu:12:line 12@", "in line 12"),
        ("mail a@b and c@d", "mail a@b and c@d"),
    ],
)
def test_markup_of_messages(written: str, printed: str) -> None:
    assert plain_message(written) == printed
