"""Several inputs into one profile.

Tables are stacked into one activity frame; kernel names are classified; rows that stand for the same work are told
apart from those that only describe it once more (``primary``); devices are merged. Nothing depends on file names,
on the order of the inputs, or on how a report was split over files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nsight_insight.catalog.gpus import Gpu
from nsight_insight.model.columns import ACTIVITY_COLUMNS
from nsight_insight.model.issues import Issue
from nsight_insight.model.profile import Profile, ReadResult
from nsight_insight.readers._assemble_devices import fill_cc, merge_devices, on_one_clock, renumbered
from nsight_insight.readers._assemble_hot import hot_lines
from nsight_insight.readers._assemble_names import derive_names
from nsight_insight.readers._assemble_ncu import fold_pages
from nsight_insight.readers._assemble_primary import settle_primary
from nsight_insight.readers._assemble_ranks import number_devices
from nsight_insight.readers._assemble_stack import Stack, distinct_tables, stack

if TYPE_CHECKING:
    import pandas as pd


def assemble(results: Sequence[ReadResult], gpu: Gpu | None = None, issues: Sequence[Issue] = ()) -> Profile:
    """One profile of everything that was read.

    Args:
        results: what the readers returned, in the order of the inputs.
        gpu: the GPU the program ran on, where the user says so; wins over what the inputs say.
        issues: what is known already, to stand first.
    """
    tables, read_issues = distinct_tables(results)
    data = stack(tables, [*issues, *read_issues])
    derive_names(data)
    data = fold_pages(data)
    settle_primary(data)
    numbering = number_devices(data, tables)
    devices, device_issues = merge_devices(renumbered(tables, numbering), gpu)
    fill_cc(data, devices)
    return Profile(
        sources=tuple(data.sources),
        activities=_frame(data),
        devices=tuple(devices),
        vendor=tuple(data.vendor),
        issues=tuple(dict.fromkeys([*data.issues, *device_issues])),
        hot_lines=hot_lines(tables, data),
        samples=on_one_clock(tables, numbering),
        clocks=numbering.clocks,
    )


def _frame(data: Stack) -> pd.DataFrame:
    import pandas as pd

    # pandas 3 would turn object arrays of text into its own string type; the contract says object.
    series = {
        name: pd.Series(
            values, dtype=ACTIVITY_COLUMNS[name].dtype if name in ACTIVITY_COLUMNS else "float64", copy=False
        )
        for name, values in data.columns.items()
    }
    return pd.DataFrame(series, copy=False)
