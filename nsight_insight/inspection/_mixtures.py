"""Which GPU, how many of them, and whether the captures belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from nsight_insight.catalog.gpus import find_gpu
from nsight_insight.model.columns import Kind
from nsight_insight.model.inspection import Caution
from nsight_insight.model.issues import Location
from nsight_insight.model.text import clean
from nsight_insight.views.facts import KERNEL

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile
    from nsight_insight.views.build import Views

METERED: Final = 0.5
"""Share of the kernel time with ncu metrics below which they explain the smaller part."""


def unknown_gpu(profile: Profile, views: Views) -> Iterator[Caution]:
    """No name of a GPU, or one the catalogue does not have."""
    if not views.activities.runs.any():
        return
    names = [device.name for device in profile.devices if device.name]
    if not names:
        yield Caution("gpu-unknown", "doubt", "no input names the GPU: its peaks are assumed", "pass --gpu NAME")
    for device in profile.devices:
        if device.name and find_gpu(device.name) is None:
            text = f"the catalogue does not have {clean(device.name)}: its peaks are assumed"
            yield Caution("gpu-unknown", "doubt", text, "pass --gpu with a GPU like it", device.location)


def partition(profile: Profile, views: Views) -> Iterator[Caution]:  # noqa: ARG001 - a check takes both
    """A slice of a GPU (MIG): whole-GPU peaks do not apply."""
    for device in profile.devices:
        gpu = find_gpu(device.name) if device.name else None
        if gpu is None:
            continue
        if gpu.partition:
            text = f"{clean(device.name)} is a slice of a GPU (MIG): peaks and bandwidth are those of the slice"
            yield Caution("mig", "note", text, "", device.location)
        elif device.sm_count is not None and device.sm_count < gpu.sm_count:
            text = f"{clean(device.name)} shows {device.sm_count} of {gpu.sm_count} SMs: a slice (MIG) or another model"
            yield Caution("mig", "doubt", text, "peaks are scaled to these SMs, bandwidth is not", device.location)


def several_gpus(profile: Profile, views: Views) -> Iterator[Caution]:
    """Work on more than one device."""
    acts = views.activities
    used = np.unique(acts.device[acts.base])
    used = used[used >= 0]
    if len(used) < 2:
        return
    names = {device.name for device in profile.devices if device.index in used and device.name}
    text = f"{len(used)} GPUs did the work: each is judged on its own, times are added"
    if profile.clocks:
        text = f"{len(used)} GPUs, or captures of one at different times: each is judged on its own, times are added"
    elif len(names) > 1:
        text = f"{len(used)} GPUs of {len(names)} kinds did the work: each is judged by its own peaks"
    yield Caution("several-gpus", "note", text, "", profile.locate(int(acts.base[0]), "device"))


def added_up(profile: Profile, views: Views) -> Iterator[Caution]:
    """Kernel times of several captures, taken for different runs or programs; not where each has GPUs of its own."""
    acts = views.activities
    rows = acts.rows(acts.kind(Kind.KERNEL) & acts.column("primary"))
    numbers = np.unique(acts.column("source")[rows])
    if len(numbers) < 2:
        return
    tools = {profile.sources[number].tool for number in numbers}
    place = Location(profile.sources[int(numbers[-1])].path)
    if len(tools) > 1:
        text = "no kernel of one tool's capture is in the other's: taken for two programs, and their times are added"
        yield Caution("two-programs", "invalid", text, "inspect the captures one by one", place)
        return
    used = [set(acts.device[rows[acts.column("source")[rows] == number]].tolist()) for number in numbers]
    apart = sum(map(len, used)) == len(set().union(*used)) and -1 not in set().union(*used)
    if apart and not profile.clocks:
        return
    text = f"kernel times of {len(numbers)} tables are added up: they agree with each other in no total"
    remedy = "give reports of one capture, unless these are its ranks"
    yield Caution("added-up", "doubt", text, remedy, place)


def several_processes(profile: Profile, views: Views) -> Iterator[Caution]:
    """Launches of several processes."""
    acts = views.activities
    process = np.unique(acts.column("process")[acts.base])
    process = process[process >= 0]
    if len(process) > 1:
        text = f"{len(process)} processes launched kernels: ids and clocks of the ranks may differ"
        yield Caution("several-processes", "note", text, "", profile.locate(int(acts.base[0]), "process"))


def metered_share(profile: Profile, views: Views) -> Iterator[Caution]:
    """How much of the traced time the metrics explain."""
    acts = views.activities
    if not len(acts.metered) or (acts.tool[acts.base] == "ncu").any():
        return
    table = views[KERNEL]
    known = table.values.get("ncu_launches")
    total = float(table.time.sum())
    if known is None or not total:
        return
    share = float(table.time[np.nan_to_num(known) > 0].sum()) / total
    if share < METERED:
        text = f"kernels with Nsight Compute metrics take {share:.0%} of the traced kernel time"
        source = profile.sources[int(acts.column("source")[acts.metered[0]])]
        yield Caution("metered-share", "note", text, "profile the kernels that take most of it", Location(source.path))
