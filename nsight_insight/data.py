"""Where the packaged data lies: inside an installed wheel, beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nsight_insight.errors import NsightInsightError

PACKAGE: Final = Path(__file__).resolve().parent


def rules_dir() -> Path:
    """The folder of the built-in rules.

    Raises:
        NsightInsightError: the installation is incomplete.
    """
    return _find("rules", "rules")


def demo_dir() -> Path:
    """The folder of the built-in capture that ``nsight-insight demo`` analyses.

    Raises:
        NsightInsightError: the installation is incomplete.
    """
    return _find("demo", "fixtures/demo")


def fixture(path: str) -> Path | None:
    """A capture under ``fixtures/`` of a checkout; None in an installed package, which ships only the demo."""
    file = PACKAGE.parent / "fixtures" / path
    return file if file.exists() else None


def _find(packaged: str, checkout: str) -> Path:
    # A wheel built with force-include carries the data inside the package; an editable install does not.
    places = (PACKAGE / "_data" / packaged, PACKAGE.parent / checkout)
    for place in places:
        if place.is_dir():
            return place
    tried = " and ".join(str(place) for place in places)
    raise NsightInsightError(f"the installation is incomplete: {packaged} is neither in {tried}")
