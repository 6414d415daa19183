"""Cut the exports of one capture session into one small archive per case and variant.

``python -m bench.proof.cut FOLDER SESSION [--without ID...] [--again ID...]`` reads what ``harness/device.sh`` brought
back (ncu pages ``*.raw.csv`` and ``*.details.csv``, nsys tables ``trace_*.csv``, unprofiled times ``*.jsonl``) and
writes ``captures/<ID>-<bad|good>.tar.xz`` and ``truth/<SESSION>.json``; ``--again`` puts repetitions of cases that
another session holds into ``captures/again``, ``--without`` leaves cases out. Whole records are kept as the tools
printed them; a record belongs to a case by its NVTX range (ncu) or by its start time inside the range (nsys).
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CAPTURES, TRUTH = HERE / "captures", HERE / "truth"
RANGE = re.compile(r"\b([PC]\d+) ([ab])\b")
VARIANT = {"a": "bad", "b": "good"}
Key = tuple[str, str]
Files = dict[Key, dict[str, str]]


def main(arguments: Sequence[str]) -> None:
    """Cut everything in a folder, as told on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("session")
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--again", nargs="*", default=[])
    chosen = parser.parse_args(arguments)
    for (case, letter), members in all_members(chosen.folder).items():
        if case not in chosen.without:
            target = CAPTURES / "again" if case in chosen.again else CAPTURES
            write_archive(target / f"{case}-{VARIANT[letter]}.tar.xz", members)
    truth = {
        "machine": machine(chosen.folder),
        "again": sorted(chosen.again),
        "cases": {case: one for case, one in times(chosen.folder).items() if case not in chosen.without},
    }
    TRUTH.mkdir(exist_ok=True)
    (TRUTH / f"{chosen.session}.json").write_text(compact(truth) + "\n")


def all_members(source: Path) -> Files:
    """Members of every archive."""
    files: Files = defaultdict(dict)
    for page in ("raw", "details"):
        for path in sorted(source.glob(f"*.{page}.csv")):
            for key, text in cut_page(path, 2 if page == "raw" else 1).items():
                files[key][f"{page}.csv"] = text
    if (source / "trace_nvtx_pushpop_trace.csv").exists():
        for key, tables in cut_trace(source).items():
            files[key].update(tables)
    return files


def compact(truth: dict[str, Any]) -> str:
    """JSON with one line per list of numbers."""
    text = json.dumps(truth, indent=1)
    return re.sub(r"\[[\d\s.,eE+-]+\]", lambda found: re.sub(r"\s+", " ", found[0]), text)


def cut_page(path: Path, head: int) -> dict[Key, str]:
    """Records of an ncu page by the NVTX range they ran in, each with the page's ``head`` heading lines."""
    with path.open(newline="") as file:
        rows = csv.reader(file)
        heading = [next(rows) for _ in range(head)]
        place = next(i for i, name in enumerate(heading[0]) if "Push/Pop_Range" in name)
        parts: dict[Key, list[list[str]]] = defaultdict(list)
        for row in rows:
            if found := RANGE.search(row[place]):
                parts[found[1], found[2]].append(row)
    return {key: text_of([*heading, *part]) for key, part in parts.items()}


def ranges(source: Path) -> Iterator[tuple[Key, int, int]]:
    """Case ranges of the trace with their start and end in ns."""
    path = source / "trace_nvtx_pushpop_trace.csv"
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if found := RANGE.fullmatch(row["Name"].lstrip(":")):
                    yield (found[1], found[2]), int(row["Start (ns)"]), int(row["End (ns)"])


def cut_trace(source: Path) -> Files:
    """Records of the nsys tables that start inside each case range; the case range itself is left out."""
    files: Files = defaultdict(dict)
    spans = list(ranges(source))
    for table in ("cuda_gpu_trace", "cuda_api_trace", "nvtx_pushpop_trace"):
        with (source / f"trace_{table}.csv").open(newline="") as file:
            rows = csv.reader(file)
            heading = next(rows)
            body = [(int(row[0]), row) for row in rows]
        for key, start, end in spans:
            inside = [row for at, row in body if start < at <= end and not RANGE.search(",".join(row))]
            files[key][f"{table}.csv"] = text_of([heading, *inside])
    return files


def text_of(rows: Iterable[Sequence[str]]) -> str:
    """CSV text of ``rows``."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def write_archive(path: Path, members: dict[str, str]) -> None:
    """A tar.xz with the members and nothing of this machine: no owner, no time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name, text in sorted(members.items()):
            data = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def times(source: Path) -> dict[str, dict[str, Any]]:
    """Per case: clock, unprofiled times of each variant in us, how far their results differ, lengths of the ranges."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for path in sorted(source.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            one = json.loads(re.sub(r"-?\bnan\b", "null", line))
            case = found[one["id"]]
            case["clock"] = one["clock"]
            if one.get("difference") is not None and one["difference"] >= 0:
                case["difference"] = one["difference"]
            case["good" if one["variant"] == "control" else one["variant"]] = one["us"]
    for (name, letter), start, end in ranges(source):
        found[name][f"{VARIANT[letter]}_range_us"] = (end - start) / 1e3
    return dict(sorted(found.items()))


def machine(source: Path) -> dict[str, Any]:
    """GPU, driver and tool versions, and the measured ceilings."""
    ceilings = source / "ceilings.json"
    return {
        "versions": (source / "versions.txt").read_text().splitlines(),
        "ceilings": json.loads(ceilings.read_text()) if ceilings.exists() else {},
    }


if __name__ == "__main__":
    main(sys.argv[1:])
