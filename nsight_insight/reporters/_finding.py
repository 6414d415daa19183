"""One finding as lines: what, how much, where, why we think so, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rich.text import Text

from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.finding import Evidence, Finding, Member, Quantity, Remedy, Saving
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._layout import (
    INDENT,
    LABEL,
    Page,
    both_ends,
    indented,
    labelled,
    styled,
    unbreakable,
    wrap,
)

LINES: Final = 14
"""What a finding may take where not everything was asked for; code fills what is left."""
MEMBERS: Final = 3
CLAUSES: Final = 3
FILE: Final = 16
"""Columns in which a file name can still be recognised."""
IDENTIFIERS: Final = frozenset({"correlation", "start", "context", "stream", "process", "device"})
"""Numbers that name a record and measure nothing."""
_COMMENT: Final = re.compile(r"\s{2,}(?:#|//) .*$")
MARKS: Final = {"note": "●", "warning": "▲", "error": "■"}


def finding_lines(finding: Finding, rank: int, kernel_ns: float, page: Page, framework: str) -> list[Text]:
    """The whole block of one finding."""
    head = [
        *_title(finding, rank, page),
        *indented(wrap(saving_text(finding.saving, kernel_ns, finding.confidence), page.width - INDENT), INDENT),
        *indented(wrap(Text(fmt.flow(finding.message)), page.width - INDENT), INDENT),
        *_members(finding, page),
    ]
    evidence = _evidence(finding.evidence, page)
    tail = [
        *_hot_lines(finding, page),
        *_explained(finding, page),
        *_assumptions(finding, page),
        *_reference(finding, page),
    ]
    room = 10_000 if page.verbose or framework else LINES - len(head) - len(evidence) - len(tail)
    return [*head, *evidence, *_remedies(finding.remedies, page, framework, room), *tail]


def one_line(finding: Finding, rank: int, page: Page) -> Text:
    """A finding that is only mentioned: rank, title, saving."""
    amount = styled((fmt.time(finding.saving.expected_ns).rjust(9), "saving"), fmt.share(finding.saving.share).rjust(8))
    room = page.width - 5 - amount.cell_len - 2
    title = fmt.cut(fmt.flow(finding.title), room)
    left = styled(f"{rank:>2} ", (MARKS[finding.severity], finding.severity), f" {title}")
    if finding.subject.kernel and (rest := room - len(title) - 2) >= FILE:
        left.append_text(styled((f"  {fmt.kernels([finding.subject.kernel], rest)[0]}", "faint")))
    return both_ends(left, amount, page.width)[0]


def saving_text(saving: Saving, kernel_ns: float, confidence: str) -> Text:
    """How much time, of what, and how sure."""
    sure = f" · {confidence} confidence"
    if saving.upper_ns <= 0:
        return styled("no saving of GPU time of its own", sure)
    return styled(
        "saves about ",
        (fmt.time(saving.expected_ns), "saving"),
        f" of {fmt.time(saving.base_ns or kernel_ns)} (",
        (fmt.share(saving.share), "saving"),
        f"), at most {fmt.time(saving.upper_ns)}{sure}",
    )


def _title(finding: Finding, rank: int, page: Page) -> list[Text]:
    mark = styled((f"{rank}".ljust(INDENT), "title"))
    title = styled((fmt.flow(finding.title), "title"))
    severity = styled((f"{MARKS[finding.severity]} {finding.severity}", finding.severity))
    lines = both_ends(title, severity, page.width - INDENT)
    return [mark + lines[0], *indented(lines[1:], INDENT)]


def _members(finding: Finding, page: Page) -> list[Text]:
    members = finding.subject.members
    if not members:
        return []
    shown = members if page.verbose else members[:MEMBERS]
    label = "kernel" if len(members) == 1 else f"{len(members)} kernels"
    if len(shown) < len(members):
        label = f"top {len(shown)} of {len(members)}"
    times = fmt.times([member.time_ns for member in shown])
    fronts = [f"{time:>9}  {f'{m.launches:,}x':>6}  " for time, m in zip(times, shown, strict=True)]
    room = page.body - len(fronts[0])
    names = fmt.kernels([member.kernel for member in shown], room)
    rows: list[Text] = []
    for front, name, member in zip(fronts, names, shown, strict=True):
        lines = wrap(_whole_name(member), room) if page.verbose else [Text(name)]
        rows += [styled(front) + lines[0], *indented(lines[1:], len(front))]
    return labelled(label, rows)


def _hot_lines(finding: Finding, page: Page) -> list[Text]:
    rows: list[Text] = []
    for line in finding.hot_lines:
        part = fmt.share(line.samples / line.total) if line.total else ""
        why = f" ({line.stall.replace('_', ' ')})" if line.stall else ""
        place = (f" [{fmt.place(line.location)}]", "faint")
        rows += wrap(styled(f"{part:>6}  {fmt.flow(line.text)}{why}", place), page.body)
    return labelled("hot lines", rows) if rows else []


def _whole_name(member: Member) -> Text:
    place = f"[{fmt.place(member.location, full=True)}]"
    return styled(unbreakable(fmt.flow(member.kernel)), " ", (unbreakable(place), "faint"))


def _evidence(evidence: Sequence[Evidence], page: Page) -> list[Text]:
    shown = evidence if page.verbose else _most_telling(evidence)
    lines = labelled("evidence", _clauses(shown, page))
    if len(shown) < len(evidence) and len(lines) > 1:
        more = f"{len(evidence) - len(shown)} more: -v"
        lines[1] = labelled(more, [lines[1][INDENT + LABEL :]])[0]
    return lines


def _most_telling(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The clauses with most metric cells behind them, in the rule's order; a rule begins with what is general."""
    cells = [sum(q.location is not None and q.name not in ACTIVITY_COLUMNS for q in item.values) for item in evidence]
    best = sorted(range(len(evidence)), key=lambda index: (-cells[index], -index))[:CLAUSES]
    return [evidence[index] for index in sorted(best)]


