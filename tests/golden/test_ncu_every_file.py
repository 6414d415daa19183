"""Every published file of Nsight Compute is read or refused for the right reason; ``ncu_published.tsv`` says how."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from nsight_insight import errors
from nsight_insight.api import analyze, load
from nsight_insight.model.issues import Level
from nsight_insight.readers import read
from nsight_insight.readers.text import open_path
from tests.paths import CORPUS

PUBLISHED = CORPUS / "ncu"
TRIMMED = frozenset(
    f"cli/{name}"
    for name in (
        "gtx1650_raw_cli2020.txt", "gtx1650_raw_cli2024.txt", "h100_details_ruledetails_cli2024.txt",
        "h100_details_all_instances_details_cli2024.csv", "h100_details_all_labelname_cli2024.csv",
        "h100_details_en_US_instances_cli2024.csv",
    )
)  # fmt: skip
"""Cut by whoever published them, so that they hold fewer launches than their report."""
MERGED = frozenset({"cli/gtx1650_summary_en_US_cli2024.csv"})
pytestmark = pytest.mark.skipif(not PUBLISHED.exists(), reason="published files absent")


def expected() -> list[SimpleNamespace]:
    with (Path(__file__).with_name("ncu_published.tsv")).open(encoding="utf-8") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return [SimpleNamespace(**{name: "" if cell == "-" else cell for name, cell in row.items()}) for row in rows]


@lru_cache(maxsize=1)
def index() -> dict[str, dict[str, str]]:
    with (PUBLISHED / "INDEX.tsv").open(encoding="utf-8") as stream:
        return {row["file"]: row for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)}


def test_no_file_is_forgotten() -> None:
    files = {str(path.relative_to(PUBLISHED)) for path in PUBLISHED.rglob("*") if path.is_file()} - {"INDEX.tsv"}
    assert files == {row.file for row in expected()}


@pytest.mark.parametrize("row", expected(), ids=lambda row: row.file)
def test_file(row: SimpleNamespace) -> None:
    if row.reader == "ncu_rep":
        pytest.importorskip("ncu_report", reason="NVIDIA's library is not installed")
    if row.outcome not in ("read", "described"):
        with pytest.raises(getattr(errors, row.outcome)) as error:
            read(open_path(PUBLISHED / row.file))
        assert row.why in error.value.text
        return
    result = read(open_path(PUBLISHED / row.file))
    (table,) = result.tables
    assert (table.source.reader, table.source.report) == (row.reader, row.report)
    assert (len(table), len(table.vendor)) == (int(row.launches), int(row.rules))
    losses = [issue.text for issue in result.issues if issue.level is not Level.INFO]
    assert all(row.why.split("; ")[0] in text for text in losses)
    assert bool(losses) == bool(row.why)
    assert (result.alone is not None) == (row.outcome == "described")
    for values in table.columns.values():
        assert len(values) == len(table)


@pytest.mark.parametrize("row", [row for row in expected() if row.outcome == "read"], ids=lambda row: row.file)
def test_launches_are_those_of_the_index(row: SimpleNamespace) -> None:
    if row.file in TRIMMED:
        assert int(row.launches) < int(index()[row.file]["kernels"])
    elif row.file in MERGED:
        assert load(PUBLISHED / row.file).activities["count"].sum() == int(index()[row.file]["kernels"])
    else:
        assert int(row.launches) == int(index()[row.file]["kernels"])


@pytest.mark.parametrize(
    "row", [row for row in expected() if row.reader in ("ncu_text", "ncu_summary")], ids=lambda row: row.file
)
def test_files_can_be_judged(row: SimpleNamespace) -> None:
    report = analyze(load(PUBLISHED / row.file))
    assert report.totals.launches >= int(row.launches)
