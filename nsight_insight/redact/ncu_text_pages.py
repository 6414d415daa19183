"""Pages that ncu prints as text, its session page included: launches and tables stay in their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from nsight_insight.readers import _ncu_text_lines as grammar
from nsight_insight.redact.editor import Editor, renamed
from nsight_insight.redact.mask import HOST, OUTPUT, PROCESS
from nsight_insight.redact.ncu_csv_pages import REMOVED, attribute_kind, said_by_ncu

_PROCESS: Final = re.compile(r"\[(\d+)\] (\S.*)@(\S+)\s*")
_STATE: Final = "== NVTX State =="
_DEFAULT: Final = "default domain"
_RANGE: Final = re.compile(r"(\s*<(?:\d+,)?)(.*)(>\s*)")
_STACK_FRAME: Final = re.compile(r"\s+(?:#\d+ 0x.*|of \S+\s*|CPU Call Stack:.*)")
_HEADINGS: Final = ("Launch Attribute ", "Session Attribute ", "Device Attribute ")
_KEPT: Final = ("Nsight Compute Target ", "CUDA Version ", "PerfWorks ", "Device Attribute ")


def clean_text_page(lines: Sequence[str], editor: Editor, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """As many lines as were given; what stands in front of the first launch and between launches goes."""
    opened = False
    for line in lines:
        if (said := said_by_ncu(line, editor, pairs)) is not None:
            yield said
        elif found := _PROCESS.fullmatch(line):
            host = found[3] if found[3] == "127.0.0.1" else editor.mask.name(HOST, found[3])
            yield f"[{found[1]}] {editor.mask.name(PROCESS, found[2])}@{host}"
        elif grammar.launch_of(line) or grammar.device_of(line)[1] or line.startswith(_STATE):
            opened = True
            yield renamed(editor.mask.text(line, figures=True), pairs)
        elif not line.strip():
            yield ""
        elif opened and line.startswith("  "):
            yield _inside(line, editor, pairs)
        else:
            editor.mask.drop(OUTPUT, line)
            yield ""


def _inside(line: str, editor: Editor, pairs: Sequence[tuple[str, str]]) -> str:
    """A line of a launch."""
    if _STACK_FRAME.fullmatch(line):
        editor.mask.drop("call stack", line)
        return ""
    if (found := _RANGE.fullmatch(line)) and found[2] != _DEFAULT:
        return found[1] + editor.range(found[2]) + found[3]
    return renamed(editor.mask.text(line, figures=True), pairs)


def clean_session_text(lines: Sequence[str], editor: Editor) -> Iterator[str]:
    """Releases and the attributes of the GPUs stay; of the rest only what the attributes are called."""
    devices = False
    for line in lines:
        heading = line.startswith(_HEADINGS)
        if heading:
            devices = line.startswith(_HEADINGS[-1])
        label = line.split("  ", 1)[0] if not line.startswith(" ") else ""
        if heading or devices or grammar.dashes_of(line) or line.startswith(_KEPT) or not line.strip():
            yield line
        else:
            value = line.removeprefix(label).strip()
            if value and value != REMOVED:
                editor.mask.drop(attribute_kind(label), value)
            yield f"{_label(line)} {REMOVED}" if label else ""


def _label(line: str) -> str:
    """The attribute's name with the blanks behind it, as far as two words can be told from a value."""
    found = re.match(r"(?:(?:Host|Target|Profiler|Nsight|CUDA) [A-Z][A-Za-z]*(?: Line)?|\S+)\s*", line)
    return found[0].rstrip() if found else ""
