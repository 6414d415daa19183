"""Compressed files and archives: the same findings as the plain files, and nothing beyond the limits."""

from __future__ import annotations

import io
import os
import re
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nsight_insight import api
from nsight_insight.errors import EmptyInput, InputError, UnrecognizedInput
from nsight_insight.model.issues import Issue, Level
from nsight_insight.model.profile import Profile
from nsight_insight.readers._budget import Budget, Limits
from nsight_insight.readers._inputs import Inputs
from nsight_insight.readers.containers import expand, is_container
from nsight_insight.readers.text import SourceText
from nsight_insight.reporters.json import to_dict
from tests.containers import ARCHIVES, COMPRESSIONS, tarred, zipped, zstd
from tests.paths import FIXTURES

NSYS = FIXTURES / "nsys-csv/2025.3-h200-amp"
KERN_SUM = (NSYS / "amp_fp16_cuda_gpu_kern_sum.csv").read_bytes()
API_SUM = (NSYS / "amp_fp16_cuda_api_sum.csv").read_bytes()
DETAILS = (FIXTURES / "ncu-csv/2025.3.1-h200-amp/details.csv").read_bytes()
PAIR = {"run/kern.csv": KERN_SUM, "run/api.csv": API_SUM}


def findings(*inputs: SourceText) -> dict[str, Any]:
    """What is reported, the names of the files aside."""
    document = to_dict(api.analyze(api.load(*inputs)))
    return dict(without_places({key: document[key] for key in ("totals", "findings", "not_evaluated", "potential")}))


def without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_places(item) for key, item in value.items() if key != "file"}
    return [without_places(item) for item in value] if isinstance(value, list) else value


def expanded(data: bytes, limits: Limits | None = None, path: str = "a") -> list[SourceText | InputError]:
    return list(expand(SourceText(path, data), Budget(limits or Limits())))


def names(data: bytes) -> list[str]:
    return [found.path for found in expanded(data)]


def sources(profile: Profile) -> list[str]:
    return [source.path for source in profile.sources]


@pytest.mark.parametrize("end", COMPRESSIONS)
@pytest.mark.parametrize("data", [KERN_SUM, DETAILS], ids=["nsys", "ncu"])
def test_a_compressed_file_is_the_file(end: str, data: bytes, tmp_path: Path) -> None:
    file = tmp_path / f"run.csv{end}"
    file.write_bytes(COMPRESSIONS[end](data))
    profile = api.load(file)
    assert sources(profile) == [str(file)]
    assert findings(SourceText("x", file.read_bytes())) == findings(SourceText("x", data))
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("end", ARCHIVES)
def test_an_archive_is_its_files(end: str, tmp_path: Path) -> None:
    file = tmp_path / f"run{end}"
    file.write_bytes(ARCHIVES[end](PAIR))
    assert sources(api.load(file)) == [f"{file}!run/kern.csv", f"{file}!run/api.csv"]
    plain = findings(SourceText("k", KERN_SUM), SourceText("a", API_SUM))
    assert findings(SourceText("x", file.read_bytes())) == plain
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


def test_content_decides_not_the_name() -> None:
    assert names(COMPRESSIONS[".xz"](KERN_SUM)) == ["a"]
    assert not is_container(KERN_SUM[:4096])
    assert not is_container(b"BZh is a library of ours\n" * 40)
    assert not is_container(b"\x00" * 4096)
    assert not is_container(b"NVR\x00" + b"\x01" * 4096)
    assert is_container(COMPRESSIONS[".bz2"](b""))


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_formats(format: int) -> None:  # noqa: A002
    long = "folder/" * 30 + "räw.csv"
    files = {long: KERN_SUM} if format != tarfile.USTAR_FORMAT else {"raw.csv": KERN_SUM}
    assert names(tarred(files, format=format)) == [f"a!{name}" for name in files]


def test_a_tar_older_than_its_magic_number() -> None:
    data = bytearray(tarred({"raw.csv": KERN_SUM}, format=tarfile.USTAR_FORMAT))
    data[257:265] = bytes(8)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert names(bytes(data)) == ["a!raw.csv"]


