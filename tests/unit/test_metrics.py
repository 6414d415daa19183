"""The metric catalogue: consistent in itself, and true against NVIDIA's names, real pages and their values."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from nsight_insight.catalog.metrics import (
    Alias,
    Metric,
    label_index,
    load_attributes,
    load_columns,
    load_metrics,
    metric_index,
    parse_ranges,
    resolve,
)
from nsight_insight.catalog.sections import display_names, load_sections
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.units import FRACTION, NUMBER, TIME, parse_unit
from nsight_insight.views.facts import STALLS
from tests.paths import CAPTURES, CORPUS, LAB

NCU = CAPTURES / "h200-amp" / "ncu"
FACTS = LAB / "facts"
CHIPS = (7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1)
TYPES = ("fp16", "bf16", "tf32", "fp8", "int8", "fp64")
needs_captures = pytest.mark.skipif(not NCU.exists(), reason="captures are not here")
needs_facts = pytest.mark.skipif(not FACTS.exists(), reason="NVIDIA's name lists are not here")
needs_corpus = pytest.mark.skipif(not CORPUS.exists(), reason="other people's files are not here")

CANONICAL = set(
    re.findall(
        r"\w+",
        """
sm_throughput memory_throughput dram_throughput l1_throughput l2_throughput memory_busy memory_pipes_busy max_bandwidth
dram_bytes dram_read_bytes dram_write_bytes dram_peak_bytes_per_cycle dram_clock sm_clock elapsed_cycles
sm_active_cycles sm_active_cycles_min sm_active_cycles_max l1_hit_rate l2_hit_rate
issue_active ipc_active ipc_elapsed eligible_warps active_warps warp_latency
theoretical_occupancy achieved_occupancy occupancy_limit_registers occupancy_limit_shared_mem occupancy_limit_blocks
occupancy_limit_warps occupancy_limit_barriers waves tensor_active tensor_fp_active tensor_int_active
pipe_fma_active pipe_alu_active pipe_fp64_active pipe_fp16_active pipe_xu_active pipe_lsu_active pipe_shared_active
conversion_instructions thread_instructions fp32_instructions fp64_instructions fp16_instructions instructions_executed
fp32_fma_per_cycle fp32_add_per_cycle fp32_mul_per_cycle fp64_fma_per_cycle fp64_add_per_cycle fp64_mul_per_cycle
threads_per_instruction threads_per_instruction_pred_on branch_uniformity
sectors_global sectors_global_ideal excessive_sectors_global bytes_per_sector_load bytes_per_sector_store
sectors_per_request_load sectors_per_request_store global_load_sectors global_store_sectors local_load_sectors
local_store_sectors global_atomic_requests global_reduction_requests shared_wavefronts shared_wavefronts_ideal
excessive_shared_wavefronts shared_bank_conflicts shared_load_bank_conflicts shared_store_bank_conflicts
shared_load_wavefronts shared_store_wavefronts spill_requests spill_share
""",
    )
)
NOT_IN_STOCK_SECTIONS = {
    "conversion_instructions",
    "fp32_instructions",
    "fp64_instructions",
    "fp16_instructions",
    "sectors_per_request_load",
    "sectors_per_request_store",
}
ALL = {**load_metrics(), **load_columns()}
ENTRIES = [(metric, alias) for metric in ALL.values() for alias in metric.aliases]


# --- in itself ------------------------------------------------------------------------------------------------------


def test_every_canonical_name_is_there() -> None:
    wanted = {*CANONICAL, *(f"stall_{reason}" for reason in STALLS)}
    wanted |= {f"tensor_{what}_{dtype}" for what in ("ops", "rate", "peak") for dtype in TYPES}
    assert wanted <= set(load_metrics())


def test_columns_fill_activity_columns() -> None:
    others = {"grid_size", "block_size"}
    assert set(load_columns()) - others <= set(ACTIVITY_COLUMNS)
    for name in set(load_columns()) - others:
        assert load_columns()[name].unit == (ACTIVITY_COLUMNS[name].unit or "1")
    assert all(metric.column for metric in load_columns().values())
    assert not any(metric.column for metric in load_metrics().values())
    assert load_columns()["duration"].dimension == TIME


@pytest.mark.parametrize("metric", ALL.values(), ids=lambda metric: metric.name)
def test_entry_is_complete(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)
    assert re.match(r"[A-Z].{10,}\.$", metric.doc)
    assert metric.unit in {"fraction", "byte", "byte/s", "Hz", "1", "ns"}
    assert metric.combine in {"sum", "max", "min", "mean", "first"}
    assert metric.aliases
    if metric.dimension == FRACTION and metric.name != "l1_throughput":
        assert metric.maximum is not None
        assert 1.0 < metric.maximum <= 1.5


@pytest.mark.parametrize(("metric", "alias"), ENTRIES, ids=lambda part: getattr(part, "metric", ""))
def test_alias_is_sound(metric: Metric, alias: Alias) -> None:
    base = parse_unit(alias.base_unit)
    assert base is not None
    assert base.dimension.same_kind(metric.dimension)
    assert alias.section == "" or alias.section in load_sections()
    assert all(low <= high for low, high in alias.cc)
    assert not (alias.unit_is_count and alias.ignore_unit)
    assert metric.factor(alias, "") == pytest.approx(base.scale / parse_unit(metric.unit).scale * alias.scale)  # type: ignore[union-attr]
    if metric.dimension == FRACTION and ("pct" in alias.metric):
        assert base.scale == 0.01


def test_a_name_alone_stands_for_one_metric() -> None:
    users: dict[str, set[str]] = {}
    for metric, alias in ENTRIES:
        if not alias.plus:
            users.setdefault(alias.metric, set()).add(metric.name)
    assert {name: found for name, found in users.items() if len(found) > 1} == {}


def test_no_alias_is_listed_twice() -> None:
    for metric in ALL.values():
        for chip in CHIPS:
            seen = Counter(alias.terms for alias in metric.aliases if alias.exists_on(chip))
            assert max(seen.values(), default=1) == 1, metric.name


def test_shares_of_elapsed_cycles_come_before_shares_of_active_cycles() -> None:
    for metric in ALL.values():
        kinds = [
            "active" if "_active" in alias.metric[-20:] and "pct" in alias.metric else "elapsed"
            for alias in metric.aliases
        ]
        if "pct_of_peak_sustained_elapsed" in "".join(alias.metric for alias in metric.aliases):
            assert kinds == sorted(kinds, reverse=True), metric.name


@pytest.mark.parametrize("chip", CHIPS)
def test_a_label_stands_for_one_metric_per_chip(chip: float) -> None:
    for label, users in label_index().items():
        found = {(metric.name, alias.metric) for metric, alias in users if alias.exists_on(chip)}
        assert len(found) <= 1, label


def test_indexes_cover_every_alias() -> None:
    for metric, alias in ENTRIES:
        assert all((metric, alias) in metric_index()[term] for term in alias.terms)
        assert all((metric, alias) in label_index()[label] for label in alias.labels)


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("", ()),
        ("9.0", ((9.0, 9.0),)),
        ("7.0-8.9", ((7.0, 8.9),)),
        ("7.0, 7.5-8.6, 12.0+", ((7.0, 7.0), (7.5, 8.6), (12.0, math.inf))),
    ],
)
def test_ranges(text: str, ranges: tuple[tuple[float, float], ...]) -> None:
    assert parse_ranges(text) == ranges


# --- resolving ------------------------------------------------------------------------------------------------------

V2 = "sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_elapsed"
PLAIN = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
ACTIVE = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"


@pytest.mark.parametrize(
    ("cc", "available", "names"),
    [
        (8.9, {PLAIN, V2, ACTIVE}, [V2, PLAIN, ACTIVE]),
        (9.0, {PLAIN, V2, ACTIVE}, [PLAIN, ACTIVE]),
        (None, {PLAIN, V2}, [V2, PLAIN]),
        (9.0, {ACTIVE}, [ACTIVE]),
        (9.0, set(), []),
    ],
)
def test_resolve_prefers_by_chip(cc: float | None, available: set[str], names: list[str]) -> None:
    metric = load_metrics()["tensor_active"]
    found = resolve(metric, available, cc)
    assert [alias.metric for _, alias in found] == names
    assert all(metric.aliases[place] is alias for place, alias in found)


def test_chips_to_come_keep_the_newest_names() -> None:
    names = {alias.metric for alias in load_metrics()["tensor_fp_active"].aliases if alias.exists_on(13.0)}
    assert names == {
        "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_active",
    }
    assert any(alias.exists_on(13.0) for alias in load_metrics()["dram_throughput"].aliases)


def test_a_sum_needs_all_its_terms() -> None:
    metric = load_metrics()["dram_bytes"]
    assert resolve(metric, {"dram__bytes_read.sum"}, 9.0) == []
    [(_, alias)] = resolve(metric, {"dram__bytes_read.sum", "dram__bytes_write.sum"}, 9.0)
    assert alias.terms == ("dram__bytes_read.sum", "dram__bytes_write.sum")


def test_instruction_counts_never_pass_for_tensor_activity() -> None:
    for name in ("tensor_active", "tensor_fp_active", "tensor_int_active"):
        assert not any("inst_executed" in term for alias in load_metrics()[name].aliases for term in alias.terms)


def test_sparse_peaks_are_halved() -> None:
    """H100 and H200: 4096 dense FP16 operations per SM and cycle; the name without a suffix says 8192."""
    metric = load_metrics()["tensor_peak_fp16"]
    by_name = {alias.metric: alias for alias in metric.aliases}
    sparse = by_name["sm__ops_path_tensor_src_fp16.sum.peak_sustained"]
    dense = by_name["sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum.peak_sustained"]
    assert metric.factor(sparse, "/cycle") == 0.5
    assert metric.factor(dense, "") == 1.0


# --- units ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "unit", "factor"),
    [
        ("duration", "usecond", 1000.0),
        ("duration", "us", 1000.0),
        ("duration", "ms", 1e6),
        ("duration", "", 1.0),
        ("duration", "byte", None),
        ("sm_throughput", "%", 0.01),
        ("sm_throughput", "", 0.01),
        ("sm_throughput", "byte/s", None),
        ("dram_bytes", "Mbyte", 1e6),
        ("dram_bytes", "Gbyte/s", None),
        ("dram_bytes_per_second", "Tbyte/second", 1e12),
        ("sm_clock", "cycle/nsecond", 1e9),
        ("sm_clock", "Ghz", 1e9),
        ("shared_dynamic", "Kbyte/block", 1e3),
        ("stall_wait", "inst", 1.0),
        ("warp_latency", "cycle/inst", 1.0),
        ("excessive_sectors_global", "Kbyte", 1e3),
        ("excessive_sectors_global", "sector", 1.0),
        ("sectors_global", "Tbyte", 1e12),
        ("branch_uniformity", "branches", 0.01),
        ("tensor_rate_fp16", "/cycle", 1.0),
        ("bytes_per_sector_load", "byte/sector", 1.0),
    ],
)
def test_factor(name: str, unit: str, factor: float | None) -> None:
    """Units ncu really prints for these, wrong ones included; None where a value must not be trusted."""
    metric = ALL[name]
    assert metric.factor(metric.aliases[0], unit) == factor


def test_issue_active_is_the_same_from_both_names() -> None:
    metric = load_metrics()["issue_active"]
    percent, plain = metric.aliases
    assert 14.982116 * (metric.factor(percent, "%") or 0) == pytest.approx(0.14982116)
    assert 0.15 * (metric.factor(plain, "") or 0) == pytest.approx(0.15)


# --- NVIDIA's names -------------------------------------------------------------------------------------------------

TOOL_SIDE = re.compile(
    r"(launch__|derived__|device__|memory_|sm__maximum_warps|inst_executed$|thread_inst_executed_true$)"
)
SEEN_IN_REPORTS = {f"sm__sass_thread_inst_executed_op_{kind}_pred_on.sum" for kind in ("fp16", "fp32", "fp64")} | {
    "lts__cycles_elapsed.avg.per_second"
}
"""Names people's --metrics lists have (a report of ncu 2025.2 on CC 12.0 answers the second); the library's list was
made for the smsp__ spelling. The L2 clock is in every capture with a hierarchical roofline."""
KNOWN_ELSEWHERE = {
    # A published CC 12.0 file of ncu 2025 has values under these names; NVIDIA's library does not know them there.
    ("dram__bytes_read", 12.0),
    ("dram__bytes_write", 12.0),
}


@lru_cache(maxsize=1)
def _library() -> dict[str, set[float]]:
    with (FACTS / "ncu-metric-availability.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    chips = {column: float(heading[2:]) for column, heading in enumerate(rows[0]) if re.fullmatch(r"CC[\d.]+", heading)}
    found: dict[str, set[float]] = {}
    for row in rows[1:]:
        found.setdefault(row[1], set()).update(chip for column, chip in chips.items() if row[column] == "x")
    return found


@lru_cache(maxsize=1)
def _listed() -> dict[str, set[float]]:
    from nsight_insight.catalog.yamlio import load_yaml

    data = load_yaml((FACTS / "ncu_metrics.yaml").read_text(encoding="utf-8"), "ncu_metrics.yaml")
    found = {name: set(CHIPS) for name in data["everywhere"]}
    found.update({name: {float(chip) for chip in chips} for name, chips in data["partial"].items()})
    return found


@needs_facts
@pytest.mark.parametrize(("metric", "alias"), ENTRIES, ids=lambda part: getattr(part, "metric", ""))
def test_names_exist_on_the_chips_they_claim(metric: Metric, alias: Alias) -> None:
    for term in alias.terms:
        if TOOL_SIDE.match(term) or term in SEEN_IN_REPORTS or term == "gpu__time_duration":
            continue
        base = term.partition(".")[0]
        known = _listed().get(term) or _library().get(base)
        assert known, f"{term} is not in NVIDIA's library"
        for chip in (chip for chip in CHIPS if alias.exists_on(chip)):
            assert chip in known or (base, chip) in KNOWN_ELSEWHERE or not alias.cc, f"{term} on {chip}"


@needs_facts
@pytest.mark.parametrize("chip", CHIPS[1:])
def test_every_metric_the_chip_has_keeps_an_alias(chip: float) -> None:
    """A metric whose name NVIDIA's sections use on a chip must resolve there."""
    available = {name for name, chips in _listed().items() if chip in chips}
    for metric in load_metrics().values():
        offered = [alias for alias in metric.aliases if set(alias.terms) <= available]
        if offered:
            assert any(alias.exists_on(chip) for alias in offered), metric.name


