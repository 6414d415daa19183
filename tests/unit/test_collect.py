"""Collection commands: they cover what is missing, name only what the chip has, and survive any kernel name."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight.catalog.collect import LAUNCHES, MAX_KERNELS, PROGRAM, collect_command
from nsight_insight.catalog.metrics import load_columns, load_metrics, resolve
from nsight_insight.catalog.sections import load_sections
from nsight_insight.views.facts import SCOPES, facts_of

CHIPS = (7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1)
NCU_OPTIONS = {
    "--csv": 0,
    "--page": 1,
    "--log-file": 1,
    "--clock-control": 1,
    "--launch-count": 1,
    "--kernel-name": 1,
    "--section": 1,
    "--metrics": 1,
}


def _options(command: str) -> dict[str, list[str]]:
    """Options of an ncu command; fails on anything ncu would not understand."""
    words = shlex.split(command)
    assert words[0] == "ncu"
    assert words[-2:] == shlex.split(PROGRAM)
    found: dict[str, list[str]] = {}
    rest = iter(words[1:-2])
    for word in rest:
        found.setdefault(word, []).extend(next(rest) for _ in range(NCU_OPTIONS[word]))
    assert found["--page"] == ["raw"]
    assert found["--clock-control"] == ["none"]
    assert set(found.get("--section", [])) <= set(load_sections())
    return found


def test_sections_before_names() -> None:
    command = collect_command(["tensor_active", "stall_wait", "warp_latency", "dram_bytes"], 9.0)
    assert command == (
        f"ncu --csv --page raw --log-file ncu.csv --clock-control none --launch-count {LAUNCHES} "
        "--section ComputeWorkloadAnalysis --section WarpStateStats "
        f"--metrics dram__bytes.sum,gpu__time_duration.sum {PROGRAM}"
    )


def test_duration_comes_with_speed_of_light() -> None:
    assert "--metrics" not in collect_command(["sm_throughput", "waves"], 8.6)


@pytest.mark.parametrize(
    ("name", "cc", "wanted"),
    [
        ("tensor_ops_fp16", 9.0, "sm__ops_path_tensor_src_fp16.sum,gpu__time_duration.sum"),
        (
            "tensor_ops_fp16",
            8.0,
            "sm__ops_path_tensor_src_fp16_dst_fp32.sum,sm__ops_path_tensor_src_fp16_dst_fp16.sum,gpu__time_duration.sum",
        ),
        ("dram_read_bytes", 9.0, "dram__bytes_read.sum,gpu__time_duration.sum"),
        ("dram_read_bytes", 12.0, "dram__bytes_op_read.sum,gpu__time_duration.sum"),
        ("dram_read_bytes", None, "dram__bytes_read.sum,gpu__time_duration.sum"),
    ],
)
def test_the_chips_own_names(name: str, cc: float | None, wanted: str) -> None:
    assert _options(collect_command([name], cc))["--metrics"] == [wanted]


def test_an_unknown_chip_gets_a_section_that_knows() -> None:
    options = _options(collect_command(["tensor_ops"], None))
    assert options["--section"] == ["SpeedOfLight_HierarchicalTensorRooflineChart"]
    assert options["--metrics"] == ["gpu__time_duration.sum"]


@pytest.mark.parametrize(
    ("metrics", "cc"),
    [(["stall_gmma"], 8.0), (["dram_bytes"], 12.1), (["no_such_metric"], 9.0), ([], 9.0)],
)
def test_nothing_to_collect(metrics: list[str], cc: float) -> None:
    assert collect_command(metrics, cc) == ""


@pytest.mark.parametrize("cc", [*CHIPS, None])
@pytest.mark.parametrize("name", [*load_metrics(), "tensor_ops"])
def test_what_is_collected_resolves(name: str, cc: float | None) -> None:
    """After the command ran, the metric is there: by one of its own names, or in a section that holds it."""
    command = collect_command([name], cc)
    if not command:
        return
    options = _options(command)
    names = set(",".join(options.get("--metrics", [])).split(","))
    metrics = [load_metrics()[name]] if name in load_metrics() else [load_metrics()["tensor_ops_fp16"]]
    for metric in metrics:
        by_section = {alias.section for alias in metric.aliases if alias.exists_on(cc)} & set(
            options.get("--section", [])
        )
        assert by_section or resolve(metric, names, cc)


EXPORTED = {"gpu_faults", "migrations", "gpu_metrics"}
"""In the SQLite export only, and costly to record: the reason says how to, no command asks for them unasked."""


@pytest.mark.parametrize("cc", [*CHIPS, None])
def test_every_need_of_the_views_has_a_command(cc: float | None) -> None:
    for scope in SCOPES:
        for fact in facts_of(scope).values():
            for need in fact.needs:
                metric = load_metrics().get(need)
                if metric and not any(alias.exists_on(cc) for alias in metric.aliases):
                    continue
                if need in EXPORTED:
                    continue
                assert collect_command([need], cc), need


def test_host_side_needs_nsys() -> None:
    command = collect_command(["memcpy", "api", "start", "queue_duration", "memcpy"], None)
    profile, stats = command.splitlines()
    assert profile == f"nsys profile --trace=cuda,nvtx --output=nsys {PROGRAM}"
    assert stats == (
        "nsys stats --report cuda_gpu_trace,cuda_api_sum,cuda_kern_exec_trace --format csv --output nsys nsys.nsys-rep"
    )


def test_both_tools_where_both_are_needed() -> None:
    first, second, third = collect_command(["warp_latency", "api"], 9.0).splitlines()
    assert [first.split()[0], second.split()[0], third.split()[0]] == ["ncu", "nsys", "nsys"]


def test_durations_come_from_the_tool_asked() -> None:
    assert collect_command(["duration", "registers"], 9.0).startswith("ncu ")
    assert collect_command(["duration", "registers"], 9.0, "nsys").startswith("nsys profile")
    assert "ncu" not in collect_command([*load_columns()], 9.0, "nsys")


def test_kernel_filter() -> None:
    names = ["at::native::vectorized_elementwise_kernel", "gemm$1", "(anonymous namespace)::reduce", "reduce"]
    [pattern] = _options(collect_command(["waves"], 9.0, kernels=names))["--kernel-name"]
    assert pattern == r"regex:^(vectorized_elementwise_kernel|gemm\$1|reduce)$"


@pytest.mark.parametrize(
    "name", ["", "a b", "x'; rm -rf $HOME #", "[lambda() (instance 3)]", "foo<int>", "`id`", "naïve"]
)
def test_names_that_are_no_functions_are_left_out(name: str) -> None:
    assert "--kernel-name" not in collect_command(["waves"], 9.0, kernels=[name])


def test_long_lists_of_kernels_are_cut() -> None:
    [pattern] = _options(collect_command(["waves"], 9.0, kernels=[f"k{number}" for number in range(50)]))[
        "--kernel-name"
    ]
    assert pattern.count("|") == MAX_KERNELS - 1


@given(st.lists(st.text(max_size=30), max_size=12))
def test_any_kernel_name_leaves_a_command_of_known_words(names: list[str]) -> None:
    options = _options(collect_command(["waves"], 9.0, kernels=names))
    for pattern in options.get("--kernel-name", []):
        assert re.fullmatch(r"regex:\^\([\w\\$|]+\)\$", pattern)
