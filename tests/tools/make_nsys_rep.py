"""Makes ``fixtures/nsys-rep/made-2022-to-2025``: ``python -m tests.tools.make_nsys_rep``.

A real ``.nsys-rep`` holds the process environment, file names and process lists in a format that is not published, so
none can be shipped clean. Imitated are the first bytes of reports of nsys 2022.4 and 2025.3 and of a raw capture
(.qdstrm); what follows is filling. They show how such files are recognised and what to do about them.
"""

from __future__ import annotations

from typing import Final

from tests.paths import FIXTURES

FOLDER: Final = FIXTURES / "nsys-rep/made-2022-to-2025"
FILLING: Final = bytes(range(256))


def files() -> dict[str, bytes]:
    """Name -> content of every fixture."""
    local = b"\n\x0bLocal (CLI)\x12\x04"
    return {
        "run-2022.4.nsys-rep": b"NVIDIA Tegra Profiler Report 1." + local + FILLING,
        "run-2025.3.nsys-rep": b"NVIDIA Tegra Profiler Report 36398880." + local + FILLING,
        "run.qdstrm": b"\x00" * 8 + b"NVIDIA Nsight Systems Stream" + FILLING,
    }


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (FOLDER / name).write_bytes(content)
