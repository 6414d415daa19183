"""Answers of the device sessions, from the captures: conversions, tensor pipe, operations, ceilings."""

from __future__ import annotations

import csv
import io
import lzma
import tarfile
from collections.abc import Iterator
from typing import Any

from bench.proof.cases import load_cases, load_machine
from bench.proof.findings import CAPTURES

VALUES = 1 << 20
CONVERSIONS = "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"
PIPE = "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"
OPS = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
Record = dict[str, str]


def facts() -> dict[str, Any]:
    """What the page about the proof says of the device."""
    machine = load_machine()
    lit = {case: share for case, share in _tensor_shares() if share > 0}
    most = max(lit, key=lambda case: lit[case])
    return {
        "versions": "; ".join(line for line in machine["versions"] if line.startswith(("NVIDIA H200", "torch"))),
        "conversions": list(_conversions()),
        "lit": sorted(lit),
        "unmatrixed": len(list(_tensor_shares())),
        "lit_most": f"{lit[most]:.1f} %",
        "lit_case": most,
        "ops": _raw("P90-bad")[0][OPS],
        "ceilings": list(_ceilings(machine["ceilings"])),
    }


def _conversions() -> Iterator[list[str]]:
    text = lzma.decompress((CAPTURES / "questions.csv.xz").read_bytes()).decode()
    for record in list(csv.DictReader(io.StringIO(text)))[1:]:
        name = record["Kernel Name"].partition("(")[0]
        if "_to_" in name:
            count = float(record[CONVERSIONS].replace(",", ""))
            yield [name.replace("_", " "), f"{count / VALUES:.0f}"]


def _tensor_shares() -> Iterator[tuple[str, float]]:
    """Share of cycles the tensor pipe is active in the CUDA cases, none of which multiplies matrices on it."""
    for case in load_cases():
        if case.path.suffix == ".cu":
            for variant in ("good",) if case.control else ("bad", "good"):
                for record in _raw(f"{case.id}-{variant}"):
                    yield f"{case.id} {variant}", float(record[PIPE].replace(",", ""))


def _raw(name: str) -> list[Record]:
    """Records of a capture's raw page, the line of units left out."""
    with tarfile.open(CAPTURES / f"{name}.tar.xz") as archive:
        member = archive.extractfile("raw.csv")
        assert member is not None  # noqa: S101  every ncu capture has one
        return list(csv.DictReader(io.StringIO(member.read().decode())))[1:]


def _ceilings(measured: dict[str, float]) -> Iterator[list[str]]:
    yield ["copy on the device, read and written", f"{measured['copy_bytes_per_second'] / 1e12:.2f} TB/s"]
    for name, rate in measured.items():
        if name.endswith("_flops"):
            yield [name.removesuffix("_flops").upper(), f"{rate / 1e12:.0f} TFLOP/s"]
