"""Options shared by several verbs, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from nsight_insight.reporters.options import FRAMEWORKS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PREFIX: Final = "NSIGHT_INSIGHT_"
"""Options with this prefix in the environment; those of ``Config`` are read by ``config_file``."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class NameType(click.ParamType[str]):
    """One of a set of names that is only looked up when needed."""

    def __init__(self, name: str, names: Callable[[], Sequence[str]]) -> None:
        self.name, self._names = name, names

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """The names, for the help text of the verb."""
        return f"[{'|'.join(self._names())}]"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """The names that begin with what was typed."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self._names() if name.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself when it is known; a usage error naming the nearest otherwise."""
        from nsight_insight.config import suggestion

        if value not in self._names():
            known = ", ".join(self._names())
            self.fail(f"{value!r} is not one of {known}{suggestion(str(value), self._names())}", param, ctx)
        return str(value)


def _reporters() -> Sequence[str]:
    from nsight_insight.reporters import reporters

    return sorted(reporters())


def _readers() -> Sequence[str]:
    from nsight_insight.readers import readers

    return sorted(readers())


def complete_rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Ids of the built-in rules that begin with what was typed, for shells; their files need not be read."""
    from click.shell_completion import CompletionItem

    from nsight_insight.data import rules_dir

    root = rules_dir()
    ids = sorted(file.relative_to(root).with_suffix("").as_posix() for file in root.rglob("*.yaml"))
    return [CompletionItem(rule) for rule in ids if rule.startswith(incomplete)]


def _all(*decorators: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


debug_option: Final = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")

output_options: Final = _all(
    click.option("--format", "format_", type=NameType("format", _reporters), envvar=f"{PREFIX}FORMAT",
                 help="Output format; by default the one of FILE's extension, else text. json is the contract for "
                      "programs, html is one offline page with pictures, markdown is for job summaries and pull "
                      "requests, sarif, github, gitlab and junit "
                      "are for CI, csv for spreadsheets, prometheus for dashboards."),
    click.option("-o", "--output", "outputs", type=click.Path(path_type=Path, allow_dash=True), multiple=True,
                 metavar="FILE",
                 help="Write to FILE instead of standard output (-). May be repeated: the input is read once, and each "
                      "FILE takes the format of its own extension."),
    click.option("--force", is_flag=True, help="Overwrite FILE."),
    click.option("--framework", type=click.Choice(FRAMEWORKS), envvar=f"{PREFIX}FRAMEWORK",
                 help="Show remedies' code for this framework only."),
    click.option("-v", "--verbose", is_flag=True, envvar=f"{PREFIX}VERBOSE", help="Show everything that is known."),
    click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto",
                 envvar=f"{PREFIX}COLOR", help="Colours; auto follows NO_COLOR, FORCE_COLOR and the terminal."),
    debug_option,
)  # fmt: skip
"""How the report is shown and where it goes."""

analysis_options: Final = _all(
    click.option("--from", "from_", metavar="FORMAT", type=NameType("format", _readers), envvar=f"{PREFIX}FROM",
                 help="Input format, where detection by content is not wanted."),
    click.option("--select", multiple=True, metavar="RULE", shell_complete=complete_rules,
                 help="Use only these rules; globs such as precision/*."),
    click.option("--ignore", multiple=True, metavar="RULE", shell_complete=complete_rules,
                 help="Leave these rules out."),
    click.option("--rules", multiple=True, metavar="DIR", type=click.Path(path_type=Path),
                 help="A folder of further rules."),
    click.option("--gpu", metavar="NAME", help="The GPU, where the input does not name it."),
    click.option("--fail-on", metavar="LEVEL",
                 help="Exit with 1 on a finding of severity note, warning or error, or that saves 5% or more; new or "
                      "new:warning counts only those that --baseline does not have. junit counts the same findings."),
    click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE",
                 help="Mark findings as new, worse, better or unchanged against this earlier JSON report."),
    click.option("--top", type=click.IntRange(min=1), metavar="N", help="Show the N largest findings."),
    click.option("--min-saving", metavar="LIMIT",
                 help="Leave out findings that save less: a share such as 1% (0.5% by default) or a time."),
    click.option("--assume", multiple=True, metavar="RULE", shell_complete=complete_rules,
                 help="Also show the time line if findings of this rule were fixed; a glob, or all. May be repeated."),
    click.option("--strict", is_flag=True, envvar=f"{PREFIX}STRICT", help="Exit with 3 if reading lost anything."),
    click.option("--config", "config_path", type=click.Path(path_type=Path), metavar="FILE", envvar=f"{PREFIX}CONFIG",
                 help="Use this configuration file."),
    click.option("--no-config", is_flag=True, help="Read no configuration file."),
)  # fmt: skip
"""What is analysed and judged."""

inspection_options: Final = _all(
    click.option("--from", "from_", metavar="FORMAT", type=NameType("format", _readers), envvar=f"{PREFIX}FROM",
                 help="Input format, where detection by content is not wanted."),
    click.option("--gpu", metavar="NAME", help="The GPU, where the input does not name it."),
    click.option("--rules", multiple=True, metavar="DIR", type=click.Path(path_type=Path),
                 help="A folder of further rules."),
    click.option("--no-config", is_flag=True, help="Read no configuration file."),
)  # fmt: skip
"""What is looked at without being judged."""

CONFIG_OPTIONS: Final = ("select", "ignore", "rules", "gpu", "fail_on", "top", "min_saving")
"""Options that are fields of ``Config``."""
