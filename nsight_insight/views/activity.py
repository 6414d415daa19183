"""The activity frame as cached numpy columns, and which of its rows a view looks at."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np

from nsight_insight.catalog.names import normalize
from nsight_insight.model.columns import ACTIVITY_COLUMNS, FILL, Kind
from nsight_insight.views.facts import Array, Bools, Floats, Ints, without

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile

T = TypeVar("T")
NS: Final = 1e-9
"""Seconds in the frame's unit of time."""


class Activities:
    """A profile's activity rows, column by column; nothing here changes the frame.

    Row sets (``base``, ``metered`` ...) are positions in file order, so that views do not depend on the
    order of the frame.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.size = len(profile.activities)
        self._columns: dict[str, Array] = {}
        self._found: dict[tuple[str, bytes], object] = {}

    def once(self, what: str, rows: Ints, find: Callable[[], T]) -> T:
        """What ``find`` returns for these rows, found once however many views ask; nobody may change it."""
        key = (what, rows.tobytes())
        if key not in self._found:
            self._found[key] = find()
        return cast("T", self._found[key])

    def column(self, name: str) -> Array:
        """A column of the contract or a metric, with the contract's fill where the frame has none."""
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    def _read(self, name: str) -> Array:
        contract = ACTIVITY_COLUMNS.get(name)
        dtype = contract.dtype if contract else "float64"
        if name not in self.profile.activities.columns:
            return np.full(self.size, FILL[dtype], dtype=dtype)
        return self.profile.activities[name].to_numpy(dtype=dtype)

    def metric_names(self) -> list[str]:
        """Columns of the frame beyond the contract: canonical metrics."""
        return [str(name) for name in self.profile.activities.columns if name not in ACTIVITY_COLUMNS]

    def rows(self, mask: Bools) -> Ints:
        """Positions where ``mask`` holds, ordered by source and line."""
        found = np.flatnonzero(mask)
        source, line = self.column("source")[found], self.column("line")[found]
        step = np.diff(line) < 0
        if (np.diff(source) < 0).any() or (step & (np.diff(source) == 0)).any():
            found = found[np.lexsort((line, source))]
        return found.astype(np.int64)

    @cached_property
    def tool(self) -> Array:
        """Tool per row: ncu, nsys or nvprof."""
        tools = np.array([source.tool for source in self.profile.sources] or [""], dtype=object)
        return tools[self.column("source")]

    def kind(self, *kinds: Kind) -> Bools:
        """True for rows of these kinds."""
        column = self.column("kind")
        mask = np.zeros(self.size, dtype=bool)
        for kind in kinds:
            mask |= column == kind.value
        return mask

    @cached_property
    def runs(self) -> Bools:
        """True for kernels, and for CUDA graphs that were traced as a whole."""
        return self.kind(Kind.KERNEL, Kind.GRAPH)

    def count(self, rows: Ints) -> Floats:
        """Launches or calls that each row stands for; NaN where the input does not say."""
        count = self.column("count")[rows].astype(np.float64)
        return np.where(count < 0, np.nan, count)

    def launches(self, rows: Ints) -> Ints:
        """``count`` as whole numbers, 0 where unknown."""
        return np.nan_to_num(self.count(rows)).astype(np.int64)

    def seconds(self, rows: Ints, name: str = "duration") -> Floats:
        """A time column at ``rows`` in seconds."""
        return np.asarray(self.column(name)[rows] * NS, dtype=np.float64)

    def time(self, rows: Ints) -> Floats:
        """Durations in seconds, 0 where unknown: what a row adds to its own time base."""
        return np.nan_to_num(self.seconds(rows))

    @cached_property
    def metered(self) -> Ints:
        """Launches profiled by ncu, each once: where two pages hold it, the row of the raw page or binary report."""
        ncu = self.kind(Kind.KERNEL) & (self.tool == "ncu")
        primary = ncu & self.column("primary")
        return self.rows(primary) if primary.any() else self._each_once(self.rows(ncu))

    def _each_once(self, rows: Ints) -> Ints:
        finest = ("report", "raw")
        raw = np.array([source.report in finest for source in self.profile.sources] or [False], dtype=bool)
        raw = raw[self.column("source")[rows]]
        if raw.all() or not raw.any():
            return rows
        identity = (self.column("process"), self.column("correlation"), self.name_codes[0])
        codes, _ = codes_of(*(column[rows] for column in identity))
        return rows[raw | ~np.isin(codes, codes[raw])]

    @cached_property
    def base(self) -> Ints:
        """Kernel and graph rows that say where time goes: the primary ones.

        ncu launches are among them unless nsys saw the same program; then they only explain its kernels.
        """
        return self.rows(self.runs & self.column("primary"))

    @cached_property
    def device(self) -> Ints:
        """Device per row; rows that do not say belong to the profile's only device, if there is just one."""
        device = self.column("device")
        known = np.unique(device[self.runs & (device >= 0)])
        if len(known) == 0:
            known = np.array([entry.index for entry in self.profile.devices], dtype=np.int64)
        return np.where(device < 0, known[0], device) if len(known) == 1 else device

    @cached_property
    def database(self) -> Ints:
        """Number of the database per row, -1 for texts: a database holds all that one capture has."""
        paths = sorted({source.path for source in self.profile.sources if source.table})
        places = [paths.index(source.path) if source.table else -1 for source in self.profile.sources]
        numbers: Ints = np.array([*places, -1], dtype=np.int64)[self.column("source")]
        return numbers

    def beside(self, found: Ints, rows: Ints) -> Ints:
        """Of ``found`` what may be of the same capture as ``rows``: all but the rows of other databases."""
        own, theirs = np.unique(self.database[rows]), self.database[found]
        return found if (own < 0).all() else found[(theirs < 0) | np.isin(theirs, own)]

    @cached_property
    def process(self) -> Ints:
        """Process per row, told apart over databases, -1 unknown: in containers the ranks of a job have equal ids.

        The process id, unless there are several databases. Texts of one capture come in several files: theirs are
        not told apart.
        """
        own = self.column("process")
        if self.database.max(initial=-1) < 1:
            return own
        codes, _ = codes_of(self.database, own)
        return np.where(own < 0, -1, codes)

    @cached_property
    def written_names(self) -> tuple[Ints, list[str]]:
        """Code per row and kernel name as written per code; rows that ran nothing have code -1."""
        import pandas as pd

        codes = np.full(self.size, -1, dtype=np.int64)
        raw, names = pd.factorize(self.column("name")[self.runs], use_na_sentinel=False)
        codes[self.runs] = raw
        return codes, [str(name) for name in names]

    @cached_property
    def name_codes(self) -> tuple[Ints, list[str]]:
        """Code per row and normalised kernel name per code; rows that ran nothing have code -1."""
        codes, names = self.written_names
        normal = [normalize(name) for name in names]
        unique = sorted(set(normal))
        code_of = {name: code for code, name in enumerate(unique)}
        return np.array([*(code_of[name] for name in normal), -1], dtype=np.int64)[codes], unique

    @cached_property
    def grid(self) -> Floats:
        """Blocks per grid."""
        return _product(self, "grid")

    @cached_property
    def block(self) -> Floats:
        """Threads per block."""
        return _product(self, "block")

    def named(self, rows: Ints, wanted: Callable[[str], bool]) -> Bools:
        """True at ``rows`` whose name is wanted; asked once per distinct name."""
        import pandas as pd

        if self.runs[rows].all():
            known, written = self.written_names
            chosen: Bools = np.array([*map(wanted, written), False], dtype=bool)[known[rows]]
            return chosen
        codes, names = pd.factorize(self.column("name")[rows])
        found: Bools = np.array([wanted(str(name)) for name in names] or [False], dtype=bool)[codes]
        return found

    def words(self, name: str, rows: Ints) -> Array:
        """A text column at ``rows``: None where it is empty."""
        values = self.column(name)[rows]
        return without(values, values == "")

    def family(self, rows: Ints) -> Array:
        """Kernel family at ``rows``; 'unknown' where the name says nothing."""
        values = self.column("family")[rows]
        values = np.where(self.column("kind")[rows] == Kind.GRAPH.value, "graph", values)
        return np.where(values == "", "unknown", values)

    def tensor_core(self, rows: Ints) -> Array:
        """'yes', 'no' or None at ``rows``."""
        values = self.words("tensor_core", rows)
        return without(values, values == "unknown")


def _product(acts: Activities, what: str) -> Floats:
    x, y, z = (acts.column(f"{what}_{axis}") for axis in "xyz")
    product: Floats = x * np.where(np.isnan(y), 1.0, y) * np.where(np.isnan(z), 1.0, z)
    return product


def codes_of(*columns: Array) -> tuple[Ints, Ints]:
    """Group rows by equal values of all columns.

    Returns:
        Group number per row and, per group, the position of its first row.
    """
    import pandas as pd

    total = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        codes, uniques = pd.factorize(column, use_na_sentinel=False)
        total = total * (len(uniques) + 1) + codes
        total = pd.factorize(total)[0].astype(np.int64)
    first = np.full(int(total.max(initial=-1)) + 1, len(total), dtype=np.int64)
    np.minimum.at(first, total, np.arange(len(total)))
    return total, first
