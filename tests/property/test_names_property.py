"""Any text is a kernel name; one kernel written in five dialects has one normal form and one short name."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Final

from hypothesis import example, given, settings
from hypothesis import strategies as st

from nsight_insight.catalog.kernels import classify
from nsight_insight.catalog.names import base_name, demangle, normalize
from tests.paths import FIXTURES

OPERATIONS = FIXTURES / "kernel-names" / "torch-2.11-h200" / "operations.tsv"
PIECES = st.sampled_from(
    [
        "void ", "at::native::", "<unnamed>::", "(anonymous namespace)::", "elementwise_kernel", "reduce_kernel",
        "multi_tensor_apply_kernel", "cutlass::Kernel2", "EigenMetaKernel", "kernel", "cublasGemvParamsEx", "ReduceOp",
        "UnaryOpFunctor", "gpu_kernel_impl_nocast", "GemmShape", "LoadWithCast", "TensorCwiseOp", "static_kernel",
        "(int)4", "(bool)1", "int=4", "3ul", "true", "float", "c10::Half", "T2", "T3...", "...", "\u2026", "<", ">",
        "(", ")", "{", "}", "[", "]", ",", ", ", " ", "::", "*", " &", "const ", "operator ()", "operator<", "->",
        "[lambda() (instance 3)]", "[lambda(float) (instance 1)]", "{lambda(float)#2}", "[abi:v1,xyz]", "/", "\x1b",
        "\n", "#", "-", "1", "=", "nvjet_", "sm80_xmma_gemm_", "f32f32_", "cutlass_80_tensorop_", "flash_fwd_",
        "triton_", "_Z",
    ]
)  # fmt: skip
CODES = st.sampled_from([*"NEISTJXLDFPRKOUZvifdbjlmxsat_0123456789", "St", "S_", "S0_", "T_", "Ut_", "UlvE_", "Li4E"])


def _check(name: str) -> None:
    short, normal = base_name(name), normalize(name)
    assert short.isprintable()
    assert normal.isprintable()
    assert bool(short) == bool(normal)
    found = classify(name)
    assert (found.family == "unknown") or found.pattern


@given(st.text(max_size=200))
def test_any_text_is_a_name(name: str) -> None:
    _check(name)


@given(st.lists(PIECES, max_size=40).map("".join))
@example("multi_tensor_apply_kernel<ReduceOp<1>>(int)")
@example("multi_tensor_apply_kernel<ReduceOp<{lambda()#1}>, x>")
@settings(max_examples=500)
def test_any_mixture_of_name_pieces_is_a_name(name: str) -> None:
    _check(name)


@given(st.lists(CODES, max_size=60).map("".join))
@settings(max_examples=500)
def test_any_mangled_text_is_read_or_left_alone(code: str) -> None:
    name = f"_Z{code}"
    assert demangle(name)
    _check(name)


@given(st.data())
@settings(max_examples=200)
def test_cut_and_damaged_real_names(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(REAL))
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(name)), st.integers(0, len(name)))))
    _check(name[:end])
    _check(name[:start] + name[end:])
    _check(name[:end] + "...")


def _real() -> list[str]:
    with OPERATIONS.open(encoding="utf-8", newline="") as file:
        return sorted({row["kernel"] for row in csv.DictReader(file, delimiter="\t")})


REAL = _real()


def test_a_normal_form_is_its_own_normal_form() -> None:
    """Reports group by normal form, and classify what they grouped."""
    for name in REAL:
        normal = normalize(name)
        assert normalize(normal) == normal
        assert base_name(normal) == base_name(name)
        assert classify(normal) == classify(name)


# --- generated kernels in every dialect --------------------------------------------------------------------------

DIALECTS: Final = ("nsys", "ncu", "nvprof", "c++filt", "mangled")
BUILTIN: Final = {"float": "f", "double": "d", "int": "i", "bool": "b", "unsigned int": "j", "long": "l"}
NUMBERS: Final = {"int": ("i", ""), "unsigned int": ("j", "u"), "unsigned long": ("m", "ul"), "bool": ("b", "")}


@dataclass(frozen=True)
class Number:
    """A template value: ``(int)4``, ``4``, ``int=4``, ``4``, ``Li4E``."""

    kind: str
    value: int

    def render(self, dialect: str) -> str:
        code, suffix = NUMBERS[self.kind]
        if dialect == "mangled":
            return f"L{code}{self.value}E"
        if dialect in ("nsys", "nvprof"):
            return f"({self.kind}){self.value}" if dialect == "nsys" else f"{self.kind}={self.value}"
        if self.kind == "bool" and dialect == "c++filt":
            return str(bool(self.value)).lower()
        return f"{self.value}{suffix if dialect == 'c++filt' else ''}"


@dataclass(frozen=True)
class Builtin:
    """``float``, ``float *`` or ``const float *``."""

    name: str
    pointer: bool
    const: bool

    def render(self, dialect: str) -> str:
        if dialect == "mangled":
            return ("P" if self.pointer else "") + ("K" if self.pointer and self.const else "") + BUILTIN[self.name]
        if not self.pointer:
            return self.name
        if dialect in ("nsys", "ncu"):
            return ("const " if self.const else "") + f"{self.name} *"
        return self.name + (" const*" if self.const else "*")


@dataclass(frozen=True)
class Named:
    """A class or function, its scopes outermost first; an empty scope is the anonymous namespace."""

    scopes: tuple[str, ...]
    name: str
    arguments: tuple[Number | Builtin | Named | Lambda, ...]

    def render(self, dialect: str) -> str:
        inner = [argument.render(dialect) for argument in self.arguments]
        if dialect == "mangled":
            scopes = "".join(f"{len(s)}{s}" if s else "12_GLOBAL__N_1" for s in self.scopes)
            arguments = f"I{''.join(inner)}E" if inner else ""
            return f"N{scopes}{len(self.name)}{self.name}{arguments}E"
        scopes = self.scopes[-1:] if dialect == "ncu" else self.scopes
        anonymous = {"c++filt": "(anonymous namespace)", "nvprof": "_GLOBAL__N__3f"}.get(dialect, "<unnamed>")
        qualifier = "".join(f"{scope or anonymous}::" for scope in scopes)
        closing = " >" if dialect == "c++filt" and inner and inner[-1].endswith(">") else ">"
        return f"{qualifier}{self.name}" + (f"<{', '.join(inner)}{closing}" if inner else "")


@dataclass(frozen=True)
class Lambda:
    """Lambda ``number`` (from 1) with these parameters in a function ``owner(int)``."""

    owner: Named
    takes: tuple[Builtin, ...]
    number: int

    def render(self, dialect: str) -> str:
        types = [taken.render(dialect) for taken in self.takes]
        owner = self.owner.render(dialect)
        if dialect == "mangled":
            discriminator = "" if self.number == 1 else str(self.number - 2)
            return f"Z{owner}iEUl{''.join(types) or 'v'}E{discriminator}_"
        if dialect in ("nsys", "ncu"):
            return f"{owner}(int)::[lambda({', '.join(types)}) (instance {self.number})]"
        return f"{owner}(int)::{{lambda({', '.join(types)})#{self.number}}}"


def _kernel(function: Named, dialect: str) -> str:
    """A function template returning void and taking an int and a double."""
    text = function.render(dialect)
    return f"_Z{text}vid" if dialect == "mangled" else f"void {text}(int, double)"


NAMES = ["alpha", "fused_kernel", "elementwise_kernel", "reduce_kernel", "BlurFunctor", "sum_rows", "x", "Tile64"]
IDENTIFIERS = st.sampled_from([*NAMES, "Kernel2", "kernel"])
"""A function called only ``Kernel2`` is told apart by its scope, which ncu drops: arguments may be, kernels not."""
SCOPES = st.lists(st.sampled_from(["", "detail", "impl", "mine"]), max_size=3).map(tuple)
TYPES = st.builds(Builtin, st.sampled_from(sorted(BUILTIN)), st.booleans(), st.booleans())
VALUES = st.one_of(
    st.builds(Number, st.sampled_from(["int", "unsigned int", "unsigned long"]), st.integers(0, 4096)),
    st.builds(Number, st.just("bool"), st.integers(0, 1)),
    TYPES,
)
OWNERS = st.builds(Named, SCOPES.map(lambda scopes: ("mine", *scopes)), st.sampled_from(NAMES), st.just(()))
LAMBDAS = st.builds(Lambda, OWNERS, st.lists(TYPES, max_size=2).map(tuple), st.integers(1, 12))
CLASSES = st.recursive(
    VALUES | LAMBDAS,
    lambda inner: st.builds(Named, SCOPES, IDENTIFIERS, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=8,
)
KERNELS = st.builds(
    Named,
    SCOPES.map(lambda scopes: ("mine", *scopes)),
    st.sampled_from(NAMES),
    st.lists(CLASSES, min_size=1, max_size=4).map(tuple),
)


@given(KERNELS)
@settings(max_examples=300)
def test_dialects_of_a_generated_kernel_agree(kernel: Named) -> None:
    names = {dialect: _kernel(kernel, dialect) for dialect in DIALECTS}
    assert demangle(names["mangled"]) != names["mangled"]
    assert {dialect: normalize(name) for dialect, name in names.items()} == dict.fromkeys(
        DIALECTS, normalize(names["nsys"])
    )
    assert {base_name(name) for name in names.values()} == {base_name(names["nsys"])}
    assert len({classify(name) for name in names.values()}) == 1
    assert normalize(names["nsys"]).startswith(f"{kernel.name}<")
