"""Rules as SARIF reporting descriptors: what a viewer shows beside every result of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nsight_insight.model.finding import CONFIDENCE_WEIGHT
from nsight_insight.reporters import _markdown as md
from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.model.finding import Confidence, Finding, Report

Object = dict[str, Any]

_PROBLEM: Final = {"note": "recommendation", "warning": "warning", "error": "error"}
"""Severity in the words that GitHub code scanning filters by."""


def plain(text: str) -> str:
    """One line in which ``[x](y)`` is no link."""
    return fmt.flow(text).replace("](", "\\](")


def descriptors(report: Report, findings: Sequence[Finding]) -> list[Object]:
    """One descriptor per rule that found something or could not be judged, sorted by id."""
    fired: dict[str, list[Finding]] = {}
    for finding in findings:
        fired.setdefault(finding.rule, []).append(finding)
    known = {rule: _fired(group) for rule, group in fired.items()}
    for gap in report.not_evaluated:
        known.setdefault(gap.rule, {"id": gap.rule, "shortDescription": {"text": plain(gap.title)}})
    return [known[rule] for rule in sorted(known)]


def _fired(group: Sequence[Finding]) -> Object:
    first = group[0]
    return {
        "id": first.rule,
        "shortDescription": {"text": plain(first.title)},
        "fullDescription": {"text": plain(first.why) or plain(first.title)},
        "help": {"text": _help_text(first), "markdown": _help_markdown(first)},
        "defaultConfiguration": {"level": first.severity},
        "properties": {
            "tags": ["performance", first.category],
            "precision": _precision(group),
            "problem.severity": _PROBLEM[first.severity],
        },
    }


def _precision(group: Sequence[Finding]) -> Confidence:
    """The rule's own confidence: doubts only ever lower that of a finding."""
    return max((finding.confidence for finding in group), key=lambda confidence: CONFIDENCE_WEIGHT[confidence])


def _parts(finding: Finding) -> list[tuple[str, list[str]]]:
    """Headings and paragraphs of the help; several paragraphs are a list."""
    parts = [
        ("Why", [finding.why]),
        ("Wrong when", [finding.false_positives]),
        ("References", list(finding.references)),
    ]
    filled = [(title, [text for text in texts if text.strip()]) for title, texts in parts]
    return [(title, texts) for title, texts in filled if texts]


def _help_text(finding: Finding) -> str:
    lines = [f"{title}: {plain('; '.join(texts))}" for title, texts in _parts(finding)]
    return "\n".join([*lines, f"All about this rule: {_explain(finding)}"])


def _help_markdown(finding: Finding) -> str:
    blocks = []
    for title, texts in _parts(finding):
        lines = [md.text(text) for text in texts]
        body = lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
        blocks.append(f"**{title}**\n\n{body}")
    return "\n\n".join([*blocks, f"All about this rule: {md.code(_explain(finding))}"]) + "\n"


def _explain(finding: Finding) -> str:
    return f"nsight-insight explain {finding.rule}"
