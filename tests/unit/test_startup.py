"""``--help`` and the listing verbs import nothing heavy; ``bench/startup.py`` measures what that costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("pandas", "rich", "matplotlib", "pydantic", "yaml", "numpy", "jinja2")
RUN_AND_LIST_MODULES = (
    "import json, sys\n"
    "from nsight_insight.cli.main import main\n"
    "code = main(sys.argv[1:])\n"
    "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)"
)


def modules_after(*args: str) -> tuple[int, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", RUN_AND_LIST_MODULES, *args], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, {module.partition(".")[0] for module in modules}


def test_help_imports_nothing_heavy() -> None:
    code, modules = modules_after("--help")
    assert code == 0
    assert "click" in modules
    assert not modules & set(HEAVY)


def test_importing_the_package_costs_nothing() -> None:
    listing = "import sys, nsight_insight; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    modules = {module.partition(".")[0] for module in done.stdout.split()}
    assert not modules & {*HEAVY, "click"}


@pytest.mark.parametrize("args", [("rules", "list"), ("explain", "--help")])
def test_listing_verbs_do_not_import_pandas(args: tuple[str, ...]) -> None:
    code, modules = modules_after(*args)
    assert code == 0
    assert not modules & {"pandas", "matplotlib", "pydantic"}
