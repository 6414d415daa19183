"""The report as GitHub-flavoured Markdown, for a job summary or a comment on a pull request.

A sentence and a table of the findings, the rest folded away; the whole stays far below the 65,536 characters
that a comment may have, whatever the profile holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _baseline as baseline
from nsight_insight.reporters import _devices
from nsight_insight.reporters import _markdown as md
from nsight_insight.reporters import _vendor_words as vendor_words
from nsight_insight.reporters import _what_if as what_if
from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._markdown_accounts import accounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nsight_insight.model.finding import Evidence, Finding, Remedy, Report
    from nsight_insight.model.issues import Location
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "markdown"
EXTENSIONS: Final = (".md", ".markdown")
LISTED: Final = 20
"""Findings in the table."""
DETAILED: Final = 5
"""Findings told in full, unless ``top`` or ``verbose`` say otherwise."""
MEMBERS: Final = 5
CLAUSES: Final = 6
FAMILIES: Final = 8
DEVICES: Final = 8
SOURCES: Final = 6
GAPS: Final = 40
ISSUES: Final = 5
KERNEL: Final = 70
"""Columns of a kernel name."""
SENTENCE: Final = 600
"""Characters of a text that may carry a kernel name."""
CODE: Final = 20
"""Lines of a remedy's code."""

_LANGUAGES: Final = {"cuda": "cpp", "shell": "sh"}


