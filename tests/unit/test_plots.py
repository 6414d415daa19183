"""Plots: what is written in them, same bytes for the same input, and clear words where nothing can be drawn."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from nsight_insight import api, plots
from nsight_insight.cli.main import main
from nsight_insight.cli.plot import KINDS
from nsight_insight.errors import EmptyInput, UsageError
from nsight_insight.model.charts import Charts, RooflinePoint
from nsight_insight.plots import breakdown, roofline, stalls, timeline
from nsight_insight.reporters.placement import HEIGHT, WIDTH, offsets
from tests.paths import FIXTURES

NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
NSYS = FIXTURES / "nsys-sqlite" / "2025.3-h200-amp"
SUMMARY = FIXTURES / "nsys-csv" / "2025.3-h200-amp" / "amp_fp16_cuda_gpu_kern_sum.csv"
HOLDS = {"roofline": NCU, "stalls": NCU, "timeline": NSYS, "breakdown": NSYS}
LACKS = {"roofline": (NSYS, "ncu --set roofline"), "stalls": (NSYS, "WarpStateStats"),
         "timeline": (NCU, "nsys profile")}  # fmt: skip
HOSTILE = "evil_{}$x^2$&\x1b[31m\u202e\u4e2d_" + "n" * 4000


@cache
def charts(path: Path) -> Charts:
    return api.charts(api.load(path))


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def drawn(kind: str, found: Charts, tmp_path: Path) -> list[str]:
    plots.save(plots.figure(kind, found), tmp_path / "x.svg")
    return texts((tmp_path / "x.svg").read_bytes())


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Kind -> what is written in the plot of a capture that holds it."""
    folder = tmp_path_factory.mktemp("plots")
    return {kind: drawn(kind, charts(HOLDS[kind]), folder) for kind in plots.KINDS}


