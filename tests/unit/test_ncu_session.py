"""The session page: devices and version, and nothing that tells who ran what where."""

from __future__ import annotations

import pytest

from nsight_insight.api import analyze, load
from nsight_insight.errors import UnrecognizedInput
from nsight_insight.readers import ncu_session
from nsight_insight.readers.text import from_bytes, open_path
from nsight_insight.reporters import reporter
from nsight_insight.reporters.options import RenderOptions
from tests.paths import CORPUS, FIXTURES

CAPTURE = FIXTURES / "ncu-session" / "2025.3.1-h200-amp" / "session.csv"
DETAILS = FIXTURES / "ncu-csv" / "2025.3.1-h200-amp" / "details.csv"
PRIVATE = ("Profiler Command Line", "lab/train.py", "--nvtx-include", "Intel(R)", "/opt/nvidia", "PREEMPT_DYNAMIC")
PAGE = '''Session Info
"Session Attribute","Value"
"Nsight Compute Target","2026.2.1.0 (build 38283040) (public-release)"

Device Attributes
"Device Attribute","Device 0","Device 3"
"display_name","NVIDIA A, ""B""","NVIDIA H200"
"compute_capability_major","8","9"
"compute_capability_minor","6","0"
"multiprocessor_count","1,080","132"
"max_mem_frequency_khz","","3201000"
"fb_bus_width","5120","6016"
'''


def test_capture() -> None:
    (table,) = ncu_session.read(open_path(CAPTURE)).tables
    (device,) = table.devices
    assert (device.index, device.name, device.cc, device.sm_count) == (0, "NVIDIA H200", 9.0, 132)
    assert (table.source.version, table.source.report, len(table)) == ("2025.3.1", "session", 0)
    place = device.location
    assert place is not None
    assert CAPTURE.read_text().split("\n")[(place.line or 0) - 1] == '"Device Attribute","Device 0"'
    assert (place.column, place.field) == (2, "Device 0")


def test_several_devices() -> None:
    (table,) = ncu_session.read(from_bytes("s", PAGE.encode())).tables
    first, second = table.devices
    assert (first.index, first.name, first.cc, first.sm_count) == (0, 'NVIDIA A, "B"', 8.6, 1080)
    assert first.memory_bandwidth is None
    assert second.index == 3
    assert second.memory_bandwidth == pytest.approx(4.814304e12)


def test_the_page_names_the_gpu_of_a_details_page() -> None:
    assert [device.name for device in load(DETAILS).devices] == [""]
    profile = load(DETAILS, CAPTURE)
    assert [device.name for device in profile.devices] == ["NVIDIA H200"]
    assert len(profile.activities) == 20


def test_alone_it_is_refused_with_what_is_missing() -> None:
    with pytest.raises(UnrecognizedInput, match="give the report's raw page, too"):
        load(CAPTURE)
    with pytest.raises(UnrecognizedInput, match="no session page"):
        ncu_session.read(from_bytes("s", b"hello"))


def test_no_report_shows_who_ran_what_where() -> None:
    report = analyze(load(DETAILS, CAPTURE))
    text = CAPTURE.read_text()
    assert all(word in text for word in PRIVATE)
    shown = repr(report)
    for name in ("text", "json"):
        shown += reporter(name).render(report, RenderOptions(verbose=True))
    assert "2025.3.1" in shown
    assert not [word for word in PRIVATE if word in shown]


@pytest.mark.skipif(not CORPUS.exists(), reason="published files absent")
def test_text_and_csv_say_the_same() -> None:
    tables = [ncu_session.read(open_path(CORPUS / "ncu" / "cli" / f"h100_session_cli2024.{kind}")).tables[0]
              for kind in ("csv", "txt")]  # fmt: skip
    (csv,), (text,) = (table.devices for table in tables)
    assert (csv.name, csv.cc, csv.sm_count) == (text.name, text.cc, text.sm_count) == ("NVIDIA H100 PCIe", 9.0, 114)
    assert {table.source.version for table in tables} == {"2025.1.0"}
