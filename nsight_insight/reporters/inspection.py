"""An inspection as text for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.text import clean
from nsight_insight.reporters._machine import number

if TYPE_CHECKING:
    from rich.text import Text

    from nsight_insight.model.inspection import Caution, InspectedFile, Inspection, RuleStatus
    from nsight_insight.reporters._layout import Page
    from nsight_insight.reporters.options import RenderOptions

SCHEMA_VERSION: Final = 1
WIDTHS: Final = (60, 120)
IN_FULL: Final = 4
"""More files than this get a line each."""
NAMES: Final = 6
GAPS: Final = 4
_PLACE: Final = ("line", "column", "field", "table")
_STYLES: Final = {"invalid": "error", "doubt": "warning", "note": "note"}
_VERDICTS: Final = {
    "judged": "judged",
    "partly": "in part",
    "lacking": "not judged",
    "nothing": "no subject",
}


def inspection_text(inspection: Inspection, options: RenderOptions) -> str:
    """The inspection for people; ANSI colours only when ``options.color``."""
    from nsight_insight.reporters import _layout

    low, high = WIDTHS
    page = _layout.Page(min(max(options.width, low), high), options.verbose)
    blocks = [
        *_files(inspection.files, page),
        _cautions(inspection.cautions, page),
        _rules(inspection.rules, page),
        _commands(inspection),
        _others(inspection.issues, page),
    ]
    lines: list[Text] = []
    for block in blocks:
        if block and lines:
            lines.append(_layout.styled(""))
        lines += block
    return _layout.to_string(lines, color=options.color, unicode=options.unicode)


def _files(files: Sequence[InspectedFile], page: Page) -> list[list[Text]]:
    if page.verbose or len(files) <= IN_FULL:
        return [_file(file, page) for file in files]
    lines: list[Text] = []
    for file in files:
        lines += _one_line(file, page)
    return [lines]


def _one_line(file: InspectedFile, page: Page) -> list[Text]:
    from nsight_insight.reporters import format as fmt
    from nsight_insight.reporters._layout import styled, wrap

    facts = [_holds(file)] if not file.error else [file.error, file.advice]
    text = "; ".join(filter(None, (file.what, *facts)))
    return wrap(styled((fmt.flow(file.path), "title"), f"  {fmt.flow(text)}"), page.width, 4)


def _file(file: InspectedFile, page: Page) -> list[Text]:
    from rich.text import Text

    from nsight_insight.reporters import format as fmt
    from nsight_insight.reporters._layout import labelled, styled, wrap

    lines = wrap(styled((fmt.flow(file.path), "title")), page.width)
    for label, text in _facts(file, page):
        lines += labelled(label, wrap(Text(fmt.flow(text)), page.body, 2))
    return lines


def _facts(file: InspectedFile, page: Page) -> Iterator[tuple[str, str]]:
    yield "is", file.what + (f" ({file.reader})" if file.reader else "")
    if file.error:
        yield "error", file.error
    if file.advice:
        yield "do", file.advice
    for device in file.devices:
        known = [f"compute capability {device.cc}"] if device.cc else []
        known += [f"{device.sm_count} SMs"] if device.sm_count else []
        known += [f"driver {file.driver}"] if file.driver else []
        yield "GPU", (device.name or f"device {device.index}, not named") + (f" ({', '.join(known)})" if known else "")
    if holds := _holds(file):
        yield "holds", holds
    yield from _extras(file)
    yield from _tables(file, page)
    yield from _lost(file.issues, page)


def _holds(file: InspectedFile) -> str:
    from nsight_insight.reporters import format as fmt

    if not file.launches:
        return ""
    parts = [f"{fmt.count(file.launches, 'launch')} of {fmt.count(file.kernels, 'kernel')}"]
    if file.kernel_ns is not None:
        parts.append(f"{fmt.time(file.kernel_ns)} of kernel time")
    if file.window_ns is not None:
        parts.append(f"over {fmt.time(file.window_ns)}")
    if file.steps is not None:
        parts.append(fmt.count(file.steps, "training step"))
    return ", ".join(parts)


def _extras(file: InspectedFile) -> Iterator[tuple[str, str]]:
    """MPI, managed memory and sampled GPU metrics."""
    from nsight_insight.model.text import quantity
    from nsight_insight.model.units import BYTES
    from nsight_insight.reporters import format as fmt

    if file.mpi:
        total = sum(calls.total_ns for calls in file.mpi)
        longest = [f"{calls.name} {fmt.time(calls.total_ns)}" for calls in file.mpi[:GAPS]]
        number = fmt.count(sum(calls.calls for calls in file.mpi), "call")
        yield "MPI", f"{number}, {fmt.time(total)}: {', '.join(longest)}" + (", ..." if len(file.mpi) > GAPS else "")
    if file.managed:
        held = file.managed
        parts = [f"{quantity(held.migrated_bytes, BYTES)} migrated"]
        parts += [fmt.count(held.gpu_faults, "GPU page fault")] if held.gpu_faults is not None else []
        parts += [fmt.count(held.cpu_faults, "CPU page fault")] if held.cpu_faults is not None else []
        parts += [f"{fmt.time(held.kernel_ns)} of kernel time with them"] if held.kernel_ns is not None else []
        yield "managed", ", ".join(parts)
    for samples in file.samples:
        rate = f" at {samples.frequency:,.0f} Hz" if samples.frequency else ""
        yield "sampled", f"device {samples.device}: {fmt.count(samples.samples, 'sample')}{rate}"
        for name, means in (("window", samples.window), ("steady", samples.steady)):
            shown = [f"{metric.replace('_', ' ')} {fmt.share(value)}" for metric, value in means if value <= 1.0]
            if shown:
                yield "", f"mean over the {name}: {', '.join(shown)}"


def _tables(file: InspectedFile, page: Page) -> Iterator[tuple[str, str]]:
    from nsight_insight.reporters import format as fmt

    for table in file.tables:
        text = f"{table.report}: {fmt.count(table.rows, 'row')}, {fmt.count(len(table.known), 'known column')}"
        text += f", {len(table.unknown):,} not used" if table.unknown else ""
        yield "table", text
        if page.verbose and table.known:
            yield "known", ", ".join(table.known)
        if page.verbose and table.unknown:
            yield "not used", ", ".join(table.unknown)
        shown = table.gaps if page.verbose else table.gaps[:GAPS]
        left = len(table.gaps) - len(shown)
        for name, why in shown:
            yield "gap", f"{name}: {why}"
        if left:
            yield "gap", f"and {left} more (-v shows them)"


def _lost(issues: Sequence[Issue], page: Page) -> Iterator[tuple[str, str]]:
    """What was dropped; remarks are counted unless all is asked for."""
    from nsight_insight.reporters import format as fmt

    serious = [issue for issue in issues if issue.level > Level.INFO]
    shown = issues if page.verbose else serious[:NAMES]
    for issue in shown:
        yield issue.level.label, f"{fmt.place(issue.location)}: {issue.text}"
    if len(issues) > len(shown):
        yield "", f"{fmt.count(len(issues) - len(shown), 'more remark')} (-v shows them)"


def _cautions(cautions: Sequence[Caution], page: Page) -> list[Text]:
    from nsight_insight.reporters import format as fmt
    from nsight_insight.reporters._layout import indented, styled, wrap

    if not cautions:
        return []
    lines = [styled(("What to beware of", "title"))]
    for caution in cautions:
        place = f" [{fmt.place(caution.location)}]" if caution.location and page.verbose else ""
        text = styled(
            (f"{caution.weight:<8}", _STYLES[caution.weight]), fmt.flow(caution.text), (place, "faint"),
            (f" → {fmt.flow(caution.remedy)}" if caution.remedy else "", "faint"),
        )  # fmt: skip
        lines += indented(wrap(text, page.width - 2, 8), 2)
    return lines


def _rules(rules: Sequence[RuleStatus], page: Page) -> list[Text]:
    from nsight_insight.reporters import format as fmt
    from nsight_insight.reporters._layout import styled

    if not rules:
        return []
    able = sum(status.verdict in ("judged", "partly") for status in rules)
    lines = [styled((f"{able} of {fmt.count(len(rules), 'rule')} can be judged", "title"))]
    for verdict, label in _VERDICTS.items():
        members = [status for status in rules if status.verdict == verdict]
        for reason in dict.fromkeys(status.reason for status in members):
            group = [status for status in members if status.reason == reason]
            lines += _group(label, reason if verdict in ("partly", "lacking") else "", group, page)
    return lines


def _group(label: str, reason: str, group: Sequence[RuleStatus], page: Page) -> list[Text]:
    from rich.text import Text

    from nsight_insight.reporters import format as fmt
    from nsight_insight.reporters._layout import labelled, wrap

    names = [status.rule for status in group]
    count = fmt.count(len(names), "rule")
    if not reason and not page.verbose:
        return labelled(label, [Text(f"{count} (-v names them)")])
    shown = names if page.verbose else names[:NAMES]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    why = f"{fmt.flow(reason)}: " if reason else f"{count}: "
    return labelled(label, wrap(Text(f"{why}{', '.join(shown)}{more}"), page.body, 2))


def _commands(inspection: Inspection) -> list[Text]:
    from nsight_insight.reporters import format as fmt
    from nsight_insight.reporters._layout import styled

    if not inspection.collect:
        return []
    lines = [styled(("This collects what is missing", "title"))]
    lines += [styled("  ", (f"# {fmt.flow(note)}", "faint")) for note in inspection.notes]
    # Not wrapped: a command is there to be copied.
    return [*lines, *(styled("  $ ", (fmt.flow(command), "code")) for command in inspection.collect)]


def _others(issues: Sequence[Issue], page: Page) -> list[Text]:
    """What concerns no single file."""
    from nsight_insight.reporters._overview import issue_lines

    return issue_lines(issues, page)


def inspection_dict(inspection: Inspection) -> dict[str, Any]:
    """The inspection as plain data; times in ns, places as in reports, null: unknown."""
    return {"schema_version": SCHEMA_VERSION, **_plain(inspection)}


def _plain(value: Any) -> Any:
    if isinstance(value, Location):
        return {"file": clean(value.path), **{name: _plain(getattr(value, name)) for name in _PLACE}}
    if isinstance(value, Level):
        return value.label
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return clean(value)
    return number(value) if isinstance(value, float) else value
