"""What every test of the suite shares."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Examples that take long on a busy machine are no failure. On CI the examples are the same in every run, so that
# a change is judged by itself; run locally to look for new ones.
settings.register_profile("suite", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Leave out the tests that build and install the package, unless ``-m`` says otherwise."""
    config.addinivalue_line("markers", "browser: opens reports in Chromium; skips without it or playwright")
    config.addinivalue_line("markers", "packaging: builds the wheel and installs it; run with -m packaging")
    if not config.option.markexpr:
        config.option.markexpr = "not packaging"
