"""A parsed HTML page for tests: strict about nesting, with what readers and screen readers get."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "input", "link", "img", "hr"})
OPTIONAL = frozenset({"li", "td", "th", "tr", "p"})
"""Elements whose end tag HTML lets out; the reporter writes them all."""


@dataclass
class Element:
    """An element with its text, that of its children included."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.pieces)).strip()

    def all(self, tag: str) -> list[Element]:
        found = [self] if self.tag == tag else []
        return found + [element for child in self.children for element in child.all(tag)]

    def every(self) -> list[Element]:
        return [self, *(element for child in self.children for element in child.every())]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]
        self.doctype = ""

    def handle_decl(self, decl: str) -> None:
        self.doctype = decl

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)


def parse(page: str) -> Element:
    """The page; raises AssertionError where elements are not nested properly."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    assert parser.doctype == "DOCTYPE html"
    assert parser.open == [parser.root], f"<{parser.open[-1].tag}> is never closed"
    return parser.root
