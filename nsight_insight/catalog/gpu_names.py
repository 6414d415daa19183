"""From a GPU's name, as a driver prints it or a user types it, to its entry in the catalogue.

The driver prints ``NVIDIA A100-SXM4-40GB`` (``A100-SXM4-40GB`` before release 470), ``Tesla T4``,
``NVIDIA H100 80GB HBM3 MIG 1g.10gb`` for a MIG slice, ``NVIDIA A40-24Q`` or ``GRID T4-8Q`` for a virtual GPU.
nsys appends the device index: ``NVIDIA H200 (0)``. A name that several entries answer to finds none of them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from nsight_insight.catalog.gpu_table import Gpu, load_gpus

if TYPE_CHECKING:
    from collections.abc import Mapping

_INDEX: Final = re.compile(r"\s*\(\d+\)\s*$")
_MIG: Final = re.compile(r"\s+MIG\s+(?:\d+c\.)?(?P<profile>\d+g\.(?P<gb>\d+)gb\S*)\s*$", re.IGNORECASE)
_VGPU: Final = re.compile(r"(?:-\d)?-\d{1,3}[QCAB]\s*$")
_NOISE: Final = frozenset({"nvidia", "tesla", "geforce", "grid", "generation"})
_LINES: Final = frozenset({"rtx", "gtx"})
_WORD: Final = re.compile(r"[a-z0-9]+")
_MEMORY_SLICES: Final = 8
_SIMILAR: Final = 0.7


def find_gpu(name: str, sm_count: int | None = None) -> Gpu | None:
    """The one GPU a name stands for.

    Args:
        name: a driver name, with or without its prefixes and suffixes; an id or alias of the catalogue; or words
            that fit one entry only (``H100 SXM``).
        sm_count: as the profile gives it; decides where entries share a name.

    Returns:
        None for an unknown or ambiguous name. For a MIG slice, the GPU with ``partition`` set and the
        bandwidth of the slice's memory slices.
    """
    whole = _INDEX.sub("", name)
    mig = _MIG.search(whole)
    bare = _VGPU.sub("", whole[: mig.start()] if mig else whole)
    found = _by_key().get(_key(bare)) or _by_words(bare)
    if len(found) > 1 and sm_count is not None:
        found = tuple(gpu for gpu in found if gpu.sm_count == sm_count)
    if len(found) != 1:
        return None
    return _slice(found[0], mig["profile"], float(mig["gb"])) if mig else found[0]


def near_matches(name: str, limit: int = 5) -> list[str]:
    """Ids of the GPUs a name may have meant, likeliest first, for error messages."""
    wanted = _words(name)
    scored = [
        (len(wanted & _vocabulary(gpu.id)), SequenceMatcher(None, _key(name), _key(gpu.id)).ratio(), gpu.id)
        for gpu in load_gpus()
    ]
    likely = [row for row in scored if row[0] or row[1] >= _SIMILAR]
    return [gpu_id for _, _, gpu_id in sorted(likely, reverse=True)][:limit]


def _key(name: str) -> str:
    return "".join(word for word in _word_list(name) if word not in _NOISE)


def _words(name: str) -> frozenset[str]:
    return frozenset(_word_list(name)) - _NOISE


def _word_list(name: str) -> list[str]:
    return _WORD.findall(name.casefold().replace("max-q", "maxq"))


@lru_cache(maxsize=1)
def _by_key() -> Mapping[str, tuple[Gpu, ...]]:
    found: dict[str, dict[str, Gpu]] = {}
    for gpu in load_gpus():
        for name in (gpu.id, *gpu.names, *gpu.aliases):
            found.setdefault(_key(name), {})[gpu.id] = gpu
    return {key: tuple(gpus.values()) for key, gpus in found.items()}


def _by_words(name: str) -> tuple[Gpu, ...]:
    """Entries that have every word of ``name``, one with a digit among them; ``sxm`` fits ``sxm5``.

    RTX and GTX cannot be left out: Quadro 4000 is another GPU than Quadro RTX 4000.
    """
    wanted = _words(name)
    if not any(any(map(str.isdigit, word)) for word in wanted):
        return ()
    return tuple(gpu for gpu in load_gpus() if wanted <= (words := _vocabulary(gpu.id)) and words & _LINES <= wanted)


@lru_cache(maxsize=256)
def _vocabulary(gpu_id: str) -> frozenset[str]:
    gpu = next(gpu for gpu in load_gpus() if gpu.id == gpu_id)
    words = _words(" ".join((gpu.id, *gpu.names)))
    return words | {word.rstrip("0123456789") for word in words}


def _slice(gpu: Gpu, profile: str, gigabytes: float) -> Gpu:
    """A MIG slice: memory comes in eighths, and bandwidth with it (NVIDIA MIG user guide, "memory slice")."""
    share = min(round(gigabytes * 1e9 / gpu.memory_bytes * _MEMORY_SLICES), _MEMORY_SLICES) / _MEMORY_SLICES
    return replace(gpu, partition=profile, bandwidth=gpu.bandwidth * share)
