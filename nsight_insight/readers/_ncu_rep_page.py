"""The results of an Nsight Compute report, through NVIDIA's library, as a ``Page``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from nsight_insight.model.columns import Kind
from nsight_insight.model.issues import Location
from nsight_insight.model.numbers import Style
from nsight_insight.model.profile import ColumnOrigin, HotLine
from nsight_insight.model.text import clean
from nsight_insight.readers._ncu_hot import HotLines
from nsight_insight.readers._ncu_layout import (
    CONTEXT,
    DEVICE,
    ID,
    NAME,
    NVTX,
    PROCESS,
    RAW,
    RULE,
    RULE_TEXT,
    RULE_TYPE,
    SECTION,
    SPEEDUP,
    SPEEDUP_TYPE,
    STREAM,
)
from nsight_insight.readers._ncu_page import Page, Printed, RuleRow, wanted_metrics

REPORT: Final = "report"
_WHERE: Final = {CONTEXT: "launch__context_id", STREAM: "launch__stream_id", DEVICE: "device__attribute_device_index"}
_RULE_TYPES: Final = {0: "", 1: "INF", 2: "OPT", 3: "WRN", 4: "ERR"}
_SPEEDUPS: Final = {1: "local", 2: "global"}
_SAMPLES: Final = "smsp__pcsamp_sample_count"
_STALL: Final = "smsp__pcsamp_warps_issue_stalled_"
_NOT_ISSUED: Final = "_not_issued"
_NO_CODE: Final = "???"
"""What the library gives where the report holds no code for the address."""

Action = Any
"""An ``ncu_report.IAction``: the package ships no types."""


def actions_of(report: Any) -> list[Action]:
    """Every result of a report: kernels, ranges, graphs and command lists."""
    ranges = (report.range_by_idx(place) for place in range(report.num_ranges()))
    return [found.action_by_idx(place) for found in ranges for place in range(found.num_actions())]


def page_of(actions: Sequence[Action], processes: Sequence[int]) -> Page:
    """The page of all results. Their lines are their numbers, from 1.

    Args:
        actions: what ``actions_of`` returned, at least one.
        processes: process id of each, -1 unknown.
    """
    names = [frozenset(action.metric_names()) for action in actions]
    texts = {
        NAME: [_name(action) for action in actions],
        ID: [str(number) for number in range(len(actions))],
        PROCESS: [str(process) for process in processes],
        **{heading: [_cell(action.metric_by_name(metric)) or "" for action in actions]
           for heading, metric in _WHERE.items()},
    }  # fmt: skip
    available = frozenset().union(*names)
    origins = {heading: ColumnOrigin(metric, None) for heading, metric in (*_WHERE.items(), (NVTX, "NVTX"))}
    printed = {metric: [_printed(metric, actions, names)] for metric in sorted(available & wanted_metrics())}
    return Page(
        RAW, 1, list(range(1, len(actions) + 1)), texts, origins, printed, available,
        rules=[rule for row, action in enumerate(actions) for rule in _rules(row, action)],
        nvtx=[(-1, "/".join(_ranges(action))) for action in actions],
        kinds=[_kind(action) for action in actions],
        style=Style.PLAIN,
    )  # fmt: skip


def _name(action: Action) -> str:
    return str(action.name(action.NameBase_DEMANGLED) or action.name())


def _kind(action: Action) -> str:
    """Command lists, like graphs, are launches of many kernels at once."""
    batches = (action.WorkloadType_GRAPH, action.WorkloadType_CMDLIST)
    if action.workload_type() == action.WorkloadType_RANGE:
        return Kind.RANGE.value
    return Kind.GRAPH.value if action.workload_type() in batches else Kind.KERNEL.value


def _printed(metric: str, actions: Sequence[Action], names: Sequence[frozenset[str]]) -> Printed:
    found = [action.metric_by_name(metric) if metric in held else None
             for action, held in zip(actions, names, strict=True)]  # fmt: skip
    units = [str(value.unit()) if value is not None else "" for value in found]
    return Printed(metric, metric, None, [_cell(value) for value in found], units)


def _cell(metric: Any) -> str | None:
    """A value as text that reads back as the same number; None where the result lacks the metric."""
    if metric is None:
        return None
    value = metric.value()
    return "no data" if value is None else repr(value) if isinstance(value, float) else str(value)


def _ranges(action: Action) -> Iterator[str]:
    """Names of the NVTX push/pop ranges that were open, outermost first."""
    state = action.nvtx_state()
    for domain in state.domains() if state is not None else ():
        for name in state.domain_by_id(domain).push_pop_ranges():
            if name:
                yield str(name)


def _rules(row: int, action: Action) -> Iterator[RuleRow]:
    for result in action.rule_results():
        message: Mapping[str, Any] = result.rule_message() if result.has_rule_message() else {}
        if not message.get("message"):
            continue
        rule = str(result.rule_identifier())
        cells = {
            RULE: rule,
            RULE_TYPE: _RULE_TYPES.get(int(message.get("type", 0)), ""),
            RULE_TEXT: str(message["message"]),
            SECTION: str(result.section_identifier()),
        }
        if result.has_speedup_estimation():
            estimate = result.speedup_estimation()
            cells[SPEEDUP_TYPE] = _SPEEDUPS.get(int(estimate["type"]), "")
            cells[SPEEDUP] = repr(float(estimate["speedup"]))
        yield RuleRow(row, row + 1, cells, None, rule)


def hot_lines(actions: Sequence[Action], path: str) -> list[HotLine]:
    """The hottest instructions of every kernel that was sampled."""
    found = HotLines()
    for number, action in enumerate(actions, 1):
        kernel = _name(action)
        samples = _by_address(action, _SAMPLES)
        if samples:
            found.open_launch(kernel)
        stalls: dict[int, dict[str, int]] = {address: {} for address in samples}
        for metric in action.metric_names() if samples else ():
            if metric.startswith(_STALL) and not metric.endswith(_NOT_ISSUED):
                for address, count in _by_address(action, metric).items():
                    stalls.setdefault(address, {})[metric.removeprefix(_STALL)] = count
        for address, count in samples.items():
            place = Location(path, number, None, _SAMPLES)
            found.add(kernel, ("sass", hex(address), ""), count, stalls[address], place)
    return [replace(line, text=_instruction(actions, line)) for line in found.finish()]


def _instruction(actions: Sequence[Action], line: HotLine) -> str:
    """Disassembly takes the library milliseconds, so only what is kept is looked up."""
    action = actions[(line.location.line or 1) - 1]
    text = clean(str(action.sass_by_pc(int(line.place, 16)) or "")).strip()
    return "" if text == _NO_CODE else text


def _by_address(action: Action, metric: str) -> dict[int, int]:
    """A sampling metric by the address of the instruction."""
    found = action.metric_by_name(metric)
    if found is None or not found.num_instances() or not found.has_correlation_ids():
        return {}
    ids = found.correlation_ids()
    return {int(ids.value(place)): int(found.value(place)) for place in range(found.num_instances())}
