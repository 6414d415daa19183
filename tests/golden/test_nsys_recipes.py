"""What ``nsys recipe`` wrote of captures of this project, against the exports it was made from."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from nsight_insight import api
from nsight_insight.catalog.nsys_reports import parse_heading
from nsight_insight.errors import EmptyInput, UnrecognizedInput
from nsight_insight.model.profile import Profile
from nsight_insight.readers import nsys_csv, nsys_parquet, read
from nsight_insight.readers.text import SourceText, from_bytes
from tests.paths import FIXTURES

RECIPES = FIXTURES / "nsys-csv/2025.3-h200-recipes"
PARQUET = FIXTURES / "nsys-parquet/2025.3-h200-recipe"
FAULTS = FIXTURES / "nsys-sqlite/2025.3-h200-managed/faults.sqlite"
RANKS = FIXTURES / "nsys-sqlite/2025.3-h200-mpi/ranks.sqlite"
STATS = "Count,Mean,Std (approx),Min,Q1 (approx),Median (approx),Q3 (approx),Max,Sum"


def totals(profile: Profile, kind: str) -> tuple[int, int]:
    frame = profile.activities
    rows = frame[frame["primary"] & (frame["kind"] == kind)]
    return int(rows["count"].sum()), int(rows["duration"].sum())


@pytest.mark.parametrize("name", ["sum", "sum_by_rank", "by_device"])
def test_kernels_are_those_of_the_capture(name: str) -> None:
    path = RECIPES / f"recipe_cuda_gpu_kern_{name}.csv"
    assert totals(api.load(path), "kernel") == totals(api.load(FAULTS), "kernel")
    frame = api.load(path).activities.set_index("name")
    times = api.load(FAULTS).activities
    times = times[times["base"] == "scale"]["duration"]
    row = frame.loc["scale"]
    assert (row["min"], row["max"], row["median"]) == (times.min(), times.max(), times.median())
    assert row["avg"] == pytest.approx(times.mean(), abs=0.05)
    assert row["std"] == pytest.approx(times.std(), abs=0.05)


def test_the_files_of_a_recipe_count_once() -> None:
    paths = sorted(RECIPES.glob("recipe_cuda_gpu_kern_*.csv"))
    assert len(paths) == 3
    assert totals(api.load(*paths), "kernel") == totals(api.load(FAULTS), "kernel")
    assert totals(api.load(*paths, FAULTS), "kernel") == totals(api.load(FAULTS), "kernel")


@pytest.mark.parametrize(
    ("recipe", "kind", "capture"),
    [("cuda_api_sum", "api", FAULTS), ("nvtx_sum", "range", FAULTS), ("mpi_sum", "mpi", RANKS)],
)
def test_host_recipes_hold_what_the_export_holds(recipe: str, kind: str, capture: Path) -> None:
    export = api.load(capture).activities
    rows = export[export["kind"] == kind]  # MPI: a wait for two requests is listed twice there, too
    paths = sorted(RECIPES.glob(f"recipe_{recipe}*.csv"))
    assert totals(api.load(*paths), kind) == (int(rows["count"].sum()), int(rows["duration"].sum()))


def test_parquet_holds_what_csv_holds() -> None:
    pytest.importorskip("pyarrow")
    paths = sorted(PARQUET.glob("*.parquet"))
    assert len(paths) == 3
    for path in paths:
        ours, theirs = api.load(path).activities, api.load(RECIPES / f"{path.stem}.csv").activities
        for name in ("name", "kind", "duration", "count", "min", "max", "median", "avg", "std", "device"):
            assert ours[name].tolist() == theirs[name].tolist()
    both = api.load(*paths, *sorted(RECIPES.glob("recipe_cuda_gpu_kern_*.csv")))
    assert totals(both, "kernel") == totals(api.load(FAULTS), "kernel")


def test_a_table_of_a_parquet_export_is_refused_with_advice() -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table({"start": [1], "end": [2], "deviceId": [0], "globalPid": [1]}), file)
    with pytest.raises(UnrecognizedInput, match="nsys export --type sqlite"):
        nsys_parquet.read(SourceText("CUPTI_ACTIVITY_KIND_KERNEL.parquet", file.getvalue()))


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("CUDA_MEMCPY_KIND_UVM_HTOD", "recipe_cuda_gpu_mem_sum"),
        ("cudaLaunchKernel", "recipe_cuda_api_sum"),
        ("cuModuleLoadData", "recipe_cuda_api_sum"),
        ("pthread_cond_wait", "recipe_osrt_sum"),
        ("ioctl", "recipe_osrt_sum"),
        ("ampere_sgemm_128x64_nn", "recipe_cuda_gpu_kern_sum"),
        ("elementwise_kernel", "recipe_cuda_gpu_kern_sum"),
    ],
)
def test_recipes_with_the_same_headings_are_told_apart_by_their_names(name: str, report: str) -> None:
    text = from_bytes("all_stats.csv", f"Name,{STATS}\n{name},2,5.0,0.0,5,5.0,5.0,5.0,5,10\n".encode())
    if "MEM" in name:
        with pytest.raises(EmptyInput, match="cuda_gpu_mem_time_sum"):
            read(text)
        return
    (table,) = read(text).tables
    assert table.source.report == report
    assert table.columns["duration"].tolist() == [10.0]


@pytest.mark.parametrize(
    ("heading", "advice"),
    [
        ("Duration,SMs Active,SM Issue,Tensor Active,GPU,Rank", "export --type sqlite"),
        ("Count,Mean,Std,Min,Q1,Median,Q3,Max,Sum,Rank,GPU ID,Metric Name", "export --type sqlite"),
        ("Duration,Kernel,PID,Device ID,Rank", "cuda_gpu_trace"),
        ("Duration,Kernel,MPI,Overlap,PID,Rank", "export --type sqlite"),
        (f"{STATS},Shortname", "cuda_gpu_trace"),
        (
            "Text,Start,End,PID,TID,Stack Level,Children Count,Range ID,Parent ID,Range Stack,Rank",
            "nvtx_gpu_proj_trace",
        ),
        (f"Text,{STATS},Sum of NVTX Ranges on CPU", "nvtx_gpu_proj_sum"),
    ],
)
def test_other_recipes_say_what_to_run_instead(heading: str, advice: str) -> None:
    """Headings as the recipes of nsys 2025.3 wrote them."""
    row = ",".join("1" * (heading.count(",") + 1))
    with pytest.raises(EmptyInput, match=advice):
        read(from_bytes("analysis.csv", f"{heading}\n{row}\n".encode()))


def test_a_statistics_table_of_a_program_is_no_recipe() -> None:
    text = from_bytes("x.csv", b"name,count,mean,std,min,max\na,1,2,3,4,5\n")
    assert nsys_csv.sniff(text) < 0.5


def test_approximate_figures_have_no_unit() -> None:
    assert (parse_heading("Q1 (approx)").key, parse_heading("Q1 (approx)").unit) == ("q1", "")
    heading, *_ = csv.reader((RECIPES / "recipe_cuda_gpu_kern_sum.csv").read_text().splitlines())
    assert "Median (approx)" in heading
