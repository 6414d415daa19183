"""What the catalogues know: metrics, facts of the rule language, kernels, GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from generated_pages.markdown import cell, prose, table
from nsight_insight.catalog.gpus import Gpu, load_gpus
from nsight_insight.catalog.kernels import KernelPattern, load_patterns
from nsight_insight.catalog.metrics import Alias, Metric, load_columns, load_metrics
from nsight_insight.catalog.sections import load_sections
from nsight_insight.views.facts import SCOPES, Fact, facts_of

LONGEST = 120
SHOWN = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")


METRICS = """Metrics of Nsight Compute under the names that rules use, in SI units and fractions (30 % is 0.30).
`nsight-insight explain NAME` shows all names a metric has had, `nsight-insight metrics which FILE` those that a file
holds.
"""
FACTS = """Names that a rule's expressions may use, beside the [metrics](metrics.md), which are facts of the scopes
`launch` and `kernel`. In every scope, `trace_<fact>` is the fact of the subject's GPU. Facts are computed; only rules
judge.
"""
KERNELS = """What a kernel's name says. Patterns are tried in the order of `nsight_insight/catalog/kernels.yaml`, the
first that matches wins; every example is a test.
"""
GPUS = """Dense peaks in TFLOP/s (TOP/s for INT8) and bandwidth in GB/s. SM count and clocks of a profile win over this
table.
"""


def pages() -> dict[str, str]:
    """``metrics.md``, ``facts.md``, ``kernels.md`` and ``gpus.md``."""
    return {"metrics.md": metrics(), "facts.md": facts(), "kernels.md": kernels(), "gpus.md": gpus()}


def metrics() -> str:
    """Canonical metrics by the section of ncu that collects them, then activity columns."""
    known = load_metrics()
    parts = [
        "# Metrics\n",
        METRICS,
    ]
    for section in [*load_sections(), ""]:
        members = [metric for metric in known.values() if _section(metric) == section]
        if members:
            parts += [f"## {section or 'Only by name'}\n", table(*_metric_rows(members))]
    parts += [
        "## Columns of the activity frame\n",
        "`profile.activities` has one row per launch, copy, call or summary line. Times are in nanoseconds.\n",
        table(["column", "unit", "meaning"], ([cell(m.name), m.unit, prose(m.doc)] for m in load_columns().values())),
    ]
    return "\n".join(parts)


def _section(metric: Metric) -> str:
    return next((alias.section for alias in metric.aliases if alias.section), "")


def _metric_rows(members: list[Metric]) -> tuple[list[str], list[list[str]]]:
    rows = [[cell(one.name), one.unit, prose(one.doc), "<br>".join(map(_alias, one.aliases[:3]))] for one in members]
    return ["metric", "unit", "meaning", "printed by ncu as"], rows


def _alias(alias: Alias) -> str:
    ranges = ", ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in alias.cc)
    return " + ".join(map(cell, alias.terms)) + (f" ({ranges.replace('inf', 'newer')})" if ranges else "")


def facts() -> str:
    """The vocabulary of rule expressions, by scope; metrics are not repeated."""
    parts = [
        "# Facts\n",
        FACTS,
    ]
    known = load_metrics()
    for scope in SCOPES:
        rows = [_fact(fact) for name, fact in sorted(facts_of(scope).items()) if name not in known]
        parts += [f"## {scope}\n", table(["fact", "kind", "meaning", "needs"], rows)]
    return "\n".join(parts)


def _fact(fact: Fact) -> list[str]:
    kind = "text" if fact.kind == "text" else prose(str(fact.dimension))
    return [cell(fact.name), kind, prose(fact.doc), ", ".join(map(cell, fact.needs))]


def kernels() -> str:
    """Patterns of kernel names by family, each with a real example."""
    patterns = load_patterns()
    parts = [
        "# Kernels\n",
        KERNELS,
    ]
    for family in sorted({pattern.family for pattern in patterns}):
        rows = [_pattern(pattern) for pattern in patterns if pattern.family == family]
        parts += [f"## {family}\n", table(["pattern", "library", "Tensor Cores", "example"], rows)]
    return "\n".join(parts)


def _pattern(pattern: KernelPattern) -> list[str]:
    example = pattern.examples[0] if pattern.examples else ""
    short = example if len(example) <= LONGEST else example[: LONGEST - 1] + "…"
    return [cell(pattern.id), prose(pattern.library), pattern.tensor_core, cell(short) if short else ""]


def gpus() -> str:
    """Dense peaks and bandwidth of every GPU."""
    rows = [_gpu(gpu) for gpu in load_gpus() if not gpu.partition]
    return "\n".join(
        [
            "# GPUs\n",
            GPUS,
            table(["GPU", "compute capability", "SMs", *map(str.upper, SHOWN), "bandwidth"], rows),
        ]
    )


def _gpu(gpu: Gpu) -> list[str]:
    return [prose(gpu.names[0]), str(gpu.cc), str(gpu.sm_count), *_peaks(gpu), f"{gpu.bandwidth / 1e9:.0f}"]


def _peaks(gpu: Gpu) -> Iterator[str]:
    for dtype in SHOWN:
        peak = gpu.peak(dtype)
        yield f"{peak / 1e12:.0f}" if peak else ""
