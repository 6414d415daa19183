"""``convert``: the same rows in every form, and nothing half-written."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nsight_insight import api
from nsight_insight.cli.main import main
from nsight_insight.table_files import TABLE, write_frame
from tests.paths import FIXTURES

RAW = FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw_instances.csv"
SUMS = [FIXTURES / f"nsys-csv/2025.3-h200-amp/amp_fp16_cuda_{name}.csv" for name in ("gpu_kern_sum", "gpu_sum")]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return api.load(RAW).to_pandas()


def read_back(file: Path) -> pd.DataFrame:
    if file.suffix in (".csv", ".gz"):
        return pd.read_csv(file, keep_default_na=False, na_values=[""])
    if file.suffix == ".jsonl":
        return pd.read_json(file, lines=True)
    if file.suffix == ".parquet":
        return pd.read_parquet(file)
    with sqlite3.connect(file) as db:
        return pd.read_sql(f"SELECT * FROM {TABLE}", db)  # noqa: S608


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet", "sqlite"])
def test_every_form_holds_the_same_rows(ending: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"out.{ending}"
    assert main(["convert", str(RAW), "-o", str(file)]) == 0
    again = read_back(file)
    assert list(again.columns) == list(frame.columns)
    assert again["name"].tolist() == frame["name"].tolist()
    for name in frame.select_dtypes("number").columns:
        assert np.allclose(again[name].astype(float), frame[name].astype(float), rtol=1e-14, equal_nan=True), name
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_times_are_whole_and_missing_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    assert main(["convert", *map(str, SUMS), "--primary", "-o", str(file)]) == 0
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    kernels = [row for row in rows if row["kind"] == "kernel"]
    assert sum(int(row["duration_ns"]) for row in kernels) == 40_079_365
    assert sum(int(row["count"]) for row in kernels) == 2810
    assert {row["start_ns"] for row in rows} == {""}
    assert "primary" not in rows[0]
    assert not any(cell == "nan" for row in rows for cell in row.values())


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        assert main(["convert", str(SUMS[0]), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_names_are_no_formulas(tmp_path: Path) -> None:
    write_frame(
        pd.DataFrame({"name": ["=cmd()", "-1+1", "plain"], "x": [-1.5, 2.0, float("nan")]}), tmp_path / "a.csv", "csv"
    )
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "name,x\n'=cmd(),-1.5\n'-1+1,2\nplain,\n"


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "there.csv").write_text("mine", encoding="utf-8")
    assert main(["convert", str(RAW), "-o", str(tmp_path / "there.csv")]) == 2
    assert main(["convert", str(RAW), "-o", str(tmp_path / "x.xlsx")]) == 2
    assert main(["convert", str(tmp_path / "none.csv"), "-o", str(tmp_path / "x.csv")]) == 3
    err = capsys.readouterr().err
    assert "--force" in err
    assert ".jsonl" in err
    assert [path.name for path in tmp_path.iterdir()] == ["there.csv"]
    lines = (tmp_path / "there.csv").read_text(encoding="utf-8")
    assert json.dumps(lines) == '"mine"'


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    assert main(["convert", str(RAW), "-o", str(tmp_path / "x.csv")]) == 2
    assert not list(tmp_path.iterdir())
