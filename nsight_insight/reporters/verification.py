"""Findings held against a capture from after the fix: text for a terminal, JSON for programs, Markdown.

The JSON is a contract (``verification-v1.schema.json``): times in ns per ``unit``, metrics in SI units, null unknown.
Keys may be added within version 1.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from nsight_insight.errors import UsageError
from nsight_insight.model.finding import Quantity
from nsight_insight.model.text import clean
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._machine import json_text, number

if TYPE_CHECKING:
    from rich.text import Text

    from nsight_insight.model.verification import Expectation, Verification, Verifications
    from nsight_insight.reporters._layout import Page
    from nsight_insight.reporters.options import RenderOptions

SCHEMA_VERSION: Final = 1
OUTCOMES: Final = {
    "confirmed": "confirmed", "partly": "partly confirmed", "refuted": "refuted", "unknown": "cannot tell",
}  # fmt: skip
_STYLES: Final = {"confirmed": "saving", "partly": "warning", "refuted": "error", "unknown": "faint"}
_UNITS: Final = {"step": " a step", "capture": "", "": ""}
Object = dict[str, Any]


def verification_output(found: Verifications, format_: str, options: RenderOptions) -> str:
    """The outcome as text, json or markdown, ending in a newline.

    Raises:
        UsageError: another format.
    """
    if format_ == "json":
        return json_text(verification_dict(found))
    if format_ == "markdown":
        return _markdown(found)
    if format_ == "text":
        return _text(found, options)
    raise UsageError(f"a verification is written as text, json or markdown, not as {format_}")


def verification_dict(found: Verifications) -> Object:
    """The outcome as plain data."""
    from nsight_insight.reporters.comparison import change_object, run_object

    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "verification",
        "tool": {"name": "nsight-insight", "version": found.version},
        "before": run_object(found.before),
        "after": run_object(found.after),
        "unit": found.unit or None,
        "reason": clean(found.reason),
        "overall": change_object(found.overall),
        "measure": found.measure or None,
        "findings": [_finding(one) for one in found.findings],
        "cautions": [clean(text) for text in found.cautions],
    }


def _finding(one: Verification) -> Object:
    return {
        "rule": one.rule,
        "title": one.title,
        "kernel": clean(one.kernel),
        "fingerprint": one.fingerprint,
        "outcome": one.outcome,
        "expected_ns": number(one.expected),
        "upper_ns": number(one.upper),
        "measured_ns": number(one.measured),
        "least_ns": number(one.least),
        "about": one.about,
        "reason": clean(one.reason),
        "state": one.state,
        "expectations": [
            {
                "metric": e.metric, "moves": e.moves, "where": e.where, "before": number(e.before),
                "after": number(e.after), "unit": e.unit, "movement": e.movement,
            }
            for e in one.expectations
        ],
    }  # fmt: skip


def summary(found: Verifications) -> str:
    """All outcomes in one sentence."""
    if not found.findings:
        return "Nothing was found on the capture before, so nothing can be verified"
    counts: Counter[str] = Counter(one.outcome for one in found.findings)
    parts = [f"{counts[outcome]} {words}" for outcome, words in OUTCOMES.items() if counts[outcome]]
    return f"{fmt.count(len(found.findings), 'finding')} held against the capture after: {', '.join(parts)}"


def overall(found: Verifications) -> str:
    """How the whole changed, "" where that cannot be told."""
    change = found.overall
    if change is None or change.before is None or change.after is None:
        return ""
    verdict = "cannot tell from noise" if change.verdict == "unknown" else change.verdict
    what = "A step" if found.measure == "wall" else f"All kernels{' of a step' if found.unit == 'step' else ''}"
    return f"{what}: {fmt.time(change.before)} → {fmt.time(change.after)}, {verdict}"


def predicted(one: Verification, found: Verifications) -> str:
    """What was promised and what is there."""
    unit = _UNITS[found.unit]
    promised = (
        f"promised {fmt.time(one.expected)} to {fmt.time(one.upper)}{unit}" if one.upper > 0 else "no time promised"
    )
    if one.measured is None:
        return f"{promised}; not measured: {one.reason}"
    word = "saved" if one.measured >= 0 else "lost"
    noise = f", noise {fmt.time(one.least)}" if one.least is not None else ""
    return f"{promised}; {word} {fmt.time(abs(one.measured))} ({one.about}{noise})"


def moved(e: Expectation) -> str:
    """``idle_launch_time 3.72 ms → 14.1 us, as predicted``."""
    values = " → ".join(fmt.value(Quantity(e.metric, value, e.unit)) for value in (e.before, e.after))
    said = {"as predicted": "as predicted", "stayed": "did not move", "other way": f"should go {e.moves}"}
    return f"{e.metric} {values}, {said.get(e.movement, 'not in both captures')}"


def _text(found: Verifications, options: RenderOptions) -> str:
    from rich.text import Text

    from nsight_insight.reporters import _layout
    from nsight_insight.reporters._comparison_text import WIDTHS, cautions, joined, side_lines

    low, high = WIDTHS
    page = _layout.Page(min(max(options.width, low), high), options.verbose)
    head = _layout.wrap(_layout.styled((summary(found), "title")), page.width, 2)
    if whole := overall(found):
        head += _layout.indented(_layout.wrap(Text(whole), page.width - 2, 2), 2)
    if found.reason:
        head += _layout.indented(_layout.wrap(Text(f"Times cannot be compared: {found.reason}"), page.width - 2, 2), 2)
    head += side_lines(found.before, found.after, page)
    shown = found.findings[: options.top]
    blocks = [head, cautions(found.cautions, page), *(_block(one, found, page) for one in shown)]
    return _layout.to_string(joined(blocks), color=options.color, unicode=options.unicode)


def _block(one: Verification, found: Verifications, page: Page) -> list[Text]:
    from rich.text import Text

    from nsight_insight.reporters import _layout

    kernel = f" · {fmt.kernels([one.kernel], 40)[0]}" if one.kernel else ""
    head = _layout.styled(
        (f"{OUTCOMES[one.outcome]:<18}", _STYLES[one.outcome]), (fmt.flow(one.title), "title"), (kernel, "faint")
    )
    lines = _layout.wrap(head, page.width, 18)
    facts = [predicted(one, found)]
    facts += [one.reason] if one.reason and one.measured is not None else []
    facts += [moved(e) for e in one.expectations if e.movement != "unknown" or page.verbose]
    for fact in facts:
        lines += _layout.indented(_layout.wrap(Text(fmt.flow(fact)), page.width - 18, 2), 18)
    return lines


def _markdown(found: Verifications) -> str:
    from nsight_insight.reporters import _markdown as md

    rows = [
        [
            OUTCOMES[one.outcome],
            f"{md.text(one.title)}{f'<br>{md.code(fmt.kernels([one.kernel], 60)[0])}' if one.kernel else ''}",
            md.text(predicted(one, found)),
            "<br>".join(md.text(moved(e)) for e in one.expectations if e.movement != "unknown"),
        ]
        for one in found.findings
    ]
    table = md.table(["", "finding", "time", "metrics"], rows) if rows else []
    blocks = [
        [f"## {md.text(summary(found))}"],
        [md.text(overall(found))],
        [f"> {md.text(text)}" for text in found.cautions],
        table,
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
