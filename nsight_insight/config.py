"""What a user may configure, as plain data; ``config_file`` reads it from files and the environment."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, cast

from nsight_insight.errors import ConfigError
from nsight_insight.model.finding import SEVERITY_ORDER
from nsight_insight.model.units import FRACTION, TIME, parse_unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from datetime import date
    from pathlib import Path

    from nsight_insight.model.finding import Finding, Saving, Severity
    from nsight_insight.model.issues import Location

ConfigPath = tuple[str | int, ...]

_NUMBER_AND_UNIT: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([%a-zµ]+)\s*")


@dataclass(frozen=True)
class Threshold:
    """A limit given as a severity, as a share of the time base, or as time in ns; exactly one is set.

    ``Threshold()`` with nothing set is never reached. ``only_new`` leaves out findings that a baseline has.
    """

    severity: Severity | None = None
    share: float | None = None
    time_ns: float | None = None
    only_new: bool = False

    def reached(self, saving: Saving, severity: Severity) -> bool:
        """True when a finding of this saving and severity is at or above the limit."""
        if self.severity is not None:
            return SEVERITY_ORDER[severity] >= SEVERITY_ORDER[self.severity]
        if self.share is not None:
            return saving.share >= self.share
        return self.time_ns is not None and saving.expected_ns >= self.time_ns


NEVER: Final = Threshold()


def parse_fail_on(text: str) -> Threshold:
    """``note``, ``warning``, ``error``, ``never``, or a share such as ``5%``; ``new``, or ``new:`` before one of them.

    Raises:
        ConfigError: none of these.
    """
    word = text.strip()
    if word == "new" or word.startswith("new:"):
        return replace(parse_fail_on(word.removeprefix("new").removeprefix(":") or "note"), only_new=True)
    if word == "never":
        return NEVER
    if word in SEVERITY_ORDER:
        return Threshold(severity=cast("Severity", word))
    limit = _limit(word)
    if limit is None or limit.share is None:
        raise ConfigError(f"{text!r} is not a severity (note, warning, error, never), a share such as 5%, or new")
    return limit


def parse_min_saving(text: str) -> Threshold:
    """A share such as ``1%`` or a time such as ``2ms``.

    Raises:
        ConfigError: neither.
    """
    limit = _limit(text)
    if limit is None:
        raise ConfigError(f"{text!r} is not a share such as 1% or a time such as 2ms")
    return limit


def _limit(text: str) -> Threshold | None:
    found = _NUMBER_AND_UNIT.fullmatch(text)
    unit = parse_unit(found[2]) if found else None
    if found is None or unit is None:
        return None
    value = float(found[1]) * unit.scale
    if unit.dimension == FRACTION:
        return Threshold(share=value) if value <= 1.0 else None
    return Threshold(time_ns=value * 1e9) if unit.dimension == TIME else None


@dataclass(frozen=True)
class Suppression:
    """A finding the user has decided to live with.

    ``rule`` and ``kernel`` are glob patterns; the suppression holds up to and including the day
    ``expires``.
    """

    rule: str
    reason: str
    location: Location
    kernel: str = "*"
    expires: date | None = None

    def expired(self, today: date) -> bool:
        """True after the last day it holds."""
        return self.expires is not None and today > self.expires

    def covers(self, rule: str, *names: str) -> bool:
        """True when the rule and any spelling of the kernel's name match."""
        return matches_rule(self.rule, rule) and any(fnmatchcase(name, self.kernel) for name in names)

    def covers_finding(self, finding: Finding) -> bool:
        """As ``covers``; a merged finding is covered when every one of its kernels is."""
        members = finding.subject.members
        if not members:
            return self.covers(finding.rule, finding.subject.kernel)
        return all(self.covers(finding.rule, member.kernel, member.base) for member in members)


@dataclass(frozen=True)
class Config:
    """Options of an analysis that a project may want to keep.

    Attributes:
        select: rule patterns to use; empty means all.
        ignore: rule patterns to leave out.
        disable: as ``ignore``, but not replaced by the command line's ``--ignore``.
        rules: folders of further rules.
        gpu: name of the GPU where the profile does not say, "" when not given.
        fail_on: findings that make the command line return 1.
        min_saving: smaller savings are not reported; None for the engine's own limit.
        top: how many findings to report at most, None for the reporter's own choice.
        severity: rule id -> severity instead of the rule's own.
        params: rule id -> parameter -> value as written (a number in the parameter's unit).
        suppressions: findings to leave out, with reasons.
        file: configuration file these were read from, "" for none.
        lines: key path -> line of ``file``, for messages; only of what was read from there.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    rules: tuple[Path, ...] = ()
    gpu: str = ""
    fail_on: Threshold = NEVER
    min_saving: Threshold | None = None
    top: int | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    params: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()
    file: str = ""
    lines: Mapping[ConfigPath, int] = field(default_factory=dict, compare=False, repr=False)

    def wants(self, rule: str) -> bool:
        """Whether a rule id is selected and not ignored."""
        if any(matches_rule(pattern, rule) for pattern in (*self.ignore, *self.disable)):
            return False
        return not self.select or any(matches_rule(pattern, rule) for pattern in self.select)

    def fails(self, findings: Iterable[Finding]) -> bool:
        """Whether any finding is at or above ``fail_on``."""
        return any(self.fail_on.reached(finding.saving, finding.severity) for finding in findings)

    def check(self, known: Mapping[str, Collection[str]]) -> None:
        """Compare every mention of a rule or parameter with what exists.

        Args:
            known: rule id -> its parameter names.

        Raises:
            ConfigError: a pattern matches no rule, or a rule or parameter does not exist.
        """
        for path, pattern in self._patterns():
            if not any(matches_rule(pattern, rule) for rule in known):
                raise self._error(path, f"no rule matches {pattern!r}{suggestion(pattern, known)}")
        for table in ("severity", "params"):
            for rule in getattr(self, table):
                if rule not in known:
                    raise self._error((table, rule), f"unknown rule {rule!r}{suggestion(rule, known)}")
        for rule, values in self.params.items():
            for name in values:
                if name not in known[rule]:
                    text = f"rule {rule} has no parameter {name!r}{suggestion(name, known[rule])}"
                    raise self._error(("params", rule, name), text)

    def _patterns(self) -> Iterator[tuple[ConfigPath, str]]:
        for key in ("select", "ignore", "disable"):
            yield from (((key,), pattern) for pattern in getattr(self, key))
        yield from ((("suppressions", index, "rule"), item.rule) for index, item in enumerate(self.suppressions))

    def _error(self, path: ConfigPath, text: str) -> ConfigError:
        line = self.lines.get(path)
        return ConfigError(f"{self.file}:{line}: {text}" if line else text)


def matches_rule(pattern: str, rule: str) -> bool:
    """Glob match of a rule id; a pattern without a slash matches the category or the rule's own name."""
    if "/" in pattern or pattern == "*":
        return fnmatchcase(rule, pattern)
    return any(fnmatchcase(part, pattern) for part in rule.split("/"))


def suggestion(name: str, known: Collection[str]) -> str:
    """``; did you mean 'x'?`` for the closest known name, "" when nothing is close."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""
