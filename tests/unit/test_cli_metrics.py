"""``metrics list`` and ``metrics which``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from nsight_insight.catalog.metrics import load_columns, load_metrics
from nsight_insight.cli.main import main
from tests.paths import FIXTURES

NCU = FIXTURES / "ncu-csv/2025.3.1-h200-amp"


def test_list_has_a_line_per_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*load_metrics(), *load_columns()]
    [line] = [line for line in lines if line.startswith("dram_throughput ")]
    assert line.split()[1:3] == ["fraction", "SpeedOfLight"]
    assert load_metrics()["dram_throughput"].doc in line


def test_list_of_some_with_ncus_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "list", "tensor_ops_fp16", "waves", "-v"]) == 0
    out = capsys.readouterr().out
    assert "launch__waves_per_multiprocessor" in out
    assert "sm__ops_path_tensor_src_fp16_dst_fp32.sum + sm__ops_path_tensor_src_fp16_dst_fp16.sum" in out
    assert "compute capability" in out


def test_list_for_a_chip(capsys: pytest.CaptureFixture[str]) -> None:
    main(["metrics", "list", "dram_read_bytes", "stall_gmma", "-v", "--cc", "8.0"])
    out = capsys.readouterr().out
    assert "dram__bytes_read.sum" in out
    assert "dram__bytes_op_read.sum" not in out
    assert "not there" in next(line for line in out.splitlines() if line.startswith("stall_gmma"))


def test_list_as_json(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["metrics", "list", "sm_*", "--format", "json"]) == 0
    document = json.loads(capsysbinary.readouterr().out)
    assert [entry["metric"] for entry in document] == [name for name in load_metrics() if name.startswith("sm_")]
    throughput = document[0]
    assert throughput["names"][0]["terms"] == ["sm__throughput.avg.pct_of_peak_sustained_elapsed"]
    assert {"section": "GPU Speed Of Light Throughput", "label": "Compute (SM) Throughput"} in throughput["names"][0][
        "labels"
    ]


def test_which(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "which", str(NCU / "live_mixed.csv")]) == 0
    captured = capsys.readouterr()
    lines = {line.split()[0]: line for line in captured.out.splitlines()}
    assert set(lines) == {"sm_throughput", "dram_bytes"}
    assert "40 of 40 launches  dram__bytes.sum [byte]" in lines["dram_bytes"]
    assert captured.err == f"2 metrics held, {len(load_metrics()) - 2} not\n"


def test_which_names_what_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "which", str(NCU / "live_mixed.csv"), "-v"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "warp_latency" in last
    assert "sm_throughput" not in last


def test_which_as_json(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = NCU / "raw.csv"
    assert main(["metrics", "which", str(path), "--format", "json"]) == 0
    held = {entry["metric"]: entry for entry in json.loads(capsysbinary.readouterr().out)}
    with path.open(encoding="utf-8", newline="") as file:
        headings = next(csv.reader(file))
    for entry in held.values():
        assert entry["file"] == str(path)
        assert sum(name["rows"] for name in entry["names"]) == entry["rows"] <= entry["total"] == 60
        for name in entry["names"]:
            assert set(name["name"].split(" + ")) <= set(headings)


def test_which_of_a_details_page_shows_labels(capsys: pytest.CaptureFixture[str]) -> None:
    main(["metrics", "which", str(NCU / "details.csv")])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "20 of 20 launches  Compute (SM) Throughput [%]" in lines["sm_throughput"]


def test_which_of_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "which", str(FIXTURES / "demo")]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("0 metrics held")


def test_which_without_or_with_a_wrong_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "which"]) == 2
    assert main(["metrics", "which", str(tmp_path / "absent.csv")]) == 3
    assert "absent.csv" in capsys.readouterr().err
