"""The HTML report as text: well formed, inert, complete, and the same for the same input."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsight_insight import api
from nsight_insight.cli.main import main
from nsight_insight.config import Config, Threshold
from nsight_insight.model.charts import Charts
from nsight_insight.model.finding import Report
from nsight_insight.reporters import format_for, palette
from nsight_insight.reporters._html_charts import KERNELS, NO_CHARTS
from nsight_insight.reporters._html_findings import OPEN
from nsight_insight.reporters._html_svg import NAMES
from nsight_insight.reporters.html import FOLDER, render
from nsight_insight.reporters.options import RenderOptions
from tests.paths import FIXTURES
from tests.unit.html_page import Element, parse
from tests.unit.make_ci_report import healthy
from tests.unit.make_report import HARMLESS, hostile, optimizer_loop, report

NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
DETAILS = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "details.csv"
NSYS = FIXTURES / "nsys-sqlite" / "2025.3-h200-amp"
SECTIONS = ("time", "findings", "precision", "tensor-cores", "roofline", "stalls", "timeline", "kernels", "not-judged",
            "nvidia", "issues", "provenance")  # fmt: skip
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "\u202egnp.exe\u2066\u200b",
    "\x1b[31mred\x00\x07",
    "]]><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "kernel" + "n" * 4000,
)
ELEMENTS = {
    "",
    *re.findall(
        r"\w+",
        """html head meta title style script body header main footer nav section h1 h2 h3 h4 p a ul ol li dl dt dd div
        span strong code pre figure figcaption details summary table caption thead tbody tfoot tr th td
        svg defs pattern rect path line text""",
    ),
}


@cache
def real(*paths: Path) -> Report:
    profile = api.load(*paths)
    found = api.analyze(profile, Config(min_saving=Threshold(share=0.0)))
    return replace(found, charts=api.charts(profile))


@cache
def page(*paths: Path) -> tuple[str, Element]:
    text = render(real(*paths), RenderOptions())
    return text, parse(text)


def section(root: Element, name: str) -> Element:
    (found,) = (element for element in root.all("section") if element.attributes["id"] == name)
    return found


def nasty_charts(charts: Charts, names: tuple[str, ...]) -> Charts:
    """Charts whose kernels, GPU and streams carry hostile names."""

    def named(place: int) -> str:
        return names[place % len(names)]

    return replace(
        charts,
        rooflines=tuple(
            replace(
                chart, gpu=named(0),
                points=tuple(replace(point, kernel=named(n)) for n, point in enumerate(chart.points)),
                unplaced=tuple(replace(entry, kernel=named(n)) for n, entry in enumerate(chart.unplaced)),
            )
            for chart in charts.rooflines
        ),
        stalls=tuple(replace(bar, kernel=named(n)) for n, bar in enumerate(charts.stalls)),
        kernels=tuple(replace(row, kernel=named(n)) for n, row in enumerate(charts.kernels)),
        timelines=tuple(
            replace(
                chart, gpu=named(1), title=named(2),
                lanes=tuple(
                    replace(lane, label=named(3), blocks=tuple(replace(b, label=named(4)) for b in lane.blocks))
                    for lane in chart.lanes
                ),
            )
            for chart in charts.timelines
        ),
    )  # fmt: skip


@pytest.mark.parametrize("paths", [(NCU,), (NSYS,), (DETAILS,), (NCU, NSYS)], ids=["ncu", "nsys", "details", "both"])
def test_page_is_well_formed_and_accessible(paths: tuple[Path, ...]) -> None:
    _, root = page(*paths)
    (document,) = root.children
    assert document.attributes == {"lang": "en"}
    ids = [element.attributes["id"] for element in root.every() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    regions = [
        element.attributes["aria-label"] for element in root.every() if element.attributes.get("role") == "region"
    ]
    assert len(regions) == len(set(regions))
    levels = [int(element.tag[1]) for element in root.every() if re.fullmatch(r"h[1-6]", element.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for link in root.all("a"):
        assert link.attributes["href"].removeprefix("#") in ids
    for table in root.all("table"):
        (caption,) = table.all("caption")
        assert caption.text
        width = len(table.all("th"))
        assert all(head.attributes.get("scope") == "col" for head in table.all("th"))
        assert {len(row.children) for row in table.all("tr")} == {width}
    for picture in root.all("svg"):
        assert ("aria-label" in picture.attributes) != (picture.attributes.get("aria-hidden") == "true")
    for named in root.every():
        for label in named.attributes.get("aria-labelledby", "").split():
            assert label in ids


@pytest.mark.parametrize("paths", [(NCU,), (NSYS,)], ids=["ncu", "nsys"])
def test_every_section_has_content_or_says_why_not(paths: tuple[Path, ...]) -> None:
    _, root = page(*paths)
    assert tuple(element.attributes["id"] for element in root.all("section")) == SECTIONS
    for element in root.all("section"):
        reasons = [p for p in element.all("p") if p.attributes.get("class") == "empty"]
        assert bool(reasons) != bool(element.all("table") or element.all("svg")), element.attributes["id"]
        assert all(len(reason.text) > 10 for reason in reasons)


def test_what_an_input_cannot_show_names_what_would() -> None:
    ncu, nsys = page(NCU)[1], page(NSYS)[1]
    assert "nsys profile" in section(ncu, "timeline").text
    assert "ncu --set roofline" in section(nsys, "roofline").text
    assert "WarpStateStats" in section(nsys, "stalls").text
    bare = parse(render(optimizer_report(), RenderOptions()))
    for name in ("roofline", "stalls", "timeline", "kernels"):
        assert NO_CHARTS in section(bare, name).text


def optimizer_report() -> Report:
    return report(optimizer_loop())


def test_nothing_is_loaded_from_anywhere() -> None:
    for paths in ((NCU,), (NSYS,)):
        text, root = page(*paths)
        for element in root.every():
            assert element.tag not in ("link", "iframe", "object", "embed", "img", "base", "form", "use", "image")
            assert not {"src", "srcset", "action", "data", "xlink:href", "ping", "poster"} & set(element.attributes)
            assert not any(name.startswith("on") for name in element.attributes)
            assert "style" not in element.attributes
            href = element.attributes.get("href", "#")
            assert href.startswith("#")
        styles = "".join(element.text for element in root.all("style"))
        assert "@import" not in styles
        assert not re.search(r"url\((?!#)", text)


def test_policy_allows_exactly_the_two_parts_of_the_page() -> None:
    text, root = page(NCU)
    (policy,) = (
        element.attributes["content"] for element in root.all("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    )  # fmt: skip
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["default-src"] == "'none'"
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert directives[f"{tag}-src"] == f"'sha256-{digest}'"
    assert set(directives) == {"default-src", "style-src", "script-src", "base-uri", "form-action"}
    # The policy stands in front of everything that it rules.
    assert text.index("Content-Security-Policy") < text.index("<style>") < text.index("<script>")


def test_script_touches_no_markup_and_no_network() -> None:
    script = (FOLDER / "script.js").read_text(encoding="utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "fetch", "XMLHttp", "import(",
                 "localStorage", "http"):  # fmt: skip
        assert word not in script
    assert "</script" not in script


def test_hostile_names_are_text() -> None:
    found = replace(hostile(), charts=nasty_charts(real(NCU, NSYS).charts or empty(), NASTY))
    text = render(found, RenderOptions(verbose=True))
    root = parse(text)
    assert {element.tag for element in root.every()} <= ELEMENTS
    assert not any(name.startswith("on") for element in root.every() for name in element.attributes)
    assert len(root.all("script")) == len(root.all("style")) == 1
    assert not any(mark in text for mark in ("\x1b", "\x00", "\u202e", "\u2066", "\u200b"))
    kernels = section(root, "kernels").text
    assert "alert(1)" in text
    assert "&lt;script&gt;" in text
    assert "49" not in re.findall(r"\{\{.{0,12}", kernels)
    for name in HARMLESS:
        assert name in re.sub(r"\s+", " ", root.text), name
    assert len(text) < 600_000


def empty() -> Charts:
    return Charts((), (), (), "", (), (), ())


@settings(max_examples=30)
@given(st.text(min_size=1, max_size=80))
def test_any_name_leaves_the_page_well_formed(name: str) -> None:
    charts = nasty_charts(real(NCU).charts or empty(), (name,))
    small = replace(charts, kernels=charts.kernels[:2], stalls=charts.stalls[:2])
    loop = optimizer_loop()
    finding = replace(loop, title=name, message=name, why=name, references=(name,))
    before = parse(render(report(loop), RenderOptions()))
    after = parse(render(replace(report(finding), charts=small), RenderOptions()))
    assert len(after.all("script")) == 1
    assert len(after.all("details")) >= len(before.all("details"))


def test_same_input_same_bytes_in_another_process(tmp_path: Path) -> None:
    files = [tmp_path / "1.html", tmp_path / "2.html"]
    for seed, file in enumerate(files, 1):
        command = [sys.executable, "-m", "nsight_insight", "analyze", str(NCU), "-o", str(file), "--no-config"]
        subprocess.run(command, check=True, capture_output=True, env={"PYTHONHASHSEED": str(seed), "PATH": ""})
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_text(encoding="utf-8").endswith("</html>\n")


def test_findings_carry_evidence_places_savings_and_code() -> None:
    found, (_, root) = real(NSYS), page(NSYS)
    items = [element for element in root.all("details") if element.attributes.get("class", "").startswith("finding ")]
    assert len(items) == len(found.findings) > 3
    assert [("open" in item.attributes) for item in items] == [rank < OPEN for rank in range(len(items))]
    for item, finding in zip(items, found.findings, strict=True):
        assert finding.title in item.all("summary")[0].text
        assert " ".join(finding.message.split()) in item.text
        assert finding.rule in item.text
        for clause in finding.evidence:
            assert " ".join((clause.text or clause.clause).split()) in item.text
        places = [code.text for code in item.all("code") if code.attributes.get("class") == "place"]
        located = [value for clause in finding.evidence for value in clause.values if value.location]
        assert len(places) == len(located) + len(finding.hot_lines)
        for remedy in finding.remedies:
            shown = [figure.text for figure in item.all("figure")]
            for code in remedy.code.values():
                assert any(" ".join(code.split()) in text for text in shown)


def test_paths_are_shown_without_folders_unless_asked_for() -> None:
    text, _ = page(NCU)
    assert str(NCU.parent) not in text
    assert "raw.csv" in text
    assert str(NCU.parent) in render(real(NCU), RenderOptions(verbose=True))


def test_only_the_code_of_the_framework_asked_for() -> None:
    text = render(real(NSYS), RenderOptions(framework="jax"))
    captions = {caption.text for caption in parse(text).all("figcaption")}
    assert "JAX" in captions
    assert captions <= {"JAX", "Shell"}


def test_kernel_table_is_capped_and_the_rest_is_summed() -> None:
    found = real(NCU)
    assert found.charts is not None
    rows = tuple(replace(found.charts.kernels[n % 26], kernel=f"k{n}", time_ns=2e6, share=0.002) for n in range(500))
    root = parse(render(replace(found, charts=replace(found.charts, kernels=rows)), RenderOptions()))
    table = section(root, "kernels").all("table")[0]
    assert len(table.all("tbody")[0].all("tr")) == KERNELS
    foot = table.all("tfoot")[0].text
    assert foot.startswith(f"{500 - KERNELS} further kernels")
    assert "400.0 ms" in foot
    assert "40 %" in foot


def test_tables_sort_by_numbers_not_by_their_texts() -> None:
    _, root = page(NCU)
    (table,) = (element for element in root.all("table") if element.attributes.get("id") == "kernel-table")
    heads = [head.text for head in table.all("th")]
    column = heads.index("time")
    times = [float(row.children[column].attributes["data-v"]) for row in table.all("tbody")[0].all("tr")]
    assert times == sorted(times, reverse=True)
    kernels = (real(NCU).charts or empty()).kernels
    assert times == pytest.approx([row.time_ns for row in kernels])


def test_pictures_show_what_the_charts_hold() -> None:
    _, root = page(NCU, NSYS)
    charts = real(NCU, NSYS).charts
    assert charts is not None
    (chart,) = charts.rooflines
    points = [path for path in section(root, "roofline").all("path") if "point" in path.attributes.get("class", "")]
    legend = len({point.family for point in chart.points})
    assert len(points) == len(chart.points) + legend
    assert len(section(root, "stalls").all("tbody")[0].children) == len(charts.stalls)
    lanes = [text.text for text in section(root, "timeline").all("text")]
    assert {lane.label for lane in charts.timelines[0].lanes} <= set(lanes)


def test_nvidias_findings_stand_beside_ours() -> None:
    found, (_, root) = real(DETAILS), page(DETAILS)
    text = section(root, "nvidia").text
    assert f"{len(found.vendor_findings)} findings" in text
    assert "ever added to the savings above" in text
    assert "contradicted" in text


def test_healthy_profile_is_no_clean_bill() -> None:
    root = parse(render(healthy(), RenderOptions()))
    assert "No finding" in section(root, "findings").text
    assert not [e for e in root.all("details") if "finding" in e.attributes.get("class", "")]


def test_assumed_fixes_have_a_section() -> None:
    root = parse(render(real(NSYS), RenderOptions(assume=("all",))))
    assert section(root, "what-if").text.startswith("If these findings were fixed")


def test_baseline_says_what_is_new_and_what_is_gone(tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.html"
    assert main(["analyze", str(NCU.with_name("raw_fp32.csv")), "-o", str(before), "--no-config"]) == 0
    assert main(["analyze", str(NCU), "--baseline", str(before), "-o", str(after), "--no-config"]) == 0
    found = section(parse(after.read_text(encoding="utf-8")), "baseline")
    assert found.all("p")[0].text.startswith("Against before.json: ")
    states = {row.children[0].text: row.children[1].text for row in found.all("tbody")[0].all("tr")}
    assert {"new", "fixed"} <= set(states)
    assert str(tmp_path) not in found.text


def test_real_reports_are_small() -> None:
    for paths in ((NCU,), (NSYS,), (NCU, NSYS)):
        assert len(page(*paths)[0].encode()) < 400_000


def test_extension_chooses_the_format_and_charts_are_computed(tmp_path: Path) -> None:
    assert format_for("x.html") == format_for("x.HTM") == "html"
    file = tmp_path / "x.html"
    assert main(["analyze", str(NCU), "-o", str(file), "--no-config"]) == 0
    assert NO_CHARTS not in file.read_text(encoding="utf-8")


def test_every_colour_has_a_class_in_the_style_sheet() -> None:
    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    for color, name in NAMES.items():
        wanted = "var(--fg)" if color == palette.BLACK else color.lower()
        assert f".c-{name}{{fill:{wanted}}}" in style


def luminance(color: str) -> float:
    """Relative luminance of WCAG 2.1."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_schemes(scheme: str) -> None:
    """4.5 to 1 for text (WCAG 2.1 AA)."""
    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--(\w+):(#\w+)", part)) for part in re.findall(r":root\{(.*?)\}", style)[:2])
    colors = {name: value if len(value) == 7 else "#" + "".join(2 * digit for digit in value[1:])
              for name, value in (light if scheme == "light" else dark).items()}  # fmt: skip
    for name in ("fg", "soft", "link", "error", "warning", "note"):
        for ground in ("bg", "panel"):
            low, high = sorted((luminance(colors[name]), luminance(colors[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)
