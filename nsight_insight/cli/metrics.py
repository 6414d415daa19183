"""``nsight-insight metrics``: the canonical metrics, and which of them a file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from nsight_insight.cli._options import debug_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nsight_insight.catalog.metrics import Alias, Metric
    from nsight_insight.model.inspection import HeldMetric

_format = click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format."
)


@click.group("metrics", short_help="List metrics, and those a file holds.")
def command() -> None:
    """Metrics of Nsight Compute under the names that rules use."""


@command.command("list")
@click.argument("patterns", nargs=-1, metavar="[NAME]...")
@click.option("--cc", type=float, metavar="X.Y", help="Only the names that this compute capability has.")
@click.option("-v", "--verbose", is_flag=True, help="Show ncu's names.")
@_format
@debug_option
def list_(patterns: tuple[str, ...], cc: float | None, verbose: bool, format_: str) -> None:
    """List canonical metrics (all, or those that match a NAME such as dram_*): unit, section, meaning, ncu's names."""
    from fnmatch import fnmatchcase

    from nsight_insight.catalog.metrics import load_columns, load_metrics
    from nsight_insight.cli import _output

    known = {**load_metrics(), **load_columns()}
    chosen = [m for name, m in known.items() if not patterns or any(fnmatchcase(name, p) for p in patterns)]
    if format_ == "json":
        _output.json_to_stdout([_entry(metric, cc) for metric in chosen])
        return
    width = max((len(metric.name) for metric in chosen), default=0)
    for metric in chosen:
        aliases = _aliases(metric, cc)
        section = next((alias.section for alias in aliases if alias.section), "--metrics" if aliases else "not there")
        click.echo(f"{metric.name:<{width}}  {metric.unit:<8}  {section:<28}  {metric.doc}")
        if verbose:
            for line in _names(aliases):
                click.echo(f"{'':<{width}}    {line}")


def _aliases(metric: Metric, cc: float | None) -> list[Alias]:
    return [alias for alias in metric.aliases if alias.exists_on(cc)]


def _names(aliases: list[Alias]) -> Iterator[str]:
    for alias in aliases:
        notes = [alias.section] if alias.section else []
        notes += [f"compute capability {_ranges(alias)}"] if alias.cc else []
        notes += [f"label {label!r}" for label in dict.fromkeys(label for _, label in alias.labels)][:1]
        yield " + ".join(alias.terms) + (f"  ({'; '.join(notes)})" if notes else "")


def _ranges(alias: Alias) -> str:
    return ", ".join(
        f"{low}" if low == high else f"{low}+" if high > 900 else f"{low} to {high}" for low, high in alias.cc
    )


def _entry(metric: Metric, cc: float | None) -> dict[str, Any]:
    return {
        "metric": metric.name,
        "unit": metric.unit,
        "doc": metric.doc,
        "combine": metric.combine,
        "column": metric.column,
        "names": [
            {
                "terms": list(alias.terms),
                "section": alias.section,
                "compute_capability": _ranges(alias),
                "labels": [{"section": section, "label": label} for section, label in alias.labels],
            }
            for alias in _aliases(metric, cc)
        ],
    }


@command.command("which")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-v", "--verbose", is_flag=True, help="Name the metrics that are not there.")
@_format
@debug_option
def which(files: tuple[str, ...], verbose: bool, format_: str) -> None:
    """Tell which canonical metrics files hold: under which names, for how many launches, and why not for all."""
    from nsight_insight import api
    from nsight_insight.catalog.metrics import load_metrics
    from nsight_insight.cli import _output
    from nsight_insight.inspection.metrics import held_metrics

    held = held_metrics(api.load(*files))
    if format_ == "json":
        _output.json_to_stdout([_held_entry(metric) for metric in held])
        return
    width = max((len(metric.name) for metric in held), default=0)
    for metric in held:
        click.echo(f"{metric.name:<{width}}  {_line(metric)}")
    absent = [name for name in load_metrics() if name not in {metric.name for metric in held}]
    names = f": {', '.join(absent)}" if verbose and absent else ""
    click.echo(f"{len({metric.name for metric in held})} metrics held, {len(absent)} not{names}", err=not verbose)


def _line(metric: HeldMetric) -> str:
    names = "; ".join(f"{name} [{unit}]" if unit else name for name, unit, _ in metric.names)
    gaps = f"; {metric.gaps}" if metric.gaps else ""
    return f"{metric.rows:>6} of {metric.total} launches  {names}{gaps}  ({metric.place})"


def _held_entry(metric: HeldMetric) -> dict[str, Any]:
    return {
        "metric": metric.name,
        "file": metric.path,
        "report": metric.report,
        "rows": metric.rows,
        "total": metric.total,
        "names": [{"name": name, "unit": unit, "rows": rows} for name, unit, rows in metric.names],
        "gaps": metric.gaps,
    }