@pytest.mark.parametrize("kind", plots.KINDS)
def test_a_profile_draws_what_the_command_draws(kind: str, tmp_path: Path) -> None:
    drawn = getattr(api.load(HOLDS[kind]).plot, kind)()
    plots.save(drawn, tmp_path / "one.svg")
    plots.save(plots.figure(kind, charts(HOLDS[kind])), tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_profile_says_what_a_picture_lacks() -> None:
    with pytest.raises(EmptyInput, match="nsys profile"):
        api.load(NCU).plot.timeline()


def test_kinds_are_those_of_the_command_line() -> None:
    assert plots.KINDS == KINDS


@pytest.mark.parametrize(("kind", "ending"), [*((kind, "svg") for kind in plots.KINDS), ("breakdown", "png"),
                                              ("breakdown", "pdf")])  # fmt: skip
def test_same_input_same_bytes(kind: str, ending: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.{ending}" for number in (1, 2)]
    for file in files:
        plots.save(plots.figure(kind, charts(HOLDS[kind])), file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    head = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert first.startswith(head)
    assert not re.search(rb"CreationDate|<dc:date>|20\d\d-\d\d-\d\dT", first)


@pytest.mark.parametrize("kind", plots.KINDS)
def test_title_names_gpu_and_file_without_its_folder(kind: str, words: dict[str, list[str]]) -> None:
    found = words[kind]
    file = NCU.name if HOLDS[kind] is NCU else "amp_fp16.sqlite"
    assert any(text.startswith("NVIDIA H200") and text.endswith(file) for text in found)
    assert not any("/" in text and "fixtures" in text for text in found)


def test_roofline_labels_axes_roofs_and_the_kernels_with_most_time(words: dict[str, list[str]]) -> None:
    found = words["roofline"]
    for text in ("arithmetic intensity (FLOP per byte of DRAM traffic)", "performance (FLOP/s)", "DRAM 4.77 TB/s",
                 "fp16 tensor 1.06 PFLOP/s", "fp32 66.1 TFLOP/s"):  # fmt: skip
        assert text in found
    names = [text for text in found if re.match(r"\d+  \S", text)]
    assert len(names) == roofline.TOP
    assert any("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_TNT" in text for text in names)
    assert "and 5 more, unnumbered (8.4 % of the time)" in found
    assert any(text.startswith("6 kernels (23 % of the time) not placed") for text in found)


def test_stalls_name_reasons_as_nsight_compute_does(words: dict[str, list[str]]) -> None:
    found = words["stalls"]
    assert {"Long Scoreboard", "MIO Throttle", "LG Throttle", "Not Selected", "GMMA"} <= set(found)
    assert "Tex Throttle" not in found
    assert sum(bool(re.search(r"\(\d[\d.]* %\)$", text)) for text in found) == stalls.TOP + 1
    assert "6 others, mean by time (6.5 %)" in found


def test_timeline_tells_step_and_idle_causes(words: dict[str, list[str]]) -> None:
    found = words["timeline"]
    assert any(text.startswith("Timeline: step ") for text in found)
    assert "time since the start of the window (ms)" in found
    (shown,) = charts(NSYS).timelines
    assert sum(text.startswith("host still launching") for text in found) == ("launch" in shown.idle)
    assert {"stream 7", "idle"} <= set(found)


def test_breakdown_tells_times_and_the_window(words: dict[str, list[str]], tmp_path: Path) -> None:
    found = words["breakdown"]
    assert {"gemm", "cast", "steady window", "time of all launches (ms)"} <= set(found)
    assert any(text.startswith("GPU busy ") for text in found)
    without = drawn("breakdown", charts(SUMMARY), tmp_path)
    assert "gemm" in without
    assert not any(text.startswith("GPU busy ") for text in without)


@pytest.mark.parametrize("kind", LACKS)
def test_what_is_missing_is_said_with_what_collects_it(kind: str) -> None:
    path, how = LACKS[kind]
    with pytest.raises(EmptyInput, match=re.escape(how)):
        plots.figure(kind, charts(path))


def test_unknown_kind_format_and_device_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown plot"):
        plots.figure("pie", charts(NCU))
    with pytest.raises(UsageError, match=r"\.png, \.svg, \.pdf"):
        plots.save(Figure(), tmp_path / "x.gif")
    with pytest.raises(UsageError, match="no device 3"):
        plots.figure("timeline", charts(NSYS), device=3)


def many(number: int) -> Charts:
    """As many kernels as asked for, with hostile names, spread over the roofline."""
    found = charts(NCU)
    (chart,) = found.rooflines
    points: list[RooflinePoint] = []
    for place in range(number):
        point = chart.points[place % len(chart.points)]
        factor = 1.0 + place / number
        points.append(
            replace(
                point, kernel=HOSTILE.format(place), share=1 / (place + 5),
                intensity={"DRAM": point.intensity["DRAM"] * factor}, rate=point.rate / factor,
            )
        )  # fmt: skip
    bars = tuple(replace(found.stalls[n % 26], kernel=HOSTILE.format(n)) for n in range(number))
    return replace(found, rooflines=(replace(chart, points=tuple(points)),), stalls=bars)


@pytest.mark.parametrize("kind", ["roofline", "stalls"])
def test_hundreds_of_kernels_with_hostile_names(kind: str, tmp_path: Path) -> None:
    found = drawn(kind, many(320), tmp_path)
    shown = [text for text in found if "evil" in text]
    assert len(shown) == {"roofline": roofline.TOP, "stalls": stalls.TOP}[kind]
    # Names are text: no formula was typeset, no escape sequence and no direction mark is left.
    assert all("$x^2$&" in text for text in shown)
    assert not any(mark in text for text in found for mark in ("\x1b", "\u202e"))
    assert max(map(len, shown)) < 80


def test_top_says_how_many_are_named(tmp_path: Path) -> None:
    plots.save(plots.figure("roofline", charts(NCU), top=3), tmp_path / "x.svg")
    found = texts((tmp_path / "x.svg").read_bytes())
    assert len([text for text in found if re.match(r"\d+  \S", text)]) == 3
    assert "and 17 more, unnumbered (56 % of the time)" in found


def test_one_axes_of_a_callers_own_figure() -> None:
    picture = Figure(figsize=(8, 8))
    axes = picture.subplots(2, 2).ravel()
    roofline.draw(axes[0], charts(NCU).rooflines[0])
    stalls.draw(axes[1], charts(NCU).stalls)
    timeline.draw(axes[2], charts(NSYS).timelines[0])
    breakdown.draw(axes[3], charts(NSYS).breakdowns[0])
    assert all(axis.get_xlabel() for axis in axes)


def test_numbers_do_not_cover_each_other() -> None:
    points = [(100.0 + 3 * n, 100.0 + (n % 3)) for n in range(12)]
    places = [(x + dx, y + dy) for (x, y), ((dx, dy), _) in zip(points, offsets(points, [3.0] * 12), strict=True)]
    for place, (x, y) in enumerate(places):
        assert not any(abs(x - u) < WIDTH and abs(y - v) < HEIGHT for u, v in places[:place])


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """Exit code and messages, as a user would see them."""
    code = main(["plot", *map(str, arguments)])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


def test_command_writes_refuses_to_overwrite_and_is_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.svg"
    assert run(capsys, "breakdown", SUMMARY, "-o", file) == (0, f"wrote {file}\n")
    before = file.read_bytes()
    file.write_text("mine")
    code, message = run(capsys, "breakdown", SUMMARY, "-o", file)
    assert (code, file.read_text()) == (2, "mine")
    assert "--force overwrites it" in message
    assert run(capsys, "breakdown", SUMMARY, "-o", file, "--force")[0] == 0
    assert file.read_bytes() == before


def test_command_fails_with_one_line_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.png"
    code, message = run(capsys, "timeline", SUMMARY, "-o", file)
    assert code == 3
    assert message.count("\n") == 1
    assert "cuda_gpu_trace" in message
    assert not file.exists()


def test_input_is_never_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "trace.svg"
    source.write_bytes(SUMMARY.read_bytes())
    code, message = run(capsys, "breakdown", source, "-o", source, "--force")
    assert code == 2
    assert "inputs are never written to" in message
    assert source.read_bytes() == SUMMARY.read_bytes()


def test_pyplot_stays_out() -> None:
    """Its global state would be the caller's; a window might open."""
    code = (
        "import sys; from nsight_insight import api, plots; "
        f"plots.figure('breakdown', api.charts(api.load({str(SUMMARY)!r}))); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
