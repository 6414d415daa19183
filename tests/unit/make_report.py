"""Hand-made reports: kernels and times are those of an FP32 transformer training step on an H200.

Source of names and numbers: `nsys stats --report cuda_gpu_kern_sum` 2025.3 of that run.
"""

from __future__ import annotations

from dataclasses import replace

from nsight_insight.model.finding import (
    Evidence,
    Finding,
    Member,
    NotEvaluated,
    Quantity,
    Remedy,
    Report,
    Saving,
    Subject,
)
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import Source, VendorFinding
from nsight_insight.model.totals import Totals

FILE = "captures/fp32_cuda_gpu_kern_sum.csv"
KERNEL_NS = 194_261_000.0
XMMA = (
    "sm80_xmma_gemm_f32f32_f32f32_f32_{}_n_tilesize{}_stage3_warpsize{}_ffma_aligna4_alignc4_execute_kernel__5x_cublas"
)
ADDCDIV = (
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::addcdiv_cuda_kernel(at::TensorIteratorBase &, "
    "const c10::Scalar &)::[lambda() (instance 2)]::operator ()() const::[lambda() (instance 7)]::operator ()() const::"
    "[lambda(float, float, float) (instance 1)], std::array<char *, (unsigned long)4>>(int, T2, T3)"
)
GEMMS = (
    (2, XMMA.format("nn", "256x128x8", "4x2x1"), 52, 51_259_497.0),
    (3, "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(T1::Params)", 52, 50_354_230.0),
    (4, XMMA.format("tn", "128x128x8", "2x2x1"), 52, 43_512_137.0),
    (5, XMMA.format("tn", "256x64x8", "2x2x1"), 16, 11_240_240.0),
    (8, "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(T1::Params)", 16, 2_773_590.0),
    (9, "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>(T1::Params)", 16, 2_701_878.0),
)
OPTIMIZER = (
    (12, ADDCDIV, 200, 1_837_914.0),
    (16, ADDCDIV.replace("addcdiv", "addcmul"), 200, 1_331_865.0),
)


def member(line: int, kernel: str, launches: int, time_ns: float, expected: float, upper: float) -> Member:
    base = kernel.removeprefix("void ").split("<")[0].split("(")[0]
    return Member(
        kernel=kernel,
        base=base,
        device=0,
        launches=launches,
        time_ns=time_ns,
        expected_ns=expected * time_ns,
        upper_ns=upper * time_ns,
        location=Location(FILE, line, 2, "Total Time (ns)"),
        key=f"0|{base}",
    )


def saving(members: tuple[Member, ...], resource: str, basis: str, *assumptions: str) -> Saving:
    expected = sum(item.expected_ns for item in members)
    return Saving(expected, sum(item.upper_ns for item in members), expected / KERNEL_NS, resource, basis, assumptions)


def subject(members: tuple[Member, ...], scope: str = "kernel") -> Subject:
    time_ns = sum(item.time_ns for item in members)
    return Subject(
        scope=scope,
        kernel=members[0].kernel if len(members) == 1 else "",
        device=0,
        launches=sum(item.launches for item in members),
        time_ns=time_ns,
        time_share=time_ns / KERNEL_NS,
        members=members,
    )


def fp32_matrix() -> Finding:
    members = tuple(member(*row, 0.924, 0.966) for row in GEMMS)
    assumed = "the GPU's FP32 to 16-bit peak ratio is that of an H200 (named by the user)"
    return Finding(
        rule="tensor-core/fp32-matrix-on-cuda-cores",
        title="Matrix multiplication in FP32 on CUDA cores",
        category="tensor-core",
        severity="warning",
        confidence="high",
        subject=subject(members),
        saving=saving(members, "math", "time x (1 - 1/S), S = 0.9 x the 16-bit over FP32 peak ratio", assumed),
        message="6 kernels (204 launches, 161.8 ms, 83.3 % of kernel time) multiply FP32 matrices on the CUDA "
        "cores while the Tensor Cores are idle; the 16-bit Tensor Core peak of this GPU is 14.8 times higher.",
        why="FP32 operands run on CUDA cores unless TF32 is allowed or the operands are 16-bit.",
        evidence=(
            Evidence(
                "fp32-operands",
                "the kernel names say FP32 operands",
                (Quantity("dtype_in", "fp32", "", Location(FILE, 2, 9, "Name"), None, "6 subjects"),),
            ),
            Evidence(
                "cuda-cores",
                "the kernel names say CUDA cores (simt, ffma, sgemm), not Tensor Cores",
                (Quantity("tensor_core", "no", "", Location(FILE, 2, 9, "Name"), None, "6 subjects"),),
            ),
            Evidence(
                "matters",
                "FP32 matrix kernels take 161.8 ms, 83.3 % of the kernel time",
                (
                    Quantity("fp32_gemm_time", 0.161841572, "s"),
                    Quantity(
                        "duration", 0.161841572, "s", Location(FILE, 2, 2, "Total Time (ns)"), 0.051259497, "6 subjects"
                    ),
                    Quantity("kernel_time", KERNEL_NS / 1e9, "s"),
                ),
            ),
        ),
        remedies=(
            Remedy(
                "autocast-bf16",
                "Run matrix work in BF16 (or FP16 on compute capability 7.x)",
                "low",
                "8 bits of mantissa (BF16); compare the loss curve",
                {
                    "pytorch": 'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = criterion(model(x), y)',
                    "jax": 'jax.config.update("jax_default_matmul_precision", "bfloat16")',
                    "cuda": "cublasGemmEx(..., CUDA_R_16BF, ..., CUBLAS_COMPUTE_32F, ...)",
                },
            ),
            Remedy(
                "tf32",
                "Allow TF32 (FP32 storage, 10-bit mantissa in the product)",
                "low",
                "relative error of a product grows from about 4e-5 to 2e-3",
                {"pytorch": 'torch.set_float32_matmul_precision("high")'},
                "",
                Saving(137_500_000.0, 150_900_000.0, 0.708, "math", "TF32 over FP32 peak ratio"),
            ),
        ),
        explains=(small_matrices(),),
        false_positives="Work that needs FP32 products (some solvers, metrics, reference computations).",
        references=("PyTorch CUDA semantics: TensorFloat-32 on Ampere devices",),
        fingerprint="5f0c2f6f1d3a",
        location=members[0].location,
    )


def small_matrices() -> Finding:
    members = tuple(member(*row, 0.05, 0.3) for row in GEMMS[4:])
    return Finding(
        rule="tensor-core/small-matrix-kernels",
        title="Many small matrix kernels",
        category="tensor-core",
        severity="note",
        confidence="low",
        subject=subject(members),
        saving=saving(members, "launch", "launch overhead"),
        message="2 kernels of 172 us on average.",
        why="Small products do not fill the GPU.",
        evidence=(),
        remedies=(),
        explains=(),
        false_positives="",
        references=(),
        fingerprint="aa17",
        location=members[0].location,
    )


def optimizer_loop() -> Finding:
    members = tuple(member(*row, 0.6, 0.9) for row in OPTIMIZER)
    return Finding(
        rule="launch/optimizer-loop",
        title="Optimizer runs parameter by parameter",
        category="launch",
        severity="note",
        confidence="medium",
        subject=subject(members),
        saving=saving(members, "work", "reads and writes of one fused pass"),
        message="400 launches of 2 elementwise kernels (3.17 ms) update one parameter at a time.",
        why="A fused optimizer updates all parameters in a few launches.",
        evidence=(
            Evidence(
                "many",
                "200 launches of each kernel, 9.19 us on average",
                (
                    Quantity("launches", 400.0, "1", Location(FILE, 12, 3, "Instances"), 200.0, "sum of 2 kernels"),
                    Quantity("mean_duration", 9.19e-6, "s", Location(FILE, 12, 4, "Avg (ns)"), 9.19e-6),
                ),
            ),
        ),
        remedies=(
            Remedy("fused", "Use the fused optimizer", "low", "", {"pytorch": "torch.optim.AdamW(params, fused=True)"}),
        ),
        explains=(),
        false_positives="An optimizer that must see one parameter at a time.",
        references=("PyTorch torch.optim: fused implementation",),
        fingerprint="0b7e",
        location=members[0].location,
    )


def idle_device() -> Finding:
    """A finding about a whole device: no kernels, nothing located."""
    base = optimizer_loop()
    return replace(
        base,
        rule="idle/gpu-waits-for-host",
        title="GPU waits for the host between kernels",
        category="idle",
        severity="error",
        confidence="low",
        subject=Subject("trace", "", 0, 2_968, KERNEL_NS, 1.0),
        saving=Saving(8_000_000.0, 31_000_000.0, 8_000_000.0 / KERNEL_NS, "host", "sum of gaps"),
        message="The GPU is idle for 31.0 ms of 225.3 ms.",
        evidence=(Evidence("idle", "idle 31.0 ms", (Quantity("idle", 0.031, "s", None, None, ""),)),),
        fingerprint="77aa",
    )


COLLECT = (
    "ncu --csv --page raw --log-file ncu.csv --clock-control none --launch-count 200 --section SourceCounters "
    "--metrics gpu__time_duration.sum python train.py\n"
    "nsys profile --trace=cuda,nvtx --output=nsys python train.py\n"
    "nsys stats --report cuda_gpu_trace --format csv --output nsys nsys.nsys-rep"
)


def gaps() -> tuple[NotEvaluated, ...]:
    command = (
        "ncu --metrics l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,"
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum --csv --page raw --log-file run.csv python train.py"
    )
    needs = "needs Nsight Compute metrics; the input is from Nsight Systems"
    missing = ("sectors_global", "sectors_global_ideal")
    return (
        NotEvaluated(
            "memory/uncoalesced-global", "Uncoalesced global memory access", missing, needs, 43, 1.9e8, command
        ),
        NotEvaluated("memory/partial-sectors", "Partly used sectors", missing, needs, 43, 1.9e8, command),
        NotEvaluated(
            "transfer/pageable-copies",
            "Copies from pageable memory",
            ("memcpy_kind",),
            "not in the input: memcpy_kind",
            0,
            0.0,
            "nsys stats --report cuda_gpu_trace --format csv run.nsys-rep",
        ),
    )


FAMILIES = {
    "gemm": 161_841_572.0,
    "elementwise": 13_061_000.0,
    "attention": 9_977_752.0,
    "norm": 1_594_805.0,
    "reduction": 1_736_000.0,
    "softmax": 3_879_346.0,
    "copy": 832_825.0,
    "fill": 936_124.0,
    "loss": 117_244.0,
    "unknown": 284_332.0,
}


def report(*findings: Finding, **changes: object) -> Report:
    """A realistic report; ``changes`` replace its fields."""
    chosen = findings or (fp32_matrix(), optimizer_loop())
    expected = sum(finding.saving.expected_ns for finding in chosen)
    whole = Report(
        version="0.1.0",
        sources=(Source(FILE, "nsys_csv", "nsys", "cuda_gpu_kern_sum", "2025.3.2", 46),),
        devices=("NVIDIA H200 (compute capability 9.0)",),
        totals=Totals(KERNEL_NS, 2_968, 46, basis="nsys", families=FAMILIES),
        findings=chosen,
        not_evaluated=gaps(),
        vendor_findings=(),
        issues=(),
        potential=Saving(expected, expected * 1.05, expected / KERNEL_NS, "all", "composed"),
        rules_evaluated=31,
        collect=COLLECT,
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


HOSTILE = (
    "void k<[lambda() (instance 3)]>(int)",
    "kernel[/foo]",
    "[bold red]kernel[/bold red]",
    "a\x1b[31mred\x1b[0m\x07\x9b2J",
    "tab\there, \"quoted\", 'single'",
    "\u202egnp.exe",
    ":smile: kernel",
    "https://example.invalid/[link=x]y[/link]",
    "=HYPERLINK(1)",
    "\ud800lone",
)
HARMLESS = (
    "k<[lambda() (instance 3)]>",
    "kernel[/foo]",
    "[bold red]kernel[/bold red]",
    "ared",
    "tabhere, \"quoted\", 'single'",
    "gnp.exe",
    ":smile: kernel",
    "https://example.invalid/[link=x]y[/link]",
    "=HYPERLINK",
    "lone",
)
"""What must be readable of each hostile name."""


def hostile() -> Report:
    """Every hostile name as a member, as a kernel, in messages, places and issues."""
    findings = []
    for name in HOSTILE:
        one = replace(fp32_matrix().subject.members[0], kernel=name, base=name, location=Location(name, 1, 1, name))
        findings.append(
            replace(
                optimizer_loop(),
                subject=replace(subject((one,)), kernel=name),
                title="Title",
                message=f"message about {name}",
                location=one.location,
                evidence=(Evidence("c", f"evidence {name}", (Quantity("q", name, "", one.location),)),),
            )
        )
    issue = Issue(Level.DATA_LOSS, f"row dropped: {HOSTILE[0]} {HOSTILE[3]}", Location(HOSTILE[1], 3))
    vendor = VendorFinding("ncu", HOSTILE[0], "OPT", f"{HOSTILE[2]}\nsecond line", Location(FILE, 1), kernel=HOSTILE[1])
    return report(*findings, issues=(issue,), vendor_findings=(vendor,))
