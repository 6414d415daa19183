"""Pages of the project that stand at its root, as they are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")


def pages() -> dict[str, str]:
    """``project/<file>.md``; links into ``docs/`` follow the page to its new place."""
    return {f"project/{name.lower()}.md": moved((ROOT / f"{name}.md").read_text(encoding="utf-8")) for name in FILES}


def moved(text: str) -> str:
    """A page's text with the links of a page below ``docs/reference/project``.

    >>> moved("[CI](docs/ci.md), [home](README.md)")
    '[CI](../../ci.md), [home](../../index.md)'
    """
    for name in FILES:
        text = text.replace(f"]({name}.md", f"]({name.lower()}.md")
    return text.replace("](docs/", "](../../").replace("](README.md", "](../../index.md")
