"""``nsight-insight compare``: what a change did."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from nsight_insight.cli._comparison import comparison_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nsight_insight.comparison.gate import Condition
    from nsight_insight.model.comparison import Comparison

RAN, FAILED, USAGE, LOST = 0, 1, 2, 3


@click.command("compare", short_help="Tell what a change did, from captures before and after it.")
@comparison_options
@click.option("--fail-on", multiple=True, metavar="COND",
              help="Exit with 1 if it is slower (or slower:3%) by more than noise, or findings are new or worse "
                   "(new:warning). May be repeated.")  # fmt: skip
@click.option(
    "--strict", is_flag=True, help="Exit with 3 if reading lost anything or noise hides the answer to --fail-on."
)
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Compare two captures of one program: steps, kernel families, kernels, idle time and findings.

    Kernels are found again across renames, other precision and fusion. Differences count when they are larger than
    the noise that the captures' own repetitions show.

    \b
    nsight-insight compare before.sqlite after.sqlite
    nsight-insight compare --before run1_trace.csv --before ncu1.csv --after run2_trace.csv --after ncu2.csv

    Exit codes: 0 compared, 1 a condition of --fail-on is met, 2 usage, configuration or rule error, 3 input missing,
    not understood or (--strict) incomplete, 4 internal error.
    """  # noqa: D301
    from nsight_insight.cli._comparison import Task, lost
    from nsight_insight.comparison import compare
    from nsight_insight.comparison.gate import parse_conditions
    from nsight_insight.reporters.comparison import comparison_output

    if not paths and not options["before"] and not options["after"]:
        click.echo(click.get_current_context().get_help(), err=True)
        return USAGE
    conditions = parse_conditions(options["fail_on"])
    task = Task(paths, options)
    sides = task.read()
    found = compare(*sides, options["steps"])
    task.write(lambda name, shown: comparison_output(found, name, shown))
    if lost(sides, strict=options["strict"]):
        return LOST
    return _verdict(found, conditions, strict=options["strict"])


def _verdict(found: Comparison, conditions: Sequence[Condition], *, strict: bool) -> int:
    """The exit code that the conditions ask for, each reason told on standard error."""
    failures = [text for condition in conditions for text in condition.failures(found)]
    undecided = [text for condition in conditions if (text := condition.undecided(found))]
    for text in failures:
        print(f"failed: {text}", file=sys.stderr)  # noqa: T201
    for text in undecided:
        print(f"undecided: {text}", file=sys.stderr)  # noqa: T201
    if failures:
        return FAILED
    return LOST if undecided and strict else RAN
