"""``inspect`` on the command line: text that fits, JSON that parses, exit codes, hostile names."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nsight_insight.cli.main import main
from nsight_insight.model.inspection import (
    Caution,
    InspectedDevice,
    InspectedFile,
    InspectedTable,
    Inspection,
    RuleStatus,
)
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.reporters.inspection import inspection_dict, inspection_text
from nsight_insight.reporters.options import RenderOptions
from tests.paths import FIXTURES, ROOT

RAW = str(FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw.csv")
API = str(FIXTURES / "demo/fp32_cuda_api_sum.csv")
EVIL = "\x1b[31mred\x07\u202e [lambda() (instance 1)] [/bold]"


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("NSIGHT_INSIGHT_") or name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def hostile() -> Inspection:
    place = Location(f"{EVIL}.csv", 3, 4, EVIL)
    file = InspectedFile(
        f"{EVIL}.csv", f"Nsight Compute, {EVIL}", advice=EVIL, tool="ncu", reader="ncu_csv", version=EVIL,
        devices=(InspectedDevice(0, EVIL, 9.0, 132),), launches=3, kernels=1, kernel_ns=float("nan"),
        tables=(InspectedTable("raw", 3, ("sm_throughput",), (EVIL,), (("dram_bytes", EVIL),)),),
        issues=(Issue(Level.DATA_LOSS, EVIL, place), Issue(Level.INFO, EVIL, place)),
    )  # fmt: skip
    return Inspection(
        "1.0", (file, InspectedFile(EVIL, "not readable", error=EVIL)), (Caution("idle", "doubt", EVIL, EVIL, place),),
        (RuleStatus("memory/x", "X", "partly", EVIL, 0.5),), (f"ncu {EVIL}",), (EVIL,),
        (Issue(Level.INFO, EVIL, place),),
    )  # fmt: skip


def test_text_of_a_real_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", RAW]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    lines = captured.out.splitlines()
    assert lines[0] == RAW
    assert lines[1] == "   is          Nsight Compute, raw page (ncu_csv)"
    assert any("60 launches of 26 kernels" in line for line in lines)
    assert any(line.endswith("rules can be judged") for line in lines)
    assert [line for line in lines if line.startswith("  $ ncu ")]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_text_fits(width: int, verbose: bool) -> None:
    from nsight_insight.inspection import inspect

    text = inspection_text(inspect(RAW, API), RenderOptions(width=width, verbose=verbose))
    long = [line for line in text.splitlines() if len(line) > width and not line.startswith(("  $ ", "  # "))]
    assert not [line for line in long if " " in line.strip()[:width]]


def test_verbose_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    main(["inspect", RAW])
    short = capsys.readouterr().out
    assert "(-v names them)" in short
    assert main(["inspect", RAW, "-v"]) == 0
    long = capsys.readouterr().out
    assert "memory/dram-bandwidth-bound" in long
    assert "dram_throughput" in long
    assert len(long) > 2 * len(short)


def test_many_files_get_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(FIXTURES / "nsys-csv/2025.3-h200-amp")]) == 0
    out = capsys.readouterr().out
    # However long the folder's name is, and wherever it makes the first line break.
    head = "".join(line.strip() for line in out.split("\n\n")[0].splitlines())
    assert "amp_fp16_cuda_api_gpu_sum.csv" in head
    assert "   is   " not in out


def test_json(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["inspect", RAW, "--format", "json"]) == 0
    document = json.loads(capsysbinary.readouterr().out.decode("utf-8"))
    assert document["schema_version"] == 1
    [file] = document["files"]
    assert (file["path"], file["launches"], file["kernel_ns"]) == (RAW, 60, 296832)
    assert {status["verdict"] for status in document["rules"]} <= {"judged", "partly", "lacking", "nothing"}
    assert document["collect"][0].startswith("ncu ")


def test_places_in_json_are_those_of_reports(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    live = str(FIXTURES / "ncu-csv/2025.3.1-h200-amp/live_mixed.csv")
    assert main(["inspect", live, "--format", "json"]) == 0
    document = json.loads(capsysbinary.readouterr().out.decode("utf-8"))
    [place] = [caution["location"] for caution in document["cautions"] if caution["id"] == "clocks-unlocked"]
    assert place == {"file": live, "line": None, "column": None, "field": "", "table": ""}


def test_hostile_names_do_no_harm() -> None:
    for options in (RenderOptions(), RenderOptions(verbose=True), RenderOptions(unicode=False)):
        text = inspection_text(hostile(), options)
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "[lambda() (instance" in text
    document = json.dumps(inspection_dict(hostile()), allow_nan=False)
    assert not {"\\u001b", "\\u202e", "\\u0007"} & {document[place : place + 6] for place in range(len(document))}
    assert json.loads(document)["files"][0]["kernel_ns"] is None


def test_colour_only_when_asked() -> None:
    assert "\x1b[" in inspection_text(hostile(), RenderOptions(color=True))
    assert "\x1b[" not in inspection_text(hostile(), RenderOptions(color=False))


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [("x.csv", b"hello\n", 3), ("gone.csv", None, 3), ("k.csv.gz", gzip.compress(Path(API).read_bytes()), 0)],
)
def test_exit_codes(
    name: str, data: bytes | None, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    assert main(["inspect", name]) == code
    out = capsys.readouterr().out
    assert out.startswith(name)
    assert ("not readable" in out) is (code == 3)


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect"]) == 2
    assert "Usage: nsight-insight inspect" in capsys.readouterr().err
    assert main(["inspect", RAW, "--from", "nosuch"]) == 2
    assert main(["inspect", RAW, "--gpu", "nosuch"]) == 2


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    data = io.BytesIO(Path(API).read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data, isatty=lambda: False))
    assert main(["inspect", "-"]) == 0
    assert capsys.readouterr().out.startswith("-\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    assert main(["inspect", "-"]) == 2


def test_the_named_gpu_is_believed(capsys: pytest.CaptureFixture[str]) -> None:
    kernels = str(FIXTURES / "nsys-csv/2025.3-h200-fp32/fp32_cuda_gpu_kern_sum.csv")
    main(["inspect", kernels])
    assert "no input names the GPU" in capsys.readouterr().out
    main(["inspect", kernels, "--gpu", "NVIDIA H200"])
    out = capsys.readouterr().out
    assert "no input names the GPU" not in out
    assert "NVIDIA H200 (compute capability 9.0" in out


def test_nothing_is_written_beside_the_input(tmp_path: Path) -> None:
    copy = tmp_path / "raw.csv"
    copy.write_bytes(Path(RAW).read_bytes())
    before = copy.stat().st_mtime_ns
    main(["inspect", str(copy)])
    assert [entry.name for entry in tmp_path.iterdir()] == ["raw.csv"]
    assert copy.stat().st_mtime_ns == before


def test_help_loads_no_analysis() -> None:
    script = (
        "import sys; from nsight_insight.cli.main import main; main(['inspect', '--help']);"
        "sys.exit(str([n for n in ('pandas', 'rich', 'yaml', 'pydantic') if n in sys.modules]))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environ)
    assert done.stderr.strip() == "[]"