def test_containers_inside_containers() -> None:
    inner = zipped({"c.csv.gz": COMPRESSIONS[".gz"](KERN_SUM)})
    data = COMPRESSIONS[".zst"](tarred({"./b.zip": inner, "d.csv": API_SUM}))
    assert names(data) == ["a!b.zip!c.csv.gz", "a!d.csv"]
    assert findings(SourceText("a", data)) == findings(SourceText("k", KERN_SUM), SourceText("a", API_SUM))


def test_several_compressed_parts_are_one_file() -> None:
    half = len(KERN_SUM) // 2
    for pack in COMPRESSIONS.values():
        [found] = expanded(pack(KERN_SUM[:half]) + pack(KERN_SUM[half:]))
        assert isinstance(found, SourceText)
        assert found.data == KERN_SUM


def test_zstd_with_a_skippable_frame() -> None:
    [found] = expanded(b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"meta" + zstd(KERN_SUM))
    assert isinstance(found, SourceText)
    assert found.data == KERN_SUM


def test_standard_input_may_be_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(zipped(PAIR))))
    assert sources(api.load("-")) == ["-!run/kern.csv", "-!run/api.csv"]


def test_containers_in_a_directory(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(COMPRESSIONS[".gz"](API_SUM))
    (tmp_path / "b.zip").write_bytes(zipped({"k.csv": KERN_SUM, "readme.txt": b"hello\n"}))
    (tmp_path / "c.zip").write_bytes(zipped({"readme.txt": b"hello\n"}))
    profile = api.load(tmp_path)
    assert sources(profile) == [f"{tmp_path}/a.csv.gz", f"{tmp_path}/b.zip!k.csv"]
    passed = [issue for issue in profile.issues if "passed over" in issue.text]
    assert {issue.location.path for issue in passed} == {f"{tmp_path}/b.zip!readme.txt", f"{tmp_path}/c.zip"}
    assert {issue.level for issue in passed} == {Level.INFO}


def test_lines_are_those_of_the_member() -> None:
    profile = api.load(SourceText("a.zip", zipped({"k.csv": KERN_SUM})))
    plain = api.load(SourceText("k.csv", KERN_SUM))
    place, wanted = profile.locate(3, "duration"), plain.locate(3, "duration")
    assert (place.path, place.line, place.column) == ("a.zip!k.csv", wanted.line, wanted.column)


def test_no_profile_in_an_archive_says_what_is_there() -> None:
    with pytest.raises(UnrecognizedInput) as caught:
        api.load(SourceText("a.zip", zipped({"x.txt": b"hello\n", "y.txt": b""})))
    assert "no profile among the archive's 2 members" in str(caught.value)
    assert "a.zip!x.txt" in str(caught.value)
    with pytest.raises(UnrecognizedInput, match="the archive holds no files"):
        api.load(SourceText("a.zip", zipped({})))


@pytest.mark.parametrize("end", COMPRESSIONS)
def test_nothing_in_a_compressed_file(end: str) -> None:
    with pytest.raises(EmptyInput, match="a: the file is empty"):
        api.load(SourceText("a", COMPRESSIONS[end](b" \n")))


def test_what_is_no_profile_in_a_compressed_file_is_an_error() -> None:
    with pytest.raises(UnrecognizedInput, match="'hello'"):
        api.load(SourceText("a.gz", COMPRESSIONS[".gz"](b"hello\n")))


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_links_and_devices_are_never_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_bytes(KERN_SUM)
    entries = [
        special("soft.csv", tarfile.SYMTYPE, str(secret)),
        special("hard.csv", tarfile.LNKTYPE, "/etc/passwd"),
        special("zero", tarfile.CHRTYPE),
        special("disk", tarfile.BLKTYPE),
        special("pipe", tarfile.FIFOTYPE),
    ]
    for pack in (bytes, COMPRESSIONS[".gz"]):
        found = expanded(pack(tarred({"/abs/../../up.csv": API_SUM}, entries)))
        assert [type(item) for item in found] == [UnrecognizedInput] * 5 + [SourceText]
        assert found[-1].path == "a!abs/../../up.csv"
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret.csv"]


def test_a_link_in_a_zip_is_never_followed() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link.csv")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("k.csv", KERN_SUM)
    found = expanded(out.getvalue())
    assert [type(item) for item in found] == [UnrecognizedInput, SourceText]


def test_hidden_files_are_left_out() -> None:
    files = {".git/x.csv": KERN_SUM, "__MACOSX/._k.csv": KERN_SUM, "./k.csv": KERN_SUM, "a/.b.csv": KERN_SUM}
    assert names(zipped(files)) == names(tarred(files)) == ["a!k.csv"]


def test_member_names_cannot_reach_the_terminal() -> None:
    [name] = names(zipped({"\x1b[31mred\u202e.csv": KERN_SUM}))
    assert name == "a!red.csv"


def test_an_encrypted_member_is_named() -> None:
    data = bytearray(zipped(PAIR))
    for start in (found.start() for found in re.finditer(b"PK\x01\x02", bytes(data))):
        data[start + 8] |= 1
        break
    found = expanded(bytes(data))
    assert isinstance(found[0], UnrecognizedInput)
    assert "encrypted" in str(found[0])
    assert found[1].path == "a!run/api.csv"


def test_an_unknown_method_is_named() -> None:
    data = bytearray(zipped({"k.csv": KERN_SUM}))
    for mark, place in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
        start = bytes(data).index(mark)
        data[start + place : start + place + 2] = struct.pack("<H", 9)  # Deflate64
    with pytest.raises(UnrecognizedInput, match="unpack the archive first"):
        api.load(SourceText("a", bytes(data)))


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", COMPRESSIONS)
def test_a_cut_file_keeps_what_came_before(end: str) -> None:
    data = (NSYS / "amp_fp16_cuda_gpu_trace.csv").read_bytes()
    packed = COMPRESSIONS[end](data)
    [found] = expanded(packed[: -len(packed) // (30 if end == ".bz2" else 2)])  # a block of bzip2 holds 900 KB
    assert isinstance(found, SourceText)
    assert data.startswith(found.data)
    assert len(found.data) > 1000
    [issue] = found.issues
    assert issue.level is Level.DATA_LOSS
    assert "ends early" in issue.text


@pytest.mark.parametrize("end", COMPRESSIONS)
def test_cut_before_anything_came_out(end: str) -> None:
    with pytest.raises(EmptyInput, match="before anything could be read"):
        api.load(SourceText("a", COMPRESSIONS[end](KERN_SUM)[:20]))


def test_a_cut_trace_is_still_analysed() -> None:
    packed = COMPRESSIONS[".gz"]((NSYS / "amp_fp16_cuda_gpu_trace.csv").read_bytes())
    profile = api.load(SourceText("a.gz", packed[: len(packed) // 2]))
    assert 500 < len(profile.activities) < 3000
    assert any(issue.level is Level.DATA_LOSS and "ends early" in issue.text for issue in profile.issues)


@pytest.mark.parametrize("pack", [bytes, *COMPRESSIONS.values()], ids=["", *COMPRESSIONS])
def test_a_cut_tar_keeps_its_first_members(pack: Callable[[bytes], bytes]) -> None:
    noise = os.urandom(400_000)
    packed = pack(tarred({"k.csv": KERN_SUM, "noise.bin": noise, "a.csv": API_SUM}))
    inputs = Inputs()
    inputs.add(SourceText("a.tar", packed[: len(packed) * 3 // 4]))
    assert [result.tables[0].source.path for result in inputs.results] in (["a.tar!k.csv"], [])
    assert bool(inputs.results) is (pack is not COMPRESSIONS[".bz2"])  # bzip2 holds all of it in one block
    assert any("cut" in error.text or "ends early" in error.text for error in inputs.errors)


@pytest.mark.parametrize("end", COMPRESSIONS)
def test_damage_is_an_error_not_a_number(end: str) -> None:
    packed = bytearray(COMPRESSIONS[end](DETAILS))
    middle = len(packed) // 2
    packed[middle : middle + 64] = bytes(64)
    inputs = Inputs()
    inputs.add(SourceText(f"a.csv{end}", bytes(packed)))
    if end == ".zst":  # its frames carry no checksum unless asked for
        return
    assert not inputs.results
    assert "damaged" in inputs.errors[0].text


def test_a_damaged_member_leaves_the_others() -> None:
    data = bytearray(zipped(PAIR, zipfile.ZIP_STORED))
    data[bytes(data).index(KERN_SUM[:40]) + 500] ^= 0xFF
    found = expanded(bytes(data))
    assert isinstance(found[0], InputError)
    assert "damaged member" in str(found[0])
    assert found[1].path == "a!run/api.csv"
    profile = api.load(SourceText("a", bytes(data)))
    assert [issue.level for issue in profile.issues if "damaged" in issue.text] == [Level.ERROR]


def test_a_cut_zip_is_an_error() -> None:
    with pytest.raises(InputError, match="not a whole zip archive"):
        api.load(SourceText("a.zip", zipped(PAIR)[:-40]))


# --- limits -----------------------------------------------------------------------------------------------------------


def failing(data: bytes, limits: Limits) -> str:
    inputs = Inputs(budget=Budget(limits))
    inputs.add(SourceText("a", data))
    return " ".join(error.text for error in inputs.errors)


MEMBERS = {"run/kern.csv": KERN_SUM, "big.csv": b"x" * 400_000, "run/api.csv": API_SUM}


@pytest.mark.parametrize("end", ARCHIVES)
def test_a_member_beyond_the_limit_is_named_and_the_others_are_read(end: str) -> None:
    found = expanded(ARCHIVES[end](MEMBERS), Limits(member_bytes=100_000))
    assert [(item.path, type(item)) for item in found] == [
        ("a!run/kern.csv", SourceText), ("a!big.csv", InputError), ("a!run/api.csv", SourceText)
    ]  # fmt: skip
    assert "expands to more than 100000 bytes" in str(found[1])


@pytest.mark.parametrize("end", COMPRESSIONS)
def test_a_compressed_file_beyond_the_limit(end: str) -> None:
    assert "the limit" in failing(COMPRESSIONS[end](DETAILS), Limits(member_bytes=100_000))


@pytest.mark.parametrize("end", [*ARCHIVES, *COMPRESSIONS])
def test_all_together_beyond_the_limit(end: str) -> None:
    data = ARCHIVES[end](MEMBERS) if end in ARCHIVES else COMPRESSIONS[end](MEMBERS["big.csv"])
    assert "the limit" in failing(data, Limits(total_bytes=200_000))


def test_the_total_is_shared_by_all_inputs() -> None:
    inputs = Inputs(budget=Budget(Limits(total_bytes=len(KERN_SUM) + 100)))
    for name in ("a.gz", "b.gz"):
        inputs.add(SourceText(name, COMPRESSIONS[".gz"](KERN_SUM)))
    assert len(inputs.results) == 1
    assert inputs.errors[0].path == "b.gz"


def test_total_spent_on_one_member_ends_the_archive() -> None:
    found: list[SourceText | InputError] = []
    with pytest.raises(InputError, match="the limit"):
        found.extend(expand(SourceText("a", zipped(MEMBERS)), Budget(Limits(total_bytes=100_000))))


@pytest.mark.parametrize("end", [".gz", ".xz", ".zst", ".bz2", ".zip", ".tar.gz"])
def test_bombs(end: str) -> None:
    zeros = bytes(80 << 20)
    data = COMPRESSIONS[end](zeros) if end in COMPRESSIONS else ARCHIVES[end]({"zeros.csv": zeros})
    assert "decompression bombs" in failing(data, Limits())


def test_a_nested_bomb_ends_at_the_depth_limit() -> None:
    data = KERN_SUM
    for _ in range(9):
        data = COMPRESSIONS[".gz"](data)
    assert "containers inside each other, more than 5 deep" in failing(data, Limits())
    assert names(COMPRESSIONS[".gz"](COMPRESSIONS[".gz"](KERN_SUM))) == ["a"]


def test_too_deep_a_member_leaves_the_others() -> None:
    deep = zipped({"x.zip": zipped({"y.zip": zipped({"z.csv": KERN_SUM})})})
    found = expanded(zipped({"deep.zip": deep, "k.csv": KERN_SUM}), Limits(depth=2))
    assert [(item.path, type(item)) for item in found] == [
        ("a!deep.zip!x.zip", InputError),
        ("a!k.csv", SourceText),
    ]


@pytest.mark.parametrize("end", [".zip", ".tar", ".tar.gz"])
def test_too_many_members(end: str) -> None:
    data = ARCHIVES[end]({f"{n}.txt": b"x" for n in range(30)})
    assert "more than 20 members" in failing(data, Limits(members=20))


def test_a_sparse_file_cannot_fill_the_memory() -> None:
    sparse = tarfile.TarInfo("holes.csv")
    sparse.type = tarfile.GNUTYPE_SPARSE
    [found, *_] = expanded(tarred({}, [sparse], tarfile.GNU_FORMAT)) or [None]
    assert isinstance(found, UnrecognizedInput)


def test_sizes_that_lie_do_not_pass() -> None:
    data = bytearray(zipped({"k.csv": b"x" * 300_000}))
    start = bytes(data).index(b"PK\x01\x02")
    data[start + 24 : start + 28] = struct.pack("<I", 1000)
    [found] = expanded(bytes(data), Limits(member_bytes=100_000))
    assert isinstance(found, InputError)


# --- packages ---------------------------------------------------------------------------------------------------------


def test_without_a_zstd_package_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['zstandard'] = None; sys.modules['compression'] = None\n"
        "from nsight_insight.readers.text import SourceText\nfrom nsight_insight import api, InputError\n"
        "try:\n    api.load(SourceText('a.zst', bytes.fromhex('28b52ffd2000010000')))\n"
        "except InputError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "a.zst: compressed with zstd, which needs a package: pip install 'nsight-insight[zstd]'\n"


class _FakeZstdError(Exception):
    pass


class _FakeZstdFile:
    """What ``compression.zstd.ZstdFile`` does, on top of the package."""

    def __init__(self, source: io.BytesIO) -> None:
        self._data = source.read()

    def read1(self, size: int) -> bytes:
        if b"BAD" in self._data:
            raise _FakeZstdError("Data corruption detected")
        data, self._data = self._data[4:][:size], self._data[:4] + self._data[4:][size:]
        return data


def test_the_standard_library_of_newer_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(ZstdFile=_FakeZstdFile, ZstdError=_FakeZstdError)
    monkeypatch.setitem(sys.modules, "compression", SimpleNamespace(zstd=fake))
    monkeypatch.setitem(sys.modules, "compression.zstd", fake)
    [found] = expanded(b"\x28\xb5\x2f\xfd" + KERN_SUM)
    assert isinstance(found, SourceText)
    assert found.data == KERN_SUM
    with pytest.raises(InputError, match="damaged compressed data"):
        expanded(b"\x28\xb5\x2f\xfdBAD")


# --- encodings --------------------------------------------------------------------------------------------------------

ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "PowerShell": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
    "UTF-16 BE": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "BOM": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "BOM and CRLF": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize(
    "name",
    [
        "ncu-csv/2025.3.1-h200-amp/details_fp32.csv",
        "ncu-csv/2025.3.1-h200-amp/raw_base.csv",
        "ncu-csv/2025.3.1-h200-amp/live_mixed.csv",
        "nsys-csv/2025.3-h200-amp/default_stdout.csv",
        "nsys-csv/2025.3-h200-amp/amp_fp16_cuda_gpu_trace.csv",
    ],
)
def test_encodings_do_not_change_the_findings(name: str, encode: Callable[[str], bytes]) -> None:
    data = (FIXTURES / name).read_bytes()
    recoded = encode(data.decode())
    assert findings(SourceText("x", recoded)) == findings(SourceText("x", data))
    profile = api.load(SourceText("x", recoded))
    assert not [issue for issue in profile.issues if issue.level > Level.INFO and issue not in plain_issues(data)]


def plain_issues(data: bytes) -> tuple[Issue, ...]:
    return api.load(SourceText("x", data)).issues


def test_utf16_inside_a_zip() -> None:
    recoded = ENCODINGS["PowerShell"](KERN_SUM.decode())
    assert findings(SourceText("a.zip", zipped({"k.csv": recoded}))) == findings(SourceText("k.csv", KERN_SUM))
