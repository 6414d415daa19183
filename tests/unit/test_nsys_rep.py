"""Reports of Nsight Systems through a stand-in for ``nsys``: what is run, where, and what is left behind."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from nsight_insight import api
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.readers import nsys_rep, read
from nsight_insight.readers.text import from_bytes, open_path
from tests.paths import FIXTURES
from tests.tools import make_nsys_rep as made

DATABASE = FIXTURES / "nsys-sqlite/2025.3-h200-amp/amp_fp16.sqlite"
REPORT = b"NVIDIA Tegra Profiler Report 1.\n\x0bLocal (CLI)\x12\x04" + bytes(range(256)) * 4
"""The first bytes are those of a report written by nsys 2022.4, the rest is anything."""

EXPORTS = f'''
[ "$1 $2 $3 $4 $5 $6" = "export --type sqlite --force-overwrite true -o" ] || exit 9
head -c 28 "$8" | grep -q "NVIDIA Tegra Profiler Report" || exit 8
cp "{DATABASE}" "$7"
'''


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "input" / "my run.nsys-rep"
    path.parent.mkdir()
    path.write_bytes(REPORT)
    return path


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """A program called nsys on the PATH that notes how it was called; temporary files go to a folder of the test."""
    bin_, log, temporary = tmp_path / "bin", tmp_path / "calls", tmp_path / "tmp"
    bin_.mkdir()
    temporary.mkdir()
    program = bin_ / "nsys"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n{script}')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{bin_}:/usr/bin:/bin")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return log


def test_a_report_gives_what_its_export_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Path) -> None:
    log = install(tmp_path, monkeypatch, EXPORTS)
    profile = api.load(report)
    same = api.load(DATABASE)
    assert profile.activities.equals(same.activities)
    assert {(source.reader, source.path) for source in profile.sources} == {("nsys_rep", str(report))}
    assert str(profile.locate(0, "duration")) == f"{report}:CUPTI_ACTIVITY_KIND_KERNEL:1"
    (called,) = log.read_text().splitlines()
    assert called.endswith(f" {report}")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list(report.parent.iterdir()) == [report]
    assert report.read_bytes() == REPORT


def test_a_report_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, EXPORTS)
    assert len(api.load(from_bytes("-", REPORT)).activities) > 10_000
    assert list((tmp_path / "tmp").iterdir()) == []


def test_without_nsys_the_command_is_told(monkeypatch: pytest.MonkeyPatch, report: Path) -> None:
    monkeypatch.setenv("PATH", "")
    target = report.with_suffix(".sqlite")
    with pytest.raises(UnrecognizedInput) as caught:
        api.load(report)
    command = f"`nsys export --type sqlite --force-overwrite true -o '{target}' '{report}'`"
    assert (
        caught.value.text == f"a report of Nsight Systems, and nsys is not installed here: where it is, run {command}"
    )
    assert caught.value.exit_code == 3
    with pytest.raises(UnrecognizedInput, match=r"-o report\.sqlite report\.nsys-rep`"):
        nsys_rep.read(from_bytes("-", REPORT))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo Importing; echo 'File /home/alice/x.nsys-rep is damaged' >&2; exit 3",
            "exit code 3: File x.nsys-rep is",
        ),
        ("exit 0", "exit code 0: it said nothing"),
        ("printf 'Processing 10%%\\rProcessing 20%%\\rError: \\033[31mbad'; exit 1", "exit code 1: Error: bad; try"),
    ],
)
def test_an_export_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Path, script: str, said: str
) -> None:
    install(tmp_path, monkeypatch, script)
    with pytest.raises(UnrecognizedInput) as caught:
        api.load(report)
    assert f"nsys export failed with {said}" in caught.value.text
    assert "alice" not in caught.value.text
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_export_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Path) -> None:
    install(tmp_path, monkeypatch, "exec sleep 30")
    monkeypatch.setattr(nsys_rep, "TIMEOUT_S", 0.2)
    with pytest.raises(UnrecognizedInput, match=r"took longer than 0\.2 s; run `nsys export"):
        api.load(report)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_program_that_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Path) -> None:
    install(tmp_path, monkeypatch, "")
    (tmp_path / "bin" / "nsys").write_bytes(b"\x7fELF no program")
    with pytest.raises(UnrecognizedInput, match="nsys cannot be run"):
        api.load(report)


def test_a_report_without_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Path) -> None:
    code = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE NVTX_EVENTS (start)')"
    script = f'python3 -c "{code}" "$7"'
    install(tmp_path, monkeypatch, script)
    with pytest.raises(EmptyInput, match="no CUDA activity"):
        api.load(report)


def test_recognised_by_the_first_bytes_or_else_by_name(tmp_path: Path) -> None:
    files = {
        "named.txt": REPORT,
        "raw.qdstrm": b"U3w[END]NVIDIA Nsight Systems Stream 2022.4.2.1-df9881f\x00" + bytes(99),
        "old.qdrep": bytes(range(256)) * 8,
        "old.bin": bytes(range(256)) * 8,
        "database.nsys-rep": DATABASE.read_bytes(),
        "pointer.nsys-rep": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert {name: nsys_rep.sniff(open_path(tmp_path / name)) for name in files} == {
        "named.txt": 1.0, "raw.qdstrm": 1.0, "old.qdrep": 0.2, "old.bin": 0.0, "database.nsys-rep": 0.0,
        "pointer.nsys-rep": 0.0,
    }  # fmt: skip
    assert {source.reader for source in api.load(tmp_path / "database.nsys-rep").sources} == {"nsys_sqlite"}
    with pytest.raises(UnrecognizedInput, match=r"a raw capture of Nsight Systems \(.qdstrm\)"):
        api.load(tmp_path / "raw.qdstrm")
    with pytest.raises(UnrecognizedInput, match="git lfs pull"):
        api.load(tmp_path / "pointer.nsys-rep")


def test_in_a_directory_a_report_is_passed_over(monkeypatch: pytest.MonkeyPatch, report: Path) -> None:
    monkeypatch.setenv("PATH", "")
    (report.parent / "my run.sqlite").write_bytes(DATABASE.read_bytes())
    profile = api.load(report.parent)
    assert {source.reader for source in profile.sources} == {"nsys_sqlite"}
    assert any("passed over: a report of Nsight Systems" in issue.text for issue in profile.issues)


@pytest.mark.parametrize("name", sorted(made.files()))
def test_the_fixtures_are_recognised_whatever_they_are_called(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (made.FOLDER / name).read_bytes()
    assert content == made.files()[name]
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnrecognizedInput, match="import it" if "qdstrm" in name else "nsys is not installed here"):
        read(from_bytes("anything", content))
