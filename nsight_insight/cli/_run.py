"""One analysis from the command line: configuration, inputs, report, exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsight_insight.cli import _output
from nsight_insight.errors import UsageError

if TYPE_CHECKING:
    from nsight_insight.comparison.baseline import Saved
    from nsight_insight.config import Config
    from nsight_insight.model.finding import Report
    from nsight_insight.model.issues import Issue
    from nsight_insight.readers.text import SourceText
    from nsight_insight.reporters.options import RenderOptions

RAN, FOUND, LOST = 0, 1, 3
"""Exit codes of an analysis: nothing to object, ``--fail-on`` reached, input incomplete."""


def run(paths: Sequence[str | SourceText], config: Config, options: Mapping[str, Any]) -> int:
    """Analyse ``paths``, write the report, and return the exit code."""
    chosen = _output.targets(options["outputs"], options["format_"])
    read = [*paths, *filter(None, [options.get("baseline")])]
    _output.check(chosen, [str(path) for path in read if isinstance(path, (str, Path))], force=options["force"])
    check_assumed(options.get("assume", ()), config)
    saved = baseline_of(options.get("baseline"), config)
    report = analyze(paths, config, options.get("from_"), charts=_output.want_charts(chosen))
    if saved is not None:
        report = against(report, saved)
    render = render_options(config, options)
    _output.write(report, chosen, render, options["color"])
    failed = unread(report)
    for issue in failed:
        print(f"error: {issue.location}: {issue.text}", file=sys.stderr)  # noqa: T201
    return exit_code(report, config, strict=options.get("strict", False), failed=bool(failed))


def analyze(paths: Sequence[str | SourceText], config: Config, format_: str | None, *, charts: bool = False) -> Report:
    """The report on ``paths``, on request with what can be drawn; every finding, ``top`` is left to the reporters."""
    from nsight_insight import api
    from nsight_insight.rules.loader import load_rules

    # Before anything is read: a mistyped rule should not cost the reading of a large trace.
    config.check({rule.id: rule.params for rule in load_rules(config.rules).values()})
    profile = api.load(*paths, format=format_, gpu=config.gpu or None)
    report = api.analyze(profile, replace(config, top=None))
    return replace(report, charts=api.charts(profile)) if charts else report


def baseline_of(file: Path | None, config: Config) -> Saved | None:
    """The earlier report to compare with, read before anything else is.

    Raises:
        UsageError: ``--fail-on new`` without a baseline.
        InputError: the file is no whole JSON report of ours.
    """
    if file is None:
        if config.fail_on.only_new:
            raise UsageError("--fail-on new needs --baseline, the JSON report that findings are new against")
        return None
    from nsight_insight.comparison.baseline import load_baseline

    return load_baseline(file)


def against(report: Report, saved: Saved) -> Report:
    """The report, its findings marked by how they stand to an earlier one."""
    from nsight_insight.comparison.baseline import against as marked

    return marked(report, saved)


def check_assumed(patterns: Sequence[str], config: Config) -> None:
    """Refuse ``--assume`` of rules that do not exist.

    Raises:
        UsageError: no rule matches one of the patterns.
    """
    from fnmatch import fnmatchcase

    from nsight_insight.config import suggestion
    from nsight_insight.rules.loader import load_rules

    known = sorted(rule.id for rule in load_rules(config.rules).values()) if patterns else []
    for pattern in patterns:
        if pattern != "all" and not any(fnmatchcase(rule, pattern) for rule in known):
            raise UsageError(f"--assume {pattern}: no such rule{suggestion(pattern, known)}")


def render_options(config: Config, options: Mapping[str, Any]) -> RenderOptions:
    """Presentation options of the command line."""
    from nsight_insight.reporters.options import RenderOptions

    return RenderOptions(
        verbose=options["verbose"],
        framework=options["framework"] or "",
        top=config.top,
        fail_on=config.fail_on,
        assume=tuple(options.get("assume", ())),
    )


def unread(report: Report) -> list[Issue]:
    """Errors about inputs of which nothing could be read."""
    from nsight_insight.model.issues import Level

    read = {source.path for source in report.sources}
    return [issue for issue in report.issues if issue.level is Level.ERROR and issue.location.path not in read]


def exit_code(report: Report, config: Config, *, strict: bool, failed: bool) -> int:
    """Incomplete input outweighs findings: what was not read cannot have been judged."""
    from nsight_insight.model.issues import Level

    if failed or (strict and any(issue.level >= Level.DATA_LOSS for issue in report.issues)):
        return LOST
    counted = report.new_findings() if config.fail_on.only_new else report.findings
    return FOUND if config.fails(counted) else RAN


def configuration(options: Mapping[str, Any], names: Sequence[str]) -> Config:
    """The configuration in force for the options given.

    Raises:
        UsageError: ``--config`` and ``--no-config`` together.
        ConfigError: a file, variable or option that cannot be used.
    """
    from nsight_insight.config_file import load_config

    file: Path | None = options["config_path"]
    if file and options["no_config"]:
        raise UsageError("--config and --no-config exclude each other")
    return load_config(file=file, use_file=not options["no_config"], options={name: options[name] for name in names})