def _clauses(evidence: Sequence[Evidence], page: Page) -> Iterator[Text]:
    said = ""
    for clause in evidence:
        sentence = Text(fmt.flow(clause.text) or clause.clause)
        located = [quantity for quantity in clause.values if quantity.location]
        if page.verbose:
            yield from wrap(sentence, page.body)
            for quantity in clause.values:
                yield from indented(wrap(_value(quantity), page.body - 2, 2), 2)
            continue
        numbers = [q for q in located if not isinstance(q.value, str) and q.name not in IDENTIFIERS]
        if numbers and not any(character.isdigit() for character in sentence.plain):
            sentence.append(f": {numbers[0].name} = {fmt.value(numbers[0])}")
        place = _place(located[0], page.body - sentence.cell_len - 1, page.body - 2) if located else ""
        if place and place != said:
            sentence.append_text(styled(" ", (place, "faint")))
            said = place
        yield from wrap(sentence, page.body, 2)


def _place(quantity: Quantity, room: int, line: int) -> str:
    """Where a value stands, in one piece: in the ``room`` left if a shorter file name makes it fit."""
    location = quantity.location
    if location is None:
        return ""
    file = fmt.file_name(location.path)
    rest = fmt.place(replace(location, path=""))
    width = room if room >= len(rest) + FILE + 2 else line
    return unbreakable(f"[{fmt.cut(fmt.cut(file, max(FILE, width - len(rest) - 2)) + rest, width - 2)}]")


def _value(quantity: Quantity) -> Text:
    combined = f" ({fmt.flow(quantity.combined)})" if quantity.combined else ""
    line = styled(f"{quantity.name} = {fmt.value(quantity)}{combined}")
    if quantity.location:
        line.append_text(styled(" ", (f"[{fmt.place(quantity.location, full=True)}]", "faint")))
    return line


def _remedies(remedies: Sequence[Remedy], page: Page, framework: str, room: int) -> list[Text]:
    whole = page.verbose or bool(framework)
    titles = [_remedy(remedy, page) for remedy in remedies]
    left = max(room - sum(len(lines) for lines in titles), 1)
    body: list[Text] = []
    for title, remedy in zip(titles, remedies, strict=True):
        body += title
        code = list(_code(remedy, page, framework, whole=whole))
        code = code if whole else code[:left]
        body += indented(code, 2)
        left -= len(code)
        if page.verbose:
            for text in (f"risk: {remedy.risk}" if remedy.risk else "", remedy.note):
                body += indented(wrap(styled((fmt.flow(text), "faint")), page.body - 2), 2) if text else []
    return labelled("what to do", body)


def _remedy(remedy: Remedy, page: Page) -> list[Text]:
    """The remedy's title with its own saving, and its effort where that costs no line."""
    saving = f"saves about {fmt.time(remedy.saving.expected_ns)}" if remedy.saving else ""
    effort = f"{remedy.effort} effort" if remedy.effort else ""
    variants = []
    for details in ([saving, effort], [saving]):
        line = styled("→ ", fmt.flow(remedy.title))
        if text := ", ".join(filter(None, details)):
            line.append_text(styled(" ", (f"({unbreakable(text)})", "faint")))
        variants.append(wrap(line, page.body, 2))
    return variants[0] if page.verbose else min(variants, key=len)


def _code(remedy: Remedy, page: Page, framework: str, *, whole: bool) -> Iterator[Text]:
    """Code lines: all of them, or the first of each framework."""
    for name in sorted(remedy.code, key=lambda name: (name != "pytorch", name)):
        if framework and name not in (framework, "shell"):
            continue
        lines = fmt.block(remedy.code[name])
        front = f"{name:<11}" if not framework else ""
        room = page.body - 2 - len(front)
        for index, line in enumerate(lines if whole else [_first(lines, room)]):
            yield styled((front if index == 0 else " " * len(front), "faint"), (line, "code"))


def _first(lines: Sequence[str], room: int) -> str:
    """The first line of code without its remark, marked when it is not all."""
    line = next((line for line in lines if not line.lstrip().startswith(("#", "//"))), lines[0])
    code = _COMMENT.sub("", line)
    return fmt.cut(f"{code} …" if len(lines) > 1 and len(code) <= room - 2 else code, room, tail=0.0)


def _explained(finding: Finding, page: Page) -> list[Text]:
    if not finding.explains:
        return []
    titles = "; ".join(dict.fromkeys(fmt.flow(consequence.title) for consequence in finding.explains))
    return labelled("explains", wrap(Text(titles), page.body))


def _assumptions(finding: Finding, page: Page) -> list[Text]:
    lines: list[Text] = []
    if finding.saving.assumptions:
        lines += labelled("assumes", wrap(Text(fmt.flow("; ".join(finding.saving.assumptions))), page.body))
    if page.verbose:
        for label, text in (
            ("why", finding.why),
            ("estimate", finding.saving.basis),
            ("wrong when", finding.false_positives),
            ("see", "; ".join(finding.references)),
        ):
            lines += labelled(label, wrap(Text(fmt.flow(text)), page.body)) if text else []
    return lines


def _reference(finding: Finding, page: Page) -> list[Text]:
    fingerprint = f"  {finding.fingerprint}" if page.verbose else ""
    return labelled("rule", wrap(styled((f"{finding.rule}{fingerprint}", "faint")), page.body))
