# ruff: noqa: S608 - the name of a table
"""Real jobs split into one file per rank give the findings of the whole file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import nsight_insight as ni
from nsight_insight.inspection._mixtures import added_up, several_gpus
from nsight_insight.model.finding import Report
from nsight_insight.model.profile import Profile
from nsight_insight.reporters._devices import heading
from nsight_insight.views.build import build, build_all
from nsight_insight.views.facts import TRACE
from tests.paths import CAPTURES, CORPUS
from tests.ranks import IDENTITY, columns, execute, split_by_gpu, table

DDP = CORPUS / "nsys" / "ddp-rtx3090x2-nccl-2026.3.1.sqlite"
INFERENCE = CORPUS / "nsys" / "h100-2gpu-1s-2026.2.1.sqlite"
FACTS = ("busy", "idle", "window", "steady_busy", "steady_idle", "comm_wait_time", "comm_waits", "comm_joined_last")
LATER = 123_456_789
"""ns between the starts of the two profilers."""

pytestmark = pytest.mark.skipif(not DDP.exists(), reason="needs the published captures")


def outline(report: Report) -> list[tuple[object, ...]]:
    """Findings in order, with device, savings and the cells of their evidence but for the name of the file."""
    return [
        (
            f.rule, f.subject.device, f.confidence, round(f.saving.expected_ns, 3), round(f.saving.upper_ns, 3),
            sorted(m.kernel for m in f.subject.members), sorted(e.rule for e in f.explains),
        )
        for f in report.findings
    ]  # fmt: skip


def facts(profile: Profile) -> dict[str, list[float]]:
    values = build(profile, TRACE).values
    return {name: np.asarray(values[name], dtype=float).tolist() for name in FACTS if name in values}


@pytest.fixture(scope="module")
def whole() -> dict[Path, tuple[Profile, Report]]:
    """Each capture as it was published."""
    profiles = {path: ni.load(path) for path in (DDP, INFERENCE)}
    return {path: (profile, ni.analyze(profile)) for path, profile in profiles.items()}


@pytest.mark.parametrize("later", [0, LATER], ids=["one session", "two sessions"])
@pytest.mark.parametrize("path", [DDP, INFERENCE], ids=["ddp", "inference"])
def test_rank_files_give_the_findings_of_the_whole(
    path: Path, later: int, whole: dict[Path, tuple[Profile, Report]], tmp_path: Path
) -> None:
    profile = ni.load(*split_by_gpu(path, tmp_path, later=later))
    before, report = whole[path]
    assert outline(ni.analyze(profile)) == outline(report)
    here, there = facts(profile), facts(before)
    assert here.keys() == there.keys()
    for name, values in there.items():
        assert here[name] == pytest.approx(values, nan_ok=True), name
    assert not profile.clocks


def test_files_of_ranks_are_not_doubted_as_different_runs(tmp_path: Path) -> None:
    profile = ni.load(*split_by_gpu(DDP, tmp_path))
    told = {caution.id for check in (added_up, several_gpus) for caution in check(profile, build_all(profile))}
    assert told == {"several-gpus"}


def test_captures_of_one_gpu_at_different_times_are_not_called_two_gpus(tmp_path: Path) -> None:
    h200 = CAPTURES / "h200-amp" / "nsys"
    profile = ni.load(h200 / "fp32.sqlite", h200 / "amp_fp16.sqlite")
    report = ni.analyze(profile)
    assert len({device.clock for device in report.device_totals}) == 2
    assert not any(device.slowest for device in report.device_totals)
    assert "captures of one" in heading(report)
    [gpus] = several_gpus(profile, build_all(profile))
    assert "captures of one" in gpus.text
    assert [caution.id for caution in added_up(profile, build_all(profile))] == ["added-up"]


def test_each_gpu_has_its_own_idle_time(tmp_path: Path) -> None:
    """Taken for one GPU, the two of the job look 62 % busy; each alone is far less."""
    values = build(ni.load(*split_by_gpu(DDP, tmp_path)), TRACE).values
    idle = np.asarray(values["idle"] / values["window"], dtype=float)
    expected = [1.0 - busy(path) for path in sorted(tmp_path.glob("*.sqlite"))]
    assert idle.tolist() == pytest.approx(expected, abs=1e-9)
    assert (idle > 0.4).all()


def busy(path: Path) -> float:
    """Part of the time between the first and the last kernel in which GPU work ran, counted by sweeping over it."""
    kernels, copies, sets = (intervals(path, what) for what in ("KERNEL", "MEMCPY", "MEMSET"))
    first, last = min(start for start, _ in kernels), max(end for _, end in kernels)
    total, reached = 0, first
    for start, end in sorted((*kernels, *copies, *sets)):
        total += max(min(end, last) - max(start, reached), 0)
        reached = max(reached, end)
    return total / (last - first)


def intervals(path: Path, what: str) -> list[tuple[int, int]]:
    """Start and end of every activity of a kind."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute(f'SELECT "start", "end" FROM {table(what)}').fetchall()


