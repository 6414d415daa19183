from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from syrupy.assertion import SnapshotAssertion

from nsight_insight.model.finding import Evidence, Quantity
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import Source, VendorFinding
from nsight_insight.model.totals import Totals
from nsight_insight.reporters import _layout as layout
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.reporters.text import DETAILED, render, render_sections
from tests.unit.make_report import (
    COLLECT,
    FAMILIES,
    FILE,
    HARMLESS,
    KERNEL_NS,
    fp32_matrix,
    hostile,
    idle_device,
    optimizer_loop,
    report,
)

COLOR = re.compile(r"\x1b\[[0-9;]*m")
THREE = (fp32_matrix(), idle_device(), optimizer_loop())


def block_of(text: str, rank: int) -> list[str]:
    """The lines of one detailed finding."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if re.match(rf"{rank}  ?\S", line))
    end = next(index for index in range(start, len(lines)) if not lines[index])
    return lines[start:end]


@pytest.mark.parametrize("width", [80, 120])
def test_report(width: int, snapshot: SnapshotAssertion) -> None:
    assert render(report(*THREE), RenderOptions(width=width)) == snapshot


def test_verbose_report(snapshot: SnapshotAssertion) -> None:
    issue = Issue(Level.DATA_LOSS, "row has 8 of 9 fields and was dropped", Location(FILE, 31))
    vendor = VendorFinding(
        "ncu", "SOLBottleneck", "OPT", "Text\nof theirs.", Location(FILE, 3), kernel="k", estimated_speedup=0.3
    )
    one = report(fp32_matrix(), issues=(issue,), vendor_findings=(vendor,), suppressed=1)
    assert render(one, RenderOptions(width=100, verbose=True)) == snapshot


def test_colored_report(snapshot: SnapshotAssertion) -> None:
    assert render(report(fp32_matrix()), RenderOptions(color=True)) == snapshot


def test_color_changes_nothing_but_color() -> None:
    one = report(*THREE)
    colored = render(one, RenderOptions(color=True))
    assert "\x1b[" in colored
    assert COLOR.sub("", colored).replace(" \n", "\n") == render(one, RenderOptions()).replace(" \n", "\n")
    assert "\x1b" not in render(one, RenderOptions())


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_lines_fit_the_width_except_commands_and_code(width: int, verbose: bool) -> None:
    lines = render(report(*THREE), RenderOptions(width=width, verbose=verbose)).splitlines()
    long = [line for line in lines if len(line) > width]
    remedies = [remedy for finding in THREE for remedy in finding.remedies]
    code = {line for remedy in remedies for text in remedy.code.values() for line in text.split("\n")}
    assert all(line.startswith("  $ ") or any(line.endswith(part) for part in code) for line in long)
    if not verbose and width >= 80:
        assert all(line.startswith("  $ ") for line in long)


def test_wider_than_120_is_not_used() -> None:
    one = report(*THREE)
    assert render(one, RenderOptions(width=300)) == render(one, RenderOptions(width=120))


def test_first_lines_say_what_was_measured_where_it_goes_and_what_can_be_had() -> None:
    head = render(report(*THREE), RenderOptions()).splitlines()[:16]
    assert head[0] == "194.3 ms of GPU kernel time in 2,968 launches of 46 kernels"
    assert "NVIDIA H200" in head[1]
    assert FILE in head[2]
    assert re.search(r"gemm +█+.* 161\.8 ms +83\.3 %", head[5])
    assert any(line.startswith("3 findings, about 159.4 ms of 194.3 ms (82 %) together") for line in head)


def test_finding_states_saving_subject_evidence_remedy_and_doubt() -> None:
    lines = block_of(render(report(*THREE), RenderOptions()), 1)
    text = "\n".join(lines)
    assert "saves about 149.5 ms of 194.3 ms (77 %), at most 156.3 ms · high confidence" in text
    assert "top 3 of 6    51.3 ms     52x  sm80_xmma_gemm" in text
    assert "csv:2:9 Name]" in text
    assert 'with torch.autocast("cuda", dtype=torch.bfloat16): …' in text
    assert "(saves about 137.5 ms, low effort)" in text
    assert "assumes" in text
    assert "explains    Many small matrix kernels" in text
    assert lines[-1].split() == ["rule", "tensor-core/fp32-matrix-on-cuda-cores"]
    assert "wrong when" not in text


def test_finding_stays_short_by_default() -> None:
    text = render(report(*THREE), RenderOptions(width=100))
    assert len(block_of(text, 1)) <= 18
    assert len(block_of(text, 2)) <= 14
    assert len(block_of(text, 3)) <= 14


def test_verbose_shows_every_member_value_and_doubt() -> None:
    text = render(report(fp32_matrix()), RenderOptions(width=120, verbose=True))
    flat = re.sub(r"\s+", "", text)
    for member in fp32_matrix().subject.members:
        assert re.sub(r"\s+", "", member.kernel) in flat
    for piece in (
        "wrong when",
        "see  ",
        "why  ",
        "estimate",
        "fp32_gemm_time = 161.8 ms",
        "cublasGemmEx",
        "5f0c2f6f1d3a",
    ):
        assert piece in text, piece


def test_framework_chooses_the_code() -> None:
    text = render(report(fp32_matrix()), RenderOptions(framework="jax"))
    assert "jax_default_matmul_precision" in text
    assert "torch" not in text.replace("PyTorch", "")


def test_hostile_names_survive_and_nothing_else_does() -> None:
    for options in (
        RenderOptions(width=120, top=20),
        RenderOptions(width=120, verbose=True),
        RenderOptions(color=True, top=20),
    ):
        text = render(hostile(), options)
        plain = COLOR.sub("", text)
        flat = re.sub(r"\s+", "", plain)
        for name in HARMLESS:
            assert re.sub(r"\s+", "", name) in flat, name
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", plain)
        text.encode("utf-8")


def test_many_findings_are_told_in_part_and_listed_in_full() -> None:
    many = [replace(optimizer_loop(), title=f"Title {index}") for index in range(1, 13)]
    text = render(report(*many), RenderOptions())
    assert len(re.findall(r"what to do", text)) == DETAILED
    assert re.search(r"^12 ● Title 12 +1\.90 ms +1\.0 %$", text, re.MULTILINE)
    assert len(re.findall(r"what to do", render(report(*many), RenderOptions(top=2)))) == 2
    assert len(re.findall(r"what to do", render(report(*many), RenderOptions(verbose=True)))) == 12


def test_no_finding_says_what_was_checked_and_what_was_not() -> None:
    one = replace(report(), findings=())
    text = render(one, RenderOptions())
    assert "No finding. 31 rules checked 46 kernels (194.3 ms)" in text
    assert "no clean bill: 3 rules could not be" in text.replace("\n", " ")
    clean = render(replace(one, not_evaluated=(), suppressed=2, below_threshold=1), RenderOptions(width=120))
    assert "no clean bill" not in clean
    assert "Left out: 1 smaller finding below --min-saving, 2 findings suppressed" in clean.replace("\n", " ")
    suppressed = render(report(suppressed=2), RenderOptions(120)).replace("\n", " ")
    assert "(and 2 findings suppressed by the configuration)" in suppressed


def test_a_command_is_one_line_to_copy() -> None:
    text = render(report(), RenderOptions())
    commands = [line.removeprefix("  $ ") for line in text.splitlines() if line.startswith("  $ ")]
    assert "\n".join(commands) == COLLECT
    assert "Uncoalesced global memory access; Partly used sectors" in re.sub(r"\s+", " ", text)
    assert "Copies from pageable memory (without memcpy_kind)" in text
    verbose = re.sub(r"\s+", " ", render(report(), RenderOptions(verbose=True)))
    assert "Partly used sectors (without sectors_global, sectors_global_ideal)" in verbose


def test_many_gaps_are_not_a_wall_of_text() -> None:
    many = tuple(replace(report().not_evaluated[0], rule=f"a/r{i}", title=f"Rule number {i}") for i in range(60))
    lines = render(report(not_evaluated=many), RenderOptions()).splitlines()
    start = lines.index("60 rules could not be judged")
    assert lines[start + 3].endswith("…")
    assert lines[start + 4] == "  This collects what is missing:"
    assert "Rule number 59" in render(report(not_evaluated=many), RenderOptions(verbose=True))


def test_data_loss_comes_before_remarks() -> None:
    issues = (
        Issue(Level.INFO, "a remark", Location(FILE, 1)),
        Issue(Level.DATA_LOSS, "lost", Location(FILE, 9)),
        Issue(Level.ERROR, "broken", Location("b.csv", 2)),
    )
    text = render(report(issues=issues), RenderOptions())
    assert text.index("error b.csv:2: broken") < text.index(f"data-loss {FILE}:9: lost")
    assert "a remark" not in text
    assert "and 1 more (-v shows them)" in text
    assert "a remark" in render(report(issues=issues), RenderOptions(verbose=True))
    assert "1 remark about the input" in render(report(issues=issues[:1]), RenderOptions())


def test_vendor_findings_are_counted_then_shown() -> None:
    vendor = VendorFinding("ncu", "SOLBottleneck", "OPT", "Their text.", Location(FILE, 3), estimated_speedup=0.3)
    one = report(vendor_findings=(vendor, vendor))
    assert "wrote 2 findings of their own" in render(one, RenderOptions())
    assert "Their text." not in render(one, RenderOptions())
    assert "their estimate: 30 % of the kernel" in render(one, RenderOptions(verbose=True, width=120))


def test_unknown_gpu_and_many_files() -> None:
    sources = tuple(Source(f"runs/f{index}.csv", "r", "nsys", "cuda_gpu_trace") for index in range(6))
    text = render(report(devices=(), sources=sources), RenderOptions())
    assert "GPU not named by the input (say it with --gpu)" in text
    assert "6 files in runs (nsys)" in text
    assert "f5.csv" in render(report(sources=sources), RenderOptions(verbose=True))


def test_busy_time_and_copies_are_told_when_known() -> None:
    totals = Totals(KERNEL_NS, 1, 1, copy_ns=12.3e6, gpu_busy_ns=200e6, window_ns=250e6, families=FAMILIES)
    text = " ".join(render(report(totals=totals), RenderOptions()).split())
    assert "copies 12.3 ms · GPU busy 200.0 ms of 250.0 ms (80 %; whole capture, start-up included)" in text


def test_steps_after_warm_up_are_told_rather_than_the_whole_capture() -> None:
    totals = Totals(
        KERNEL_NS, 1, 1, gpu_busy_ns=200e6, window_ns=2e9, steady_busy_ns=30e6, steady_window_ns=45e6, steady_steps=3
    )
    text = " ".join(render(report(totals=replace(totals, families=FAMILIES)), RenderOptions()).split())
    assert "GPU busy 30.0 ms of 45.0 ms (67 %; 3 steps after warm-up)" in text
    assert "GPU idle 33 % of that time" in text
    replayed = replace(totals, families=FAMILIES, basis="ncu durations (replayed)")
    assert "ncu durations (replayed)" in render(report(totals=replayed), RenderOptions())


def test_a_profile_without_kernels_has_no_bars() -> None:
    empty = replace(report(), findings=(), totals=Totals(0.0, 0, 0))
    text = render(empty, RenderOptions())
    assert "Where the time goes" not in text
    assert "No finding" in text


def test_ascii_only_where_the_terminal_has_no_unicode() -> None:
    assert render(report(*THREE), RenderOptions(unicode=False)).isascii()


def test_finding_without_saving_of_its_own() -> None:
    zero = replace(fp32_matrix().saving, expected_ns=0.0, upper_ns=0.0, share=0.0)
    text = render(report(replace(fp32_matrix(), saving=zero)), RenderOptions())
    assert "no saving of GPU time of its own" in text
    assert "saves about 0" not in text


def test_sections_keep_code_lines() -> None:
    text = render_sections("T", [("why", ["word " * 40]), ("code", ["  x = [1]  # [/b]"])], RenderOptions(width=60))
    assert " " * 15 + "  x = [1]  # [/b]".rstrip() in text.replace("   code        ", " " * 15)
    assert all(len(line) <= 60 for line in text.splitlines())


@given(st.text(alphabet=st.sampled_from("ab 1ms%行"), max_size=200), st.integers(min_value=2, max_value=40))
def test_wrap_loses_nothing_but_blanks_and_fits(text: str, width: int) -> None:
    lines = layout.wrap(Text(text), width)
    assert "".join(line.plain for line in lines).replace(" ", "") == text.replace(" ", "")
    assert all(line.cell_len <= max(width, 2) for line in lines)


def test_wrap_keeps_a_number_with_its_unit() -> None:
    lines = [line.plain for line in layout.wrap(Text("it takes 161.8 ms of it"), 14)]
    assert lines == ["it takes", "161.8 ms of it"]


@pytest.mark.parametrize(
    ("fraction", "shown"), [(0.0, ""), (1e-6, "▏"), (0.5, "█████"), (1.0, "█" * 10), (7.0, "█" * 10)]
)
def test_bar(fraction: float, shown: str) -> None:
    assert layout.bar(fraction, 10) == shown


def test_evidence_of_a_long_rule_shows_its_metrics_first() -> None:
    place = Location("raw.csv", 7, 1764, "sm__throughput.avg.pct_of_peak_sustained_elapsed")
    general = [Evidence(f"g{i}", f"general {i}", (Quantity("duration", 1e-3, "s", place),)) for i in range(4)]
    telling = [
        Evidence(f"m{i}", f"telling {i}", (Quantity("sm_throughput", 0.1, "fraction", place),)) for i in range(3)
    ]
    one = report(replace(fp32_matrix(), evidence=(*general, *telling)))
    text = render(one, RenderOptions())
    assert [f"telling {i}" in text for i in range(3)] == [True] * 3
    assert "general" not in text
    assert "4 more: -v" in text
    assert "general 3" in render(one, RenderOptions(verbose=True))


def test_compact_code_skips_remarks() -> None:
    remedy = replace(fp32_matrix().remedies[0], code={"pytorch": "# a remark\nmodel = compile(model)   # why"})
    text = render(report(replace(fp32_matrix(), remedies=(remedy,))), RenderOptions())
    assert "pytorch    model = compile(model) …" in text
    assert "a remark" not in text