@needs_facts
def test_sections_are_nvidias() -> None:
    with (FACTS / "ncu-labels.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    titles = {row["section_identifier"]: row["section_display_name"] for row in rows}
    collected = {(row["section_identifier"], row["metric_name"]) for row in rows}
    for identifier in load_sections():
        assert display_names(identifier)[0] == titles[identifier]
    for metric, alias in ENTRIES:
        old = "l2_transactions" in alias.metric or "l2_sectors_global" in alias.metric
        if alias.section and not old:
            assert (alias.section, alias.metric) in collected, (metric.name, alias.metric, alias.section)


@needs_facts
def test_labels_are_nvidias_and_unambiguous() -> None:
    meanings: dict[tuple[str, str], set[str]] = {}
    for file_name, display, metric in (
        ("ncu-labels.tsv", "section_display_name", "metric_name"),
        ("ncu-label-alias.tsv", "section_display", "metric_name"),
    ):
        with (FACTS / file_name).open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                meanings.setdefault((row[display], row["label"]), set()).add(row[metric])
    newest = {names.names[0] for names in load_sections().values()}
    for label, users in label_index().items():
        known = meanings.get(label)
        if known is not None:
            assert known == {alias.metric for _, alias in users}, label
        else:  # a label of the other generation of the section's title
            assert label[0] in newest or label[0] == "GPU Speed Of Light"


# --- real pages -----------------------------------------------------------------------------------------------------

Page = tuple[list[str], list[str], list[list[str]]]


@lru_cache(maxsize=8)
def _wide(path: Path) -> Page:
    csv.field_size_limit(10**8)
    with path.open(newline="", encoding="utf-8") as file:
        header, units, *rows = csv.reader(file)
    return header, units, rows


def _number(text: str) -> float:
    try:
        return float(text.partition(" (")[0].replace(",", ""))
    except ValueError:
        return math.nan


def _values(page: Page, name: str) -> tuple[str, list[float]]:
    header, units, rows = page
    column = header.index(name)
    return units[column], [_number(row[column]) for row in rows]


@needs_captures
def test_every_metric_resolves_in_a_full_capture() -> None:
    available = set(_wide(NCU / "raw.csv")[0])
    missing = {name for name, metric in ALL.items() if not resolve(metric, available, 9.0)}
    assert missing == NOT_IN_STOCK_SECTIONS


@needs_captures
def test_default_and_base_units_give_the_same_values() -> None:
    """Six decimals in the printed unit against two decimals in base units."""
    default, base = _wide(NCU / "raw.csv"), _wide(NCU / "raw_base.csv")
    compared = 0
    for name, users in metric_index().items():
        if name not in default[0]:
            continue
        unit, values = _values(default, name)
        base_unit, base_values = _values(base, name)
        for metric, alias in users:
            factor, base_factor = metric.factor(alias, unit), metric.factor(alias, base_unit)
            assert factor, (name, unit)
            assert base_factor, (name, base_unit)
            precision = 0.51 * ((1e-6 if unit else 1e-2) * factor + 1e-2 * base_factor)
            for value, base_value in zip(values, base_values, strict=True):
                assert value * factor == pytest.approx(
                    base_value * base_factor, rel=1e-9, abs=precision, nan_ok=True
                ), name
                compared += 1
    assert compared > 9000


@needs_captures
def test_attributes_are_in_a_capture() -> None:
    page = _wide(NCU / "raw.csv")
    header, _, rows = page
    for attribute in load_attributes().values():
        assert attribute.metrics[0] in header
    assert rows[0][header.index(load_attributes()["gpu_name"].metrics[0])] == "NVIDIA H200"
    clock, bus = load_attributes()["max_memory_clock"], load_attributes()["memory_bus_width"]
    hertz = _values(page, clock.metrics[0])[1][0] * clock.scale
    lines = _values(page, bus.metrics[0])[1][0]
    assert 2 * hertz * lines / 8 == pytest.approx(4.8e12, rel=0.01)


@lru_cache(maxsize=8)
def _long(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(10**8)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    return [row for row in csv.DictReader(lines[start:]) if row.get("Metric Name")]


@needs_captures
def test_details_labels_mean_what_the_raw_page_says() -> None:
    """Each label of the details page, converted, equals the metric the catalogue says it is, of the same launch."""
    page = _wide(NCU / "raw.csv")
    seen: set[tuple[str, str]] = set()
    for row in _long(NCU / "details.csv"):
        label = (row["Section Name"], row["Metric Name"])
        for metric, alias in label_index().get(label, ()):
            factor = metric.factor(alias, row["Metric Unit"])
            assert factor, (label, row["Metric Unit"])
            unit, values = _values(page, alias.metric)
            raw_factor = metric.factor(alias, unit)
            assert raw_factor
            precision = 0.51 * (1e-2 * factor + (1e-6 if unit else 1e-2) * raw_factor)
            printed = _number(row["Metric Value"]) * factor
            assert printed == pytest.approx(values[int(row["ID"])] * raw_factor, rel=1e-9, abs=precision), label
            seen.add(label)
    assert len(seen) > 40


@needs_captures
def test_full_capture_holds_no_value_above_the_maximum() -> None:
    for file in ("raw.csv", "raw_fp32.csv"):
        _assert_plausible(_wide(NCU / file), 9.0)


def _assert_plausible(page: Page, cc: float | None) -> None:
    available = set(page[0])
    for metric in load_metrics().values():
        for _, alias in resolve(metric, available, cc)[:1]:
            total = [0.0] * len(page[2])
            for term in alias.terms:
                unit, values = _values(page, term)
                factor = metric.factor(alias, unit)
                assert factor, (term, unit)
                total = [part + value * factor for part, value in zip(total, values, strict=True)]
            known = [value for value in total if not math.isnan(value)]
            assert all(0 <= value <= (metric.maximum or math.inf) for value in known), (metric.name, max(known))


CORPUS_PAGES = [
    ("cli/a100_raw_auto_fp_cli2024.csv", 8.0),
    ("cli/a100_raw_auto_fp_cli2020.csv", 8.0),
    ("cli/nvtx_raw_cli2020.csv", 8.6),
    ("cli/gtx1650_raw_base_cli2022.csv", 7.5),
    ("cli/h100_raw_auto_cli2024.csv", 9.0),
    ("cli/h100_raw_en_US_cli2024.csv", 9.0),
    ("cli/newer_report_old_cli_no_units_raw.csv", 12.0),
    ("csv_raw_919_kernels_true_size.csv", 8.6),
    ("csv_raw_b200_full_size.csv", 10.0),
    ("pair_b200/raw.csv", 10.0),
]


@needs_corpus
@pytest.mark.parametrize(("file", "cc"), CORPUS_PAGES)
def test_published_pages_are_plausible(file: str, cc: float) -> None:
    """Every unit is understood and no value of a healthy file is refused."""
    path = CORPUS / "ncu" / file
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    header, units, *rows = (row for row in csv.reader(lines[start:]) if len(row) > 50)
    _assert_plausible((header, units, rows), cc)


LABEL_NAME_PAGES = [
    NCU / "details_all-first-kernels.csv",
    CORPUS / "ncu" / "cli" / "h100_details_all_labelname_cli2024.csv",
]


@pytest.mark.parametrize("path", LABEL_NAME_PAGES, ids=lambda path: path.stem)
def test_printed_label_and_name_agree_with_the_catalogue(path: Path) -> None:
    """``--print-metric-name label-name`` prints ``SM Frequency (gpc__cycles_elapsed.avg.per_second)``."""
    if not path.exists():
        pytest.skip("the page is not here")
    checked: set[tuple[str, str]] = set()
    for row in _long(path):
        found = re.fullmatch(r"(.+) \(([a-z_0-9.]+__[^()]+)\)", row["Metric Name"])
        users = label_index().get((row["Section Name"], found[1])) if found else None
        if found and users:
            assert found[2] in {alias.metric for _, alias in users if alias.exists_on(9.0)}, row["Metric Name"]
            checked.add((row["Section Name"], found[1]))
    assert len(checked) > 30


def test_counts_carry_no_unit() -> None:
    for name in ("instructions_executed", "waves", "warp_latency"):
        assert load_metrics()[name].dimension == NUMBER
