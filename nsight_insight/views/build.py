"""The views' entry: a profile to the facts of a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from nsight_insight.views.activity import Activities
from nsight_insight.views.facts import KERNEL, LAUNCH, SCOPES, SEQUENCE, TRACE, FactTable
from nsight_insight.views.kernel import build_kernel
from nsight_insight.views.launch import build_launch
from nsight_insight.views.sequence import build_sequence
from nsight_insight.views.trace import build_trace

if TYPE_CHECKING:
    from nsight_insight.model.profile import Profile

_BUILDERS: Final[Mapping[str, Callable[[Activities], FactTable]]] = {
    LAUNCH: build_launch,
    KERNEL: build_kernel,
    SEQUENCE: build_sequence,
    TRACE: build_trace,
}


class Views(Mapping[str, FactTable]):
    """Scope -> facts of one profile, each built when it is first asked for; ``activities`` is what they share."""

    def __init__(self, profile: Profile) -> None:
        self.activities = Activities(profile)
        self._tables: dict[str, FactTable] = {}

    def __getitem__(self, scope: str) -> FactTable:
        if scope not in self._tables:
            self._tables[scope] = _BUILDERS[scope](self.activities)
        return self._tables[scope]

    def __iter__(self) -> Iterator[str]:
        return iter(SCOPES)

    def __len__(self) -> int:
        return len(SCOPES)


def build_all(profile: Profile) -> Views:
    """Every scope of a profile, built lazily, sharing the work of reading the activity frame."""
    return Views(profile)


def build(profile: Profile, scope: str) -> FactTable:
    """The facts of one scope (a name of ``facts.SCOPES``); an empty table where the profile has no subjects.

    Raises:
        KeyError: no such scope.
    """
    return build_all(profile)[scope]
