"""A command group that finds its verbs by scanning this package and imports only what is asked for."""

from __future__ import annotations

import pkgutil
from difflib import get_close_matches
from importlib import import_module
from typing import cast

import click

Resolved = tuple[str | None, click.Command | None, list[str]]

_PACKAGE = "nsight_insight.cli"
_NOT_VERBS = frozenset({"main"})


class LazyGroup(click.Group):
    """Verbs are the modules of ``nsight_insight.cli`` whose name has no leading underscore.

    A module ``x.py`` (or ``x_cmd.py`` where ``x`` is taken) defines ``command``, the click command of verb
    ``x``. Such modules import nothing heavy at module level: ``--help`` imports all of them.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Verbs, sorted."""
        return sorted(_verbs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a verb, None when there is none."""
        module = _verbs().get(cmd_name)
        if module is None:
            return None
        return cast("click.Command", import_module(f"{_PACKAGE}.{module}").command)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Resolved:
        """As click does, naming the nearest verb for an unknown one."""
        if args and not args[0].startswith("-") and args[0] not in _verbs():
            close = get_close_matches(args[0], _verbs(), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


def _verbs() -> dict[str, str]:
    path = import_module(_PACKAGE).__path__
    names = [info.name for info in pkgutil.iter_modules(path)]
    return {
        name.removesuffix("_cmd").replace("_", "-"): name
        for name in names
        if not name.startswith("_") and name not in _NOT_VERBS
    }
