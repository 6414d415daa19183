"""Clean copies: nothing that was planted is left, nothing that was measured is lost, findings stay the same."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nsight_insight import api
from nsight_insight.catalog.kernels import classify
from nsight_insight.cli.main import main
from nsight_insight.errors import OutputError, UnrecognizedInput
from nsight_insight.model.finding import Report
from nsight_insight.readers.text import SourceText
from nsight_insight.redact import NotClean, redact, writing
from nsight_insight.redact.mask import Mask, private_in
from nsight_insight.redact.names import Words
from nsight_insight.reporters.json import render
from nsight_insight.reporters.options import RenderOptions
from nsight_insight.views.steps import is_step
from tests.paths import CAPTURES, CORPUS, FIXTURES

AMP_CSV = FIXTURES / "nsys-csv/2025.3-h200-amp"
SQLITE = FIXTURES / "nsys-sqlite/2025.3-h200-amp/amp_fp16.sqlite"
LIVE = FIXTURES / "ncu-csv/2025.3.1-h200-amp/live_mixed.csv"
RAW = FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw_instances.csv"
TEXT = FIXTURES / "ncu-text/2025.3.1-h200-amp/details.txt"
SESSION = FIXTURES / "ncu-session/2025.3.1-h200-amp/session.csv"
OLD = FIXTURES / "nsys-text/made-2019-to-2024"
CAPTURED = [
    AMP_CSV / "amp_fp16_cuda_gpu_trace.csv",
    AMP_CSV / "default_stdout.csv",
    FIXTURES / "nsys-text/2025.3-h200-amp/default_columns.txt",
    FIXTURES / "nsys-text/2025.3-h200-amp/kern.json",
    FIXTURES / "nsys-text/2025.3-h200-amp/analyze.txt",
    OLD / "job-2021-german.log",
    OLD / "kern_sum-2024.html",
    OLD / "two-ranks-2024-french.out",
    FIXTURES / "nvprof/made-8-to-11/gpu-trace.csv",
    FIXTURES / "nvprof/made-8-to-11/processes.txt",
    SQLITE,
    LIVE,
    RAW,
    TEXT,
]
"""A capture of every format that says something by itself."""

USER, HOST = "mallory42", "gpunode-7731"
SECRETS = {
    "user": USER,
    "host": HOST,
    "email": "mallory@corp.example.org",
    "token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "path": f"/home/{USER}/projects/secret-model/train.py",
    "windows": rf"C:\Users\{USER}\secret\run.exe",
    "address": "10.17.34.201",
    "variable": "WANDB_API_KEY=f00dfacef00dfacef00dface",
}
PROSE = [f"user {USER} on {HOST}: loss 0.25", *SECRETS.values(), f"ssh {USER}@10.17.34.201 {SECRETS['path']}"]


def report_on(file: Path, name: str = "capture") -> Report:
    """The analysis of a file under a name that does not tell where it lies."""
    return api.analyze(api.load(SourceText(name, None, file)))


def findings(file: Path) -> Any:
    return json.loads(render(report_on(file), RenderOptions()))["findings"]


def essence(report: Report) -> list[tuple[Any, ...]]:
    """What findings say without the names in them."""
    return [
        (f.rule, f.severity, f.confidence, f.subject.launches, f.saving.expected_ns, f.saving.upper_ns, len(f.explains))
        for f in report.findings
    ]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """Copies of all captures."""
    folder = tmp_path_factory.mktemp("clean")
    copies = {}
    for number, file in enumerate(CAPTURED):
        copies[file] = folder / f"{number}-{file.name}"
        redact([file], copies[file])
    return copies


@pytest.mark.parametrize("file", CAPTURED, ids=lambda file: f"{file.parts[-3]}-{file.name}")
def test_findings_of_a_copy_are_those_of_its_original(file: Path, clean: dict[Path, Path]) -> None:
    assert findings(clean[file]) == findings(file)


@pytest.mark.parametrize(
    "file", [CAPTURED[0], SQLITE, LIVE, TEXT, OLD / "kern_sum-2024.html"], ids=lambda file: str(file.name)
)
def test_hashed_names_give_the_same_rules_and_savings(file: Path, tmp_path: Path) -> None:
    done = redact([file], tmp_path / file.name, hash_kernels=True, hash_nvtx=True)
    assert essence(report_on(tmp_path / file.name)) == essence(report_on(file))
    before, after = api.load(file).activities, api.load(tmp_path / file.name).activities
    assert (before["family"] == after["family"]).all()
    changed = (before["name"] != after["name"]) | (before["nvtx"] != after["nvtx"])
    assert changed.any() == bool(done.renamed)


def test_ncu_says_why_where_nsys_says_when_of_hashed_files_too(tmp_path: Path) -> None:
    files = [AMP_CSV / "amp_fp16_cuda_gpu_trace.csv", FIXTURES / "ncu-csv/2025.3.1-h200-amp/raw.csv"]
    redact(files, tmp_path / "clean", hash_kernels=True)
    before = api.analyze(api.load(*files))
    after = api.analyze(api.load(*(tmp_path / "clean" / file.name for file in files)))
    assert essence(after) == essence(before)


@pytest.mark.parametrize("file", [file for file in [*CAPTURED, SESSION] if file != SQLITE], ids=lambda file: file.name)
def test_what_a_program_prints_around_a_table_is_gone(file: Path, tmp_path: Path) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    poisoned = tmp_path / "poisoned.out"
    poisoned.write_text("\n".join([*PROSE, "", *lines, "", *PROSE]), encoding="utf-8")
    done = redact([poisoned], tmp_path / "clean.out")
    text = (tmp_path / "clean.out").read_text(encoding="utf-8")
    assert [name for name, secret in SECRETS.items() if secret in text] == []
    assert len(text.split("\n")) == len(lines) + 2 * len(PROSE) + 2
    assert sum(done.counts.values()) >= len(PROSE)


@pytest.mark.parametrize("file", [LIVE, TEXT], ids=lambda file: file.name)
def test_hosts_and_processes_are_known_by_their_place(file: Path, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("127.0.0.1", HOST).replace("python3.12", "secret_app")
    (tmp_path / "in.out").write_text(text, encoding="utf-8")
    redact([tmp_path / "in.out"], tmp_path / "clean.out")
    clean = (tmp_path / "clean.out").read_text(encoding="utf-8")
    assert HOST not in clean
    assert "secret_app" not in clean
    assert "host_1" in clean
    assert "process_1" in clean


def test_a_session_page_keeps_the_gpu_and_the_release(tmp_path: Path) -> None:
    redact([SESSION], tmp_path / "session.csv")
    text = (tmp_path / "session.csv").read_text(encoding="utf-8")
    assert "train.py" not in text
    assert '"Host Name","removed"' in text
    assert '"963","removed"' in text
    assert '"display_name","NVIDIA H200"' in text
    assert '"Nsight Compute Target","2025.3.1.0' in text


@pytest.fixture
def poisoned_export(tmp_path: Path) -> Path:
    """A real export with everything planted where nsys writes such things, and in pages that are free again."""
    file = tmp_path / f"{USER}-run.sqlite"
    shutil.copy(SQLITE, file)
    file.chmod(0o644)
    environment = f"USER={USER}\0HOME=/home/{USER}\0{SECRETS['variable']}"
    with sqlite3.connect(file) as db:
        tables = {
            "META_DATA_CAPTURE": [("PROCESS_0:COMMAND", SECRETS["path"]), ("PROCESS_0:USER_NAME", USER),
                                  ("PROCESS_0:ENVIRONMENT_VARIABLE", f'{SECRETS["variable"]}'),
                                  ("DEVICE_DISPLAY_NAME", HOST)],
            "TARGET_INFO_SYSTEM_ENV": [("Hostname", HOST), ("DeviceEnvironment", environment.replace("\0", ";")),
                                       ("NvDriverVersion", "580.95.05"),
                                       ("TargetInstallDir", f"/home/{USER}/nsight-systems-2025.3.2/target-x64")],
        }  # fmt: skip
        for table, rows in tables.items():
            db.execute(f"CREATE TABLE {table} (name TEXT, value TEXT)")
            db.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)  # noqa: S608
        db.execute("CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)")
        db.execute("INSERT INTO PROCESSES VALUES (1, 1, ?)", (SECRETS["path"],))
        db.execute("CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER)")
        db.execute("CREATE TABLE OSRT_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, note TEXT)")
        db.execute("INSERT INTO OSRT_CALLCHAINS VALUES (1, 900001, 900002, ?)", (SECRETS["path"],))
        db.execute("CREATE TABLE PUBLISHERS_OWN (start INTEGER, remark TEXT)")
        db.execute("INSERT INTO PUBLISHERS_OWN VALUES (17, ?)", (SECRETS["email"],))
        db.executemany("INSERT INTO StringIds VALUES (?, ?)",
                       [(900001, environment), (900002, SECRETS["windows"]), (900003, f"worker {USER}")])  # fmt: skip
        db.execute("INSERT INTO ThreadNames VALUES (900003, 0, 1)")
        db.execute("INSERT INTO DIAGNOSTIC_EVENT SELECT timestamp, timestampType, source, 2, ?, globalPid "
                   "FROM DIAGNOSTIC_EVENT LIMIT 1", (f"CUDA: cannot open {SECRETS['path']}",))  # fmt: skip
        db.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_USER', ?)", (USER,))
        db.execute("UPDATE NVTX_EVENTS SET text = ?, textId = NULL WHERE rowid = (SELECT MAX(rowid) FROM NVTX_EVENTS)",
                   (f"load {SECRETS['path']} for {SECRETS['email']}",))  # fmt: skip
        db.commit()
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("CREATE TABLE gone (text TEXT)")
        db.executemany("INSERT INTO gone VALUES (?)", [(secret * 40,) for secret in SECRETS.values()])
        db.commit()
        db.execute("DROP TABLE gone")
    return file


def test_an_export_loses_its_environment_wherever_it_stands(poisoned_export: Path, tmp_path: Path) -> None:
    before = poisoned_export.read_bytes()
    assert all(secret.encode() in before for secret in SECRETS.values() if secret != SECRETS["address"])
    done = redact([poisoned_export], tmp_path / "clean.sqlite")
    data = (tmp_path / "clean.sqlite").read_bytes()
    assert [name for name, secret in SECRETS.items() if secret.encode() in data] == []
    assert b"f00dface" not in data
    assert poisoned_export.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clean.sqlite", poisoned_export.name]
    assert done.counts["environment variable"] >= 3
    assert done.counts["host"] >= 2
    assert findings(tmp_path / "clean.sqlite") == findings(poisoned_export)


def test_an_export_keeps_numbers_row_numbers_and_releases(poisoned_export: Path, tmp_path: Path) -> None:
    redact([poisoned_export], tmp_path / "clean.sqlite")
    with sqlite3.connect(tmp_path / "clean.sqlite") as new, sqlite3.connect(poisoned_export) as old:
        kernels = 'SELECT rowid, start, "end", demangledName, gridX FROM CUPTI_ACTIVITY_KIND_KERNEL'
        assert new.execute(kernels).fetchall() == old.execute(kernels).fetchall()
        assert new.execute("SELECT start, remark FROM PUBLISHERS_OWN").fetchall() == [(17, "")]
        facts = dict(new.execute("SELECT name, value FROM TARGET_INFO_SYSTEM_ENV"))
        assert facts == {"NvDriverVersion": "580.95.05", "TargetInstallDir": "nsight-systems-2025.3.2"}
        assert new.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert new.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (text,) = new.execute("SELECT text FROM NVTX_EVENTS WHERE text LIKE 'load %'").fetchone()
    assert text.startswith("load path_")
    assert " for email_" in text


def test_a_user_known_from_one_file_is_found_in_the_others(poisoned_export: Path, tmp_path: Path) -> None:
    log = tmp_path / "raw.csv"
    text = RAW.read_text(encoding="utf-8").replace('"127.0.0.1"', f'"{HOST}"')
    log.write_text(f"==WARNING== {USER} may not use {HOST}\n{text}", encoding="utf-8")
    done = redact([poisoned_export, log], tmp_path / "clean")
    assert sorted(file.path.name for file in done.files) == ["raw.csv", "user_1-run.sqlite"]
    text = (tmp_path / "clean" / "raw.csv").read_text(encoding="utf-8")
    assert text.startswith("==WARNING== user_1 may not use host_1\n")


def test_a_folder_with_an_archive_is_copied_file_by_file(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "trace.csv.gz").write_bytes(gzip.compress((AMP_CSV / "amp_fp16_cuda_gpu_kern_sum.csv").read_bytes()))
    with tarfile.open(folder / "more.tar.xz", "w:xz") as archive:
        archive.add(LIVE, "sub/live.csv")
    (folder / "notes.md").write_text("not a capture\n", encoding="utf-8")
    done = redact([folder], tmp_path / "out")
    made = sorted(file.path.relative_to(tmp_path / "out").as_posix() for file in done.files)
    assert made == ["more.tar.xz/sub/live.csv", "trace.csv"]
    assert list(done.passed) == [str(folder / "notes.md")]
    assert len(api.load(tmp_path / "out").activities) == len(api.load(folder).activities)


def test_a_copy_is_compressed_when_its_name_says_so(tmp_path: Path) -> None:
    redact([LIVE], tmp_path / "a.csv.gz")
    redact([LIVE], tmp_path / "a.csv.xz")
    redact([LIVE], tmp_path / "a.csv")
    plain = (tmp_path / "a.csv").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == plain
    assert lzma.decompress((tmp_path / "a.csv.xz").read_bytes()) == plain


@pytest.mark.parametrize("file", [LIVE, TEXT, AMP_CSV / "default_stdout.csv", OLD / "job-2021-german.log"])
def test_a_clean_copy_is_clean(file: Path, tmp_path: Path) -> None:
    redact([file], tmp_path / "once")
    done = redact([tmp_path / "once"], tmp_path / "twice")
    assert (tmp_path / "twice").read_bytes() == (tmp_path / "once").read_bytes()
    assert not {kind: number for kind, number in done.counts.items() if number}


def test_nothing_is_left_where_something_was_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(item: Any, editor: Any) -> Iterator[str]:
        editor.mask.learn("user", USER)
        yield from item.text.lines

    (tmp_path / "in.csv").write_text(f"{SECRETS['path']}\n{LIVE.read_text(encoding='utf-8')}", encoding="utf-8")
    monkeypatch.setattr(writing, "clean_lines", careless)
    with pytest.raises(NotClean, match="line 1: path"):
        redact([tmp_path / "in.csv"], tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_nothing_is_left_where_a_number_was_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    redact([LIVE], tmp_path / "clean.csv")
    lines = [line for line in (tmp_path / "clean.csv").read_text(encoding="utf-8").split("\n") if line[:4] != '"3",']
    monkeypatch.setattr(writing, "clean_lines", lambda *_: iter(lines))
    with pytest.raises(NotClean, match="40 rows became 39"):
        redact([LIVE], tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["clean.csv"]


def test_what_cannot_be_cleaned_is_refused_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(b"NVR\x00" + bytes(100))
    (tmp_path / "a.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report" + bytes(100))
    with pytest.raises(UnrecognizedInput, match="ncu --import FILE --csv --page raw"):
        redact([tmp_path / "a.ncu-rep"], tmp_path / "out")
    with pytest.raises(UnrecognizedInput, match="nsys export --type sqlite FILE"):
        redact([tmp_path / "a.nsys-rep"], tmp_path / "out")
    text = (FIXTURES / "nvprof/made-8-to-11/processes.txt").read_text(encoding="utf-8")
    (tmp_path / "nvprof.txt").write_text(re.sub(r'Range ".*"', 'Range "projectx"', text), encoding="utf-8")
    with pytest.raises(NotClean, match="names cannot be changed in this form"):
        redact([tmp_path / "nvprof.txt"], tmp_path / "out", hash_nvtx=True)


def test_inputs_and_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    shutil.copy(LIVE, tmp_path / "in.csv")
    (tmp_path / "there.csv").write_text("mine", encoding="utf-8")
    for output, why in ((tmp_path / "in.csv", "is an input"), (tmp_path / "there.csv", "--force"),
                        (tmp_path / "no" / "x.csv", "does not exist")):  # fmt: skip
        with pytest.raises(OutputError, match=why):
            redact([tmp_path / "in.csv"], output)
    with pytest.raises(OutputError, match="lies in an input folder"):
        redact([tmp_path], tmp_path / "clean", force=True)
    assert (tmp_path / "there.csv").read_text(encoding="utf-8") == "mine"
    redact([tmp_path / "in.csv"], tmp_path / "there.csv", force=True)
    assert (tmp_path / "there.csv").stat().st_size > 1000


def test_the_command_says_what_it_took_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["redact", str(LIVE), "-o", str(tmp_path / "a.csv"), "--report", str(tmp_path / "a.json")])
    out, err = capsys.readouterr()
    assert code == 0
    assert "120  process\n" in out
    assert "searched, nothing left; reads as its original" in err
    value = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert value["removed"]["process"] == 120
    assert value["files"] == [{"file": "a.csv", "format": "ncu_csv"}]
    assert main(["redact", str(tmp_path / "none.csv"), "-o", str(tmp_path / "b.csv")]) == 3


def test_tables_are_not_taken_for_private(capsys: pytest.CaptureFixture[str]) -> None:
    harmless = [
        "1.123.200.100", "2025.3.1.0 (build 36398880)", "inst/cycle", "GB/s", "TensorRT:/transformer/layer_0/MatMul_1",
        "step 1/forward/void cutlass::Kernel2<int>", "https://docs.nvidia.com/nsight-compute/x.html", "127.0.0.1",
        "nsight-systems/2024.6.2/host/reports/cuda_gpu_kern_sum.py", "hf_model_forward_pass_of_the_encoder",
    ]  # fmt: skip
    assert [text for text in harmless if list(private_in(text, figures=True))] == []
    mask = Mask()
    assert [mask.text(text, figures=True) for text in harmless] == harmless


def test_every_kind_of_private_text_is_known() -> None:
    texts = [secret for name, secret in SECRETS.items() if name not in ("user", "host", "variable")]
    texts += ["GPU-8f0c2a11-0b1c-4c1e-9a55-1234567890ab", r"\\fileserver\share\x.csv", "00:1a:2b:3c:4d:5e",
              "https://me:pw@git.example.com/x.git", "password=hunter22", "2001:db8:0:0:8:800:200c:417a"]  # fmt: skip
    assert [text for text in texts if not list(private_in(f"see {text} here"))] == []
    mask = Mask()
    assert mask.text(SECRETS["path"]) == mask.text(SECRETS["path"]) == "path_1.py"


def test_words_are_replaced_alike_and_only_where_nobody_needs_them() -> None:
    words = Words()
    old = "void acme::fused_secretsauce_gemm_kernel<float, (int)4>(float *, int)"
    new = words.kernel(old)
    assert len(new) == len(old)
    assert "secretsauce" not in new
    assert "acme" not in new
    assert classify(new).family == classify(old).family == "gemm"
    assert words.kernel("acme::other<float>").startswith(new.removeprefix("void ").partition("::")[0] + "::")
    library = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1>>"
    assert words.kernel(library) == library
    assert is_step(words.range("step 12")) == "12"
    assert "projectx" not in words.range("projectx forward")
    assert Words().kernel(old) != new


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published captures are not here")
@pytest.mark.parametrize("name", [
    "ncu/txt_details_shell_prompt.txt", "ncu/csv_locale_eu_windows_mixed.csv", "nsys/european-locale-2021-kmeans.txt",
    "nsys/gtx1060-windows-2022.1.1-nonutf8.sqlite", "nsys/pbs-job-log-2022.1.3.o213119", "nvprof/metrics-darknet.txt",
    "nsys/t4-cupy-nvtx-2025.3.1.sqlite", "ncu/cli/h100_session_cli2024.txt",
])  # fmt: skip
def test_published_captures_read_as_before(name: str, tmp_path: Path) -> None:
    done = redact([CORPUS / name], tmp_path / "clean")
    assert done.files[0].reader
    data = (tmp_path / "clean").read_bytes()
    assert b"/home/" not in data
    assert b"Users\\" not in data


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="captures are not here")
def test_a_whole_export_loses_what_a_reader_never_sees(tmp_path: Path) -> None:
    done = redact([CAPTURES / "h200-amp/nsys/amp_fp16.sqlite"], tmp_path / "clean.sqlite")
    assert done.counts["row of ThreadNames"] == 251
    with sqlite3.connect(tmp_path / "clean.sqlite") as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    assert not tables & {"META_DATA_CAPTURE", "ThreadNames", "ProcessStreams", "ANALYSIS_FILE", "OSRT_CALLCHAINS"}
