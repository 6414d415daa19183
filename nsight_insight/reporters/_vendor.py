"""NVIDIA's own findings in the text report: what ours says about them, and theirs word for word when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from nsight_insight.reporters import _vendor_words as words
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._layout import Page, indented, styled, wrap

if TYPE_CHECKING:
    from nsight_insight.model.finding import Report
    from nsight_insight.model.profile import VendorFinding

LINES: Final = 4
"""Groups told where not everything was asked for."""
KERNEL: Final = 40
"""Columns of a kernel name inside a sentence."""


def vendor_lines(report: Report, page: Page) -> list[Text]:
    """The section, empty where NVIDIA's tools said nothing."""
    findings = report.vendor_findings
    if not findings:
        return []
    counted = f"NVIDIA's tools wrote {fmt.count(len(findings), 'finding')} of their own into the input"
    if not report.vendor_matches:
        return _plain(counted, findings, page)
    heading = f"{counted}, {words.counted(report)}"
    lines = wrap(styled((heading, "title")), page.width)
    if overlap := words.overlapping(report):
        lines += indented(wrap(styled((overlap, "faint")), page.width - 2), 2)
    groups = words.groups(report)
    shown = groups if page.verbose else words.top(groups, LINES)
    for group in shown:
        lines += indented(_group(group, page), 2)
    if len(shown) < len(groups):
        lines.append(styled((f"  and {len(groups) - len(shown)} more (-v shows them)", "faint")))
    return lines


def _group(group: words.Group, page: Page) -> list[Text]:
    lead = group.lead.finding
    name = fmt.kernels([lead.kernel], KERNEL)[0] if lead.kernel else ""
    text = styled((f"{words.STATES[group.state]:<14}", "faint"), words.line(group, name))
    lines = wrap(text, page.width - 2, 14)
    if page.verbose:
        said = styled("NVIDIA: ", fmt.flow(lead.text), (f" [{fmt.place(lead.location)}]", "faint"))
        lines += indented(wrap(said, page.width - 16, 2), 14)
    return lines


def _plain(counted: str, findings: Sequence[VendorFinding], page: Page) -> list[Text]:
    """NVIDIA's findings of a report that was made without comparing them."""
    if not page.verbose:
        return [styled((f"{counted} (-v shows them)", "faint"))]
    by_rule: dict[str, list[VendorFinding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    lines = wrap(styled((f"{counted}; the largest of each rule", "title")), page.width)
    for rule, group in by_rule.items():
        lines += indented(wrap(_vendor(rule, group), page.width - 2, 2), 2)
    return lines


def _vendor(rule: str, group: Sequence[VendorFinding]) -> Text:
    largest = max(group, key=lambda finding: finding.estimated_speedup or 0.0)
    facts = [f"{len(group)}x"] if len(group) > 1 else []
    if largest.kernel:
        facts.append(fmt.kernels([largest.kernel], KERNEL)[0])
    if largest.estimated_speedup is not None:
        facts.append(f"their estimate: {fmt.share(largest.estimated_speedup)} of the kernel")
    head = f"{fmt.flow(rule)} ({', '.join(facts)}): " if facts else f"{fmt.flow(rule)}: "
    return styled(head, fmt.flow(largest.text), (f" [{fmt.place(largest.location)}]", "faint"))
