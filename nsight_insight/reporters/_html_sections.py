"""The sections of the HTML report below the findings: pictures, tables, gaps, NVIDIA's findings, provenance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nsight_insight.model.issues import Level
from nsight_insight.reporters import _baseline as baseline
from nsight_insight.reporters import _html_accounts as accounts
from nsight_insight.reporters import _html_charts as charts
from nsight_insight.reporters import _html_table as cells
from nsight_insight.reporters import _vendor_words as vendor
from nsight_insight.reporters import _what_if as what_if
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._html_findings import place
from nsight_insight.reporters._html_part import Part, Section, sentences
from nsight_insight.reporters._html_table import Cell

if TYPE_CHECKING:
    from nsight_insight.model.finding import NotEvaluated, Report
    from nsight_insight.reporters.options import RenderOptions

KERNEL: Final = 72
VENDOR: Final = 60
ISSUES: Final = 100


def sections(report: Report, options: RenderOptions) -> list[Section]:
    """Every section, also those without content."""
    drawn = report.charts
    return [
        *_baseline(report),
        *_assumed(report, options),
        _ledger(report),
        _tensor(report),
        charts.rooflines(drawn),
        charts.stalls(drawn),
        charts.timelines(drawn),
        charts.kernels(drawn),
        _gaps(report),
        _vendor(report, options),
        _issues(report, options),
        _sources(report, options),
    ]


def _baseline(report: Report) -> list[Section]:
    """How the findings stand to those of an earlier report, where there is one."""
    if report.baseline is None:
        return []
    rows = [[Cell(state), cells.text(told)] for state, told in baseline.lines(report)]
    tables = [cells.table("Findings that are not unchanged", "state|finding", rows)] if rows else []
    return [
        Section("baseline", "Since the baseline", [Part(texts=[sentences([baseline.heading(report)])], tables=tables)])
    ]


def _assumed(report: Report, options: RenderOptions) -> list[Section]:
    """The time line with some findings fixed, where the caller asked for it."""
    if not options.assume:
        return []
    found = report.what_if(*options.assume)
    texts = [what_if.heading(found), *what_if.lines(found, report, verbose=options.verbose)]
    return [Section("what-if", "If these findings were fixed", [Part(texts=[sentences([line]) for line in texts])])]


def _ledger(report: Report) -> Section:
    ledger = report.ledger
    section = Section("precision", "Precision conversions")
    if ledger is None or not ledger.conversions:
        section.empty = "No kernel of the profile converts between precisions, as far as kernel names say."
    else:
        told = f"{fmt.time(ledger.time_ns)}, {fmt.share(ledger.share)} of the kernel time, in conversions alone."
        section.parts = [Part(texts=[told, *accounts.ledger_notes(ledger)], tables=[accounts.ledger_table(ledger)])]
    return section


def _tensor(report: Report) -> Section:
    account = report.tensor_account
    section = Section("tensor-cores", "Tensor Cores")
    if account is None or account.time_ns <= 0:
        section.empty = "No matrix work (GEMM, convolution, attention) was recognised by kernel name."
    else:
        causes = accounts.causes_table(account)
        tables = [accounts.tensor_table(account), *([causes] if causes else [])]
        section.parts = [Part(texts=[accounts.tensor_words(account)], tables=tables)]
    return section


def _gaps(report: Report) -> Section:
    section = Section("not-judged", "What could not be judged")
    if not report.not_evaluated:
        section.empty = f"None of the {fmt.count(report.rules_evaluated, 'rule')} was left open for lack of data."
        return section
    by_rule: dict[str, NotEvaluated] = {gap.rule: gap for gap in report.not_evaluated}
    rows = [
        [cells.text(gap.title), Cell(rule, code=True), cells.text(gap.reason), cells.time(gap.time_ns or None)]
        for rule, gap in by_rule.items()
    ]
    caption = f"{fmt.count(len(by_rule), 'rule')} without the data they need"
    table = cells.table(caption, "would look for|rule|why not|kernel time concerned:", rows)
    commands = "\n".join(map(fmt.flow, report.collect.splitlines()))
    section.parts = [Part(folded=[table])]
    if commands:
        section.parts.append(Part(texts=["This collects what is missing:"], code=commands))
    return section


def _vendor(report: Report, options: RenderOptions) -> Section:
    section = Section("nvidia", "NVIDIA's own findings")
    if not report.vendor_findings:
        section.empty = "NVIDIA's tools wrote no findings of their own into the input."
        return section
    found = vendor.groups(report)
    shown = found[:VENDOR]
    rows = [_vendor_row(group, options) for group in shown]
    number = fmt.count(len(report.vendor_findings), "finding")
    overlapping = vendor.overlapping(report) or "they are never added to the savings above"
    texts = [sentences([f"{number}, {vendor.counted(report)}", overlapping])]
    more = f", the first {len(shown)} of {len(found)} kinds" if len(found) > len(shown) else ""
    head = "rule|beside ours|number:|in short|NVIDIA's text|place"
    folded = [cells.table(f"NVIDIA's advice by rule, the weightiest of each{more}", head, rows)] if rows else []
    section.parts = [Part(texts=texts, folded=folded)]
    return section


def _vendor_row(group: vendor.Group, options: RenderOptions) -> list[Cell]:
    finding = group.lead.finding
    short = fmt.kernels([finding.kernel], KERNEL)[0] if finding.kernel else ""
    return [
        Cell(fmt.flow(group.rule), code=True),
        Cell(vendor.STATES[group.state]),
        cells.count(len(group.matches)),
        Cell(vendor.line(group, short)),
        cells.text(finding.text),
        Cell(place(finding.location, options), code=True),
    ]


def _issues(report: Report, options: RenderOptions) -> Section:
    section = Section("issues", "Remarks about the input")
    if not report.issues:
        section.empty = "None: everything in the input was read and nothing was doubted."
        return section
    ranked = sorted(report.issues, key=lambda issue: (-issue.level, str(issue.location), issue.text))
    rows = [
        [Cell(issue.level.label), cells.text(issue.text), Cell(place(issue.location, options), code=True)]
        for issue in ranked[:ISSUES]
    ]
    more = f", the first {ISSUES} of {len(ranked)}" if len(ranked) > ISSUES else ""
    table = cells.table(f"What was dropped or doubted, worst first{more}", "level|remark|place", rows)
    serious = any(issue.level > Level.INFO for issue in ranked)
    section.parts = [Part(tables=[table])] if serious else [Part(folded=[table])]
    return section


def _sources(report: Report, options: RenderOptions) -> Section:
    rows = [
        [
            Cell(fmt.flow(source.path) if options.verbose else fmt.file_name(source.path), code=True),
            Cell(source.tool), Cell(fmt.flow(source.version)), Cell(fmt.flow(source.report)), Cell(source.reader),
            cells.count(source.rows),
        ]
        for source in report.sources
    ]  # fmt: skip
    table = cells.table("Inputs", "file|tool|tool version|report|reader|rows:", rows)
    made = f"Made by nsight-insight {report.version} with {fmt.count(report.rules_evaluated, 'rule')}."
    basis = f"Time base: {fmt.flow(report.totals.basis)}." if report.totals.basis else ""
    return Section("provenance", "Provenance", [Part(texts=[made, *([basis] if basis else [])], tables=[table])])
