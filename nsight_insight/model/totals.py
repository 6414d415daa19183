"""Time bases of a profile, and the time line of each of its devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Totals:
    """Time bases of the profile, in ns; None where the input cannot say.

    ``steps_basis`` is what the steady steps were recognised by, as in ``DeviceTotals``.
    """

    kernel_ns: float
    launches: int
    kernels: int
    copy_ns: float | None = None
    gpu_busy_ns: float | None = None
    window_ns: float | None = None
    steady_busy_ns: float | None = None
    steady_window_ns: float | None = None
    steady_steps: int | None = None
    steps_basis: str = ""
    api_ns: float | None = None
    basis: str = ""
    families: Mapping[str, float] = field(default_factory=dict)

    @property
    def idle_ns(self) -> float:
        """Idle time of the steady windows; 0 where no input says."""
        if self.steady_window_ns is None or self.steady_busy_ns is None:
            return 0.0
        return max(self.steady_window_ns - self.steady_busy_ns, 0.0)


@dataclass(frozen=True)
class DeviceTotals:
    """One device's time line; None where the input cannot say, which is never 0.

    Attributes:
        index: the tool's number of the device, -1 unknown.
        name: the GPU, "" unknown.
        steady: ``window_ns`` and what lies in it are the steady steps, not the whole capture.
        steps: steady steps in the window.
        basis: what the steps were recognised by, "" without steps.
        window_ns: steady window, or first kernel to last end on the device.
        busy_ns: union of kernels, copies and sets in it.
        kernel_ns: kernel time in it; of all kernels where there is no window.
        comm_ns: collectives in it.
        comm_exposed_ns: collectives during which no other kernel ran on the device.
        host_bound_share: part of the steady window in which the GPU waits for the host.
        streams: streams that kernels ran on.
        processes: processes that launched them.
        clock: number of the clock its times are on; devices on different clocks may be captures of one GPU.
        slowest: the others wait for it in collectives, or, without collectives, it has most work of its own; never
            set where devices do not differ by more than noise or did different work.
    """

    index: int
    name: str
    kernel_ns: float
    launches: int
    steady: bool = False
    steps: int | None = None
    basis: str = ""
    window_ns: float | None = None
    busy_ns: float | None = None
    comm_ns: float | None = None
    comm_exposed_ns: float | None = None
    host_bound_share: float | None = None
    streams: int | None = None
    processes: int | None = None
    clock: int = 0
    slowest: bool = False

    @property
    def idle_ns(self) -> float | None:
        """Window minus busy."""
        return None if self.window_ns is None or self.busy_ns is None else max(self.window_ns - self.busy_ns, 0.0)

    @property
    def own_ns(self) -> float | None:
        """Busy time that is not spent in exposed collectives, so neither moving data to nor waiting for others."""
        if self.busy_ns is None or self.comm_exposed_ns is None:
            return None
        return max(self.busy_ns - self.comm_exposed_ns, 0.0)
