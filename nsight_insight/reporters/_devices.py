"""Several devices beside each other: plain sentences that the text and Markdown reports share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nsight_insight.reporters import format as fmt

if TYPE_CHECKING:
    from nsight_insight.model.finding import Finding, Report
    from nsight_insight.model.totals import DeviceTotals

CERTAIN = frozenset({"NVTX ranges", "updates of the loss scale", "optimizer kernels"})
"""What marks whole steps; a repeated sequence of kernels may as well be a layer."""


def steps(number: int, basis: str) -> str:
    """``3 steps after warm-up``; where only kernels repeat, that they may be layers."""
    if not basis or basis == "NVTX ranges":
        return f"{fmt.count(number, 'step')} after warm-up"
    if basis in CERTAIN:
        return f"{fmt.count(number, 'step')} after warm-up, told by {basis}"
    return f"{fmt.count(number, 'repetition')} of one kernel sequence: steps, or layers of one"


def each(basis: str) -> str:
    """What one of them is called: a step, or a repetition where only kernels repeat."""
    return "step" if not basis or basis in CERTAIN else "repetition"


def heading(report: Report) -> str:
    """What the lines cover and which device is the slowest; "" for a single device."""
    devices = report.device_totals
    if len(devices) < 2:
        return ""
    if len({device.clock for device in devices}) > 1:
        return f"{len(devices)} devices, or captures of one, on clocks that cannot be aligned: not compared"
    slow = next((device for device in devices if device.slowest), None)
    if slow is not None:
        others = "the other waits" if len(devices) == 2 else "the others wait"
        why = f"{others} for it in collectives" if slow.comm_ns else "it has most work of its own"
        return f"{len(devices)} devices; device {slow.index} is the slowest: {why}"
    if all(device.window_ns is None for device in devices):
        return f"{len(devices)} devices; which is slowest cannot be told without start times"
    return f"{len(devices)} devices; none is clearly the slowest"


def lines(report: Report) -> list[str]:
    """A line per device, slowest first, then by work of its own; none for a single device."""
    if len(report.device_totals) < 2:
        return []
    ranked = sorted(report.device_totals, key=lambda d: (not d.slowest, -(d.own_ns or d.kernel_ns), d.index))
    return [_line(device) for device in ranked]


def _line(device: DeviceTotals) -> str:
    name = f" ({fmt.flow(device.name)})" if device.name else ""
    parts = [f"kernels {fmt.time(device.kernel_ns)}"]
    if device.busy_ns is None or device.window_ns is None or device.window_ns <= 0:
        parts.append("busy and idle time unknown: no start times for all of its work")
        return f"device {device.index}{name}: {', '.join(parts)}"
    where = "whole capture, start-up included"
    if device.steady:
        where = steps(device.steps or 0, device.basis)
    busy = device.busy_ns / device.window_ns
    parts = [f"busy {fmt.share(busy)} of {fmt.time(device.window_ns)} ({where})", *parts]
    if device.comm_ns:
        exposed = fmt.time(device.comm_exposed_ns)
        parts.append(f"collectives {fmt.time(device.comm_ns)}, {exposed} of it exposed")
    if device.host_bound_share is not None:
        parts.append(f"waits for the host {fmt.share(device.host_bound_share)}")
    parts += _sharing(device)
    return f"device {device.index}{name}: {', '.join(parts)}"


def _sharing(device: DeviceTotals) -> list[str]:
    """Streams and processes, where there are several."""
    several = [(device.streams, "stream"), (device.processes, "process")]
    return [fmt.count(number, noun) for number, noun in several if number is not None and number > 1]


def titled(finding: Finding, report: Report) -> Finding:
    """The finding, its title naming the device where there are several."""
    if len(report.device_totals) < 2 or finding.subject.device < 0:
        return finding
    return replace(finding, title=f"{finding.title} (device {finding.subject.device})")
