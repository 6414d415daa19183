"""What names say: function name, kernel family, data types, library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from nsight_insight.catalog.kernels import classify
from nsight_insight.catalog.names import base_name
from nsight_insight.model.columns import Kind
from nsight_insight.readers._assemble_stack import Array, Stack

_API_SUFFIX: Final = re.compile(r"(?:_pts[zd]s?|_v\d+)+$")
_WAYS: Final = {"HtoD": "Host-to-Device", "DtoH": "Device-to-Host", "DtoD": "Device-to-Device",
                "PtoP": "Peer-to-Peer", "HtoH": "Host-to-Host"}  # fmt: skip
_OLD_WAY: Final = re.compile(r"\b([HDP]to[HDP])\]")
_OLD_UNIFIED: Final = "[CUDA Unified Memory memcpy "
_FACTS: Final = ("family", "dtype_in", "dtype_out", "tensor_core", "library")


def derive_names(data: Stack) -> None:
    """Fill ``base`` for every row, and what the catalogue says about kernel names for kernels."""
    columns, kinds = data.columns, data.columns["kind"]
    columns["base"] = columns["name"].copy()
    kernels = kinds == Kind.KERNEL.value
    columns["base"][kernels] = _each(columns["name"][kernels], base_name)
    api = kinds == Kind.API.value
    columns["base"][api] = _each(columns["name"][api], api_base)
    memory = (kinds == Kind.MEMCPY.value) | (kinds == Kind.MEMSET.value)
    columns["base"][memory] = _each(columns["name"][memory], operation_base)
    classes = {name: classify(name) for name in set(columns["name"][kernels])}
    for fact in _FACTS:
        columns[fact][kernels] = _objects(getattr(classes[name], fact) for name in columns["name"][kernels])


def api_base(name: str) -> str:
    """``cuMemcpyHtoD_v2`` -> ``cuMemcpyHtoD``, ``cudaLaunchKernel_ptsz`` -> ``cudaLaunchKernel``."""
    return _API_SUFFIX.sub("", name)


def operation_base(name: str) -> str:
    """The wording of 2023 and later: ``[CUDA memcpy HtoD]`` -> ``[CUDA memcpy Host-to-Device]``."""
    name = name.replace(_OLD_UNIFIED, "[CUDA memcpy Unified ")
    return _OLD_WAY.sub(lambda found: f"{_WAYS.get(found[1], found[1])}]", name)


def _each(names: Array, function: Callable[[str], str]) -> Array:
    known = {name: function(name) for name in set(names)}
    return _objects(known[name] for name in names)


def _objects(values: Iterable[object]) -> Array:
    found = list(values)
    array: Array = np.empty(len(found), dtype=object)
    array[:] = found
    return array
