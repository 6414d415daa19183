"""The findings as JUnit XML, for the test views of CI servers.

A finding is a test: failed when it is at or above ``--fail-on`` (so red tests and exit code 1 go together),
else passed with its text as output. A rule that lacks data is a skipped test, an input that could not be
read an error. The test ``analysis`` always passes and tells the whole, so that a report without findings is
not an empty one. All findings are written, whatever ``--top`` says: the view must agree with the exit code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from nsight_insight.model.issues import Level
from nsight_insight.model.text import clean
from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._machine import Places, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from nsight_insight.model.finding import Evidence, Finding, NotEvaluated, Remedy, Report
    from nsight_insight.model.issues import Issue
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "junit"
EXTENSIONS: Final = (".xml",)
OUTCOMES: Final = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""Attribute of a suite that counts, element of a case that is counted."""
NAME_WIDTH: Final = 100

_PROGRAM: Final = "nsight-insight"
_NOT_XML: Final = re.compile("[\ufffe\uffff]")
"""What XML 1.0 forbids beyond the characters that ``model.text.clean`` removes."""


def render(report: Report, options: RenderOptions) -> str:
    """An XML document with one suite per rule category, ending in a newline."""
    from xml.etree import ElementTree as ET

    root = ET.Element("testsuites", name=_PROGRAM)
    suites: dict[str, Element] = {}
    for suite, case in _cases(report, options):
        if suite not in suites:
            suites[suite] = ET.SubElement(root, "testsuite", name=suite)
        suites[suite].append(case)
    _distinct(root)
    for element in (*suites.values(), root):
        _count(element)
    ET.indent(root)
    document = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _cases(report: Report, options: RenderOptions) -> Iterator[tuple[str, Element]]:
    """Suite and test, the summary first."""
    places = Places(report.sources)
    yield _PROGRAM, _summary(report)
    for issue in report.issues:
        if issue.level is Level.ERROR:
            yield _PROGRAM, _unread(issue)
    fail_on = options.fail_on
    counted = report.new_findings() if fail_on is not None and fail_on.only_new else report.findings
    for finding in report.findings:
        failed = fail_on is not None and fail_on.reached(finding.saving, finding.severity) and finding in counted
        yield finding.category, _finding(finding, report.totals.kernel_ns, places, failed=failed)
    for gap in report.not_evaluated:
        yield gap.rule.partition("/")[0], _skipped(gap)


def _summary(report: Report) -> Element:
    case = _case(_PROGRAM, "analysis")
    lines = [words.measured(report), words.headline(report), words.busy(report.totals)[0]]
    lines += [f"{issue.level.label} {fmt.place(issue.location, full=True)}: {issue.text}" for issue in report.issues]
    _child(case, "system-out", "\n".join(fmt.flow(line) for line in lines if line))
    return case


def _unread(issue: Issue) -> Element:
    case = _case(_PROGRAM, f"input {path_of(issue.location)}")
    _child(case, "error", fmt.place(issue.location, full=True), message=issue.text, type="input")
    return case


def _finding(finding: Finding, kernel_ns: float, places: Places, *, failed: bool) -> Element:
    kernel = f": {fmt.kernels([finding.subject.kernel], NAME_WIDTH)[0]}" if finding.subject.kernel else ""
    case = _case(finding.rule, f"{finding.title}{kernel}", path_of(finding.location), places.line(finding.location))
    verdict = words.verdict(finding, kernel_ns)
    story = "\n".join(_story(finding, verdict))
    if failed:
        _child(case, "failure", story, message=verdict, type=finding.severity)
    else:
        _child(case, "system-out", story)
    return case


def _story(finding: Finding, verdict: str) -> Iterator[str]:
    yield verdict
    for member in finding.subject.members:
        yield f"  {fmt.time(member.time_ns)}, {fmt.count(member.launches, 'launch')}: {fmt.flow(member.kernel)}"
    yield from (f"evidence: {line}" for line in map(_evidence, finding.evidence))
    yield from (f"what to do: {line}" for line in map(_remedy, finding.remedies))


def _evidence(evidence: Evidence) -> str:
    places = dict.fromkeys(fmt.place(value.location, full=True) for value in evidence.values if value.location)
    where = f" [{'; '.join(places)}]" if places else ""
    return f"{fmt.flow(evidence.text) or evidence.clause}{where}"


def _remedy(remedy: Remedy) -> str:
    effort = f" ({remedy.effort} effort)" if remedy.effort else ""
    return f"{fmt.flow(remedy.title)}{effort}"


def _skipped(gap: NotEvaluated) -> Element:
    case = _case(gap.rule, gap.title)
    _child(case, "skipped", "", message=words.unjudged(gap))
    return case


def _case(classname: str, name: str, file: str = "", line: int | None = None) -> Element:
    from xml.etree.ElementTree import Element

    attributes = {"classname": classname.replace("/", "."), "name": _xml(name)}
    if file:
        attributes["file"] = _xml(file)
    if line:
        attributes["line"] = str(line)
    return Element("testcase", attributes)


def _child(case: Element, tag: str, text: str, **attributes: str) -> None:
    from xml.etree.ElementTree import SubElement

    child = SubElement(case, tag, {name: _xml(value) for name, value in attributes.items()})
    if text:
        child.text = "\n".join(_xml(line) for line in text.split("\n"))


def _xml(text: str) -> str:
    return _NOT_XML.sub("", clean(text))


def _distinct(root: Element) -> None:
    """CI servers keep the history of a test by its name, and drop a second test of one name."""
    seen: dict[tuple[str, str], int] = {}
    for case in root.iter("testcase"):
        key = (case.attrib["classname"], case.attrib["name"])
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            case.set("name", f"{key[1]} #{seen[key]}")


def _count(element: Element) -> None:
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for attribute, tag in OUTCOMES.items():
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
