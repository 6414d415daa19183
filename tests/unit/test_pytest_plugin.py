"""The pytest plugin, in runs of pytest on tests that a user would write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Runs in this process forget what they import, and numpy cannot be loaded twice.
import pandas as pd  # noqa: F401
import pytest

from nsight_insight import api
from tests.paths import FIXTURES

pytest_plugins = ("pytester",)

SLOW = FIXTURES / "demo"
"""Could save most of its time with matrix products on Tensor Cores."""
FAST = FIXTURES / "nsys-csv/2025.3-h200-amp/amp_fp16_cuda_gpu_kern_sum.csv"
PLUGIN = ("-p", "nsight_insight.pytest_plugin", "-p", "no:cacheprovider")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with profiles, in which other plugins of this environment have no say."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    folder = pytester.mkdir("profiles")
    (folder / "slow").symlink_to(SLOW)
    (folder / "fast.csv").symlink_to(FAST)
    return pytester


def test_budgets_hold_or_break(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        def test_kept(nsight_report):
            report = nsight_report("profiles/slow")
            assert report.share("precision") < 0.05
            report.check(fail_on="95%")

        def test_broken(nsight_report):
            nsight_report("profiles/slow").check(fail_on="20%")

        def test_broken_share(nsight_report):
            assert nsight_report("profiles/slow").share("tensor-core") < 0.05

        def test_unknown_is_no_pass(nsight_report):
            assert nsight_report("profiles/slow").share("latency") < 0.05
        """
    )
    done = run.runpytest_inprocess(*PLUGIN)
    done.assert_outcomes(passed=1, failed=3)
    done.stdout.fnmatch_lines(["*CheckFailed: 1 finding at or above 20%:*"])


def test_markers_check_before_the_test_runs(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        import pytest

        @pytest.mark.nsight_budget("profiles/slow", share={"precision": 0.05, "launch": 0.5})
        def test_kept(): ...

        @pytest.mark.nsight_budget("profiles/slow", fail_on="20%", share={"tensor-core": 0.05, "latency": 0.05})
        def test_broken():
            raise SystemExit("ran")

        @pytest.mark.nsight_budget()
        def test_empty(): ...
        """
    )
    done = run.runpytest_inprocess("--strict-markers", *PLUGIN)
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines_random([
        "1 finding at or above 20%:",
        "tensor-core: 81.4% could be saved, the budget is 5.0%",
        "latency: not judged for lack of data, the budget is 5.0%",
        "nsight_budget names no profile",
    ])  # fmt: skip


def test_a_profile_is_analysed_once(run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = api.load
    monkeypatch.setattr(api, "load", lambda *paths, **options: calls.append(paths) or real(*paths, **options))
    run.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("limit", ["99%", "98%", "97%"])
        def test_one(nsight_report, limit):
            nsight_report("profiles/fast.csv").check(limit)
        """
    )
    run.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=3)
    assert calls == [(str(run.path / "profiles/fast.csv"),)]


def test_the_configuration_of_the_project_holds(run: pytest.Pytester) -> None:
    run.path.joinpath("nsight-insight.toml").write_text('select = ["precision/*"]\n', encoding="utf-8")
    run.makepyfile(
        """
        def test_rules(nsight_report):
            report = nsight_report("profiles/fast.csv")
            assert {rule.partition("/")[0] for rule in report.rules} == {"precision"}
        """
    )
    run.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)


def test_profiles_may_lie_beside_the_test(run: pytest.Pytester) -> None:
    inner = run.mkpydir("inner")
    (inner / "own.csv").symlink_to(FAST)
    (inner / "test_own.py").write_text(
        'def test_own(nsight_report):\n    assert nsight_report("own.csv").totals.launches == 2810\n', encoding="utf-8"
    )
    run.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)


def test_a_profile_that_is_not_there_is_an_error(run: pytest.Pytester) -> None:
    run.makepyfile("def test_one(nsight_report):\n    nsight_report('profiles/none.csv')\n")
    done = run.runpytest_inprocess(*PLUGIN)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*MissingInput*none.csv*"])


def test_the_plugin_costs_runs_without_profiles_nothing(tmp_path: Path) -> None:
    code = "import sys, pytest; before = set(sys.modules); import nsight_insight.pytest_plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert not {"pandas", "numpy", "click", "yaml", "pydantic"} & set(modules)
    assert sorted(name for name in modules if name.startswith("nsight_insight")) == [
        "nsight_insight", "nsight_insight._version", "nsight_insight.pytest_plugin",
    ]  # fmt: skip
