"""Containers made in memory, for tests."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import zstandard

Files = Mapping[str, bytes]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


COMPRESSIONS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstd,
}


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files: Files, extra: Sequence[tarfile.TarInfo] = (), format: int = tarfile.PAX_FORMAT) -> bytes:  # noqa: A002
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for info in extra:
            archive.addfile(info)
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


ARCHIVES: Final[Mapping[str, Callable[[Files], bytes]]] = {
    ".zip": zipped,
    ".tar": tarred,
    **{f".tar{end}": (lambda files, pack=pack: pack(tarred(files))) for end, pack in COMPRESSIONS.items()},
}
