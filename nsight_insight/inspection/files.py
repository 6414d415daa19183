"""One file at a time: what it is and holds, or what it looks like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.metrics import label_index, load_attributes, load_columns, load_metrics, metric_index
from nsight_insight.catalog.nsys_reports import heading_keys, load_reports, parse_heading
from nsight_insight.inspection._extras import managed_memory, mpi_calls, sampled
from nsight_insight.model.columns import ACTIVITY_COLUMNS, Kind
from nsight_insight.model.inspection import InspectedDevice, InspectedFile, InspectedTable
from nsight_insight.model.missing import Missing
from nsight_insight.readers.assemble import assemble
from nsight_insight.views.build import build_all
from nsight_insight.views.facts import TRACE

if TYPE_CHECKING:
    from nsight_insight.catalog.gpus import Gpu
    from nsight_insight.errors import InputError
    from nsight_insight.model.profile import Profile, ReadResult, Source
    from nsight_insight.views.build import Views

TOOLS: Final = {"ncu": "Nsight Compute", "nsys": "Nsight Systems", "nvprof": "nvprof"}
_ADVICE: Final = {
    ".nsys-rep": "export it: nsys export --type sqlite {name}",
    ".qdrep": "export it: nsys export --type sqlite {name}",
    ".ncu-rep": "print it: ncu --import {name} --csv --page raw",
    ".nsight-cuprof-report": "print it with the ncu of its time: ncu --import {name} --csv --page raw",
    ".nvvp": "print it: nvprof --import-profile {name} --csv --print-gpu-trace",
    ".nvprof": "print it: nvprof --import-profile {name} --csv --print-gpu-trace",
}
"""By file name, for what no reader could use: what turns it into something readable."""


def described(result: ReadResult, gpu: Gpu | None) -> InspectedFile:
    """A file that could be read."""
    profile = assemble([result], gpu)
    views = build_all(profile)
    sources = profile.sources
    first = sources[0]
    rows = views.activities.base
    durations = views.activities.seconds(rows) * 1e9
    return InspectedFile(
        path=first.path,
        what=_what(sources),
        advice=result.alone.text if result.alone is not None else "",
        tool=first.tool,
        reader=first.reader,
        version=next((source.version for source in sources if source.version), ""),
        driver=next((str(source.facts["driver"]) for source in sources if source.facts.get("driver")), ""),
        devices=tuple(InspectedDevice(d.index, d.name, d.cc, d.sm_count) for d in profile.devices),
        launches=int(views.activities.launches(rows).sum()),
        kernels=len(set(views.activities.column("name")[rows])),
        kernel_ns=float(np.nansum(durations)) if np.isfinite(durations).any() else None,
        window_ns=_largest(views, "window", 1e9),
        steps=_whole(_largest(views, "steps")),
        tables=tuple(_table(source, profile) for source in sources),
        issues=profile.issues,
        samples=sampled(profile, views),
        mpi=mpi_calls(views),
        managed=managed_memory(views),
    )


def _what(sources: tuple[Source, ...]) -> str:
    tools = " and ".join(dict.fromkeys(TOOLS.get(source.tool, source.tool) for source in sources))
    versions = dict.fromkeys(source.version for source in sources if source.version)
    tools += f" {' and '.join(versions)}" if versions else ""
    reports = list(dict.fromkeys(source.report for source in sources))
    if len(reports) > 1:
        return f"{tools}, {len(reports)} reports"
    known = load_reports().get(reports[0])
    title = (
        f"{known.title} ({reports[0]})" if known else f"{reports[0]} page" if sources[0].tool == "ncu" else reports[0]
    )
    return f"{tools}, {title}"


def _largest(views: Views, fact: str, scale: float = 1.0) -> float | None:
    """The largest value of a fact over the devices, None where no device has it."""
    values = views[TRACE].values.get(fact)
    if values is None or not len(values) or np.isnan(values).all():
        return None
    return float(np.nanmax(values)) * scale


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _table(source: Source, profile: Profile) -> InspectedTable:
    used = {origin.field for origins in source.columns.values() for origin in origins}
    unknown = sorted(name for name in source.available - used if not _is_known(source.tool, name))
    wanted = {**load_metrics(), **ACTIVITY_COLUMNS}
    known = sorted(name for name in source.columns if name in wanted)
    return InspectedTable(source.report, source.rows, tuple(known), tuple(unknown), tuple(_gaps(source, profile)))


def _is_known(tool: str, name: str) -> bool:
    """Whether the catalogue uses a name or heading, even if another one was preferred here."""
    if tool == "ncu":
        return name in metric_index() or name in _attribute_names() or name in _labels()
    return parse_heading(name).key in heading_keys()


@lru_cache(maxsize=1)
def _attribute_names() -> frozenset[str]:
    return frozenset(name for attribute in load_attributes().values() for name in attribute.metrics)


@lru_cache(maxsize=1)
def _labels() -> frozenset[str]:
    return frozenset(label for _, label in label_index())


def _gaps(source: Source, profile: Profile) -> Iterator[tuple[str, str]]:
    """Metrics without a number for some kernels, and why; copies have no grid, and that is no gap."""
    kinds = profile.activities["kind"].to_numpy()[source.first_row : source.first_row + source.rows]
    kernels = kinds == Kind.KERNEL.value
    for name, codes in sorted(source.reasons.items()):
        if name in load_metrics() or name in load_columns():
            missing = codes[kernels & (codes > 0)]
            if len(missing):
                counts = {Missing(code): int((missing == code).sum()) for code in np.unique(missing).tolist()}
                yield name, gap_text(counts, int(kernels.sum()))


def gap_text(counts: Mapping[Missing, int], rows: int) -> str:
    """``12 of 60: not available on this GPU (n/a)``; reasons joined by semicolons."""
    return "; ".join(f"{count} of {rows}: {reason.text}" for reason, count in counts.items())


def unreadable(error: InputError) -> InspectedFile:
    """A file that could not be read: what it looks like, and what to do."""
    name = PurePath(error.path.rpartition("!")[2])
    advice = _ADVICE.get(name.suffix.lower(), "")
    place = f"line {error.line}: " if error.line and error.line > 1 else ""
    known = advice and "`" not in error.text and "run " not in error.text
    return InspectedFile(
        path=error.path,
        what="not readable",
        error=f"{place}{error.text}",
        advice=advice.format(name=name.name) if known else "",
    )
