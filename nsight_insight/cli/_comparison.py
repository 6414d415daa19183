"""What ``compare`` and ``verify`` share: two sides of inputs, their options, and where the outcome goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from nsight_insight.cli._options import PREFIX, Decorator, NameType, complete_rules, debug_option
from nsight_insight.errors import UsageError

if TYPE_CHECKING:
    from nsight_insight.comparison import Side
    from nsight_insight.config import Config
    from nsight_insight.reporters.options import RenderOptions

CONFIG: Final = ("select", "ignore", "rules", "gpu", "top", "min_saving")
FORMATS: Final = ("text", "json", "markdown")


def _readers() -> Sequence[str]:
    from nsight_insight.readers import readers

    return sorted(readers())


class StepsType(click.ParamType[tuple[int, int]]):
    """``10`` for both sides, ``10:20`` for before and after."""

    name = "steps"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Two positive whole numbers."""
        if isinstance(value, tuple):
            return value
        before, _, after = str(value).partition(":")
        numbers = [int(text) if text.isascii() and text.isdigit() else 0 for text in (before, after or before)]
        if min(numbers) < 1:
            self.fail(f"{value!r} is not a number of steps such as 10, or two such as 10:20", param, ctx)
        return numbers[0], numbers[1]


_OPTIONS: Final[tuple[Decorator, ...]] = (
    click.argument("paths", nargs=-1, metavar="BEFORE AFTER", type=click.Path(readable=False)),
    click.option("--before", multiple=True, metavar="PATH", help="An input of the side before; may be repeated."),
    click.option("--after", multiple=True, metavar="PATH", help="An input of the side after; may be repeated."),
    click.option("--steps", type=StepsType(), metavar="N[:N]",
                 help="Training steps in each capture, where they do not show; 1 says that both hold the same work."),
    click.option("--from", "from_", metavar="FORMAT", type=NameType("format", _readers), envvar=f"{PREFIX}FROM",
                 help="Input format, where detection by content is not wanted."),
    click.option("--gpu", metavar="NAME", help="The GPU, where the inputs do not name it."),
    click.option("--select", multiple=True, metavar="RULE", shell_complete=complete_rules,
                 help="Use only these rules; globs such as precision/*."),
    click.option("--ignore", multiple=True, metavar="RULE", shell_complete=complete_rules,
                 help="Leave these rules out."),
    click.option("--rules", multiple=True, metavar="DIR", type=click.Path(path_type=Path),
                 help="A folder of further rules."),
    click.option("--min-saving", metavar="LIMIT",
                 help="Leave out findings that save less, such as 1% (0.5% by default)."),
    click.option("--config", "config_path", type=click.Path(path_type=Path), metavar="FILE", envvar=f"{PREFIX}CONFIG",
                 help="Use this configuration file."),
    click.option("--no-config", is_flag=True, help="Read no configuration file."),
    click.option("--format", "format_", type=click.Choice(FORMATS),
                 help="Output format; by default the one of FILE's extension, else text."),
    click.option("-o", "--output", "outputs", type=click.Path(path_type=Path, allow_dash=True), multiple=True,
                 metavar="FILE",
                 help="Write to FILE (.json, .md, .txt) instead of standard output (-). May be repeated."),
    click.option("--force", is_flag=True, help="Overwrite FILE."),
    click.option("--top", type=click.IntRange(min=1), metavar="N", help="Show the N largest entries."),
    click.option("-v", "--verbose", is_flag=True, envvar=f"{PREFIX}VERBOSE", help="Show everything that is known."),
    click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", envvar=f"{PREFIX}COLOR",
                 help="Colours; auto follows NO_COLOR, FORCE_COLOR and the terminal."),
    debug_option,
)  # fmt: skip


def comparison_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Both sides, how they are read and judged, and how the outcome is shown."""
    for decorator in reversed(_OPTIONS):
        function = decorator(function)
    return function


def sides_of(paths: Sequence[str], options: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The inputs before and after.

    Raises:
        UsageError: not exactly two paths, or one side has none.
    """
    before, after = tuple(options["before"]), tuple(options["after"])
    if not before and not after and len(paths) == 2:
        return (paths[0],), (paths[1],)
    if paths or not before or not after:
        raise UsageError("give two inputs, BEFORE AFTER, or several of each with --before and --after")
    return before, after


class Task:
    """One comparison from the command line: inputs checked, read and judged, outcome written.

    Raises:
        UsageError, ConfigError, OutputError: options that cannot be followed, found before anything is read.
    """

    def __init__(self, paths: Sequence[str], options: Mapping[str, Any]) -> None:
        from nsight_insight.cli import _output
        from nsight_insight.cli._run import configuration
        from nsight_insight.rules.loader import load_rules

        self.options = options
        self.inputs = sides_of(paths, options)
        self.targets = _output.targets(options["outputs"], options["format_"])
        _output.check(self.targets, [*self.inputs[0], *self.inputs[1]], force=options["force"])
        for target in self.targets:
            if target.format not in FORMATS:
                raise UsageError(f"{target.path}: comparisons are written as .txt, .json or .md")
        self.config: Config = configuration(options, CONFIG)
        self.rules = load_rules(self.config.rules)
        self.config.check({rule.id: rule.params for rule in self.rules.values()})

    def read(self) -> tuple[Side, Side]:
        """Both sides, read and judged."""
        before, after = (self._side(paths) for paths in self.inputs)
        return before, after

    def _side(self, paths: Sequence[str]) -> Side:
        from nsight_insight import api
        from nsight_insight.comparison import Side

        profile = api.load(*paths, format=self.options["from_"], gpu=self.config.gpu or None)
        return Side(profile, api.analyze(profile, replace(self.config, top=None)))

    def write(self, render: Callable[[str, RenderOptions], str]) -> None:
        """Write the outcome to every target."""
        from nsight_insight.cli import _output
        from nsight_insight.reporters.options import RenderOptions

        options = RenderOptions(verbose=self.options["verbose"], top=self.config.top)
        _output.write_with(render, self.targets, options, self.options["color"])


def lost(sides: Sequence[Side], *, strict: bool) -> bool:
    """Whether inputs could not be read, each told on standard error; with ``strict`` whether any data was lost."""
    from nsight_insight.cli._run import unread
    from nsight_insight.model.issues import Level

    failed = [issue for side in sides for issue in unread(side.report)]
    for issue in failed:
        print(f"error: {issue.location}: {issue.text}", file=sys.stderr)  # noqa: T201
    issues = [issue for side in sides for issue in side.report.issues]
    return bool(failed) or (strict and any(issue.level >= Level.DATA_LOSS for issue in issues))
