"""Sphinx configuration: ``sphinx-build -W docs docs/_build``; reference pages are generated first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
# The generators read the rules and the proof of this checkout, whatever is installed.
sys.path[:0] = [str(HERE), str(HERE.parent)]

from nsight_insight import __version__  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "nsight_insight"
author = "The nsight_insight developers"
copyright = "The nsight_insight developers, Apache License 2.0"  # noqa: A001  Sphinx's name
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "examples", "readings"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
# What is shown of other programs' output is no language that Pygments knows.
highlight_language = "text"
# Remedies of CUDA rules are C++ or a compiler's command line; highlighting does its best.
suppress_warnings = ["misc.highlighting_failure"]

# Options such as --fail-on must stay what they are.
smartquotes = False
toc_object_entries = False

html_theme = "furo"
html_title = f"nsight_insight {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False


def setup(app: Sphinx) -> None:
    """Write the reference pages before sources are looked for."""
    app.connect("builder-inited", _generate)


def _generate(app: Sphinx) -> None:
    from generated_pages import write

    write(Path(app.srcdir) / "reference")
