r"""The outer layer of an Nsight Compute report, which its library keeps to itself: is it whole, which process ran what.

A report is ``NVR\0``, a header, and blocks: the length of a block's header (4 bytes, little endian), the header (a
protobuf message), its payload. Of the header, field 2 counts the results in the block, field 5 is the length of the
payload and field 6 tells the process (1: its id). The same in every report from 2019 to 2026 at hand; where a file does
not fit, nothing is concluded from it.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAGIC: Final = b"NVR\x00"
_RESULTS, _PAYLOAD, _PROCESS, _PROCESS_ID = 2, 5, 6, 1
_VARINT, _BYTES = 0, 2
_LENGTH: Final = 4
_MAX_VARINT: Final = 70
_VERSION: Final = re.compile(rb"(20[12]\d\.\d{1,2}\.\d{1,2})\.\d{1,3} \(build \d{1,12}\)")


@dataclass(frozen=True)
class Blocks:
    """What the blocks tell.

    Attributes:
        processes: process id per result, in the order of the file; -1 unknown.
        whole: False when the file ends inside a block.
        version: of the tool that wrote it, "" in reports of 2019.
    """

    processes: tuple[int, ...]
    whole: bool
    version: str


def read_blocks(file: Path) -> Blocks:
    """Walk the blocks of a report.

    Raises:
        OSError: the file cannot be read.
    """
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        processes: list[int] = []
        try:
            for results, process in _walk(data):
                processes += [process] * results
            whole = True
        except (IndexError, ValueError):
            whole = False
        version = _VERSION.search(data)
        return Blocks(tuple(processes), whole, version[1].decode() if version else "")


def _walk(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Results and process of each block; IndexError or ValueError where the data ends or does not fit."""
    at = _length(data, len(MAGIC)) + len(MAGIC) + _LENGTH
    if at > len(data):
        raise IndexError
    while at < len(data):
        size = _length(data, at)
        at += _LENGTH
        header = data[at : at + size]
        if len(header) < size:
            raise IndexError
        results, payload, process = 0, 0, -1
        for number, value in _fields(header):
            if isinstance(value, bytes):
                process = _process_id(value) if number == _PROCESS and process < 0 else process
            elif number == _RESULTS:
                results = value
            elif number == _PAYLOAD:
                payload = value
        at += size + payload
        if at > len(data) or results > len(data):
            raise IndexError
        yield results, process


def _length(data: mmap.mmap, at: int) -> int:
    found = data[at : at + _LENGTH]
    if len(found) < _LENGTH:
        raise IndexError
    return int.from_bytes(found, "little")


def _process_id(message: bytes) -> int:
    return next((value for number, value in _fields(message) if number == _PROCESS_ID and isinstance(value, int)), -1)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of a protobuf message's integers, texts and messages."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        value, at = _varint(message, at)
        if key & 7 == _VARINT:
            yield key >> 3, value
        elif key & 7 == _BYTES:
            yield key >> 3, message[at : at + value]
            at += value
        else:
            raise ValueError("a field of an unknown type")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _MAX_VARINT, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number that does not end")
