"""One finding as lines: what, how much, where, why we think so, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from nsight_insight.model.finding import Evidence, Finding, Quantity, Remedy, Saving
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters._layout import INDENT, Page, both_ends, indented, labelled, styled, wrap

LINES: Final = 14
"""What a finding may take where not everything was asked for; code fills what is left."""
MEMBERS: Final = 3
MARKS: Final = {"note": "●", "warning": "▲", "error": "■"}


def finding_lines(finding: Finding, rank: int, kernel_ns: float, page: Page, framework: str) -> list[Text]:
    """The whole block of one finding."""
    head = [
        *_title(finding, rank, page),
        *indented(wrap(saving_text(finding.saving, kernel_ns, finding.confidence), page.width - INDENT), INDENT),
        *indented(wrap(Text(fmt.flow(finding.message)), page.width - INDENT), INDENT),
        *_members(finding, page),
    ]
    evidence = labelled("evidence", _evidence(finding.evidence, page))
    tail = [*_explained(finding, page), *_assumptions(finding, page), *_reference(finding, page)]
    room = 10_000 if page.verbose or framework else LINES - len(head) - len(evidence) - len(tail)
    return [*head, *evidence, *_remedies(finding.remedies, page, framework, room), *tail]


def one_line(finding: Finding, rank: int, page: Page) -> Text:
    """A finding that is only mentioned: rank, title, saving."""
    amount = styled((fmt.time(finding.saving.expected_ns).rjust(9), "saving"), fmt.share(finding.saving.share).rjust(8))
    title = fmt.cut(fmt.flow(finding.title), page.width - 6 - amount.cell_len - 2)
    left = styled(f"{rank:>2} ", (MARKS[finding.severity], finding.severity), f" {title}")
    return both_ends(left, amount, page.width)[0]


def saving_text(saving: Saving, kernel_ns: float, confidence: str) -> Text:
    """How much time, of what, and how sure."""
    sure = f" · {confidence} confidence"
    if saving.upper_ns <= 0:
        return styled("no saving of GPU time of its own", sure)
    return styled(
        "saves about ",
        (fmt.time(saving.expected_ns), "saving"),
        f" of {fmt.time(kernel_ns)} (",
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
        lines = wrap(Text(fmt.flow(member.kernel)), room) if page.verbose else [Text(name)]
        rows += [styled(front) + lines[0], *indented(lines[1:], len(front))]
    return labelled(label, rows)


def _evidence(evidence: Sequence[Evidence], page: Page) -> Iterator[Text]:
    said = ""
    for clause in evidence:
        sentence = Text(fmt.flow(clause.text) or clause.clause)
        located = [quantity for quantity in clause.values if quantity.location]
        if page.verbose:
            yield from wrap(sentence, page.body)
            for quantity in clause.values:
                yield from _hanging(_value(quantity), page.body)
            continue
        if located and not any(character.isdigit() for character in sentence.plain):
            sentence.append(f": {located[0].name} = {fmt.value(located[0])}")
        place = _place(located[0], page.body - 2) if located else ""
        if place and place != said:
            sentence.append_text(styled(" ", (place, "faint")))
            said = place
        yield from _hanging(sentence, page.body)


def _place(quantity: Quantity, width: int) -> str:
    """Where a value stands, in one piece."""
    text = fmt.place(quantity.location) if quantity.location else ""
    return unbreakable(f"[{fmt.cut(text, width - 2)}]")


def _hanging(text: Text, width: int) -> list[Text]:
    first, *rest = wrap(text, width)
    if not rest:
        return [first]
    return [first, *indented(wrap(text[len(first) :].copy() if False else _rest(text, first), width - 2), 2)]


def _value(quantity: Quantity) -> Text:
    combined = f" ({fmt.flow(quantity.combined)})" if quantity.combined else ""
    line = styled(f"{quantity.name} = {fmt.value(quantity)}{combined}")
    if quantity.location:
        line.append_text(styled((f"  {fmt.place(quantity.location, full=True)}", "faint")))
    return line


def _remedies(remedies: Sequence[Remedy], page: Page, framework: str, room: int) -> list[Text]:
    titles = [wrap(_remedy(remedy), page.body - 2) for remedy in remedies]
    left = room - sum(len(lines) for lines in titles)
    body: list[Text] = []
    for title, remedy in zip(titles, remedies, strict=True):
        body += [styled("→ ") + title[0], *indented(title[1:], 2)]
        code = list(_code(remedy, page, framework, whole=page.verbose or bool(framework)))
        body += indented(code[: max(left, 0)], 2)
        left -= len(code)
        if page.verbose:
            for text in (f"risk: {remedy.risk}" if remedy.risk else "", remedy.note):
                body += indented(wrap(styled((fmt.flow(text), "faint")), page.body - 2), 2) if text else []
    return labelled("what to do", body)


def _remedy(remedy: Remedy) -> Text:
    details = [f"{remedy.effort} effort"] if remedy.effort else []
    if remedy.saving:
        details.append(f"saves about {fmt.time(remedy.saving.expected_ns)}")
    title = styled(fmt.flow(remedy.title))
    return title + styled((f" ({', '.join(details)})", "faint")) if details else title


def _code(remedy: Remedy, page: Page, framework: str, *, whole: bool) -> Iterator[Text]:
    """Code lines: all of them, or the first of each framework."""
    for name in sorted(remedy.code, key=lambda name: (name != "pytorch", name)):
        if framework and name not in (framework, "shell"):
            continue
        lines = fmt.block(remedy.code[name])
        front = f"{name:<11}" if not framework else ""
        room = page.body - 2 - len(front)
        for index, line in enumerate(lines if whole else lines[:1]):
            more = " …" if not whole and len(lines) > 1 else ""
            shown = line if whole else fmt.cut(line, room - len(more)) + more
            yield styled((front if index == 0 else " " * len(front), "faint"), (shown, "code"))


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
    return labelled("rule", [styled((f"{finding.rule}{fingerprint}", "faint"))])
