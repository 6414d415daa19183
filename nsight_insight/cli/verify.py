"""``nsight-insight verify``: whether findings were right."""

from __future__ import annotations

from typing import Any

import click

from nsight_insight.cli._comparison import comparison_options

RAN, FAILED, USAGE, LOST = 0, 1, 2, 3


@click.command("verify", short_help="Hold findings against a capture from after the fix.")
@comparison_options
@click.option("--fail-on", multiple=True, type=click.Choice(["partly", "refuted", "unknown"]),
              help="Exit with 1 if the outcome of a finding is this one. May be repeated.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with 3 if reading lost anything.")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Hold what findings on the capture before promised against what the capture after shows.

    Each finding is confirmed (at least half of the expected saving is there), partly confirmed, refuted, or cannot be
    told from noise; the metrics that its rule expects to move are shown before and after.

    \b
    Exit codes: 0 compared, 1 an outcome of --fail-on, 2 usage, configuration or rule error, 3 input missing, not
    understood or (--strict) incomplete, 4 internal error.
    """  # noqa: D301
    from nsight_insight.cli._comparison import Task, lost
    from nsight_insight.comparison.verification import verify
    from nsight_insight.reporters.verification import verification_output

    if not paths and not options["before"] and not options["after"]:
        click.echo(click.get_current_context().get_help(), err=True)
        return USAGE
    task = Task(paths, options)
    sides = task.read()
    found = verify(*sides, task.rules, options["steps"])
    task.write(lambda name, shown: verification_output(found, name, shown))
    if lost(sides, strict=options["strict"]):
        return LOST
    return FAILED if any(one.outcome in options["fail_on"] for one in found.findings) else RAN
