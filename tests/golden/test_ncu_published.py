"""Files of ncu that other people published: every one is read or refused, none breaks the reader."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Level
from tests.golden.ncu_cells import OTHER_NAME, metrics_of, read, table
from tests.paths import CORPUS

PUBLISHED = CORPUS / "ncu"
needs_corpus = pytest.mark.skipif(not PUBLISHED.exists(), reason="published files absent")
REFUSED = re.compile(r"source|session|summary|only_(?:error|warning)|nvidia_smi")
COUNTS = {
    "csv_raw_919_kernels_true_size.csv": 855,
    "csv_raw_b200_full_size.csv": 32,
    "csv_raw_ktime_400cols_with_stdout.txt": 3,
    "csv_details_ktime_error_mid_preamble.csv": 14,
    "csv_details_2022_rules_no_est.csv": 18,
    "csv_details_crlf_pool.csv": 12,
    "csv_details_julia_a100.csv": 6,
    "csv_metrics_h100_app_stdout.csv": 9,
    "csv_processed_pandas_index.csv": 2,
    "csv_details_ktime_only_rule_row.csv": 1,
    "cli/gtx1660s_details_base_de_DE_cli2024.csv": 3,
    "cli/nvtx_details_cli2020.csv": 3,
    "cli/newer_report_old_cli_no_units.csv": 1,
}
PUBLISHED_CSV = sorted(
    path
    for pattern in ("*.csv", "cli/*.csv", "pair_b200/*.csv", "*_with_stdout.txt")
    for path in PUBLISHED.glob(pattern)
)


@needs_corpus
@pytest.mark.parametrize("path", PUBLISHED_CSV, ids=lambda path: path.name)
def test_published_files_are_read_or_refused(path: Path) -> None:
    if REFUSED.search(path.name):
        with pytest.raises(InputError):
            read(path)
        return
    result = read(path)
    assert not [issue for issue in result.issues if issue.level is not Level.INFO]
    for found in result.tables:
        for values in found.columns.values():
            assert len(values) == len(found) > 0


@needs_corpus
@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_launches_of_published_files(name: str, count: int) -> None:
    path = PUBLISHED / name
    starts = re.findall(r'^"?(\d+)"?,"?(\d+)"?,', path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    assert len(set(starts)) == count
    assert sum(len(found) for found in read(path).tables) == count


@needs_corpus
@pytest.mark.parametrize(
    "name", ["de_CH_cli2024", "de_DE_cli2024", "en_IN_cli2024", "fr_FR_cli2024", "fr_FR_cli2020_INVALID_UTF8"]
)
def test_locales_do_not_change_values(name: str) -> None:
    english = table(PUBLISHED / "cli" / "gtx1660s_details_base_en_US_cli2024.csv")
    other = table(PUBLISHED / "cli" / f"gtx1660s_details_base_{name}.csv")
    assert len(other.source.columns) > 25
    for column in set(other.source.columns) & set(english.source.columns):
        if other.columns[column].dtype == np.float64:
            np.testing.assert_array_equal(other.columns[column], english.columns[column], column)
    assert other.columns["duration"][:2].tolist() == [29_344.0, 16_416.0]


@needs_corpus
@pytest.mark.parametrize(
    ("raw", "details"),
    [
        ("pair_b200/raw.csv", "pair_b200/details.csv"),
        ("cli/newer_report_old_cli_no_units_raw.csv", "cli/newer_report_old_cli_no_units.csv"),
        ("cli/nvtx_raw_cli2020.csv", "cli/nvtx_details_cli2020.csv"),
        ("cli/nvtx_raw_cli2024.csv", "cli/nvtx_rename_kernel_cli2024.csv"),
        ("cli/gtx1660s_raw_de_DE_cli2024.csv", "cli/gtx1660s_details_auto_de_DE_cli2024.csv"),
        ("cli/h100_raw_en_US_cli2024.csv", "cli/h100_details_name_cli2024.csv"),
    ],
)
def test_raw_and_details_of_published_reports_agree(raw: str, details: str) -> None:
    wide, long = table(PUBLISHED / raw), table(PUBLISHED / details)
    common = set(metrics_of(long)) & set(metrics_of(wide)) - OTHER_NAME
    assert len(common) > 20
    for column in common:
        # Two decimals in the long page, three digits at least where the unit is chosen to fit.
        np.testing.assert_allclose(long.columns[column], wide.columns[column], rtol=0.006, atol=0.0051, err_msg=column)


@needs_corpus
@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*err*.txt")), ids=lambda path: path.name)
def test_permission_errors_name_the_remedy(path: Path) -> None:
    with pytest.raises(EmptyInput, match="NVreg_RestrictProfilingToAdminUsers"):
        read(path)


@needs_corpus
@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("csv_source_sass_2022.csv", "source page"),
        ("pair_b200/session.csv", "session page"),
        ("cli/nvtx_summary_per-nvtx_details_cli2020.csv", "summary"),
        ("cli/nvtx_summary_per-gpu_raw_SHIFTED_cli2024.csv", "summary"),
    ],
)
def test_other_pages_are_named(name: str, word: str) -> None:
    with pytest.raises(UnrecognizedInput, match=word):
        read(PUBLISHED / name)
