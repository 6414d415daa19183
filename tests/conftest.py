"""What every test of the suite shares."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Leave out the tests that build and install the package, unless ``-m`` says otherwise."""
    config.addinivalue_line("markers", "packaging: builds the wheel and installs it; run with -m packaging")
    if not config.option.markexpr:
        config.option.markexpr = "not packaging"
