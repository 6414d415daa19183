"""The public names of the package, documented from their docstrings."""

from __future__ import annotations

import inspect

import nsight_insight

HEAD = """# Python

Importing the package costs nothing; names are resolved when they are first used. What is listed here follows semantic
versioning.

"""


def pages() -> dict[str, str]:
    """``api.md``."""
    public = {name: getattr(nsight_insight, name) for name in nsight_insight.__all__ if not name.startswith("_")}
    functions = [name for name, value in public.items() if inspect.isfunction(value)]
    classes = [name for name, value in public.items() if inspect.isclass(value)]
    errors = [name for name in classes if issubclass(public[name], Exception)]
    groups = {
        "Functions": [(name, "autofunction", "") for name in functions],
        "Results": [(name, "autoclass", ":members:\n") for name in classes if name not in errors],
        "Errors": [(name, "autoexception", ":show-inheritance:\n") for name in errors],
    }
    parts = [HEAD]
    for title, members in groups.items():
        parts.append(f"## {title}\n\n")
        for name, directive, options in sorted(members):
            parts.append(
                f"### {name}\n\n```{{eval-rst}}\n.. {directive}:: nsight_insight.{name}\n"
                + "".join(f"   {line}\n" for line in options.splitlines())
                + "```\n\n"
            )
    return {"api.md": "".join(parts)}
