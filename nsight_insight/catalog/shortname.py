"""Short names of kernels: the function, plus what it carries where the function is only a vehicle.

``vectorized_elementwise_kernel[float16_copy_kernel_cuda]``, ``elementwise_kernel[direct_copy_kernel_cuda
nocast float]``, ``reduce_kernel[sum_functor Half]``, ``cutlass_80_simt_sgemm_128x256_8x4_nt_align1``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nsight_insight.catalog.nametree import Part, Sequence, local_scope, render, unscoped

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPLACED: Final = re.compile(r"Kernel2?|device_kernel|_?kernel_agent|cuda_parallel_launch_\w+")
"""Vehicles whose own name says nothing: the first class argument stands for the kernel."""

_VEHICLE: Final = re.compile(
    r"\w*elementwise_kernel\w*|reduce_kernel|multi_tensor_apply_kernel|distribution_\w+|Kernel[123]D|EigenMetaKernel"
    r"|static_kernel|transform_kernel|act_and_mul_kernel|forall_\w+|CudaKernelLauncher\w*|par_\w+"
)
"""Vehicles that tell something (shape of the loop): name[what they carry]."""

_TYPED: Final = re.compile(r"elementwise|^reduce_kernel|Pointwise|distribution")
"""Vehicles whose lambda takes elements; elsewhere it takes loop indices."""

_GENERIC: Final = frozenset({"kernel", "run", "main", "entry", "apply", "compute", "invoke", "execute"})
"""Function names that need their scope or argument to mean anything."""

_TRANSPARENT: Final = {
    "gpu_kernel_impl": "", "gpu_kernel_impl_nocast": "nocast", "ReduceOp": "", "func_wrapper_t": "",
    "BinaryFunctor": "", "AUnaryFunctor": "AUnary", "BUnaryFunctor": "BUnary", "normal_and_transform": "",
    "uniform_and_transform": "", "gpu_index_kernel": "", "ParallelFor": "ParallelFor", "ParallelScan": "ParallelScan",
    "ParallelReduce": "ParallelReduce", "ParallelForAgent": "for", "enable_sm90_or_later": "", "enable_sm90": "",
    "enable_sm80_to_sm89": "",
}  # fmt: skip
"""Wrappers looked through, with the word that remembers them."""

_BUILTIN: Final = re.compile(
    r"(?:unsigned |signed )?(?:int|long long|long|short|char|bool|float|double|void|wchar_t|__int128)|unsigned"
    r"|(?:u?int\d+|size|__half|half|Half|BFloat16|__nv_bfloat16|half_t|bfloat16_t|tfloat32_t|std::byte)(?:_t)?|-?\d+|T\d*"
)
_FLOAT: Final = re.compile(r"float|double|half|Half|BFloat|__nv_b")
_BORING: Final = re.compile(
    r"array|Array|\w*OffsetCalculator|\w*[Pp]olicy\w*|(?:Load|Store)With\w+|\w*ListMetadata|CUDAGeneratorImpl"
)
_IMPLIED: Final = re.compile(r"float\d+_copy|_amp_")
_BOILERPLATE: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"_execute_segment_k_off|_execute(?=_kernel_)", ""),
        (r"_execute(?=_(?:split|segment)_k)", ""),
        (r"_kernel_?_5x_cu(?:blas|dnn)\b|_kernel_trt\b|_kernel0_0\b", ""),
        (r"_tilesize(?=\d)", "_"),
        (r"^cudnn_generated_fort_native_", "cudnn_"),
    )
)


@dataclass(frozen=True)
class _Label:
    """What an argument stands for: words in order, and the element type it works on."""

    words: tuple[str, ...]
    dtype: str = ""

    def __str__(self) -> str:
        implied = not self.dtype or any(_IMPLIED.search(word) for word in self.words)
        return " ".join(self.words if implied else (*self.words, self.dtype))


def short_name(function: Sequence) -> str:
    """The short name of a parsed function; "" when there is none."""
    parts = local_scope(function)
    lambdas = [part for part in parts if part.kind == "{"]
    if lambdas:
        return str(_label(parts))
    scope, name = _tail(parts)
    args = _arguments(parts)
    if _REPLACED.fullmatch(name):
        label = str(_label(_carrier(args)))
        return label or _scoped(scope, name)
    if name in _GENERIC:
        return _generic(scope, name, args)
    if _VEHICLE.fullmatch(name) or any(_lambda_owners(args)):
        label = str(_carried(name, args))
        return f"{name}[{label}]" if label else name
    return _tidy(name)


def _generic(scope: str, name: str, args: list[Sequence]) -> str:
    label = _label(_carrier(args))
    if label.words and label.words[0].startswith("cublasGemvParams"):
        return f"gemvx::kernel[{_first_float(args)}]"
    return f"{name}[{label}]" if label.words else _scoped(scope, name)


def _scoped(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope else name


def _tidy(name: str) -> str:
    for pattern, replacement in _BOILERPLATE:
        name = pattern.sub(replacement, name)
    return name


def _tail(parts: Sequence) -> tuple[str, str]:
    """Innermost scope and name of the function; the last text that is not empty holds both."""
    text = next((part.text for part in reversed(parts) if not part.kind and part.text.strip(" :&*.")), "")
    chain = [piece for piece in text.strip(" &*").split("::") if piece]
    return (chain[-2] if len(chain) > 1 else "", chain[-1]) if chain else ("", "")


def _arguments(parts: Sequence) -> list[Sequence]:
    groups = [part for part in parts if part.kind == "<"]
    return groups[-1].items if groups else []


def _carrier(args: list[Sequence]) -> Sequence:
    """The first argument that is a class or function, not a number, an element type or a helper."""
    for arg in args:
        head = unscoped(arg[0].text).strip(" &*") if arg else ""
        if head and not _BUILTIN.fullmatch(head) and not _BORING.fullmatch(head):
            return arg
    return []


def _carried(name: str, args: list[Sequence]) -> _Label:
    if name == "multi_tensor_apply_kernel":
        return _foreach(args)
    if name == "EigenMetaKernel":
        return _eigen(args)
    label = _label(_carrier(args) or next(_lambda_owners(args), []))
    if not _TYPED.search(name):
        return _Label(label.words)
    if any(unscoped(arg[0].text).strip() == "LoadWithCast" for arg in args if arg):
        return _Label((*label.words, "cast"), label.dtype)
    return label


def _label(item: Sequence) -> _Label:
    parts = local_scope(item)
    _, name = _tail([part for part in parts if part.kind != "{"])
    if not name or "\u2026" in name or name.endswith("..."):
        return _Label(("\u2026",) if item else ())
    args = _arguments(parts)
    if name in _TRANSPARENT:
        inner = _label(_carrier(args))
        word = _TRANSPARENT[name]
        words = (*inner.words, word) if word == "nocast" else (word, *inner.words) if word else inner.words
        return _Label(words, _element(args) or inner.dtype)
    groups = [part for part in parts if part.kind == "<"]
    if len(groups) > 1:
        return _label(_carrier(args)) if _carrier(args) else _Label((name,))
    return _leaf(name, parts, args)


def _leaf(name: str, parts: Sequence, args: list[Sequence]) -> _Label:
    closure = next((part for part in parts if part.kind == "{"), None)
    if closure is None:
        shape = _shape(parts)
        dtype = _element(args) or _first_float(args) or (_deep_float(parts) if shape else "")
        return _Label((name.removesuffix("_cuda_"), *shape), dtype)
    types, number = _closure(closure)
    pointer = bool(types) and types[0].endswith("*")
    suffix = f"#{number}" if number > 1 and not pointer else ""
    dtype = "" if pointer else next((t for t in types if t not in ("bool", "int")), types[0] if types else "")
    return _Label((name.removesuffix("_cuda_") + suffix,), dtype)


def _closure(part: Part) -> tuple[list[str], int]:
    """Parameter types and number of ``{lambda(float, bool)#2}``."""
    inner = next((group for item in part.items for group in item if group.kind == "("), Part("("))
    number = part.items[-1][-1].text.lstrip("#") if part.items[-1] else ""
    types = [render(item).strip(" &") for item in inner.items]
    return [t for t in types if t], int(number) if number.isdigit() else 1


def _element(args: list[Sequence]) -> str:
    """The first argument when it is an element type."""
    first = render(args[0]).strip() if args else ""
    return first if _BUILTIN.fullmatch(first) and not first.lstrip("-").isdigit() else ""


def _first_float(args: list[Sequence]) -> str:
    names = (render(arg).strip() for arg in args[:16] if len(arg) == 1)
    return next((name for name in names if _BUILTIN.fullmatch(name) and _FLOAT.search(name)), "")


def _deep_float(parts: Sequence) -> str:
    return next((dtype for part, _ in _groups(parts) if (dtype := _first_float(part.items))), "")


def _foreach(args: list[Sequence]) -> _Label:
    """``multi_tensor_apply_kernel``: the functor and, where it is a frame, the operation in it."""
    classes = [arg for arg in args if _carrier([arg])]
    lambdas = [arg for arg in classes if any(part.kind == "{" for part in arg)]
    if lambdas or not classes:
        return _label(lambdas[0]) if lambdas else _Label(())
    first, *others = [_label(arg) for arg in classes[:2]]
    if not first.words or not re.match(r"(?:Unary|Binary|Pointwise|Ternary)Op", first.words[0]):
        return first
    frame = first.words[0].removesuffix("Functor")
    return _Label((frame, *(word for other in others for word in other.words)), first.dtype)


def _eigen(args: list[Sequence]) -> _Label:
    """An Eigen expression: its scalar operation, else the outermost tensor operation but the assignment."""
    names = [name for arg in args for name in _class_names(arg)]
    scalar = [name for name in names if name.startswith("scalar_")]
    tensor = [n for n in names if re.fullmatch(r"Tensor\w+Op", n) and n != "TensorAssignOp" and "Cwise" not in n]
    return _Label(tuple((scalar or tensor)[:1]))


def _shape(parts: Sequence) -> tuple[str, ...]:
    """Main loop and tile of a CUTLASS kernel class."""
    names = list(_class_names(parts))
    loops = [name for name in names if re.match(r"Mma[A-Z]|Collective(?:Mma|Mainloop)|ImplicitGemmM", name)]
    tiles = [tile for tile in _tiles(parts) if tile.count("x") == 2]
    return (*loops[:1], *tiles[:1])


def _tiles(parts: Sequence) -> Iterator[str]:
    for part, name in _groups(parts):
        if name == "GemmShape":
            yield "x".join(render(item).strip() for item in part.items)


def _class_names(parts: Sequence) -> Iterator[str]:
    return (name for _, name in _groups(parts))


def _groups(parts: Sequence) -> Iterator[tuple[Part, str]]:
    """Every template argument list in document order, with the name it belongs to."""
    before = ""
    for part in parts:
        if not part.kind:
            before = unscoped(part.text).strip(" &*")
            continue
        if part.kind == "<":
            yield part, before
        for item in part.items:
            yield from _groups(item)


def _lambda_owners(args: list[Sequence]) -> Iterator[Sequence]:
    """Function-local lambdas among the arguments, innermost last; the owner tells what the kernel does."""
    for arg in reversed(args):
        for part in arg:
            if part.kind in ("<", "("):
                yield from _lambda_owners(part.items)
        if any(part.kind == "{" for part in arg) and len(arg) > 1:
            yield arg
