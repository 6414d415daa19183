"""The largest findings as workflow commands of GitHub Actions, which shows them as annotations.

Printed to the job's log (``--format github``), or written to a file that a later step prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._machine import STDIN, Places, path_of

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.model.issues import Location
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "github"
EXTENSIONS: Final = (".github.txt",)
SHOWN: Final = 10
"""GitHub keeps about ten annotations of a level per step."""

_COMMANDS: Final = {"note": "notice", "warning": "warning", "error": "error"}
_TITLE: Final = "nsight-insight"


def render(report: Report, options: RenderOptions) -> str:
    """One command a line: the findings, then what was left out, not judged or lost while reading."""
    places = Places(report.sources)
    shown = report.findings[: options.top or SHOWN]
    lines = [_finding(finding, report, places) for finding in shown]
    lines += _remarks(report, len(shown))
    lines += _lost(report, places)
    return "\n".join(lines) + "\n"


def _finding(finding: Finding, report: Report, places: Places) -> str:
    what = words.remedies(finding)
    message = f"{words.verdict(finding, report.totals.kernel_ns)}{f' What to do: {what}.' if what else ''}"
    title = f"{fmt.flow(finding.title)} ({finding.rule})"
    return _command(_COMMANDS[finding.severity], title, message, finding.location, places)


def _remarks(report: Report, shown: int) -> list[str]:
    more = len(report.findings) - shown
    unjudged = len({gap.rule for gap in report.not_evaluated})
    said = words.nothing(report) if not report.findings else ""
    parts = [
        said,
        f"{fmt.count(more, 'more finding')} in the full report." if more else "",
        f"{fmt.count(unjudged, 'rule')} could not be judged." if unjudged and not said else "",
    ]
    text = " ".join(filter(None, parts))
    return [_command("notice", _TITLE, text)] if text else []


def _lost(report: Report, places: Places) -> list[str]:
    """The worst problem of the input and how many there are."""
    serious = words.serious(report)
    if not serious:
        return []
    worst = serious[0]
    text = f"{fmt.count(len(serious), 'problem')} while reading, the worst: {worst.level.label}: {fmt.flow(worst.text)}"
    return [_command("warning", f"{_TITLE}: input problems", text, worst.location, places)]


def _command(
    command: str, title: str, message: str, location: Location | None = None, places: Places | None = None
) -> str:
    properties = {"title": title}
    if location and places and location.path != STDIN:
        line, column = places.line(location), places.column(location)
        properties = {
            "file": path_of(location),
            **({"line": str(line)} if line else {}),
            **({"col": str(column)} if column else {}),
            **properties,
        }
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{command} {written}::{_data(message)}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
