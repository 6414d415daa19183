"""One capture to its clean copy, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from nsight_insight.redact.captures import Item, kernel_names
from nsight_insight.redact.editor import Editor


def write(item: Item, draft: Path, editor: Editor, *, end: str) -> None:
    """Write the copy of one capture; ``end`` of its name says how it is compressed."""
    from nsight_insight.redact.database import copy_database

    if item.reader == "nsys_sqlite":
        draft.unlink()
        copy_database(item.text, draft, editor)
        return
    data = "\n".join(clean_lines(item, editor)).encode("utf-8", "replace")
    draft.write_bytes(_packed(data, end))


def _packed(data: bytes, end: str) -> bytes:
    """Compressed as the name of the copy says."""
    import bz2
    import gzip
    import lzma

    packers: Mapping[str, Callable[[bytes], bytes]] = {
        ".gz": lambda raw: gzip.compress(raw, mtime=0), ".xz": lzma.compress, ".bz2": bz2.compress,
    }  # fmt: skip
    return packers[end](data) if end in packers else data


def clean_lines(item: Item, editor: Editor) -> Iterator[str]:
    """The lines of a clean copy, as many as the original has, so that places stay the same."""
    from nsight_insight.redact.ncu_csv_pages import CsvPages
    from nsight_insight.redact.ncu_text_pages import clean_session_text, clean_text_page
    from nsight_insight.redact.nsys_pages import clean_nsys
    from nsight_insight.redact.nvprof_pages import clean_nvprof

    lines = item.text.lines
    pairs = editor.pairs(kernel_names(item.result))
    if item.reader in ("nsys_csv", "nsys_text"):
        return clean_nsys(item.text, editor, pairs)
    if item.reader == "nvprof":
        return clean_nvprof(lines, editor, pairs)
    if item.reader == "ncu_text":
        return clean_text_page(lines, editor, pairs)
    if item.reader == "ncu_session" and not any(line.startswith('"') for line in lines):
        return clean_session_text(lines, editor)
    if item.reader in ("ncu_csv", "ncu_summary", "ncu_source", "ncu_session"):
        return CsvPages(editor, pairs).clean(lines)
    return (editor.mask.text(line, figures=True) for line in lines)
