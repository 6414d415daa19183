"""``nsight-insight rules``: list, check and test rule files, and their schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsight_insight.cli._options import debug_option

if TYPE_CHECKING:
    from nsight_insight.config import Config
    from nsight_insight.rules.model import Rule

FAULTY = 2
"""Exit code for rule files that cannot be used or fail their own tests."""

_paths = click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")


@click.group("rules", short_help="List, check and test rules.")
def command() -> None:
    """Work with rule files: the built-in ones and your own."""


@command.command("list")
@click.option(
    "--rules", "dirs", multiple=True, metavar="DIR", type=click.Path(path_type=Path), help="A folder of further rules."
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.option("--no-config", is_flag=True, help="Read no configuration file.")
@debug_option
def list_(dirs: tuple[Path, ...], format_: str, no_config: bool) -> None:
    """List every rule with its severity and title."""
    from nsight_insight.config_file import load_config
    from nsight_insight.rules.loader import load_rules

    config = load_config(use_file=not no_config, options={"rules": dirs})
    rows = [_row(rule, config) for _, rule in sorted(load_rules(config.rules).items())]
    if format_ == "json":
        _echo_json(rows)
        return
    width = max(len(row["rule"]) for row in rows)
    for row in rows:
        off = "" if row["enabled"] else " (off)"
        click.echo(f"{row['rule']:<{width}}  {row['severity']:<7}  {row['scope']:<8}  {row['title']}{off}")


@command.command("check")
@_paths
@debug_option
def check(paths: tuple[Path, ...]) -> int:
    """Check rule files or folders (by default the built-in rules): one line per fault."""
    from nsight_insight.rules.loader import check_paths

    errors = check_paths(paths)
    for error in errors:
        click.echo(str(error))
    click.echo(f"{len(errors)} fault{'' if len(errors) == 1 else 's'}", err=True)
    return FAULTY if errors else 0


@command.command("test")
@_paths
@click.option("-v", "--verbose", is_flag=True, help="Show the tests that passed, too.")
@debug_option
def test(paths: tuple[Path, ...], verbose: bool) -> int:
    """Run the tests inside rule files (by default of the built-in rules)."""
    from nsight_insight.api import test_rules

    outcomes = test_rules(_rules_in(paths))
    for outcome in outcomes:
        if outcome.passed is False or verbose:
            word = {True: "passed", False: "FAILED", None: "skipped"}[outcome.passed]
            click.echo(f"{word}  {outcome.rule}: {outcome.name}" + (f": {outcome.text}" if outcome.text else ""))
    failed = sum(outcome.passed is False for outcome in outcomes)
    skipped = sum(outcome.passed is None for outcome in outcomes)
    click.echo(f"{len(outcomes) - failed - skipped} passed, {failed} failed, {skipped} skipped", err=True)
    return FAULTY if failed else 0


@command.command("schema")
@debug_option
def schema() -> None:
    """Print the JSON Schema of a rule file, for editors."""
    from nsight_insight.rules.schema import json_schema

    _echo_json(json_schema())


def _row(rule: Rule, config: Config) -> dict[str, Any]:
    return {
        "rule": rule.id,
        "title": rule.title,
        "severity": config.severity.get(rule.id, rule.severity),
        "confidence": rule.confidence,
        "scope": rule.scope,
        "status": rule.status,
        "enabled": config.wants(rule.id) and rule.status != "deprecated",
        "file": rule.file,
    }


def _rules_in(paths: Sequence[Path]) -> Iterable[Rule]:
    """The rules defined under ``paths``; a file stands in the folder of its category."""
    from nsight_insight.rules.loader import load_rules

    if not paths:
        return load_rules().values()
    roots = [path if path.is_dir() else path.parent.parent for path in paths]
    wanted = [path.resolve() for path in paths]
    rules = load_rules(roots).values()
    return [rule for rule in rules if any(Path(rule.file).resolve().is_relative_to(path) for path in wanted)]


def _echo_json(value: object) -> None:
    import json

    click.echo(json.dumps(value, indent=2))
