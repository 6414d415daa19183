"""The nvprof reader on the made fixtures and on small texts."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from nsight_insight import api
from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.catalog.nvprof_metrics import load_nvprof_metrics
from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level
from nsight_insight.model.profile import Profile, ReadResult, Table
from nsight_insight.readers import nvprof, read, readers
from nsight_insight.readers._nvprof_values import quantity
from nsight_insight.readers.text import SourceText, open_path
from nsight_insight.rules import vocabulary
from nsight_insight.rules.evaluate import expand
from nsight_insight.rules.loader import load_rules
from tests.tools import make_nvprof as made
from tests.tools.make_nsys_text import ENGLISH, Item, summary

FOLDER = made.FOLDER
KERNELS = [op for op in made.OPS if op.size is None]


def parse(*lines: str, end: str = "\n") -> ReadResult:
    return nvprof.read(SourceText("x.txt", ("\n".join(lines) + end).encode()))


def table(name: str) -> Table:
    (only,) = nvprof.read(open_path(FOLDER / name)).tables
    return only


def losses(result: ReadResult) -> list[tuple[int | None, str]]:
    return [(i.location.line, i.text) for i in result.issues if i.level is Level.DATA_LOSS]


def primary(profile: Profile, kind: str) -> tuple[int, int]:
    frame = profile.activities
    rows = frame[frame["primary"] & (frame["kind"] == kind)]
    return int(rows["count"].sum()), int(rows["duration"].sum())


@pytest.mark.parametrize("name", made.FILES)
def test_the_generator_writes_the_fixtures(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == "\n".join(made.FILES[name]()) + "\n"


@pytest.mark.parametrize("name", made.FILES)
def test_every_fixture_is_recognised(name: str) -> None:
    scores = {reader.NAME: reader.sniff(open_path(FOLDER / name)) for reader in readers().values()}
    assert {key for key, score in scores.items() if score} == {"nvprof"}


@pytest.mark.parametrize(
    ("text", "unit", "value", "step"),
    [
        ("1.6782ms", "", 1_678_200.0, 100.0), ("704ns", "", 704.0, 1.0), ("8.92100s", "", 8_921_000_000.0, 1e4),
        ("0.078595", "ms", 78_595.0, 1.0), ("8.0000KB", "", 8192.0, 0.1024), ("0B", "", 0.0, 1.0),
        ("60.641GB/s", "", 60.641 * 2**30, 0.001 * 2**30), ("70.83%", "", 0.7083, 1e-4), ("18", "", 18.0, 1.0),
        ("1.5e+03s", "", 1.5e12, 1e11),
    ],
)  # fmt: skip
def test_quantities(text: str, unit: str, value: float, step: float) -> None:
    found = quantity(text, unit)
    assert found is not None
    assert (found.value, found.step) == (pytest.approx(value, rel=1e-12), pytest.approx(step))


@pytest.mark.parametrize("text", ["", "-", "Low (2)", "1.5xs", "ms", "1 2", "nan", "0x10", "-1ms", "1..5ms"])
def test_what_is_no_quantity(text: str) -> None:
    assert quantity(text) is None


# --- traces ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpu-trace.txt", "gpu-trace.csv"])
def test_traces_in_both_forms(name: str) -> None:
    found, whole = table(name), name.endswith("csv")
    columns = found.columns
    assert found.source.report == "nvprof-gpu-trace"
    assert found.source.tool == "nvprof"
    np.testing.assert_allclose(columns["duration"], [op.duration for op in made.OPS], rtol=0 if whole else 6e-5)
    np.testing.assert_allclose(columns["start"], [op.start for op in made.OPS], rtol=0 if whole else 6e-5)
    for index, axis in enumerate("xyz"):
        for column, of in ((f"grid_{axis}", "grid"), (f"block_{axis}", "block")):
            true = [getattr(op, of)[index] if op.size is None else np.nan for op in made.OPS]
            np.testing.assert_array_equal(columns[column], true)
    assert columns["registers"][2] == 32
    assert columns["shared_static"][2] == 8192
    np.testing.assert_array_equal(columns["bytes"], [np.nan if op.size is None else op.size for op in made.OPS])
    assert columns["kind"].tolist() == ["memcpy", "memset", *["kernel"] * 21, "memcpy"]
    assert columns["direction"].tolist() == ["HtoD", *[""] * 22, "DtoH"]
    assert columns["src_kind"].tolist() == ["pageable", "device", *[""] * 21, "device"]
    assert columns["correlation"].tolist() == [op.id if whole or op.size is None else -1 for op in made.OPS]
    assert set(columns["stream"]) == {7}
    assert set(columns["process"]) == {4242}
    assert set(columns["device"]) == ({0} if whole else {-1})
    assert [op.name for op in made.OPS] == columns["name"].tolist() or whole
    assert not losses(nvprof.read(open_path(FOLDER / name)))


def test_mangled_names_are_kernels_by_another_spelling() -> None:
    text, comma = (api.load(FOLDER / name).activities for name in ("gpu-trace.txt", "gpu-trace.csv"))
    assert set(comma["base"]) == set(text["base"])


def test_a_cut_gpu_name_has_no_index() -> None:
    assert [(d.index, d.name) for d in table("gpu-trace.txt").devices] == [(-1, "Tesla P100-PCIE-")]
    assert [(d.index, d.name) for d in table("gpu-trace.csv").devices] == [(0, "Tesla P100-PCIE-16GB")]


def trace_line(start: str, duration: str, name: str) -> str:
    cells = [start, duration, "(1 1 1)", "(32 1 1)", "16", "0B", "0B", "-", "-", "-", "-", "GPU (0)", "1", "7", name]
    return "  ".join(cells)


def test_starts_too_coarse_for_short_kernels_are_left_out() -> None:
    rows = [trace_line(start, "2.0000us", "k") for start in ("982.82ms", "982.82ms", "982.83ms")]
    result = parse("======== Profiling result:", made.TRACE_HEADING, *rows)
    assert "start" not in result.tables[0].columns
    assert "--normalized-time-unit" in losses(result)[0][1]


def test_rows_that_are_no_activities_are_told() -> None:
    fault = trace_line("2.0s", "5.0us", "[Unified Memory GPU page faults]")
    copy = trace_line("2.1s", "5.0us", "[Unified Memory Memcpy HtoD]")
    result = parse("======== Profiling result:", made.TRACE_HEADING, fault, copy)
    found = result.tables[0].columns
    assert (found["kind"].tolist(), found["direction"].tolist()) == (["memcpy"], ["unified"])
    assert "[Unified Memory GPU page faults]" in result.issues[0].text


def test_an_api_trace_has_calls() -> None:
    result = parse("==7== Profiling result:", "   Start  Duration  Name", "2.17914s     629ns  cuCtxGetDevice")
    found = result.tables[0]
    assert (found.source.report, found.columns["kind"].tolist()) == ("nvprof-api-trace", ["api"])
    assert (found.columns["start"][0], found.columns["duration"][0], found.columns["process"][0]) == (
        2_179_140_000.0,
        629.0,
        7,
    )


# --- summaries ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["summary.txt", "summary.csv", "summary-8.txt", "summary-8-unquoted.csv"])
def test_summaries_in_every_form(name: str) -> None:
    frame = api.load(FOLDER / name).activities
    exact = 0 if name == "summary.csv" else 6e-5
    for kinds, rows in ((["kernel", "memcpy", "memset"], made.gpu_rows()), (["api"], made.api_rows())):
        found = frame[frame["kind"].isin(kinds)]
        if kinds == ["api"] and name == "summary-8-unquoted.csv":
            assert found.empty
            continue
        assert found["name"].tolist() == [row for row, _ in rows]
        assert found["count"].tolist() == [len(times) for _, times in rows]
        np.testing.assert_allclose(found["duration"], [sum(times) for _, times in rows], rtol=exact)
        np.testing.assert_allclose(found["max"], [max(times) for _, times in rows], rtol=exact)
    assert frame.loc[frame["name"] == "[CUDA memset]", "kind"].tolist() == ["memset"]


def test_processes_are_apart_and_ranges_repeat_nothing() -> None:
    result = nvprof.read(open_path(FOLDER / "processes.txt"))
    assert [(t.source.report, set(t.columns["process"])) for t in result.tables] == [
        ("nvprof-summary", {4242}), ("nvprof-nvtx", {4242}), ("nvprof-unified-memory", {4242}),
        ("nvprof-summary", {4243}),
    ]  # fmt: skip
    assert result.tables[1].columns["nvtx"].tolist() == ["", "step 1"]
    profile = api.load(FOLDER / "processes.txt")
    assert primary(profile, "kernel") == (21 + 2, 12_639_000 + 36_252 + 81_000)
    assert primary(profile, "range") == (1, 13_000_000)


def test_unified_memory_is_copies_and_remarks() -> None:
    result = nvprof.read(open_path(FOLDER / "processes.txt"))
    moved = result.tables[2].columns
    assert moved["direction"].tolist() == ["unified", "unified"]
    assert moved["bytes"].tolist() == [sum(parts) for parts, _ in made.MIGRATIONS.values()]
    np.testing.assert_allclose(moved["duration"], [time for _, time in made.MIGRATIONS.values()], rtol=6e-5)
    said = " ".join(issue.text for issue in result.issues)
    assert "Gpu page fault groups" in said
    assert "Total CPU Page faults: 154" in said


def test_lost_records_are_data_loss() -> None:
    result = nvprof.read(open_path(FOLDER / "processes.txt"))
    assert [text for _, text in losses(result)] == [
        "nvprof says: Warning: 2 records have invalid timestamps due to insufficient device buffer space."
    ]


def test_what_nvprof_is_too_old_for_is_said_once() -> None:
    result = nvprof.read(open_path(FOLDER / "processes.txt"))
    assert sum("compute capability 8.0" in issue.text for issue in result.issues) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("gpu-trace.txt", "gpu-trace.csv"), ("gpu-trace.txt", "summary.txt"), ("gpu-trace.csv", "summary.csv"),
        ("gpu-trace.csv", "summary-8.txt"), ("summary.txt", "summary.csv"),
        ("gpu-trace.txt", "gpu-trace.csv", "summary.txt", "summary.csv", "metrics.txt"),
    ],
)  # fmt: skip
def test_one_run_in_several_forms_counts_once(names: tuple[str, ...]) -> None:
    profile = api.load(*(FOLDER / name for name in names))
    count, time = primary(profile, "kernel")
    assert count == len(KERNELS)
    assert time == pytest.approx(sum(op.duration for op in KERNELS), rel=6e-5)
    assert primary(profile, "memcpy")[0] == 2


# --- metrics --------------------------------------------------------------------------------------------------------


def test_metrics_are_counters_and_never_times() -> None:
    profile = api.load(FOLDER / "metrics.txt")
    frame = profile.activities.set_index("name")
    assert frame["duration"].isna().all()
    assert not frame["primary"].any()
    stencil = frame.loc[made.STENCIL]
    assert stencil["count"] == 20
    assert (stencil["achieved_occupancy"], stencil["ipc_active"]) == (0.622020, 0.756203)
    assert stencil["bytes_per_sector_load"] == pytest.approx(0.7083 * 32)
    assert stencil["instructions_executed"] == 20 * 1_381_262
    assert stencil["l2_hit_rate"] == pytest.approx(0.9342)
    report = api.analyze(profile)
    assert (report.totals.kernel_ns, report.totals.launches, report.findings) == (0.0, 0, ())


def test_levels_and_unlike_counters_are_only_listed() -> None:
    found = table("metrics.txt")
    assert {"dram_utilization", "dram_read_throughput"} <= found.source.available
    assert {name for name in found.columns if name in load_metrics()} == {
        "achieved_occupancy", "ipc_active", "bytes_per_sector_load", "l2_hit_rate", "instructions_executed",
    }  # fmt: skip


def test_impossible_metrics_are_input_errors() -> None:
    result = nvprof.read(open_path(FOLDER / "metrics.txt"))
    assert [text for _, text in losses(result)] == [
        "nvprof-metrics: l2_tex_hit_rate is larger than it can be for 1 kernels; left out"
    ]
    assert np.isnan(result.tables[0].columns["l2_hit_rate"][0])


def test_both_forms_of_metrics_agree() -> None:
    text, comma = table("metrics.txt"), table("metrics.csv")
    for name in ("achieved_occupancy", "ipc_active", "bytes_per_sector_load", "instructions_executed"):
        assert comma.columns[name][0] == text.columns[name][1]


def test_events_have_no_equal() -> None:
    result = parse(
        "==1== Event result:",
        "Invocations                 Event Name         Min         Max         Avg       Total",
        'Device "TITAN Xp (0)"',
        "    Kernel: k(int*)",
        "          2             warps_launched         256         256         256         512",
    )
    assert result.tables[0].source.available == {"warps_launched"}
    assert not set(result.tables[0].columns) & set(load_metrics())


def test_the_catalogue_names_known_metrics_of_the_same_kind() -> None:
    for known in load_nvprof_metrics().values():
        assert known.metric.name in load_metrics()
        assert known.scale == (32.0 if known.metric.name.startswith(("threads_per", "bytes_per")) else 1.0)


# --- places, damage, recognition ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpu-trace.txt", "summary.txt", "summary-8.txt", "processes.txt", "metrics.txt"])
def test_every_value_of_a_text_is_found_again(name: str) -> None:
    lines = (FOLDER / name).read_text().split("\n")
    checked = 0
    for found in nvprof.read(open_path(FOLDER / name)).tables:
        for column in found.source.columns.keys() & {"duration", "start", "bytes", "count", "registers", "ipc_active"}:
            for row, true in enumerate(found.columns[column]):
                place = found.source.locate(row, column, int(found.columns["line"][row]))
                assert place.line is not None
                assert place.column is not None
                value = quantity(lines[place.line - 1][place.column - 1 :].split("  ")[0])
                assert (value is None and np.isnan(true)) or (value and value.value == pytest.approx(true, abs=0.5))
                checked += value is not None
    assert checked


def test_every_value_of_a_csv_is_found_again() -> None:
    lines = (FOLDER / "gpu-trace.csv").read_text().split("\n")
    found = table("gpu-trace.csv")
    for column in ("duration", "start", "bytes", "grid_x", "correlation"):
        for row, true in enumerate(found.columns[column]):
            place = found.source.locate(row, column, int(found.columns["line"][row]))
            assert place.line is not None
            assert place.column is not None
            (cells,) = csv.reader([lines[place.line - 1]])
            value = quantity(cells[place.column - 1], found.source.columns[column][0].unit)
            assert (value is None and np.isnan(true)) or (value and value.value == pytest.approx(true, abs=0.5))


def test_rows_that_were_cut_are_reported() -> None:
    lines = made.FILES["gpu-trace.txt"]()[:10]
    result = parse(*lines, "61.100ms  1.0550us    ", end="")
    assert losses(result) == [(11, "nvprof-gpu-trace: a line skipped, not a row of 15 cells")]
    assert result.tables[0].source.incomplete


def test_a_run_without_kernels_is_empty_input() -> None:
    with pytest.raises(EmptyInput, match="No kernels were profiled") as caught:
        read(open_path(FOLDER / "nothing.txt"))
    assert caught.value.line == 6


def test_a_log_without_tables_says_how_to_get_them() -> None:
    with pytest.raises(UnrecognizedInput, match="--import-profile"):
        parse("==5== NVPROF is profiling process 5, command: ./a", "==5== Generated result file: /home/me/a.nvvp")


def test_no_command_line_or_directory_is_kept() -> None:
    result = parse(
        "==5== NVPROF is profiling process 5, command: ./secret --token abc",
        "==5== Warning: cannot write /home/secret/x.log, see http://docs.nvidia.com/cuda/index.html",
        *made.FILES["summary.txt"](),
    )
    said = " ".join(issue.text for issue in result.issues)
    assert "secret" not in said
    assert "cannot write x.log, see http://docs.nvidia.com/cuda/index.html" in said


def test_tables_of_nsys_in_the_same_text_are_left_to_its_reader() -> None:
    table = summary([Item("k", (5,))], ENGLISH, 2024, "Instances", "Name")
    lines = [*made.FILES["summary.txt"](), "", *table]
    assert [found.source.tool for found in parse(*lines).tables] == ["nvprof"]
    both = read(SourceText("x", "\n".join(lines).encode()))
    assert [found.source.tool for found in both.tables] == ["nvprof", "nsys"]
    assert [len(found) for found in both.tables] == [8, 1]
    assert losses(both) == []


def test_program_output_that_looks_like_a_banner_is_ignored() -> None:
    lines = made.FILES["summary.txt"]()
    result = parse("======== num_particles: 5", *lines, "==================", "Time: 3 s", "======== done")
    assert len(result.tables[0]) == 8
    assert not losses(result)


@pytest.mark.parametrize(
    "lines",
    [
        ("Time (%),Total Time (ns),Instances,Name", "1.0,5,1,k"),
        ("==PROF== Connected to process 5",),
        ("Start of the program", "Duration 5"),
        ("WARNING: x and any of its children processes will be profiled.",),
    ],
)
def test_other_formats_are_left_to_others(lines: tuple[str, ...]) -> None:
    assert nvprof.sniff(SourceText("x", "\n".join(lines).encode())) == 0.0


def test_no_rule_can_be_judged_by_nvprofs_metrics_alone() -> None:
    """What the remark says: were this to fail, launches with nvprof's metrics should be handed to that rule."""
    held = {known.metric.name for known in load_nvprof_metrics().values()}
    metered = [rule for rule in load_rules().values() if rule.applies_to.get("tool") == ("ncu",)]
    assert len(metered) > 30
    for rule in metered:
        facts = vocabulary.facts(rule.scope)
        wanted = [clause.condition for clause in rule.when] + [rule.saving.upper, rule.saving.expected]
        names = {name for e in wanted for name in expand(e.names - e.optional, rule, with_fallbacks=False)}
        needs = {need for name in names if name in facts for need in facts[name].needs} & load_metrics().keys()
        assert needs - held, rule.id


def test_metrics_say_that_no_rule_judges_by_them() -> None:
    assert ["no rule judges" in issue.text for issue in issues_of("metrics.txt")].count(True) == 1
    assert not any("no rule judges" in issue.text for issue in issues_of("summary.txt"))


def issues_of(name: str) -> list[Issue]:
    return nvprof.read(open_path(FOLDER / name)).issues


@pytest.mark.parametrize("cut", range(0, 2600, 97))
def test_a_file_may_end_anywhere(cut: int) -> None:
    data = (FOLDER / "processes.txt").read_bytes()[:cut]
    try:
        result = nvprof.read(SourceText("x", data or b"x"))
    except InputError:
        return
    assert all(len(found) for found in result.tables)
