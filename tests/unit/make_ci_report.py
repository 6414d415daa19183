"""Reports for the formats that CI systems read: real ones, and ones full of hostile names."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import nsight_insight as ni
from nsight_insight.config import Threshold
from nsight_insight.model.finding import Evidence, Quantity, Report
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import VendorFinding
from tests.paths import FIXTURES
from tests.unit.make_report import FILE, HOSTILE, fp32_matrix, gaps, idle_device, optimizer_loop, report, subject

NASTY = (
    *HOSTILE,
    "a|b | c",
    "a\\|b\\\\|c\\",
    "`tick` ``two`` ```",
    "]]><x>",
    "x\n::error file=a::boom\r\n::set-output name=a::b",
    "%0A::error::x, y:z",
    "##[error]x",
    "</details><script>alert(1)</script><!--",
    "$a$ and $`b`$",
    "@someone #12 :smile:: www.example.invalid",
    "[x](javascript:alert(1)) ![y](https://example.invalid)",
    "{0} {{1}} %s %(x)s",
    "-1+2",
    "\t=1+1",
    "@SUM(A1)",
    "\uff1d1",
    "\ufffebom\uffff",
    "line\u2028separator",
    "# head",
    "1. list",
    "* * *",
    "&lt;b&gt; &amp;",
    "_x_ *y* ~z~",
    'k="v"\\n',
)
AMP = "nsys-csv/2025.3-h200-amp/amp_fp16_cuda_gpu_trace.csv"
REAL = ("demo", "ncu-csv/2025.3.1-h200-amp/raw.csv", AMP)


def three() -> Report:
    """A merged finding, one on a whole device, one on two kernels; with gaps and without issues."""
    return report(fp32_matrix(), idle_device(), optimizer_loop())


def nasty(name: str) -> Report:
    """A name wherever names of a profile can get."""
    place = Location(name, 3, 2, name)
    member = replace(fp32_matrix().subject.members[0], kernel=name, base=name, key=name, location=place)
    finding = replace(
        optimizer_loop(),
        subject=replace(subject((member,)), kernel=name),
        saving=replace(optimizer_loop().saving, assumptions=(name,)),
        title=f"Title {name}",
        message=name,
        evidence=(Evidence("c", name, (Quantity("q", name, "", place),)),),
        remedies=(replace(optimizer_loop().remedies[0], note=name),),
        location=place,
    )
    return report(
        finding,
        replace(fp32_matrix(), subject=subject((member, member))),
        devices=(name,),
        issues=(Issue(Level.ERROR, name, place), Issue(Level.DATA_LOSS, name, place)),
        vendor_findings=(VendorFinding("ncu", name, "OPT", name, place, kernel=name),),
        not_evaluated=(replace(gaps()[0], reason=name),),
    )


def healthy() -> Report:
    """Nothing found, three rules not judged."""
    return replace(report(), findings=(), potential=replace(report().potential, expected_ns=0, upper_ns=0, share=0))


def large(count: int) -> Report:
    """As many findings, each about a kernel with a very long name, best first."""
    findings = []
    for index in range(count):
        name = f"void k{index}<{'T, ' * 500}int>(int)"
        member = replace(fp32_matrix().subject.members[0], kernel=name, key=name)
        message = f"{name} takes long"
        findings.append(
            replace(optimizer_loop(), subject=replace(subject((member,) * 7), kernel=name), message=message)
        )
    many = tuple(replace(gaps()[0], rule=f"memory/r{index}", title=f"Rule {index} {'x' * 700}") for index in range(300))
    issues = tuple(Issue(Level.DATA_LOSS, "y" * 2_000, Location(FILE, index)) for index in range(1, 1_200))
    return report(*findings, not_evaluated=many, issues=issues)


@lru_cache
def real(fixture: str) -> Report:
    """Every finding, however small, on a capture of the project."""
    profile = ni.load(FIXTURES / fixture)
    return ni.analyze(profile, ni.Config(min_saving=Threshold(share=0.0)))
