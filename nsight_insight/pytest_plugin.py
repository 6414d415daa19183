"""Performance budgets in pytest: the fixture ``nsight_report`` and the marker ``nsight_budget``.

::

    def test_step_is_not_wasted(nsight_report):
        report = nsight_report("profiles/train")
        assert report.share("precision") < 0.05
        report.check(fail_on="20%")


    @pytest.mark.nsight_budget("profiles/train", fail_on="20%", share={"precision": 0.05})
    def test_budget(): ...

Profiles are files of the repository or of an earlier job: no GPU is used. What could not be judged is no zero: a share
is NaN then, and no budget is met by it. The project's configuration file holds as on the command line.
"""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nsight_insight.model.finding import Report

MARKER: Final = "nsight_budget"
_KEY: Final = pytest.StashKey[dict[tuple[Any, ...], Any]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*paths, fail_on='warning', share={{pattern: limit}}): fail where profiles break a budget",
    )
    config.stash[_KEY] = {}


@pytest.fixture
def nsight_report(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """``nsight_report("profiles/train", ...)`` analyses profiles; each set of them once per run.

    Relative paths count from pytest's root folder, else from that of the test.
    """

    def analysed(*paths: str | Path, gpu: str | None = None) -> Report:
        return _report(request.node, paths, gpu)

    return analysed


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the budgets of a test before it runs."""
    for mark in item.iter_markers(MARKER):
        if not mark.args:
            pytest.fail(f"{MARKER} names no profile", pytrace=False)
        report = _report(item, mark.args, mark.kwargs.get("gpu"))
        broken = "\n".join(_broken(report, mark.kwargs))
        if broken:
            pytest.fail(broken, pytrace=False)


def _broken(report: Report, wanted: Mapping[str, Any]) -> list[str]:
    """What of a budget is not kept."""
    from nsight_insight.errors import CheckFailed

    found = []
    shares: Mapping[str, float] = wanted.get("share", {})
    if "fail_on" in wanted or not shares:
        try:
            report.check(wanted.get("fail_on", "warning"))
        except CheckFailed as error:
            found.append(str(error))
    for pattern, limit in shares.items():
        share = report.share(pattern)
        if not share <= limit:
            said = "not judged for lack of data" if isnan(share) else f"{share:.1%} could be saved"
            found.append(f"{pattern}: {said}, the budget is {limit:.1%}")
    return found


def _report(item: pytest.Item, paths: tuple[str | Path, ...], gpu: str | None) -> Report:
    """The report on some profiles, analysed once per run."""
    from dataclasses import replace

    from nsight_insight import api
    from nsight_insight.config_file import load_config

    files = tuple(str(_found(item, path)) for path in paths)
    reports = item.config.stash[_KEY]
    if (files, gpu) not in reports:
        config = load_config(start=item.config.rootpath)
        profile = api.load(*files, gpu=gpu or config.gpu or None)
        reports[files, gpu] = api.analyze(profile, replace(config, top=None))
    report: Report = reports[files, gpu]
    return report


def _found(item: pytest.Item, path: str | Path) -> Path:
    root = item.config.rootpath / path
    beside = item.path.parent / path
    return beside if beside.exists() and not root.exists() else root
