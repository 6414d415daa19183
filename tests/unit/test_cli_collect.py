"""``collect``: commands that exist, match the kernels meant, and aim at a steady training step."""

from __future__ import annotations

import csv
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from nsight_insight import api
from nsight_insight.catalog.collect import LAUNCHES, Target, collect_command, nvtx_filter
from nsight_insight.catalog.function_names import function_name
from nsight_insight.cli.main import main
from nsight_insight.collection import MAX_LAUNCHES, Wish, capability_of, for_rules, top_functions
from nsight_insight.errors import UsageError
from nsight_insight.rules.loader import load_rules
from nsight_insight.rules.needs import needs_of, tools_of
from nsight_insight.views.activity import Activities
from nsight_insight.views.build import build_all
from nsight_insight.views.facts import KERNEL
from nsight_insight.views.typical_step import typical_step
from tests.paths import CAPTURES, FIXTURES, ROOT
from tests.unit.make_profile import make_profile

AMP = FIXTURES / "nsys-csv/2025.3-h200-amp"
TRACES = [str(AMP / f"amp_fp16_{name}.csv") for name in ("cuda_gpu_trace", "nvtx_gpu_proj_trace")]
RAW = str(FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw.csv")

# Options of `ncu --help`, `nsys profile --help` and `nsys stats --help`, 2025.3.1; all of them are older than 2024.
NCU = {
    "--csv", "--page", "--log-file", "--clock-control", "--launch-skip", "--launch-count", "--kernel-name", "--section",
    "--metrics", "--nvtx", "--nvtx-include",
}  # fmt: skip
FLAGS = {"--csv", "--nvtx"}
NSYS_PROFILE = {"--trace", "--output", "--cuda-graph-trace"}
NSYS_STATS = {"--report", "--format", "--output"}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("NSIGHT_INSIGHT_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def commands(text: str) -> list[list[str]]:
    """The commands of an output as words; every option is one that the tool has."""
    found = [shlex.split(line) for line in text.splitlines() if not line.startswith("#")]
    for words in found:
        check(words)
    return found


def check(words: list[str]) -> None:
    if words[0] == "ncu":
        rest = iter(words[1:])
        for word in rest:
            if not word.startswith("--"):
                break
            assert word in NCU
            if word not in FLAGS:
                next(rest)
        return
    profile = words[:2] == ["nsys", "profile"]
    own = words[2 : next(place for place, word in enumerate(words) if word.startswith("--output")) + 1]
    options = {word.partition("=")[0] for word in own if word.startswith("--")}
    assert options <= (NSYS_PROFILE if profile else NSYS_STATS)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    assert main(["collect", *arguments]) == 0
    return commands(capsys.readouterr().out)


def option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


# --- without a file ---------------------------------------------------------------------------------------------------


def test_the_program_stands_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    [ncu] = run(capsys, "--rules", "memory/dram-*", "--gpu", "NVIDIA H200", "--", "python", "my train.py", "--lr", "1")
    assert ncu[-4:] == ["python", "my train.py", "--lr", "1"]
    assert option(ncu, "--section") == "SpeedOfLight"
    assert "--metrics" not in ncu


def test_without_a_program_one_stands_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "--rules", "tiny-kernels"]) == 0
    out = capsys.readouterr().out
    assert "# `python train.py` stands for your program: give it behind --" in out
    assert [words[:2] for words in commands(out)] == [["nsys", "profile"], ["nsys", "stats"]]


def test_options_behind_the_dashes_are_the_programs(capsys: pytest.CaptureFixture[str]) -> None:
    [profile, stats] = run(capsys, "--rules", "tiny-kernels", "--", "./app", "--tool", "x", "--", "--help")
    assert profile[-5:] == ["./app", "--tool", "x", "--", "--help"]
    assert stats[-1] == "nsys.nsys-rep"


