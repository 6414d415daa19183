"""A capture as fournex asks for it: the metrics of its own ``ncu-command``, one a line.

Half of them this ncu does not know by those names. They are taken or calculated from the raw page: sectors per request
from sectors and requests, shares of stall reasons from the samples.
"""

from __future__ import annotations

import csv
import io

KEYS = 13
"""Columns of the raw page before the first metric: ids, names, NVTX state, launch."""
SECTION = "Command line profiler metrics"
OTHER_NAMES = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__issue_active.avg.pct_of_peak_sustained_active": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "smsp__warps_active.avg.pct_of_peak_sustained_active": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
"""Its name -> the same quantity on the raw page."""
SAME_NAMES = (
    "gpu__time_duration.sum",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "launch__block_size",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
    "smsp__warps_eligible.avg.per_cycle_active",
)
RATIO = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld"
OF_RATIO = ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")
SHARE = "smsp__pcsamplingdata_pct_of_utilization_issue_stalled_"
SAMPLES = "smsp__pcsamp_warps_issue_stalled_"
STALLS = {
    "long_scoreboard": "long_scoreboard", "mio": "mio_throttle", "lg": "lg_throttle", "texture": "tex_throttle",
    "barrier": "barrier", "wait": "wait", "short_scoreboard": "short_scoreboard", "dispatch": "dispatch_stall",
    "not_selected": "not_selected",
}  # fmt: skip
"""End of its name -> end of ncu's."""


def long_form(raw: str, keys: int = KEYS) -> str:
    r"""The raw page with one line per launch and metric, as ``ncu --csv --metrics`` prints it.

    >>> print(long_form("ID,Kernel Name,a.sum\n,,byte\n0,k,7\n", keys=2), end="")
    ID,Kernel Name,Section Name,Metric Name,Metric Unit,Metric Value
    0,k,Command line profiler metrics,a.sum,byte,7
    """
    heading, units, *records = csv.reader(io.StringIO(raw))
    return _lines(heading[:keys], [(one[:keys], _metrics(heading, units, one, keys)) for one in records])


def asked_for(raw: str, keys: int = KEYS) -> str:
    """The metrics that fournex's own command collects, as far as the raw page has them or what they are made of."""
    heading, units, *records = csv.reader(io.StringIO(raw))
    launches = []
    for one in records:
        metrics = {metric[0]: metric for metric in _metrics(heading, units, one, keys)}
        values = {name: value for name, _, value in metrics.values()}
        names = {name: name for name in SAME_NAMES} | OTHER_NAMES
        kept = [(theirs, *metrics[ours][1:]) for theirs, ours in names.items() if ours in metrics]
        launches.append((one[:keys], kept + _ratio(values) + _shares(values)))
    return _lines(heading[:keys], launches)


Metric = tuple[str, str, str]


def _metrics(heading: list[str], units: list[str], record: list[str], keys: int) -> list[Metric]:
    return list(zip(heading[keys:], units[keys:], record[keys:], strict=True))


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _ratio(values: dict[str, str]) -> list[Metric]:
    sectors, requests = (_number(values.get(name) or "0") for name in OF_RATIO)
    return [(RATIO, "sector", f"{sectors / requests:.2f}")] if requests else []


def _shares(values: dict[str, str]) -> list[Metric]:
    """Percent of the samples per stall reason."""
    counts = {
        name.removeprefix(SAMPLES): _number(value)
        for name, value in values.items()
        if name.startswith(SAMPLES) and not name.endswith("_not_issued") and value
    }
    whole = sum(counts.values())
    return [(SHARE + theirs, "%", f"{100 * counts[own] / whole:.2f}") for theirs, own in STALLS.items() if whole]


def _lines(keys: list[str], launches: list[tuple[list[str], list[Metric]]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*keys, "Section Name", "Metric Name", "Metric Unit", "Metric Value"])
    writer.writerows([*one, SECTION, *metric] for one, metrics in launches for metric in metrics)
    return out.getvalue()