def test_the_order_of_the_files_says_nothing(whole: dict[Path, tuple[Profile, Report]], tmp_path: Path) -> None:
    files = split_by_gpu(DDP, tmp_path)
    assert outline(ni.analyze(ni.load(*reversed(files)))) == outline(whole[DDP][1])


def test_without_identity_the_kernels_tell(whole: dict[Path, tuple[Profile, Report]], tmp_path: Path) -> None:
    profile = ni.load(*split_by_gpu(DDP, tmp_path, identified=False))
    bare = execute_all(tmp_path / "whole.sqlite")
    assert outline(ni.analyze(profile)) == outline(ni.analyze(ni.load(bare)))


def execute_all(target: Path) -> Path:
    """The whole capture without the tables that identify GPUs."""
    target.write_bytes(DDP.read_bytes())
    return execute(target, *(f"DROP TABLE {name}" for name in IDENTITY))


def test_ranks_of_two_machines_are_not_compared(tmp_path: Path) -> None:
    files = split_by_gpu(DDP, tmp_path)
    execute(files[1], "UPDATE TARGET_INFO_SYSTEM_ENV SET value = 'another' WHERE name = 'Hostname'")
    profile = ni.load(*files)
    assert len(set(profile.clocks.values())) == 2
    report = ni.analyze(profile)
    assert not any(device.slowest for device in report.device_totals)
    assert not [f for f in report.findings if f.rule == "imbalance/late-device"]
    assert np.isnan(facts(profile).get("comm_waits", [np.nan])).all()


def test_ranks_in_containers_have_equal_process_ids(whole: dict[Path, tuple[Profile, Report]], tmp_path: Path) -> None:
    files = split_by_gpu(DDP, tmp_path)
    with_pid_of(*files)
    profile = ni.load(*files)
    assert outline(ni.analyze(profile)) == outline(whole[DDP][1])
    assert facts(profile) == facts(whole[DDP][0])


def with_pid_of(first: Path, second: Path) -> None:
    """Give the process of ``second`` the id of that of ``first``."""
    ids = []
    for path in (first, second):
        with closing(sqlite3.connect(path)) as database:
            ids += database.execute(f"SELECT DISTINCT globalPid FROM {table('KERNEL')}").fetchone()
    changes = [f"UPDATE TARGET_INFO_CUDA_DEVICE SET pid = {ids[0] >> 24 & 0xFFFFFF}"]
    for name, there in columns(second).items():
        if {"start", "end"} <= there:
            changes += [f"UPDATE {name} SET {c} = {c} - {ids[1] - ids[0]}" for c in {"globalPid", "globalTid"} & there]
    execute(second, *changes)


def test_evidence_names_the_file_of_its_rank(tmp_path: Path) -> None:
    files = split_by_gpu(DDP, tmp_path)
    places = {
        (finding.subject.device, value.location.path)
        for finding in ni.analyze(ni.load(*files)).findings
        for clause in finding.evidence
        for value in clause.values
        if value.location is not None and finding.subject.device >= 0
    }
    assert places == {(device, str(path)) for device, path in enumerate(files)}
