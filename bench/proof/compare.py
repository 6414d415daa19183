"""Compare and verify the committed captures: ``python -m bench.proof.compare``; needs no GPU and about a minute.

Each planted case has a capture of the bad and of the cured program, and some programs were captured twice. Writes
``bench/proof/comparison.json`` and ``docs/comparison.md``; ``--check`` writes nothing and fails where they differ.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path

from bench.proof.cases import load_cases, load_truth
from bench.proof.findings import CAPTURES
from bench.proof.score import saving
from nsight_insight import api
from nsight_insight.comparison import Side, compare
from nsight_insight.comparison.noise import FLOORS
from nsight_insight.comparison.verification import verify
from nsight_insight.model.comparison import Comparison
from nsight_insight.model.verification import Verifications
from nsight_insight.rules.loader import builtin_rules

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "comparison.json"
DOCUMENT = HERE.parents[1] / "docs" / "comparison.md"
DECIMALS = 4


@dataclass(frozen=True)
class Pair:
    """One comparison: shares of the time before; None where the captures do not tell.

    Attributes:
        name: case, or capture of a program that was captured twice.
        saved: part of the time that is gone, as measured in the captures.
        least: smallest part that noise does not explain.
        moved: kernels called faster or slower, of ``kernels`` compared.
        outcomes: rule -> outcome of each finding on the side before.
        states: states of findings, how often each.
    """

    name: str
    tool: str
    verdict: str
    measure: str
    saved: float | None
    least: float | None
    reason: str
    moved: int
    kernels: int
    outcomes: dict[str, str]
    states: dict[str, int]


def compared(name: str, before: str, after: str) -> Pair:
    """Compare and verify two captures, paths under ``captures`` without their ending."""
    sides = _side(before), _side(after)
    return _pair(name, compare(*sides), verify(*sides, builtin_rules()))


def _side(name: str) -> Side:
    profile = api.load(CAPTURES / f"{name}.tar.xz")
    return Side(profile, api.analyze(profile))


def _pair(name: str, found: Comparison, verified: Verifications) -> Pair:
    change = found.wall or found.kernel
    share = change.share if change else None
    least = change.least / change.before if change and change.least is not None and change.before else None
    outcomes: dict[str, str] = {}
    for one in verified.findings:
        outcomes.setdefault(one.rule, one.outcome)
    return Pair(
        name=name,
        tool=found.before.tool,
        verdict=found.verdict,
        measure=found.measure,
        saved=None if share is None else round(-share, DECIMALS),
        least=None if least is None else round(least, DECIMALS),
        reason=found.reason,
        moved=sum(one.time.verdict in ("faster", "slower") for one in found.kernels),
        kernels=len(found.kernels),
        outcomes=outcomes,
        states=dict(sorted(Counter(one.state for one in found.findings).items())),
    )


def planted() -> list[tuple[str, str, str]]:
    """Bad and cured capture of every planted case."""
    return [(case.id, f"{case.id}-bad", f"{case.id}-good") for case in load_cases() if not case.control]


def repeated() -> list[tuple[str, str, str]]:
    """Captures of programs that were captured twice, on two machines of one kind."""
    names = sorted(path.name.removesuffix(".tar.xz") for path in (CAPTURES / "again").glob("*.tar.xz"))
    return [(name, name, f"again/{name}") for name in names]


def run() -> tuple[list[Pair], list[Pair]]:
    """All planted cases, and all programs captured twice."""
    jobs, noise = planted(), repeated()
    # Forking a process that has threads, as test runners do, is an error in later Python versions.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = list(pool.map(compared, *zip(*jobs, *noise, strict=True), chunksize=8))
    return found[: len(jobs)], found[len(jobs) :]


def true_savings() -> dict[str, float]:
    """Case -> part of the unprofiled time that the cure saves."""
    return {case: share for case, one in load_truth().items() if (share := saving(one)) is not None}


def effects(pairs: Sequence[Pair], true: dict[str, float]) -> list[Pair]:
    """Planted cases that were compared and whose true saving is larger than the noise."""
    return [one for one in pairs if one.least is not None and true[one.name] > one.least]


def hits(pairs: Sequence[Pair]) -> dict[str, str]:
    """Planted case -> outcome of the finding that names its cause, where one does."""
    expected = {case.id: case.expect for case in load_cases()}
    found = {}
    for one in pairs:
        named = [o for rule, o in one.outcomes.items() if any(fnmatchcase(rule, p) for p in expected[one.name])]
        if named:
            found[one.name] = named[0]
    return found


def document(pairs: Sequence[Pair], noise: Sequence[Pair], true: dict[str, float]) -> str:
    """The page of the documentation."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined, autoescape=False,  # noqa: S701  Markdown, not HTML
    )  # fmt: skip
    environment.filters["share"] = lambda value: "-" if value is None else f"{value * 100:.1f} %"
    seen = effects(pairs, true)
    outcomes = hits(pairs)
    return environment.get_template("comparison.md.j2").render(
        pairs=pairs, noise=noise, truth=true, seen=seen, outcomes=outcomes, floors=FLOORS,
        faster=[one for one in seen if one.verdict == "faster"],
        missed=[one for one in seen if one.verdict != "faster"],
        uncompared=[one for one in pairs if one.least is None],
        small=[one for one in pairs if one.least is not None and one not in seen],
        quiet=[one for one in noise if one.verdict in ("same", "unknown")],
        kernels=sum(one.kernels for one in noise), moved=sum(one.moved for one in noise),
        counts=Counter(outcomes.values()),
        refuted=Counter(outcome for one in noise for outcome in one.outcomes.values()),
        largest={tool: max(abs(one.saved or 0.0) for one in noise if one.tool == tool) for tool in ("nsys", "ncu")},
    )  # fmt: skip


def results(pairs: Sequence[Pair], noise: Sequence[Pair]) -> str:
    """Every number, for a later version to be compared with."""
    return (
        json.dumps({"planted": [asdict(one) for one in pairs], "again": [asdict(one) for one in noise]}, indent=1)
        + "\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and write, or compare with what is written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args(arguments).check
    pairs, noise = run()
    written = {RESULTS: results(pairs, noise), DOCUMENT: document(pairs, noise, true_savings())}
    stale = [path for path, text in written.items() if not path.exists() or path.read_text() != text]
    for path in [] if check else stale:
        path.write_text(written[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
