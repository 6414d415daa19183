"""Kernel names of every tool in one dialect, and the short names that reports print.

The same kernel is ``void at::native::elementwise_kernel<(int)128, ...`` to nsys,
``void at::elementwise_kernel<128, ...`` or ``void native::elementwise_kernel<128, ...`` to ncu (it drops
scopes it finds superfluous in a report), ``<int=128, ...`` to nvprof, ``<128, ... {lambda(float)#1}`` to
c++filt and ``_ZN2at6native...`` in the binary.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from nsight_insight.catalog import nametree
from nsight_insight.catalog.itanium import MangledError
from nsight_insight.catalog.mangled import demangle_itanium
from nsight_insight.catalog.shortname import short_name

_SCOPES: Final = {
    "at": "at", "native": "at", "vllm": "vllm", "flashinfer": "flashinfer", "tensorrt_llm": "tensorrt_llm",
    "transformer_engine": "transformer_engine", "cudnn": "cudnn", "cublasLt": "cublasLt", "cutlass": "cutlass",
    "tensorflow": "tensorflow", "Eigen": "Eigen", "flash": "flash", "deep_ep": "deep_ep", "deep_gemm": "deep_gemm",
}  # fmt: skip
"""Scopes that name a library. ncu prints ``at::native::x`` as ``at::x`` or ``native::x``, depending on what
else a report holds, and drops other inner scopes, so that no other scope can be relied on."""


def demangle(name: str) -> str:
    """The readable form of ``_Z...``; every other name, and one that cannot be read, comes back as it is."""
    if not name.startswith(("_Z", "__Z")):
        return name
    try:
        return demangle_itanium(name[: nametree.MAX_LENGTH])
    except MangledError:
        return name


def normalize(name: str) -> str:
    """The name in one dialect for ncu, nsys, nvprof, c++filt and mangled spellings.

    No return type, no scopes but the library's, no ``const``, plain numbers as template values, lambdas as
    ``owner::{lambda(float)#1}``, parameters only where the function is no template.
    """
    return _names(name)[0]


def base_name(name: str) -> str:
    """The short name an expert would use: the function without scopes, return type and parameters.

    Where the function is only a vehicle (``vectorized_elementwise_kernel``, ``cutlass::Kernel2``,
    ``reduce_kernel`` ...), what it carries follows in brackets or replaces it.
    """
    return _names(name)[1]


@lru_cache(maxsize=16_384)
def _names(name: str) -> tuple[str, str]:
    """Normalised and short name; pseudo names such as ``[CUDA memcpy HtoD]`` are left alone."""
    name = nametree.printable(name)
    if name.startswith(("[CUDA ", "Memcpy ", "Memset ")):
        return name, name
    text = nametree.clean(demangle(name))
    head = text.partition("<")[0]
    function, params = nametree.split_function(nametree.parse(text[head.rfind("/") + 1 :]))
    return _joined(function, params) or name, short_name(function) or name


def _joined(function: nametree.Sequence, params: nametree.Part | None) -> str:
    text = _library_scope(function) + nametree.render([part for part in function if part.kind != "("])
    if params is None or any(part.kind == "<" for part in function):
        return text
    return text + nametree.render([params])


def _library_scope(function: nametree.Sequence) -> str:
    chain = function[0].text.split("::")[:-1] if function else []
    known = next((_SCOPES[scope.strip()] for scope in chain if scope.strip() in _SCOPES), "")
    return f"{known}::" if known else ""
