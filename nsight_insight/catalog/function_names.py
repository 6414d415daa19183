"""The name of a kernel's function as ``ncu --kernel-name`` compares it by default."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from nsight_insight.catalog import nametree
from nsight_insight.catalog.names import demangle

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)


@lru_cache(maxsize=4096)
def function_name(name: str) -> str:
    """The function's own name: no return type, namespaces, template arguments or parameters; else as in the binary.

    That is what ``ncu --kernel-name-base function`` (its default) matches against: of
    ``void at::native::reduce_kernel<...>(T3)`` it is ``reduce_kernel``; names of cuBLAS and Triton stay whole
    (compared with ``ncu --print-kernel-base function`` 2025.3.1 on PyTorch kernels).

    Args:
        name: as any tool wrote it, mangled names included.

    Returns:
        "" for what is no function (``[CUDA memset]``), for operators, and for names whose end was cut off.
    """
    text = nametree.clean(demangle(name[: nametree.MAX_LENGTH].strip()))
    if text.startswith("["):
        return ""
    head = text.partition("<")[0]
    function, _ = nametree.split_function(nametree.parse(text[head.rfind("/") + 1 :]))
    last = next((part.text for part in reversed(function) if not part.kind and part.text.strip()), "")
    found = nametree.unscoped(last.strip(" &*")).removeprefix("::")
    return found if _IDENTIFIER.fullmatch(found) and not found.startswith("operator_") else ""
