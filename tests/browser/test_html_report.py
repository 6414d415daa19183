"""The HTML report in a real browser: silent, offline, usable by pointer, keyboard, phone, paper and without scripts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nsight_insight import api
from nsight_insight.config import Config, Threshold
from nsight_insight.model.finding import Report
from nsight_insight.reporters.html import render
from nsight_insight.reporters.options import RenderOptions
from tests.paths import FIXTURES
from tests.unit.make_report import hostile
from tests.unit.test_html_reporter import NASTY, nasty_charts

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    # Playwright's event loop is closed by its own thread, after Python has looked for open ones.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
NCU = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "raw.csv"
NSYS = FIXTURES / "nsys-sqlite" / "2025.3-h200-amp"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-sync", "--no-first-run",
]  # fmt: skip
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def real() -> Report:
    profile = api.load(NCU, NSYS)
    found = api.analyze(profile, Config(min_saving=Threshold(share=0.0)))
    return replace(found, charts=api.charts(profile))


@pytest.fixture(scope="module")
def report_file(real: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("html") / "report.html"
    file.write_text(render(real, RenderOptions()), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def hostile_file(real: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert real.charts is not None
    found = replace(hostile(), charts=nasty_charts(real.charts, NASTY))
    file = tmp_path_factory.mktemp("html") / "hostile.html"
    file.write_text(render(found, RenderOptions(verbose=True)), encoding="utf-8", errors="replace")
    return file


@contextmanager
def opened(browser: Browser, file: Path, **context: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page from disk, and everything that it complains about, asks for or pops up."""
    noise: list[str] = []
    place = browser.new_context(**{"viewport": DESKTOP, **context})
    page = place.new_page()
    page.on("console", lambda message: noise.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (noise.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on(
        "request", lambda request: noise.append(f"request: {request.url}") if request.url != file.as_uri() else None
    )
    page.goto(file.as_uri())
    yield page, noise
    place.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_silent_and_offline(browser: Browser, report_file: Path, scheme: str) -> None:
    with opened(browser, report_file, color_scheme=scheme) as (page, noise):
        page.get_by_role("button", name="Unfold all").click()
        page.mouse.wheel(0, 20_000)
        assert page.evaluate("document.querySelectorAll('details.finding:not([open])').length") == 0
        assert noise == []


def test_hostile_names_do_nothing(browser: Browser, hostile_file: Path) -> None:
    with opened(browser, hostile_file) as (page, noise):
        page.get_by_role("button", name="Unfold all").click()
        for button in page.locator("th button").all():
            if button.is_visible():
                button.click()
        page.locator("#kernel-filter").fill("alert")
        assert page.locator("#kernel-table tbody tr:visible").count() > 0
        assert page.evaluate("[...document.images].length") == 0
        assert page.evaluate("document.scripts.length") == 1
        assert page.get_by_text("alert(1)").count() > 0
        assert noise == []


def test_policy_stops_what_is_not_ours(browser: Browser, report_file: Path) -> None:
    """The policy is in force: a script or a picture that someone slips in is refused."""
    with opened(browser, report_file) as (page, noise):
        failures: list[str | None] = []
        page.on("requestfailed", lambda request: failures.append(request.failure))
        page.evaluate(
            "() => { const script = document.createElement('script'); script.textContent = 'window.owned = 1';"
            "const image = new Image(); image.src = 'http://192.0.2.1/x.png'; document.body.append(script, image); }"
        )
        assert page.evaluate("window.owned") is None
        assert sum("Content Security Policy" in line for line in noise) == 2
        assert failures == ["csp"]


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"#kernel-table tbody tr td:nth-child({number})").all_text_contents()


def test_kernels_sort_by_value_in_both_directions(browser: Browser, report_file: Path, real: Report) -> None:
    assert real.charts is not None
    launches = sorted(row.launches for row in real.charts.kernels)
    with opened(browser, report_file) as (page, _):
        heads = page.locator("#kernel-table th").all_text_contents()
        number = heads.index("launches") + 1
        button = page.locator(f"#kernel-table th:nth-child({number}) button")
        button.click()
        assert [int(text.replace(",", "")) for text in column(page, number)] == launches[::-1]
        assert page.locator(f"#kernel-table th:nth-child({number})").get_attribute("aria-sort") == "descending"
        button.focus()
        page.keyboard.press("Enter")
        assert [int(text.replace(",", "")) for text in column(page, number)] == launches
        assert page.locator("#kernel-table th[aria-sort]").count() == 1
        page.locator("#kernel-table th:nth-child(2) button").click()
        families = column(page, 2)
        assert families == sorted(families)


def test_times_in_different_units_sort_by_length(browser: Browser, report_file: Path, real: Report) -> None:
    assert real.charts is not None
    with opened(browser, report_file) as (page, _):
        number = page.locator("#kernel-table th").all_text_contents().index("mean") + 1
        page.locator(f"#kernel-table th:nth-child({number}) button").click()
        cells = page.locator(f"#kernel-table tbody tr td:nth-child({number})")
        values = [float(cell.get_attribute("data-v") or "nan") for cell in cells.all()]
        assert values == sorted(values, reverse=True)
        units = [text.split()[1] for text in column(page, number)]
        assert {"us", "ns"} <= set(units)
        assert units.index("ns") > max(place for place, unit in enumerate(units) if unit == "us")


def test_kernels_are_filtered_as_typed(browser: Browser, report_file: Path, real: Report) -> None:
    assert real.charts is not None
    wanted = sum(row.family == "gemm" for row in real.charts.kernels)
    with opened(browser, report_file) as (page, _):
        field = page.get_by_label("Filter by name, family or type")
        field.press_sequentially("gemm fp16")
        visible = page.locator("#kernel-table tbody tr:visible")
        assert 0 < visible.count() <= wanted
        assert page.locator('.tools[data-for="kernel-table"] output').text_content() == (
            f"{visible.count()} of {len(real.charts.kernels)}"
        )
        field.fill("")
        assert visible.count() == len(real.charts.kernels)


def test_findings_are_filtered_by_severity(browser: Browser, report_file: Path, real: Report) -> None:
    with opened(browser, report_file) as (page, _):
        page.get_by_label("Show").select_option("warnings and errors")
        shown = page.locator("details.finding:visible").count()
        assert shown == sum(finding.severity != "note" for finding in real.findings)


def test_code_and_places_are_copied(browser: Browser, report_file: Path) -> None:
    with opened(browser, report_file, permissions=["clipboard-read", "clipboard-write"]) as (page, noise):
        code = page.locator("details.finding[open] figure pre").first.text_content()
        page.locator("details.finding[open] figure .copy").first.click()
        assert page.evaluate("navigator.clipboard.readText()") == code
        place = page.locator("details.finding[open] button.place").first
        text = place.text_content()
        place.click()
        assert page.evaluate("navigator.clipboard.readText()") == text
        assert noise == []


def test_keyboard_reaches_the_report(browser: Browser, report_file: Path) -> None:
    with opened(browser, report_file) as (page, _):
        page.keyboard.press("Tab")
        skip = page.locator(".skip")
        assert skip.evaluate("element => element === document.activeElement")
        assert (skip.bounding_box() or {"x": -1})["x"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.locator("details.finding:not([open]) summary").first.focus()
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        before = page.locator("details.finding[open]").count()
        page.keyboard.press("Enter")
        assert page.locator("details.finding[open]").count() == before + 1
        assert outline != "none"


@pytest.mark.parametrize("name", ["report_file", "hostile_file"])
def test_phone_scrolls_in_one_direction(browser: Browser, name: str, request: pytest.FixtureRequest) -> None:
    with opened(browser, request.getfixturevalue(name), viewport=PHONE) as (page, _):
        page.get_by_role("button", name="Unfold all").click()
        page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        wide = page.evaluate(
            "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, pre, svg') &&"
            " e.getBoundingClientRect().right > 361 && getComputedStyle(e).position !== 'absolute').length"
        )
        assert wide == 0
        assert float(page.evaluate("getComputedStyle(document.body).fontSize")[:-2]) >= 15


def test_without_scripts_everything_can_be_read(browser: Browser, report_file: Path, real: Report) -> None:
    with opened(browser, report_file, java_script_enabled=False) as (page, noise):
        assert page.locator("button, input, select").count() == 0
        assert page.locator("details.finding").count() == len(real.findings)
        last = page.locator("details.finding").last
        assert not last.locator("p").first.is_visible()
        last.locator("summary").click()
        assert last.locator("p").first.is_visible()
        assert page.locator("#kernel-table tbody tr").count() == len((real.charts and real.charts.kernels) or ())
        assert page.locator("#timeline svg.chart").is_visible()
        assert noise == []


CONTRAST = """
() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const linear = (part) => { part /= 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) { return color; }
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("body *:not(script):not(style)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.tagName === "title") { continue; }
    const style = getComputedStyle(element);
    const text = parse(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(text), light(ground(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) { low.push(element.tagName + ": " + element.textContent.trim().slice(0, 40)); }
  }
  return low;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(browser: Browser, report_file: Path, scheme: str) -> None:
    with opened(browser, report_file, color_scheme=scheme) as (page, _):
        page.get_by_role("button", name="Unfold all").click()
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
        assert page.evaluate(CONTRAST) == []


def test_paper_gets_every_finding_unfolded_and_no_controls(browser: Browser, report_file: Path) -> None:
    with opened(browser, report_file) as (page, _):
        pdf = page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 720, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth") == 720
        for control in (".tools", "nav", ".copy", ".skip"):
            assert page.locator(control).first.is_hidden()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details.finding:not([open])").count() > 0


def test_headings_and_regions_are_what_a_screen_reader_gets(browser: Browser, report_file: Path) -> None:
    with opened(browser, report_file) as (page, _):
        for region in ("Where the time goes", "Findings", "Roofline", "Warp states", "Timeline", "Kernels"):
            assert page.get_by_role("region", name=region, exact=True).count() == 1
        assert page.get_by_role("heading", level=1).count() == 1
        assert page.get_by_role("navigation", name="Sections").get_by_role("link").count() >= 12
        assert page.locator("svg[role=img]").count() >= 3
        assert page.get_by_role("table").count() > 8