def render(report: Report, options: RenderOptions) -> str:
    """The report, ending in a newline."""
    detailed = options.top or (LISTED if options.verbose else DETAILED)
    blocks = [
        [f"## nsight-insight: {md.text(words.headline(report))}"],
        _measured(report),
        _device_lines(report),
        _issues(report),
        _baseline(report),
        _what_if(report, options),
        _table(report, options.top or LISTED),
        *(_finding(f, rank, report, options) for rank, f in enumerate(report.findings[:detailed], 1)),
        _families(report),
        *accounts(report),
        _gaps(report),
        _sources(report),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _measured(report: Report) -> list[str]:
    devices = " and ".join(dict.fromkeys(map(fmt.flow, report.devices))) or "GPU not named by the input"
    facts, idle = words.busy(report.totals)
    sentences = [f"{words.measured(report)} · {devices}", facts, words.idle_warning(idle)]
    hidden = words.hidden(report)
    sentences.append(f"not listed: {hidden}" if hidden else "")
    # Two blanks at the end of a line break it.
    return "  \n".join(_sentence(sentence) for sentence in sentences if sentence).split("\n")


def _device_lines(report: Report) -> list[str]:
    told = _devices.lines(report)
    if not told:
        return []
    more = [f"- and {len(told) - DEVICES} more"] if len(told) > DEVICES else []
    return [f"**{_sentence(_devices.heading(report))}**", "", *(f"- {_sentence(t)}" for t in told[:DEVICES]), *more]


def _sentence(text: str) -> str:
    return md.text(fmt.cut(fmt.flow(text), SENTENCE, tail=0.0))


def _issues(report: Report) -> list[str]:
    serious = words.serious(report)
    if not serious:
        return []
    told = [f"- {issue.level.label} {_place(issue.location)}: {_sentence(issue.text)}" for issue in serious[:ISSUES]]
    more = len(serious) - len(told)
    return ["**Input problems**", "", *told, *([f"- and {more:,} more"] if more else [])]


def _baseline(report: Report) -> list[str]:
    head = baseline.heading(report)
    if not head:
        return []
    told = [f"- {state}: {_sentence(text)}" for state, text in baseline.lines(report)][:LISTED]
    return [f"**{_sentence(head)}**", *(["", *told] if told else [])]


def _what_if(report: Report, options: RenderOptions) -> list[str]:
    if not options.assume:
        return []
    found = report.what_if(*options.assume)
    told = what_if.lines(found, report, verbose=False)
    return [
        f"**{_sentence(what_if.heading(found))}**",
        *(["", *(f"- {_sentence(text)}" for text in told)] if told else []),
    ]


def _table(report: Report, limit: int) -> list[str]:
    findings = [_devices.titled(finding, report) for finding in report.findings[:limit]]
    if not findings:
        return []
    names = fmt.kernels([finding.subject.kernel for finding in findings], KERNEL)
    rows = [
        [
            str(rank),
            f"{_sentence(finding.title)}{f'<br>{md.code(name)}' if finding.subject.kernel else ''}",
            finding.severity,
            fmt.time(finding.saving.expected_ns),
            fmt.share(finding.saving.share),
            fmt.time(finding.saving.upper_ns),
            finding.confidence,
        ]
        for rank, (finding, name) in enumerate(zip(findings, names, strict=True), 1)
    ]
    headings = ["#:", "finding", "severity", "saves about:", "share:", "at most:", "confidence"]
    more = len(report.findings) - len(findings)
    return [*md.table(headings, rows), *(["", f"and {fmt.count(more, 'more finding')}"] if more else [])]


def _finding(finding: Finding, rank: int, report: Report, options: RenderOptions) -> list[str]:
    body = [
        [_sentence(finding.message)],
        _members(finding),
        [f"- {_evidence(evidence)}" for evidence in finding.evidence[:CLAUSES]],
        *(_remedy(remedy, options) for remedy in finding.remedies),
        _notes(finding),
    ]
    saves = words.saving(finding.saving, report.totals.kernel_ns)
    inner = "\n\n".join("\n".join(block) for block in body if block)
    return md.details(f"{rank}. {finding.title}: {saves}", inner.split("\n"))


def _members(finding: Finding) -> list[str]:
    members = finding.subject.members[:MEMBERS]
    if not members:
        return []
    names = fmt.kernels([member.kernel for member in members], KERNEL)
    rows = [
        [md.code(name), fmt.time(member.time_ns), f"{member.launches:,}", fmt.time(member.expected_ns)]
        for name, member in zip(names, members, strict=True)
    ]
    total = len(finding.subject.members)
    kernel = f"kernel (top {len(members)} of {total})" if total > len(members) else "kernel"
    return md.table([kernel, "time:", "launches:", "saves about:"], rows)


def _evidence(evidence: Evidence) -> str:
    located = [value.location for value in evidence.values if value.location]
    where = f" {_place(located[0])}" if located else ""
    return f"{_sentence(evidence.text) or md.code(evidence.clause)}{where}"


def _place(location: Location) -> str:
    return md.code(fmt.cut(fmt.place(location), KERNEL))


def _remedy(remedy: Remedy, options: RenderOptions) -> list[str]:
    facts = [f"saves about {fmt.time(remedy.saving.expected_ns)}"] if remedy.saving else []
    facts += [f"{remedy.effort} effort"] if remedy.effort else []
    facts += [f"risk: {remedy.risk}"] if remedy.risk else []
    details = f" ({_sentence('; '.join(facts))})" if facts else ""
    lines = [f"**{_sentence(remedy.title)}**{details}"]
    for name in _frameworks(remedy, options):
        code = fmt.block(remedy.code[name])
        shown = [*code[:CODE], "..."] if len(code) > CODE else code
        lines += ["", *md.code_block(shown, _LANGUAGES.get(name, "python"))]
    return lines


def _frameworks(remedy: Remedy, options: RenderOptions) -> Sequence[str]:
    """Whose code is shown: of the framework asked for, else of the first one, PyTorch before others."""
    names = sorted(remedy.code, key=lambda name: (name != "pytorch", name))
    if options.framework:
        return [name for name in names if name in (options.framework, "shell")]
    return names if options.verbose else names[:1]


def _notes(finding: Finding) -> list[str]:
    notes = [f"Confidence {finding.confidence}, rule {md.code(finding.rule)}."]
    if finding.saving.assumptions:
        notes.append(f"Assumes {_sentence('; '.join(finding.saving.assumptions))}.")
    if finding.explains:
        titles = dict.fromkeys(consequence.title for consequence in finding.explains)
        notes.append(f"Explains {_sentence('; '.join(titles))}.")
    if finding.false_positives:
        notes.append(f"Wrong when: {_sentence(finding.false_positives)}")
    return [" ".join(notes)]


def _families(report: Report) -> list[str]:
    totals = report.totals
    ranked = sorted(totals.families.items(), key=lambda item: (-item[1], item[0]))
    if not ranked or totals.kernel_ns <= 0:
        return []
    rows = ranked if len(ranked) <= FAMILIES + 1 else ranked[:FAMILIES]
    if len(rows) < len(ranked):
        rest = ranked[len(rows) :]
        rows = [*rows, (f"{len(rest)} others", sum(ns for _, ns in rest))]
    cells = [[_sentence(name), fmt.time(ns), fmt.share(ns / totals.kernel_ns)] for name, ns in rows]
    return md.details("Where the time goes", md.table(["kernels", "time:", "share:"], cells))


def _gaps(report: Report) -> list[str]:
    gaps = {gap.rule: gap for gap in report.not_evaluated}
    if not gaps:
        return []
    body = [f"- {_sentence(gap.title)}: {_sentence(gap.reason)}" for gap in list(gaps.values())[:GAPS]]
    if len(gaps) > GAPS:
        body.append(f"- and {len(gaps) - GAPS} more")
    commands = [fmt.flow(command) for command in report.collect.splitlines()]
    if commands:
        body += ["", "This collects what is missing:", "", *md.code_block(commands, "sh")]
    return md.details(f"{fmt.count(len(gaps), 'rule')} could not be judged", body)


def _sources(report: Report) -> list[str]:
    return md.details(f"nsight-insight {report.version}, read from", list(_files(report)))


def _files(report: Report) -> Iterator[str]:
    reports: dict[str, list[str]] = {}
    for source in report.sources:
        reports.setdefault(source.path, []).append(f"{source.tool} {source.report}".strip())
    for path in list(reports)[:SOURCES]:
        tools = "; ".join(dict.fromkeys(reports[path]))
        yield f"- {md.code(fmt.cut(path, KERNEL))} ({_sentence(tools)})"
    if len(reports) > SOURCES:
        yield f"- and {len(reports) - SOURCES} more files"
    if report.vendor_findings:
        number = fmt.count(len(report.vendor_findings), "finding")
        compared = f", {vendor_words.counted(report)}" if report.vendor_matches else ""
        yield f"- NVIDIA's tools wrote {number} of their own into the input{compared}"
