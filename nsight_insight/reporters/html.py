"""The report as one HTML file for people: no network, readable without scripts, on paper and on a phone.

Scripts and styles stand in the page and are allowed by their hash; everything else is forbidden by a content security
policy. Texts are escaped by Jinja, pictures by ElementTree: kernel names are hostile input.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _html_bars as bars
from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._html_findings import items
from nsight_insight.reporters._html_part import Part
from nsight_insight.reporters._html_sections import sections
from nsight_insight.reporters._html_svg import patterns

if TYPE_CHECKING:
    from jinja2 import Template

    from nsight_insight.model.finding import Report
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "html"
EXTENSIONS: Final = (".html", ".htm")
CHARTS: Final = True
"""The report should carry ``charts``: the command line computes them for reporters that say so."""
FOLDER: Final = Path(__file__).parent / "_html"


def render(report: Report, options: RenderOptions) -> str:
    """The page, ending in a newline."""
    from markupsafe import Markup

    style, script = _asset("style.css"), _asset("script.js")
    found = items(report, options)
    return _template().render(
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  our own file
        patterns=patterns(),
        version=report.version,
        name=_name(report),
        headline=words.headline(report),
        measured=words.measured(report),
        devices=list(dict.fromkeys(map(fmt.flow, report.devices))),
        facts=_facts(report),
        hidden=words.hidden(report),
        serious=len(words.serious(report)),
        time=_time(report),
        findings=found,
        more=len(report.findings) - len(found),
        nothing=words.nothing(report),
        sections=sections(report, options),
    )


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded or sent; the two inline parts are known by their hash."""
    allowed = [f"style-src {_hash(style)}", f"script-src {_hash(script)}"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=2)
def _asset(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, undefined=StrictUndefined,
    )  # fmt: skip
    return environment.get_template("report.html.j2")


def _name(report: Report) -> str:
    """The inputs' names, for the title of the page."""
    names = list(dict.fromkeys(fmt.file_name(source.path) for source in report.sources))
    return fmt.cut(names[0], 60) + (f" and {len(names) - 1} more" if len(names) > 1 else "") if names else "no input"


def _facts(report: Report) -> list[str]:
    known, idle = words.busy(report.totals)
    return [fact for fact in (known, words.idle_warning(idle)) if fact]


def _time(report: Report) -> list[Part]:
    """Kernel families and the window of each device; families alone where nothing was computed for pictures."""
    totals = report.totals
    parts = []
    if totals.families:
        several = len(report.charts.breakdowns) > 1 if report.charts else False
        caption = "Kernel time by family" + (", all devices" if several else "")
        parts.append(Part(tables=[bars.families(totals.families, totals.kernel_ns, caption)]))
    for chart in report.charts.breakdowns if report.charts else ():
        drawn = bars.window(chart)
        if drawn is not None:
            picture, legend = drawn
            where = "steady window" if chart.steady else "whole capture, start-up included"
            device = f"Device {chart.device}: " if len(report.charts.breakdowns if report.charts else ()) > 1 else ""
            busy = f"GPU busy {fmt.time(chart.busy_ns)} of {fmt.time(chart.window_ns)}, unfilled ({where})"
            parts.append(Part(texts=[f"{device}{busy}."], picture=picture, legends=[("", legend)]))
    return parts
