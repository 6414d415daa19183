"""Two other tools scored as the rules are, from what they said of the captures (``peer_findings/``).

A tool has a hit when its finding names the planted mechanism, be it in the finding or in the advice it gives with it;
whoever names it in any wording gets the credit. In the tools' favour, findings that only describe (severity ``info`` of
``diagnose``) and repetitions of one kind take no place in the ranking; fournex ranks bottlenecks and recommendations
separately, and the better place counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from bench.proof.cases import Case, Truth
from bench.proof.findings import Found
from bench.proof.peers import Said, load
from bench.proof.score import FALSE, Result, saving, spread

LAYOUTS = {
    "details": "details page",
    "raw": "raw page",
    "long": "raw page, one metric a line",
    "asked": "metrics of its own command under its own names",
}
DESCRIBED = re.compile(r"Top kernel|Top-\d|Kernel hotspot|High variability")
"""Labels of ``diagnose`` that say which kernel is heavy, not why."""
RULE_OF = {
    "low_issue_efficiency": "low_issue_efficiency|low_mfu_issue",
    "low_warp_scheduler_utilization": "low_scheduler_utilization|low_mfu_scheduler",
    "tensor_core_underutilized": "tensor_core",
    "memory_bandwidth_bound": "memory_bandwidth|roofline_memory_bound",
}
"""Bottleneck -> its rules, where they are called otherwise."""
NSYS_AI: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("TC eligible, inactive", ("tensor-core/*",), "the kernel is said to run off the Tensor Cores"),
    ("GPU Idle|GPU idle|GPU Bubbles", ("idle/*", "launch/tiny-kernels"),
     "idle time; advice names syncs, loader, graphs"),
    ("Small Kernel Overhead", ("launch/tiny-kernels", "launch/per-parameter-optimizer", "launch/elementwise-chain",
     "idle/launch-bound", "idle/optimizer-launches", "tensor-core/small-matrix-kernels"), "fuse or use CUDA graphs"),
    ("CPU sync blocks|Excessive Synchronization", ("sync/*", "idle/synchronization-gaps"),
     "the host waits for the GPU"),
    ("Large H2D|H2D Spike|H2D Transfer", ("transfer/*",), "host to device copies; advice names pinned memory"),
    ("Large D2H", ("transfer/host-device-traffic",), "device to host copies"),
    ("Pageable Memory|Synchronous Memcpy", ("transfer/pageable-copies",), "pageable or blocking copies"),
    ("Kernel Hotspot", ("tensor-core/misaligned-operands", "launch/unfused-attention", "tensor-core/fp32-attention"),
     "the advice names multiples of 128 and FlashAttention, whatever the kernel"),
)  # fmt: skip
"""Beginning of a label -> rules of ours for the same cause, and why."""
FOURNEX: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("uncoalesced_access|rec_ncu_improve_coalescing", ("memory/uncoalesced-global-access",), "coalescing"),
    ("warp_stall_memory", ("latency/stall-long-scoreboard", "latency/stall-lg-throttle",
     "memory/uncoalesced-global-access"), "waits for memory, \"high-latency or uncoalesced\""),
    ("memory_bandwidth_bound", ("memory/dram-bandwidth-bound", "memory/uncoalesced-global-access"),
     "DRAM busy; first advice is coalescing"),
    ("l1_cache_thrashing|rec_ncu_tiling_shared_mem|rec_roofline_tiling", ("memory/l1-low-hit-high-traffic",
     "memory/l1-bandwidth-bound"), "poor locality in L1; advice names tiling and register blocking"),
    ("l2_cache_thrashing", ("memory/l2-misses", "memory/dram-bandwidth-bound"), "working set exceeds L2"),
    ("rec_ncu_reduce_working_set", ("memory/l2-misses", "memory/dram-bandwidth-bound",
     "memory/l1-low-hit-high-traffic", "memory/l1-bandwidth-bound"), "smaller working set, register blocking"),
    ("tensor_core_underutilized|rec_ncu_enable_amp|rec_ncu_use_tensor_ops|rec_ncu_align_matmul_dims",
     ("tensor-core/*",), "Tensor Cores idle"),
    ("warp_stall_sync|rec_ncu_reduce_syncthreads", ("latency/stall-barrier", "latency/stall-membar"), "barriers"),
    ("rec_ncu_shared_mem_layout", ("memory/shared-bank-conflicts",), "bank conflicts are named"),
    ("occupancy_limited", ("occupancy/low-theoretical-occupancy", "occupancy/low-achieved-occupancy"),
     "low occupancy, whatever limiter it names"),
    ("rec_ncu_reduce_register_pressure|rec_ncu_reduce_shared_memory_footprint",
     ("occupancy/low-theoretical-occupancy",), "the limiter is named"),
    ("rec_ncu_increase_block_size", ("occupancy/low-theoretical-occupancy", "occupancy/low-achieved-occupancy",
     "occupancy/block-not-multiple-of-warp", "occupancy/small-grid"), "too few threads a block or SM"),
    ("rec_ncu_instruction_level_parallelism", ("latency/stall-long-scoreboard", "latency/stall-wait"),
     "more independent work per warp"),
    ("low_issue_efficiency|low_warp_scheduler_utilization", ("latency/low-issue-slot-utilization",
     "latency/stall-long-scoreboard", "latency/stall-wait"), "no ready warp; advice names independent work"),
    ("rec_roofline_occupancy|rec_roofline_batch_size", ("occupancy/small-grid", "occupancy/low-achieved-occupancy"),
     "more parallelism"),
)  # fmt: skip
"""Label of a bottleneck or id of a recommendation -> rules of ours for the same cause, and why."""
Names = tuple[tuple[str, tuple[str, ...], str], ...]


def nsys_ai(cases: Iterable[Case], truth: dict[str, Truth], command: str) -> list[Result]:
    """``diagnose`` or ``root_causes`` of nsys-ai on the timeline cases."""
    captures = load("nsys-ai")["captures"]

    def found(name: str, length: float | None) -> tuple[Found, ...]:
        said = captures[name][command]
        return tuple(_diagnosed(said, length) if command == "diagnose" else _causes(said))

    return [
        _result(case, truth[case.id], [() if case.control else found(f"{case.id}-bad", truth[case.id].bad_range)],
                found(f"{case.id}-good", truth[case.id].good_range), NSYS_AI)
        for case in cases
        if case.tool == "nsys"
    ]  # fmt: skip


def _diagnosed(said: Sequence[Said], length: float | None) -> Iterator[Found]:
    kinds = set()
    for one in said:
        kind = re.sub(r"\W*\d.*", "", one["label"].partition(":")[0])
        if one["severity"] != "info" and not DESCRIBED.match(one["label"]) and kind not in kinds:
            kinds.add(kind)
            share = one.get("headroom_ms", 0.0) * 1e3 / length if length else 0.0
            yield Found(one["label"], share, share, {}, one.get("note", ""))


def _causes(said: Sequence[Said]) -> Iterator[Found]:
    for one in said:
        if not one["pattern"].startswith("No Known"):
            yield Found(one["pattern"], 0.0, 0.0, {}, one.get("evidence", ""))


def fournex(cases: Sequence[Case], truth: dict[str, Truth], layout: str) -> list[Result]:
    """What fournex says on the ncu cases, given the capture in a layout."""
    captures = load("fournex")["captures"]

    def lists(name: str) -> list[tuple[Found, ...]]:
        said = captures[name][layout]
        advice = [(one, _advised(one)) for one in said["recommendations"]]
        return [
            tuple(_bottleneck(one["label"], advice) for one in said["bottlenecks"]),
            tuple(found for _, found in advice),
        ]

    return [
        _result(case, truth[case.id], [()] if case.control else lists(f"{case.id}-bad"),
                lists(f"{case.id}-good")[1], FOURNEX)
        for case in cases
        if case.tool == "ncu"
    ]  # fmt: skip


def _advised(one: Said) -> Found:
    """A speedup of s percent saves s / (100 + s) of the time; expected is the middle of the range it states."""
    low, high = one.get("estimated_speedup_pct_min", 0.0), one.get("estimated_speedup_pct_max", 0.0)
    middle = (low + high) / 2
    return Found(one["id"], middle / (100 + middle), high / (100 + high), {}, one.get("triggered_by", ""))


def _bottleneck(label: str, advice: Iterable[tuple[Said, Found]]) -> Found:
    """A bottleneck promises what the first recommendation for it does."""
    rules = RULE_OF.get(label, label)
    first = next((found for one, found in advice if re.search(rules, one.get("triggered_by", ""))), None)
    return Found(label, first.expected if first else 0.0, first.upper if first else 0.0, {}, "")


def _result(
    case: Case, truth: Truth, bad: Sequence[tuple[Found, ...]], good: tuple[Found, ...], names: Names
) -> Result:
    """The case scored; of several rankings of the same capture the one with the better place counts."""
    places = [
        (place, found)
        for ranking in bad
        for place, found in enumerate(ranking, 1)
        if any(re.match(start, found.rule) and _same(rules, case.expect) for start, rules, _ in names)
    ]
    rank, hit = min(places, key=lambda one: one[0], default=(None, None))
    false = {one.rule: one for one in good if one.expected > FALSE}
    return Result(
        case, saving(truth), spread(truth), rank, hit, bad[0][0] if bad[0] else None, tuple(false.values()), (), good
    )


def _same(rules: Iterable[str], expect: Iterable[str]) -> bool:
    return any(fnmatchcase(one, rule) for one in expect for rule in rules)
