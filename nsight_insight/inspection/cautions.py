"""What conclusions from a capture depend on: read from the capture itself, worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from nsight_insight.inspection import _clocks, _mixtures, _traces
from nsight_insight.model.inspection import WEIGHT_ORDER, Caution

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.views.build import Views

Check = Callable[["Profile", "Views"], Iterator[Caution]]

CHECKS: Final[tuple[Check, ...]] = (
    _traces.no_kernels,
    _traces.lost_events,
    _traces.stale_export,
    _traces.overhead,
    _traces.start_up,
    _traces.few_launches,
    _traces.whole_graphs,
    _traces.summaries_only,
    _traces.unknown_kernels,
    _clocks.clocks,
    _clocks.caches,
    _clocks.replays,
    _clocks.few_profiled,
    _mixtures.unknown_gpu,
    _mixtures.partition,
    _mixtures.several_gpus,
    _mixtures.added_up,
    _mixtures.several_processes,
    _mixtures.metered_share,
)


def cautions(profile: Profile, views: Views) -> list[Caution]:
    """Every caution there is about a profile, worst first."""
    found = [caution for check in CHECKS for caution in check(profile, views)]
    return sorted(found, key=lambda caution: WEIGHT_ORDER[caution.weight])
