"""What ``nsys analyze`` concludes, as findings of NVIDIA's own tool."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.numbers import Style, plain_number
from nsight_insight.model.profile import VendorFinding
from nsight_insight.model.text import duration
from nsight_insight.model.units import TIME, parse_unit
from nsight_insight.readers._nsys_grid import Grid
from nsight_insight.readers._nsys_text_scan import Section

_FOUND: Final = "OPT"
_NOTHING: Final = "INF"
"""Types of rule results, in the words of Nsight Compute."""
_QUOTED: Final = 3
"""Rows of rules whose rows are no activities (gaps, regions of low use) that are quoted in the text."""


def rule_finding(section: Section, path: str, style: Style) -> VendorFinding:
    """The finding of one rule; its place is its table, or its title where nothing was found."""
    grid = section.grid
    prose = section.prose if grid is not None else list(_first_paragraph(section.prose))
    text = " ".join(" ".join(prose).split()).replace("%%", "%")
    if grid is not None:
        text = f"{text} ({_digest(grid, style)})"
    return VendorFinding(
        tool="nsys",
        rule=section.rule,
        kind=_NOTHING if grid is None else _FOUND,
        text=text,
        location=Location(path, section.line if grid is None else grid.line),
        section=section.title,
    )


def limit_issue(section: Section, path: str) -> Issue | None:
    """What the rule found beyond the rows it printed."""
    if not section.note or section.grid is None:
        return None
    return Issue(Level.INFO, f"{section.rule}: {section.note}", Location(path, section.grid.line))


def _first_paragraph(prose: list[str]) -> takewhile[str]:
    while prose and not prose[0]:
        prose = prose[1:]
    return takewhile(bool, prose)


def _digest(grid: Grid, style: Style) -> str:
    """``50 rows, 48.1 ms together, the longest 13.9 ms in line 12``."""
    if not grid.rows:
        return "none of its rows could be read"
    parts = [f"{len(grid.rows)} row{'s' if len(grid.rows) != 1 else ''}"]
    times = _durations(grid, style)
    if len(times) > 1:
        longest = max(range(len(times)), key=times.__getitem__)
        parts.append(f"{duration(sum(times))} together")
        parts.append(f"the longest {duration(times[longest])} in line {grid.numbers[longest]}")
    digest = ", ".join(parts)
    if not any(report.kind for report in grid.candidates):
        digest = "; ".join([digest, *(_quoted(grid, row) for row in grid.rows[:_QUOTED])])
    return digest


def _quoted(grid: Grid, row: list[str]) -> str:
    cells = zip(grid.headings, row, strict=True)
    return ", ".join(f"{heading.text} {cell}" for heading, cell in cells if cell and heading.key != "row#")


def _durations(grid: Grid, style: Style) -> list[float]:
    """Seconds per row; empty where a row has none."""
    place = next((i for i, heading in enumerate(grid.headings) if heading.key == "duration"), None)
    unit = parse_unit(grid.headings[place].unit) if place is not None else None
    if place is None or unit is None or unit.dimension != TIME:
        return []
    texts = [plain_number(row[place], style) for row in grid.rows]
    return [float(text) * unit.scale for text in texts if text is not None] if all(texts) else []
