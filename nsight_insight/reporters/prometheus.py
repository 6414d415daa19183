"""The totals of a report as OpenMetrics text, for dashboards that watch a program over time.

Only gauges without timestamps, so that Prometheus' older text format (node_exporter's textfile collector)
reads the same file. Kernel names are no labels: there are too many of them. ``--top`` changes nothing here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nsight_insight.model.finding import SEVERITY_ORDER
from nsight_insight.model.issues import Level
from nsight_insight.model.text import clean
from nsight_insight.reporters._machine import number, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.reporters.options import RenderOptions

NAME: Final = "prometheus"
EXTENSIONS: Final = (".prom", ".openmetrics")
PREFIX: Final = "nsight_insight"

Labels = tuple[tuple[str, str], ...]
Samples = list[tuple[Labels, float | int | None]]


@dataclass(frozen=True)
class _Family:
    """One metric: name without prefix (its unit is its last word), what it means, and its samples."""

    name: str
    help: str
    samples: Samples
    unit: str = ""


def render(report: Report, options: RenderOptions) -> str:  # noqa: ARG001 - there is nothing to choose
    """Metric families and the closing ``# EOF``."""
    lines: list[str] = []
    for family in (*_times(report), *_accounts(report), *_savings(report), *_counts(report)):
        lines += _lines(family)
    return "\n".join([*lines, "# EOF"]) + "\n"


def _times(report: Report) -> Iterator[_Family]:
    totals = report.totals
    families: Samples = [((("family", name),), seconds(ns)) for name, ns in sorted(totals.families.items())]
    yield _Family("kernel_seconds", "GPU kernel time by kernel family.", families, "seconds")
    known = {
        "kernel_total": ("GPU kernel time of the profile, the base of all shares.", totals.kernel_ns),
        "gpu_busy": ("Time in which the GPU was busy.", totals.gpu_busy_ns),
        "window": ("Length of the capture.", totals.window_ns),
    }
    for name, (meaning, ns) in known.items():
        if ns is not None:
            yield _Family(f"{name}_seconds", meaning, [((), seconds(ns))], "seconds")
    yield _Family("launches", "Kernel launches.", [((), totals.launches)])


def _accounts(report: Report) -> Iterator[_Family]:
    """What conversions cost and what matrix work ran on, where the kernels say."""
    if report.ledger is not None:
        conversions = _summed(
            (entry.time_ns, (("kind", entry.kind), ("dtype_in", entry.dtype_in), ("dtype_out", entry.dtype_out)))
            for entry in report.ledger.conversions
        )
        yield _Family("conversion_seconds", "Kernel time that converts precision or layout.", conversions, "seconds")
    if report.tensor_account is not None:
        matrix = _summed(
            (part.time_ns, (("path", part.path), ("dtype", part.dtype))) for part in report.tensor_account.parts
        )
        yield _Family("matrix_seconds", "Kernel time of matrix work by path and operand type.", matrix, "seconds")


def _savings(report: Report) -> Iterator[_Family]:
    expected = _summed((finding.saving.expected_ns, _labels(finding)) for finding in report.findings)
    upper = _summed((finding.saving.upper_ns, _labels(finding)) for finding in report.findings)
    yield _Family("saving_seconds", "Kernel time that a rule's findings could save.", expected, "seconds")
    yield _Family("saving_upper_seconds", "The most that a rule's findings could save.", upper, "seconds")
    potential = report.potential
    both: Samples = [
        ((("bound", "expected"),), seconds(potential.expected_ns)),
        ((("bound", "upper"),), seconds(potential.upper_ns)),
    ]
    yield _Family("potential_seconds", "What all findings together could save.", both, "seconds")
    share: Samples = [((), number(potential.share))]
    of_what = "What all findings together could save, as a share of the time it is saved from."
    yield _Family("potential_ratio", of_what, share, "ratio")


def _labels(finding: Finding) -> Labels:
    return (
        ("rule", finding.rule),
        ("category", finding.category),
        ("severity", finding.severity),
        ("device", str(finding.subject.device)),
    )


def _summed(times: Iterable[tuple[float, Labels]]) -> Samples:
    """Nanoseconds of equal labels added up: savings on different kernels do."""
    sums: dict[Labels, float] = {}
    for ns, labels in times:
        sums[labels] = sums.get(labels, 0.0) + ns
    return [(labels, seconds(sums[labels])) for labels in sorted(sums)]


def _counts(report: Report) -> Iterator[_Family]:
    severities: Counter[str] = Counter(finding.severity for finding in report.findings)
    levels = Counter(issue.level for issue in report.issues)
    by_severity: Samples = [((("severity", name),), severities[name]) for name in SEVERITY_ORDER]
    by_level: Samples = [((("level", level.label),), levels[level]) for level in Level]
    yield _Family("findings", "Findings by severity.", by_severity)
    yield _Family("suppressed_findings", "Findings suppressed by the configuration.", [((), report.suppressed)])
    yield _Family("rules_evaluated", "Rules that were evaluated.", [((), report.rules_evaluated)])
    unjudged = len({gap.rule for gap in report.not_evaluated})
    yield _Family("not_judged", "Rules that lacked data on some or all of the profile.", [((), unjudged)])
    yield _Family("input_issues", "What was dropped or doubted while reading.", by_level)
    version: Samples = [((("version", report.version),), 1)]
    yield _Family("build_info", "The version that wrote this, as a label; always 1.", version)


def _lines(family: _Family) -> Iterator[str]:
    name = f"{PREFIX}_{family.name}"
    yield f"# TYPE {name} gauge"
    if family.unit:
        yield f"# UNIT {name} {family.unit}"
    yield f"# HELP {name} {family.help}"
    for labels, value in family.samples:
        written = ",".join(f'{key}="{_label(text)}"' for key, text in labels)
        yield f"{name}{f'{{{written}}}' if written else ''} {'NaN' if value is None else value}"


def _label(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace('"', '\\"')
