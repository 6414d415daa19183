"""Reference pages made from code, rules and catalogues when the documentation is built.

Everything is found by scanning: a new rule, verb, metric, kernel pattern, GPU or public name has its page or row
without being listed here. ``write`` is called by ``conf.py``; the pages are not committed.
"""

from __future__ import annotations

from pathlib import Path

from generated_pages import catalogues, commands, library, pictures, project, rule_pages, schemas

PARTS = (rule_pages, commands, library, catalogues, schemas, pictures, project)
"""Modules with ``pages()``: path below ``reference/`` -> Markdown."""


def pages() -> dict[str, str]:
    """Every generated page by its path below ``reference/``."""
    return {path: text for part in PARTS for path, text in part.pages().items()}


def write(folder: Path) -> None:
    """Write the pages below ``folder``; what is unchanged is not touched, what is no longer made is removed."""
    made = {folder / path: text for path, text in pages().items()}
    for path, text in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.*"):
        if path.is_file() and path not in made:
            path.unlink()
    pictures.draw(folder)
