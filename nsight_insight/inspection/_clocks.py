"""How Nsight Compute ran the launches: clocks, caches, replays, and how many of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.gpus import find_gpu
from nsight_insight.model.inspection import Caution
from nsight_insight.model.issues import Location
from nsight_insight.model.text import scaled

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.views.build import Views

UNLOCKED: Final = "unmodified GPU clocks"
"""ncu says so on a live run with ``--clock-control none``."""
UNCONTROLLED: Final = "uncontrolled GPU caches"
"""ncu says so on a live run with ``--cache-control none``."""
NEAR_BASE: Final = 0.03
"""A clock this close to the GPU's base clock was locked to it; 1.095 GHz read 1.09 to 1.11 on an H100 PCIe."""
BELOW: Final = 0.85
"""Below this share of the highest clock, launches ran slower than they would on their own."""
MANY_PASSES: Final = 2
FEW_LAUNCHES: Final = 10


def clocks(profile: Profile, views: Views) -> Iterator[Caution]:
    """Durations at another clock than the program's own."""
    acts = views.activities
    for device in profile.devices:
        rows = acts.metered[acts.device[acts.metered] == device.index]
        clock = acts.column("sm_clock")[rows]
        time = np.where(np.isnan(clock), 0.0, acts.time(rows))
        gpu = find_gpu(device.name) if device.name else None
        highest = device.sm_clock_hz or (gpu.boost_clock_hz if gpu else None)
        if not time.sum() or highest is None:
            continue
        mean = float(np.average(np.nan_to_num(clock), weights=time))
        base = gpu.base_clock_hz if gpu else None
        where = profile.locate(int(rows[np.argmax(time)]), "sm_clock")
        yield from _clock(mean, base, highest, where)
    yield from _banner(
        profile,
        UNLOCKED,
        "clocks-unlocked",
        "the clocks were not locked: durations are those of the program, and vary with temperature and power",
        "compare two captures only from the same GPU, both taken with --clock-control none",
    )


def _clock(mean: float, base: float | None, highest: float, where: Location) -> Iterator[Caution]:
    ran = f"SMs ran at {scaled(mean, 'Hz')} of at most {scaled(highest, 'Hz')}"
    if base and abs(mean / base - 1) <= NEAR_BASE and base < BELOW * highest:
        text = f"{ran}, the GPU's base clock: ncu locked it, so durations are longer than in the program"
        yield Caution("clocks-base", "doubt", text, "shares and rates hold; for times, use --clock-control none", where)
    elif mean < BELOW * highest:
        text = f"{ran}: locked, limited by power or heat, or launches too short for the clock to rise"
        yield Caution("clocks-low", "doubt", text, "shares and rates hold; times may be too long", where)


def caches(profile: Profile, views: Views) -> Iterator[Caution]:  # noqa: ARG001 - a check takes both
    """Caches left as the launch before left them."""
    yield from _banner(
        profile,
        UNCONTROLLED,
        "caches-uncontrolled",
        "caches were not flushed between replays: hit rates depend on what ran before, as in the program",
        "",
    )


def _banner(profile: Profile, sign: str, name: str, text: str, remedy: str) -> Iterator[Caution]:
    for source in profile.sources:
        if any(sign in banner for banner in source.banners):
            yield Caution(name, "note", text, remedy, Location(source.path))
            return


def replays(profile: Profile, views: Views) -> Iterator[Caution]:  # noqa: ARG001
    """Metrics that come from different runs of a launch."""
    passes = [
        int(float(source.facts["replay_passes"])) for source in profile.sources if "replay_passes" in source.facts
    ]
    if passes and max(passes) >= MANY_PASSES:
        text = (
            f"each launch was run up to {max(passes)} times: metrics come from different runs, and ratios of them may "
            "be off by a few percent"
        )
        yield Caution("replays", "note", text, "collect fewer sections at a time where a ratio looks impossible")


def few_profiled(profile: Profile, views: Views) -> Iterator[Caution]:  # noqa: ARG001
    """A handful of launches, which need not be typical."""
    number = len(views.activities.metered)
    if 0 < number < FEW_LAUNCHES:
        text = f"{number} launch{'' if number == 1 else 'es'} profiled by ncu: they need not be typical of the program"
        yield Caution("few-profiled", "note", text, "profile a whole training step after the warm-up")