@pytest.mark.parametrize(("tool", "first"), [("ncu", {"ncu"}), ("nsys", {"nsys"}), ("both", {"ncu", "nsys"})])
def test_tool(tool: str, first: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert {words[0] for words in run(capsys, "--tool", tool, "--cc", "9.0")} == first


def test_the_chips_names_only(capsys: pytest.CaptureFixture[str]) -> None:
    rules = ("--rules", "memory/local-memory-traffic", "--rules", "tensor-core/low-tensor-utilization")
    [ampere] = run(capsys, *rules, "--cc", "8.0")
    [unknown] = run(capsys, *rules)
    assert "dram__bytes.sum" in option(ampere, "--metrics")
    assert len(unknown) >= len(ampere)


def test_gpu_and_cc_must_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "--gpu", "NVIDIA H200", "--cc", "8.0"]) == 2
    assert "has compute capability 9.0, not 8.0" in capsys.readouterr().err
    assert capability_of("NVIDIA H200", None) == 9.0
    assert capability_of("", 8.6) == 8.6
    assert capability_of("", None) is None
    with pytest.raises(UsageError, match=r"no GPU of compute capability 3\.3"):
        capability_of("", 3.3)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [(["--gpu", "H2000"], "did you mean"), (["--rules", "nosuch*"], "no rule matches"), (["--tool", "perf"], "perf")],
)
def test_usage_errors(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", *arguments]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("rule", load_rules().values(), ids=lambda rule: rule.id)
@pytest.mark.parametrize("cc", [None, 7.5, 9.0, 12.0])
def test_every_rule_has_commands_of_known_options(rule: object, cc: float | None) -> None:
    from nsight_insight.rules.model import Rule

    assert isinstance(rule, Rule)
    plan = for_rules([rule], Wish(cc=cc))
    assert plan.commands
    found = commands(plan.text)
    assert {words[0] for words in found} == {tools_of(rule)[0]}


def test_needs_are_metrics_columns_and_reports() -> None:
    rules = load_rules()
    assert needs_of(rules["memory/dram-bandwidth-bound"])[0] == "dram_throughput"
    assert "start" in needs_of(rules["precision/cast-ping-pong"])
    assert tools_of(rules["memory/dram-bandwidth-bound"]) == ("ncu",)
    assert tools_of(rules["launch/tiny-kernels"])[0] == "nsys"


def test_rules_of_the_other_tool_are_counted() -> None:
    plan = for_rules(load_rules().values(), Wish(tool="nsys", cc=9.0))
    metered = sum("ncu" in tools_of(rule) and "nsys" not in tools_of(rule) for rule in load_rules().values())
    assert f"rules that need the other tool, left out: {metered}" in plan.notes


# --- kernels ----------------------------------------------------------------------------------------------------------


def test_kernels_may_be_spelled_as_any_tool_does(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["void at::native::reduce_kernel<(int)512>(T3)", "_Z18silu_kernel_vectorPfS_i", "[CUDA memset]"]
    arguments = [word for name in names for word in ("--kernels", name)]
    assert main(["collect", "--rules", "memory/*", *arguments]) == 0
    out = capsys.readouterr().out
    assert option(commands(out)[0], "--kernel-name") == "regex:^(reduce_kernel|silu_kernel_vector)$"
    assert "# no function name, so not filtered for: '[CUDA memset]'" in out


def test_the_filter_matches_the_function_in_the_binary(capsys: pytest.CaptureFixture[str]) -> None:
    """Names are those of the trace, uncut: short forms such as ``…_256x128x8_…_ffma`` match nothing in ncu."""
    ncu = run(capsys, str(FIXTURES / "demo"), "--rules", "memory/*")[0]
    pattern = re.compile(option(ncu, "--kernel-name").removeprefix("regex:"))
    with (FIXTURES / "demo/fp32_cuda_gpu_trace.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["GrdX"]]
    times = Counter[str]()
    for row in rows:
        times[function_name(row["Name"])] += int(row["Duration (ns)"])
    matched = sum(time for name, time in times.items() if pattern.search(name))
    assert matched >= 0.9 * sum(times.values())
    assert any(
        name.endswith("_execute_kernel__5x_cublas") and "tilesize" in name for name in times if pattern.search(name)
    )


def test_analysis_proposes_the_same_names() -> None:
    report = api.analyze(api.load(FIXTURES / "demo"))
    assert "execute_kernel__5x_cublas" in report.collect
    check(shlex.split(report.collect.splitlines()[0]))


def test_cut_names_are_no_filter(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "k.csv"
    rows = ["Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name"]
    rows += ["90.0,9000000,10,900000,900000,900000,900000,0.0,sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tile…"]
    rows += ["10.0,1000000,10,100000,100000,100000,100000,0.0,reduce_kernel"]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert main(["collect", str(file), "--tool", "ncu"]) == 0
    out = capsys.readouterr().out
    assert "--kernel-name" not in out
    assert "# no kernel filter" in out


def test_top_functions_cover_most_of_the_time() -> None:
    rows = [{"name": f"k{n}", "count": 1, "duration": 1000.0 / (n + 1)} for n in range(30)]
    functions, share = top_functions(build_all(make_profile(rows))[KERNEL])
    total = sum(1 / (n + 1) for n in range(30))
    assert functions == tuple(f"k{n}" for n in range(8))
    assert share == pytest.approx(sum(1 / (n + 1) for n in range(8)) / total)


# --- steady steps -----------------------------------------------------------------------------------------------------


def test_one_steady_step_of_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    """Skip and count, against the trace itself: ncu counts launches that match the filter, from the first one on."""
    ncu = run(capsys, *TRACES, "--rules", "memory/*")[0]
    pattern = re.compile(option(ncu, "--kernel-name").removeprefix("regex:"))
    with open(TRACES[0], encoding="utf-8", newline="") as file:  # noqa: PTH123
        rows = [row for row in csv.DictReader(file) if row["GrdX"]]
    with open(TRACES[1], encoding="utf-8", newline="") as file:  # noqa: PTH123
        steps = [row for row in csv.DictReader(file) if row["Name"].startswith(":step ")]
    begin = sorted(int(row["Projected Start (ns)"]) for row in steps)
    starts = sorted(int(row["Start (ns)"]) for row in rows if pattern.search(function_name(row["Name"])))
    skip, count = int(option(ncu, "--launch-skip")), int(option(ncu, "--launch-count"))
    assert skip > 0
    step = begin.index(max(time for time in begin if time <= starts[skip]))
    assert step >= 1
    inside = [time for time in starts if begin[step] <= time and (step + 1 == len(begin) or time < begin[step + 1])]
    assert starts[skip : skip + count] == inside


def test_no_steps_no_skip(capsys: pytest.CaptureFixture[str]) -> None:
    summary = FIXTURES / "nsys-csv" / "2025.3-h200-fp32" / "fp32_cuda_gpu_kern_sum.csv"
    assert main(["collect", str(summary), "--rules", "memory/*"]) == 0
    out = capsys.readouterr().out
    assert "--launch-skip" not in out
    assert option(commands(out)[0], "--launch-count") == str(LAUNCHES)
    assert "no training steps were found" in out


def test_steps_by_repetition_are_skipped_like_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", str(FIXTURES / "demo"), "--rules", "memory/*"]) == 0
    out = capsys.readouterr().out
    assert "--launch-skip" in out
    assert "no training steps were found" not in out


def test_kernels_that_are_not_in_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", *TRACES, "--kernels", "mine", "--rules", "memory/*"]) == 0
    assert "the kernels named are in no training step" in capsys.readouterr().out


def test_the_range_an_ncu_profile_was_taken_from(capsys: pytest.CaptureFixture[str]) -> None:
    ncu = run(capsys, RAW)[0]
    assert option(ncu, "--nvtx-include") == "step 1/"
    assert "--launch-skip" not in ncu


@pytest.mark.skipif(not CAPTURES.exists(), reason="captures are not here")
def test_ranges_that_miss_launches_are_no_filter(capsys: pytest.CaptureFixture[str]) -> None:
    """Autograd launches from a thread without ranges: an NVTX filter would drop them."""
    ncu = run(capsys, str(CAPTURES / "h200-amp/nsys/amp_fp16.sqlite"), "--rules", "memory/*")[0]
    assert "--nvtx-include" not in ncu
    assert "--launch-skip" in ncu


def launches(*steps: str, gap: float = 10.0, **more: object) -> list[dict[str, object]]:
    """Ten kernels per label, one after the other."""
    rows = []
    for number, label in enumerate(steps):
        for place in range(10):
            start = (number * 10 + place) * gap
            rows.append({"name": f"k{place}", "start": start, "duration": 5.0, "nvtx": label, "device": 0, **more})
    return rows


def test_a_range_around_every_launch_is_a_filter() -> None:
    labels = [f"step {n}/forward" for n in range(5)]
    step = typical_step(Activities(make_profile(launches(*labels), report="cuda_gpu_trace")))
    assert step is not None
    assert (step.steps, step.count, step.range) == (5, 10, f"step {step.number - 1}")
    assert step.skip == (step.number - 1) * 10


def test_launches_of_several_processes_cannot_be_counted() -> None:
    rows = [*launches("step 0", "step 1", "step 2", process=1), *launches("step 0", "step 1", "step 2", process=2)]
    assert typical_step(Activities(make_profile(rows, report="cuda_gpu_trace"))) is None


def test_launches_of_several_devices_cannot_be_counted() -> None:
    rows = launches("step 0", "step 1", "step 2")
    rows += [{**row, "device": 1} for row in rows]
    assert typical_step(Activities(make_profile(rows, report="cuda_gpu_trace"))) is None


def test_graphs_hide_launches() -> None:
    rows = [*launches("step 0", "step 1", "step 2"), {"kind": "graph", "name": "graph", "start": 1.0, "duration": 1.0}]
    assert typical_step(Activities(make_profile(rows, report="cuda_gpu_trace"))) is None


def test_a_long_step_is_cut() -> None:
    command = collect_command(["waves"], 9.0, target=Target("./app", skip=7, count=MAX_LAUNCHES, nvtx="step 3/"))
    words = shlex.split(command)
    check(words)
    assert (option(words, "--launch-skip"), option(words, "--launch-count")) == ("7", "1000")
    assert option(words, "--nvtx-include") == "step 3/"
    assert words[-1] == "./app"


@pytest.mark.parametrize(
    ("name", "domain", "wanted"),
    [
        ("step 3", "", "step 3/"),
        ("train_step#12", "my.app", "my.app@train_step#12/"),
        ("a/b", "", ""),
        ("x[1]", "", ""),
        ("a,b", "", ""),
        ("a@b", "", ""),
        ("a*", "", ""),
        ("x", "a@b", ""),
        ("'; rm -rf ~", "", ""),
    ],
)
def test_nvtx_filters_of_plain_names_only(name: str, domain: str, wanted: str) -> None:
    assert nvtx_filter(name, domain) == wanted


# --- files ------------------------------------------------------------------------------------------------------------


def test_graphs_are_asked_for_node_by_node() -> None:
    words = shlex.split(collect_command(["start"], 9.0, target=Target(graph_nodes=True)).splitlines()[0])
    assert "--cuda-graph-trace=node" in words
    check(words)


def test_nothing_to_collect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", RAW, "--rules", "memory/dram-bandwidth-bound"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "nothing to collect: no rule lacks anything\n"


def test_a_missing_file_is_an_input_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "absent.csv"]) == 3
    assert "absent.csv" in capsys.readouterr().err


def test_help_shows_the_program_and_loads_nothing() -> None:
    script = (
        "import sys; from nsight_insight.cli.main import main; main(['collect', '--help']);"
        "sys.exit(str([n for n in ('pandas', 'numpy', 'rich', 'yaml') if n in sys.modules]))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environ)
    assert "[FILE...] [-- PROGRAM...]" in done.stdout
    assert done.stderr.strip() == "[]"
