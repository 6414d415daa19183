"""Which of NVIDIA's rules name the cause that a rule of ours names."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from bench.proof.findings import Found

# Rule of ours -> (NVIDIA's rule, what its text must mention). Whoever names the mechanism in any of these has a hit.
NAMES: dict[str, tuple[tuple[str, str], ...]] = {
    "memory/uncoalesced-global-access": (("UncoalescedGlobalAccess", ""), ("MemoryCacheAccessPattern", "")),
    "memory/shared-bank-conflicts": (("SharedMemoryConflicts", ""), ("UncoalescedSharedAccess", "")),
    "memory/local-memory-traffic": (("MemoryCacheAccessPattern", "local"), ("LocalMemoryUsage", "")),
    "memory/l1-bandwidth-bound": (("HighPipeUtilization", "LSU"), ("SOLBottleneck", "L1"), ("CPIStall", "MIO")),
    "memory/l1-low-hit-high-traffic": (("SOLBottleneck", "L2"), ("MemoryCacheAccessPattern", "")),
    "memory/dram-bandwidth-bound": (("SOLBottleneck", "DRAM"),),
    "memory/atomic-contention": (("MemoryApertureUsage", "tomic"), ("CPIStall", "tomic")),
    "occupancy/low-theoretical-occupancy": (("TheoreticalOccupancy", ""),),
    "occupancy/low-achieved-occupancy": (("AchievedOccupancy", ""),),
    "occupancy/small-grid": (("LaunchConfiguration", "grid"),),
    "occupancy/tail-effect": (("LaunchConfiguration", "wave"),),
    "occupancy/block-not-multiple-of-warp": (("LaunchConfiguration", "multiple"),),
    "imbalance/sm-work-imbalance": (("WorkloadImbalance", ""),),
    "latency/divergence": (("ThreadDivergence", ""),),
    "latency/non-fused-arithmetic": (("FPInstructions", "fus"),),
    "latency/special-function-bound": (("HighPipeUtilization", "XU"), ("CPIStall", "MIO")),
    "precision/fp64-arithmetic": (("SOLFPRoofline", ""), ("FPInstructions", "64"), ("HighPipeUtilization", "64")),
    "precision/conversion-instructions": (("HighPipeUtilization", "XU"), ("CPIStall", "MIO")),
    "tensor-core/low-tensor-utilization": (("HighPipeUtilization", "ensor"), ("SOLFPRoofline", "ensor")),
}
STALLS = {
    "stall-long-scoreboard": "L1TEX",
    "stall-short-scoreboard": "MIO",
    "stall-mio-throttle": "MIO",
    "stall-lg-throttle": "LG|local/global",
    "stall-barrier": "barrier",
    "stall-membar": "membar|memory barrier",
    "stall-sleeping": "sleep",
    "stall-no-instruction": "instruction (cache|fetch)|no instruction|selected an instruction|fetched",
    "stall-wait": "fixed latency",
    "stall-math-pipe-throttle": "execution pipe|math",
}


def names_cause(found: Found, expect: tuple[str, ...]) -> bool:
    """Whether NVIDIA's finding names one of the causes that ``expect`` names."""
    for rule, rows in NAMES.items():
        if any(fnmatchcase(rule, pattern) for pattern in expect) and any(
            found.rule == name and part in found.text for name, part in rows
        ):
            return True
    stalls = [text for name, text in STALLS.items() if any(fnmatchcase(f"latency/{name}", p) for p in expect)]
    return found.rule == "CPIStall" and any(re.search(text, found.text, re.IGNORECASE) for text in stalls)
