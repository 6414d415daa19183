"""A saved JSON report as baseline: which findings of a new report are new, worse, better or unchanged, which are gone.

Only reports of this program's JSON format, version 1, are accepted, and only whole ones (``--top`` leaves findings
out that would then look new).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from nsight_insight.comparison.pairing import Known, flat, known_findings, moved, pair, small
from nsight_insight.errors import InputError, MissingInput
from nsight_insight.model.baseline import Baseline, Gone, Mark
from nsight_insight.model.finding import SEVERITY_ORDER
from nsight_insight.model.text import clean

if TYPE_CHECKING:
    from nsight_insight.model.comparison import State
    from nsight_insight.model.finding import Finding, Report, Severity

VERSION: Final = 1
LARGEST: Final = 256 * 2**20
"""Bytes of a baseline that are read; reports of the largest traces have a few MB."""
Object = Mapping[str, Any]


@dataclass(frozen=True)
class Saved:
    """An earlier report: its findings as ``pairing`` knows them, with title and kernel, and rules that lacked data."""

    path: str
    known: list[Known]
    texts: list[tuple[str, str]]
    savings: list[float | None]
    lacked: frozenset[str]


def load_baseline(path: Path) -> Saved:
    """Read a JSON report.

    Raises:
        MissingInput: no such file, or not readable.
        InputError: not a whole JSON report of version 1 of this program.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"larger than {LARGEST // 2**20} MB, not a report", path=str(path))
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MissingInput(f"cannot be read: {error.strerror or error}", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("not a JSON report of nsight-insight: not UTF-8", path=str(path)) from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a JSON report of nsight-insight: {error}", path=str(path)) from error
    try:
        return _saved(_checked(data, str(path)), str(path))
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(f"not a whole JSON report: {error!r} is missing or of another kind", path=str(path)) from error


def _checked(data: object, path: str) -> Object:
    if not isinstance(data, dict) or not isinstance(data.get("tool"), dict) or "findings" not in data:
        raise InputError("not a JSON report of nsight-insight (analyze -o report.json)", path=path)
    if data["tool"].get("name") != "nsight-insight":
        raise InputError("not a JSON report of nsight-insight (analyze -o report.json)", path=path)
    if data.get("schema_version") != VERSION:
        version = data.get("schema_version")
        raise InputError(f"report of schema version {version!r}; this release reads version {VERSION}", path=path)
    left_out = data["findings_total"] - len(data["findings"])
    if left_out:
        raise InputError(f"leaves {left_out} findings out; write the baseline without --top", path=path)
    return data


def _saved(data: Object, path: str) -> Saved:
    entries: list[tuple[Object, str]] = []
    for finding in data["findings"]:
        entries.append((finding, ""))
        entries += [(part, str(finding["title"])) for part in finding["explains"]]
    step = _step(data["totals"])
    return Saved(
        path,
        [_known(entry, under, at) for at, (entry, under) in enumerate(entries)],
        [(clean(str(entry["title"])), clean(str(entry["subject"]["kernel"]))) for entry, _ in entries],
        [_per_step(entry["saving"], step) for entry, _ in entries],
        frozenset(str(gap["rule"]) for gap in data["not_evaluated"]),
    )


def _known(entry: Object, under: str, at: int) -> Known:
    subject = entry["subject"]
    share = float(entry["saving"]["share"])
    if entry["severity"] not in SEVERITY_ORDER or not isfinite(share):
        raise ValueError("severity or share")
    return Known(
        rule=clean(str(entry["rule"])),
        fingerprint=clean(str(entry["fingerprint"])),
        device=int(subject["device"]),
        kernels=frozenset(str(member["base"]) for member in subject["members"]),
        single=bool(subject["kernel"]),
        share=share,
        severity=cast("Severity", entry["severity"]),
        under=under,
        at=at,
    )


Step = tuple[float, float, float]
"""Steady steps, busy time and length of the steady window in ns."""


def _step(totals: Object) -> Step | None:
    steps, busy, window = (totals[name] for name in ("steady_steps", "steady_busy_ns", "steady_window_ns"))
    return (float(steps), float(busy), float(window)) if steps and busy and window else None


def _per_step(saving: Object, step: Step | None) -> float | None:
    """Expected saving of a step in ns; None where the report knows no steps."""
    if step is None:
        return None
    steps, busy, window = step
    base = saving["base_ns"]
    whole = window if base is not None and abs(base - window) < 1 else busy
    return float(saving["share"]) * whole / steps


def against(report: Report, saved: Saved) -> Report:
    """The report with every finding marked by how it stands to the saved one."""
    known = known_findings(report.findings)
    pairs = pair(saved.known, known)
    lacking = frozenset(gap.rule for gap in report.not_evaluated)
    savings = _savings(report)
    marks: dict[int, Mark] = {}
    gone = []
    for b, a in pairs:
        if b and a:
            marks[a.at] = _mark(b, a, saved.savings[b.at], savings[a.at])
        elif a:
            marks[a.at] = _new(a, saved.lacked)
        elif b and not b.under:
            gone.append(_gone(b, saved, lacking))
    own = [at for at, (_, under) in enumerate(flat(report.findings)) if not under]
    baseline = Baseline(saved.path, tuple(marks[at] for at in own), tuple(gone))
    return replace(report, baseline=baseline)


def _savings(report: Report) -> list[float | None]:
    totals = report.totals
    step = None
    if totals.steady_steps and totals.steady_busy_ns and totals.steady_window_ns:
        step = (float(totals.steady_steps), totals.steady_busy_ns, totals.steady_window_ns)
    return [_per_step(_object(finding), step) for finding, _ in flat(report.findings)]


def _object(finding: Finding) -> Object:
    return {"share": finding.saving.share, "base_ns": finding.saving.base_ns}


def _mark(b: Known, a: Known, before: float | None, after: float | None) -> Mark:
    by_share = moved(b.share, a.share, 1.0)
    state: State = by_share
    if before is not None and after is not None and by_share != "unchanged":
        # A share also grows when everything else gets faster: the time of a step must have moved as well.
        base = max(before / b.share if b.share else 0.0, after / a.share if a.share else 0.0)
        state = by_share if moved(before, after, base) == by_share else "unchanged"
    note = f"stands under {b.under!r} there" if b.under and not a.under else ""
    return Mark(state, b.share, note)


def _new(a: Known, lacked: frozenset[str]) -> Mark:
    if a.rule in lacked:
        return Mark("unknown", None, "could not be judged in the baseline")
    return Mark("unchanged", None, "near the limit from which findings are told") if small(a) else Mark("new")


def _gone(b: Known, saved: Saved, lacking: frozenset[str]) -> Gone:
    title, kernel = saved.texts[b.at]
    state: State = "unknown" if b.rule in lacking else "fixed"
    note = "could not be judged now" if state == "unknown" else ""
    return Gone(state, b.rule, title, b.severity, kernel, b.share, b.fingerprint, note)
