"""What two other tools say of the committed captures: ``python -m bench.proof.peers --nsys-ai PATH --fournex PATH``.

Neither tool is a dependency, and none of their code is here: each is an executable in an environment of its own, and
what it prints is kept, shortened, in ``peer_findings/<tool>.json.xz``, so that scoring needs neither. Both get their
best conditions:

- nsys-ai reads SQLite alone; it gets the export that ``as_sqlite`` makes of the traces. Offline it works best with the
  DuckDB version for which ``duckdb-extension-sqlite-scanner`` has a wheel, imported once with ``duckdb_extensions``.
  Kept are ``diagnose`` (its default) and ``skill run root_cause_matcher``.
- fournex reads ncu's CSV; each capture is given to it in four layouts: the details page, the raw page, the raw page one
  metric a line, and the metrics that its own ``ncu-command`` collects under the names it uses (``peers_input``).
"""

from __future__ import annotations

import argparse
import json
import lzma
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.proof import as_sqlite
from bench.proof.cases import load_cases
from bench.proof.findings import CAPTURES
from bench.proof.peers_input import asked_for, long_form

FOLDER = Path(__file__).resolve().parent / "peer_findings"
LONGEST = 240
"""Characters kept of a text; kernel names make them longer."""
DIAGNOSED = ("category", "headroom_ms", "label", "note", "severity")
CAUSE = ("pattern", "severity", "evidence")
ADVICE = ("id", "triggered_by", "estimated_speedup_pct_min", "estimated_speedup_pct_max")
Said = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the tools that were given and store what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nsys-ai", type=Path)
    parser.add_argument("--fournex", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.nsys_ai:
        _store("nsys-ai", "nsys", _version(chosen.nsys_ai, "nsys-ai"), lambda name: nsys_ai(chosen.nsys_ai, name))
    if chosen.fournex:
        _store("fournex", "ncu", _version(chosen.fournex, "fournex"), lambda name: fournex(chosen.fournex, name))


def load(tool: str) -> Said:
    """What ``tool`` said: ``tool``, ``version``, ``date``, and ``captures`` by archive name."""
    said: Said = json.loads(lzma.decompress((FOLDER / f"{tool}.json.xz").read_bytes()))
    return said


def _store(tool: str, profiler: str, version: str, say: Callable[[str], Said]) -> None:
    names = [
        f"{case.id}-{variant}"
        for case in load_cases()
        if case.tool == profiler
        for variant in (("good",) if case.control else ("bad", "good"))
    ]
    said = {
        "tool": tool,
        "version": version,
        "date": datetime.now(UTC).date().isoformat(),
        "captures": {name: say(name) for name in names},
    }
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(said, indent=0, sort_keys=True)
    (FOLDER / f"{tool}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


def _version(executable: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return _run([str(executable.with_name("python")), "-c", code], Path.cwd())[1].strip()


def _run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout


def nsys_ai(executable: Path, name: str) -> Said:
    """Findings of ``diagnose`` and of the root causes, in their order; ``error`` where nothing came."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "case.sqlite"
        as_sqlite.write(CAPTURES / f"{name}.tar.xz", database)
        common = [str(database), "--format", "json"]
        _, report = _run([str(executable), "diagnose", *common], Path(folder))
        _, causes = _run([str(executable), "skill", "run", "root_cause_matcher", *common], Path(folder))
    try:
        return {
            "diagnose": [_kept(one, DIAGNOSED) for one in json.loads(report)["findings"]],
            "root_causes": [_kept(one, CAUSE) for one in json.loads(causes)],
        }
    except (json.JSONDecodeError, KeyError) as problem:
        return {"diagnose": [], "root_causes": [], "error": str(problem)}


def fournex(executable: Path, name: str) -> Said:
    """Bottlenecks and recommendations per layout of the CSV, in their order."""
    with tarfile.open(CAPTURES / f"{name}.tar.xz") as archive:
        pages = {page: _text(archive, f"{page}.csv") for page in ("details", "raw")}
    pages["long"] = long_form(pages["raw"])
    pages["asked"] = asked_for(pages["raw"])
    with tempfile.TemporaryDirectory() as folder:
        return {page: _fournex_page(executable, Path(folder), page, text) for page, text in pages.items()}


def _fournex_page(executable: Path, folder: Path, page: str, text: str) -> Said:
    path = folder / f"{page}.csv"
    path.write_text(text)
    code, out = _run([str(executable), "analyze", str(path), "--json"], folder)
    try:
        result = json.loads(out)["result"]
    except (json.JSONDecodeError, KeyError) as problem:
        return {"code": code, "error": str(problem), "bottlenecks": [], "recommendations": []}
    return {
        "code": code,
        "bottlenecks": [_kept(one, ("label", "score")) for one in result["bottlenecks"]],
        "recommendations": [_kept(one, ADVICE) for one in result["recommendations"]],
    }


def _kept(one: Said, keys: Sequence[str]) -> Said:
    short = {key: value[:LONGEST] if isinstance(value, str) else value for key, value in one.items()}
    return {key: short[key] for key in keys if short.get(key) is not None}


def _text(archive: tarfile.TarFile, member: str) -> str:
    data = archive.extractfile(member)
    assert data is not None  # noqa: S101  every ncu capture has both pages
    return data.read().decode()


if __name__ == "__main__":
    main()
