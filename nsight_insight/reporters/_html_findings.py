"""Findings of the HTML report as plain texts, in the order in which the page tells them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nsight_insight.reporters import _html_table as cells
from nsight_insight.reporters import _words as words
from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from nsight_insight.model.finding import Evidence, Finding, Quantity, Remedy, Report, Saving
    from nsight_insight.model.issues import Location
    from nsight_insight.model.profile import HotLine
    from nsight_insight.reporters._html_table import Table
    from nsight_insight.reporters.options import RenderOptions

LISTED: Final = 100
"""Findings on the page unless ``top`` says otherwise."""
OPEN: Final = 3
"""Findings that are unfolded."""
MEMBERS: Final = 40
KERNEL: Final = 72
MARKS: Final = {"note": "●", "warning": "▲", "error": "■"}
LABELS: Final = {
    "pytorch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "cuda": "CUDA C++", "triton": "Triton",
    "shell": "Shell",
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A number of the evidence and the cell it was read from ("" where it is derived)."""

    text: str
    place: str


@dataclass(frozen=True)
class Clause:
    """One piece of evidence."""

    text: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Advice:
    """One remedy; ``code`` holds framework and code."""

    title: str
    facts: str
    note: str
    code: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Item:
    """One finding."""

    id: str
    rank: int
    title: str
    severity: str
    mark: str
    confidence: str
    rule: str
    saving: str
    brief: str
    message: str
    basis: str
    assumptions: tuple[str, ...]
    members: Table | None
    evidence: tuple[Clause, ...]
    hot_lines: tuple[Value, ...]
    advice: tuple[Advice, ...]
    why: str
    explains: tuple[str, ...]
    false_positives: str
    references: tuple[str, ...]
    open: bool


def items(report: Report, options: RenderOptions) -> list[Item]:
    """The findings to show, best first."""
    shown = report.findings[: options.top or LISTED]
    return [_item(finding, rank, report, options) for rank, finding in enumerate(shown, 1)]


def _item(finding: Finding, rank: int, report: Report, options: RenderOptions) -> Item:
    saving = finding.saving
    return Item(
        id=f"finding-{rank}",
        rank=rank,
        title=fmt.flow(finding.title),
        severity=finding.severity,
        mark=MARKS[finding.severity],
        confidence=finding.confidence,
        rule=finding.rule,
        saving=words.saving(saving, report.totals.kernel_ns),
        brief=f"about {fmt.time(saving.expected_ns)} ({fmt.share(saving.share)})" if saving.upper_ns > 0 else "",
        message=fmt.flow(finding.message),
        basis=_basis(saving),
        assumptions=tuple(map(fmt.flow, saving.assumptions)),
        members=_members(finding, rank),
        evidence=tuple(_clause(entry, options) for entry in finding.evidence),
        hot_lines=tuple(_hot_line(line, options) for line in finding.hot_lines),
        advice=tuple(_advice(remedy, options) for remedy in finding.remedies),
        why=fmt.flow(finding.why),
        explains=tuple(dict.fromkeys(fmt.flow(entry.title) for entry in finding.explains)),
        false_positives=fmt.flow(finding.false_positives),
        references=tuple(map(fmt.flow, finding.references)),
        open=rank <= OPEN,
    )


def _basis(saving: Saving) -> str:
    return fmt.flow(saving.basis) if saving.upper_ns > 0 else ""


def _members(finding: Finding, rank: int) -> Table | None:
    members = finding.subject.members
    if not members:
        return None
    shown = members[:MEMBERS]
    names = fmt.kernels([member.kernel for member in shown], KERNEL)
    rows = [
        [
            cells.kernel(member.kernel, name), cells.time(member.time_ns), cells.count(member.launches),
            cells.time(member.expected_ns), cells.time(member.upper_ns),
        ]
        for name, member in zip(names, shown, strict=True)
    ]  # fmt: skip
    several = len(members) > len(shown)
    caption = f"Kernels of finding {rank}" + (f", first {len(shown)} of {len(members)}" if several else "")
    head = "kernel|time:|launches:|saves about:|at most:"
    return cells.table(caption, head, rows, sortable=len(rows) > 1, id=f"members-{rank}")


def _clause(entry: Evidence, options: RenderOptions) -> Clause:
    text = fmt.flow(entry.text) or entry.clause
    return Clause(text, tuple(_value(quantity, options) for quantity in entry.values))


def _value(quantity: Quantity, options: RenderOptions) -> Value:
    combined = f" ({fmt.flow(quantity.combined)})" if quantity.combined else ""
    return Value(f"{quantity.name} = {fmt.value(quantity) or 'none'}{combined}", place(quantity.location, options))


def place(location: Location | None, options: RenderOptions) -> str:
    """Where something stands: the file's name alone unless everything was asked for."""
    return fmt.place(location, full=options.verbose) if location else ""


def _hot_line(line: HotLine, options: RenderOptions) -> Value:
    part = f"{fmt.share(line.samples / line.total)}  " if line.total else ""
    why = f" ({line.stall.replace('_', ' ')})" if line.stall else ""
    return Value(f"{part}{fmt.flow(line.text)}{why}", place(line.location, options))


def _advice(remedy: Remedy, options: RenderOptions) -> Advice:
    facts = [f"saves about {fmt.time(remedy.saving.expected_ns)}"] if remedy.saving else []
    facts += [f"{remedy.effort} effort"] if remedy.effort else []
    facts += [f"risk: {fmt.flow(remedy.risk)}"] if remedy.risk else []
    return Advice(fmt.flow(remedy.title), "; ".join(facts), fmt.flow(remedy.note), tuple(_code(remedy, options)))


def _code(remedy: Remedy, options: RenderOptions) -> Iterator[tuple[str, str]]:
    names: Sequence[str] = sorted(remedy.code, key=lambda name: (name != "pytorch", name))
    for name in names:
        if not options.framework or name in (options.framework, "shell"):
            yield LABELS.get(name, name), "\n".join(fmt.block(remedy.code[name]))
