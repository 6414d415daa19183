"""``profile.plot``: pictures of a profile, reached by name because the model must not import what draws."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nsight_insight.model.charts import Charts
    from nsight_insight.model.profile import Profile


class Plots:
    """One method a picture; each returns a matplotlib ``Figure``, which notebooks show and ``plots.save`` writes.

    Every method takes ``device`` (the device's index; the one with most kernel time where None) and ``top`` (kernels
    that are named; the picture's own choice where None).

    Raises:
        UsageError: no such device.
        EmptyInput: the profile does not hold what the picture shows; the text says what does.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    @cached_property
    def charts(self) -> Charts:
        """The numbers behind the pictures; computed once."""
        return cast("Charts", import_module("nsight_insight.api").charts(self._profile))

    def roofline(self, *, device: int | None = None, top: int | None = None) -> Figure:
        """Operations per second over operations per byte, with this GPU's roofs at the measured clock."""
        return self._figure("roofline", device, top)

    def timeline(self, *, device: int | None = None, top: int | None = None) -> Figure:
        """A median step on the GPU's engines and streams, idle gaps by cause."""
        return self._figure("timeline", device, top)

    def stalls(self, *, device: int | None = None, top: int | None = None) -> Figure:
        """What the warps of each kernel wait for."""
        return self._figure("stalls", device, top)

    def breakdown(self, *, device: int | None = None, top: int | None = None) -> Figure:
        """Kernel time by family."""
        return self._figure("breakdown", device, top)

    def _figure(self, kind: str, device: int | None, top: int | None) -> Figure:
        found = import_module("nsight_insight.plots").figure(kind, self.charts, device=device, top=top)
        return cast("Figure", found)
