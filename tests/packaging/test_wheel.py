"""The built wheel, installed alone and run far from the checkout.

An editable install finds ``rules/`` and ``fixtures/`` beside the package even where the wheel forgot them, so
only this shows that a user gets a complete program.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.packaging


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)], out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed ``nsight-insight`` in an otherwise empty environment."""
    home = tmp_path_factory.mktemp("installed")
    run([sys.executable, "-m", "venv", str(home / "venv")], home)
    scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    run([str(scripts / "python"), "-m", "pip", "install", "--quiet", "--no-compile", str(wheel)], home)
    return scripts / "nsight-insight"


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run to success in an environment that does not lead back to the checkout."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "NSIGHT_INSIGHT"))}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def test_the_wheel_holds_the_data_and_nothing_of_the_workshop(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    rules = {path.relative_to(ROOT / "rules").as_posix() for path in (ROOT / "rules").rglob("*.yaml")}
    packed = {name.partition("_data/rules/")[2] for name in names if "_data/rules/" in name}
    catalogues = {path.name for path in (ROOT / "nsight_insight" / "catalog").glob("*.yaml")}
    assert rules
    assert packed == rules
    assert catalogues <= {Path(name).name for name in names if "/catalog/" in name}
    assert any("_data/demo/" in name for name in names)
    assert "nsight_insight/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"nsight_insight"}
    assert not [name for name in names if name.endswith((".pyc", ".ncu-rep", ".sqlite"))]


def test_version(program: Path, tmp_path: Path) -> None:
    assert run([str(program), "--version"], tmp_path).stdout.startswith("nsight-insight ")


def test_demo(program: Path, tmp_path: Path) -> None:
    report = run([str(program), "demo"], tmp_path).stdout
    assert len(report.splitlines()) > 10
    assert list(tmp_path.iterdir()) == [], "the demo must leave nothing behind"


def test_rules_test(program: Path, tmp_path: Path) -> None:
    counts = run([str(program), "rules", "test"], tmp_path).stderr
    found = re.search(r"(\d+) passed, 0 failed", counts)
    assert found, counts
    assert int(found[1]) >= len(list((ROOT / "rules").rglob("*.yaml")))
