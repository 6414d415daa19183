"""SVG as a tree, so that every text in it is escaped; colours and patterns are those of ``palette``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from nsight_insight.model.text import clean
from nsight_insight.reporters import palette
from nsight_insight.reporters.palette import Look

if TYPE_CHECKING:
    from markupsafe import Markup

NAMES: Final = {
    palette.BLACK: "ink",
    palette.ORANGE: "orange",
    palette.SKY: "sky",
    palette.GREEN: "green",
    palette.YELLOW: "yellow",
    palette.BLUE: "blue",
    palette.RED: "red",
    palette.PURPLE: "purple",
    palette.GREY: "grey",
    palette.LIGHT: "light",
}
"""Colour -> CSS class ``c-<name>``; ``ink`` follows the page's text colour."""
_HATCHES: Final = {"/": ("slash", "M-1 7 7-1M-1 1 1-1M5 7 7 5"), "x": ("cross", "M0 0 6 6M6 0 0 6"),
                   "-": ("dash", "M0 3H6"), ".": ("dot", "M1.5 2H3.5M4.5 5H6.5M-1.5 5H.5")}  # fmt: skip
_POLYGONS: Final = {
    "s": (4, 45.0), "D": (4, 0.0), "d": (4, 0.0), "^": (3, -90.0), "v": (3, 90.0), "<": (3, 180.0), ">": (3, 0.0),
    "p": (5, -90.0), "h": (6, -90.0), "H": (6, 0.0), "8": (8, 22.5),
}  # fmt: skip


class Svg:
    """A picture with a name for screen readers, or "" where it repeats what the text says."""

    def __init__(self, width: float, height: float, label: str = "", css: str = "chart") -> None:
        box = f"0 0 {_round(width)} {_round(height)}"
        named = {"role": "img", "aria-label": clean(label)} if label else {"aria-hidden": "true"}
        stretch = {"preserveAspectRatio": "none"} if css.startswith("bar") else {}
        self.root = ET.Element("svg", {"viewBox": box, "class": css, **named, **stretch})

    def add(self, tag: str, text: str = "", tip: str = "", **attributes: str | float) -> ET.Element:
        """An element; ``_`` in attribute names stands for ``-`` and a trailing one is dropped."""
        named = {name.rstrip("_").replace("_", "-"): _value(value) for name, value in attributes.items()}
        element = ET.SubElement(self.root, tag, named)
        if text:
            element.text = clean(text)
        if tip:
            ET.SubElement(element, "title").text = clean(tip)
        return element

    def rect(self, x: float, y: float, width: float, height: float, look: Look, tip: str = "") -> None:
        """A filled box with a thin edge."""
        self.add("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), tip=tip, **paint(look))

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]], look: Look, css: str = "") -> None:
        """Many boxes (x, y, width, height) as one path: no tips, few bytes."""
        drawn = "".join(
            f"M{_round(x)} {_round(y)}h{_round(width)}v{_round(height)}H{_round(x)}z" for x, y, width, height in boxes
        )
        if drawn:
            attributes = paint(look)
            self.add("path", d=drawn, **{**attributes, "class_": f"{attributes['class_']} {css}".strip()})

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """A line, styled by its class."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=css)

    def text(self, x: float, y: float, text: str, anchor: str = "start", css: str = "") -> None:
        """A line of text."""
        self.add("text", text, x=x, y=y, text_anchor=anchor, class_=css)

    def marker(self, x: float, y: float, radius: float, look: Look, css: str, tip: str) -> None:
        """A marker of a scatter plot: its form stands for the pattern."""
        self.add("path", d=_marker(look.marker, x, y, radius), class_=f"c-{NAMES[look.color]} {css}", tip=tip)

    def markup(self) -> Markup:
        """The picture as HTML."""
        from markupsafe import Markup

        return Markup(ET.tostring(self.root, encoding="unicode"))  # noqa: S704  escaped by ElementTree


def paint(look: Look) -> dict[str, str]:
    """Attributes that fill a shape with a look."""
    name = NAMES.get(look.color, "none")
    if not look.hatch:
        return {"class_": f"c-{name}"}
    return {"class_": f"e-{name}", "fill": f"url(#{_pattern_id(look)})"}


def swatch(look: Look) -> Markup:
    """A small box for legends."""
    picture = Svg(14, 10, css="swatch")
    picture.rect(0.5, 0.5, 13, 9, look)
    return picture.markup()


def marker_swatch(look: Look) -> Markup:
    """A marker for legends."""
    picture = Svg(14, 12, css="swatch")
    picture.marker(7, 6, 5, look, "point", "")
    return picture.markup()


def patterns() -> Markup:
    """The patterns that all pictures of the page refer to."""
    picture = Svg(0, 0, css="defs")
    defs = ET.SubElement(picture.root, "defs")
    looks = [*palette.FAMILY.values(), *palette.CAUSE.values(), *palette.STALL.values()]
    known = {_pattern_id(look): look for look in looks if look.hatch}
    for name, look in sorted(known.items()):
        size = {"id": name, "width": "6", "height": "6", "patternUnits": "userSpaceOnUse"}
        pattern = ET.SubElement(defs, "pattern", size)
        ET.SubElement(pattern, "rect", {"width": "6", "height": "6", "class": f"c-{NAMES[look.color]}"})
        ET.SubElement(pattern, "path", {"d": _HATCHES[look.hatch][1], "class": "hatch"})
    return picture.markup()


def _pattern_id(look: Look) -> str:
    return f"p-{NAMES[look.color]}-{_HATCHES[look.hatch][0]}"


def _marker(kind: str, x: float, y: float, radius: float) -> str:
    if kind in ("X", "P"):
        return _cross(x, y, radius, 45.0 if kind == "X" else 0.0)
    if kind in _POLYGONS:
        sides, turn = _POLYGONS[kind]
        return _path(_around(x, y, [radius] * sides, turn))
    if kind == "*":
        return _path(_around(x, y, [radius * 1.2, radius * 0.5] * 5, -90.0))
    r = _round(radius)
    return (
        f"M{_round(x - radius)} {_round(y)}a{r} {r} 0 1 0 {_round(2 * radius)} 0a{r} {r} 0 1 0 {_round(-2 * radius)} 0z"
    )


def _around(x: float, y: float, radii: list[float], turn: float) -> list[tuple[float, float]]:
    angles = [math.radians(turn + 360.0 * place / len(radii)) for place in range(len(radii))]
    return [(x + r * math.cos(a), y + r * math.sin(a)) for r, a in zip(radii, angles, strict=True)]


def _cross(x: float, y: float, radius: float, turn: float) -> str:
    a, b = radius, radius / 2.6
    corners = [
        (-b, -a),
        (b, -a),
        (b, -b),
        (a, -b),
        (a, b),
        (b, b),
        (b, a),
        (-b, a),
        (-b, b),
        (-a, b),
        (-a, -b),
        (-b, -b),
    ]
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return _path([(x + c * dx - s * dy, y + s * dx + c * dy) for dx, dy in corners])


def _path(corners: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_round(x)} {_round(y)}" for x, y in corners) + "z"


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else _round(value)


def _round(value: float) -> str:
    """Two decimals are below what a screen shows; they keep files small and free of last-bit noise."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
