"""Parquet: told apart by content, read with pyarrow, refused with advice without it."""

from __future__ import annotations

import builtins
import csv
import io

import pytest

from nsight_insight import api
from nsight_insight.errors import UnrecognizedInput
from nsight_insight.readers import nsys_parquet, read, readers
from nsight_insight.readers.text import SourceText
from tests.paths import FIXTURES

SUMMARY = FIXTURES / "nsys-csv/2025.3-h200-amp/amp_fp16_cuda_gpu_kern_sum.csv"
FAKE = SourceText("x.parquet", b"PAR1" + bytes(200) + b"PAR1")


def test_only_this_reader_takes_it() -> None:
    assert {name for name, reader in readers().items() if reader.sniff(FAKE)} == {"nsys_parquet"}


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return original(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnrecognizedInput, match=r"nsight-insight\[parquet\]"):
        read(FAKE)


def parquet(columns: dict[str, list[object]]) -> SourceText:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return SourceText("x.parquet", file.getvalue())


def test_a_report_holds_what_its_csv_holds() -> None:
    heading, *rows = csv.reader(SUMMARY.read_text().splitlines())
    columns: dict[str, list[object]] = dict(zip(heading, map(list, zip(*rows, strict=True)), strict=True))
    for name in heading[:-1]:
        columns[name] = [float(str(cell)) if "." in str(cell) else int(str(cell)) for cell in columns[name]]
    found, true = api.load(parquet(columns)), api.load(SUMMARY)
    for name in ("name", "duration", "count", "avg", "median", "min", "max", "std", "family"):
        assert found.activities[name].tolist() == true.activities[name].tolist()
    assert str(found.locate(3, "duration")) == "x.parquet:4:2"


def test_other_columns_are_named() -> None:
    with pytest.raises(UnrecognizedInput, match="File, Rank"):
        nsys_parquet.read(parquet({"File": ["a"], "Rank": [0]}))


def test_a_damaged_file_is_refused() -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(UnrecognizedInput, match="cannot read"):
        nsys_parquet.read(FAKE)
