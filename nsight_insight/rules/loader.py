"""Rule files to rules: built-in first, then the user's own folders, which win on equal ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from nsight_insight.catalog.yamlio import load_marked
from nsight_insight.data import rules_dir
from nsight_insight.errors import RuleError, RuleErrors, UsageError
from nsight_insight.rules.build import build_rule
from nsight_insight.rules.model import Rule


@lru_cache(maxsize=1)
def builtin_rules() -> Mapping[str, Rule]:
    """The rules that ship with the package."""
    return _load([rules_dir()], trusted=True)


def load_rules(dirs: Sequence[Path] = ()) -> Mapping[str, Rule]:
    """Built-in rules and those of ``dirs``; a rule of the user's replaces a built-in one of the same id.

    Raises:
        UsageError: a folder does not exist.
        RuleErrors: all faults of all files.
    """
    return {**builtin_rules(), **_load(dirs, trusted=False)} if dirs else builtin_rules()


def check_paths(paths: Sequence[Path] = ()) -> list[RuleError]:
    """Every fault of the rule files under ``paths`` (files or folders; none: the built-in rules)."""
    errors: list[RuleError] = []
    rules: dict[str, Rule] = {}
    for root, path in _files(paths or [rules_dir()]):
        try:
            rule = _load_file(path, root, trusted=False)
            rules[rule.id] = rule
        except RuleErrors as found:
            errors.extend(found.errors)
    known = {**builtin_rules(), **rules} if not errors else rules
    for rule in rules.values():
        errors.extend(_references(rule, known))
        errors.extend(_tests(rule))
    return errors


def _load(dirs: Sequence[Path], *, trusted: bool) -> dict[str, Rule]:
    errors: list[RuleError] = []
    rules: dict[str, Rule] = {}
    for root, path in _files(dirs):
        try:
            rule = _load_file(path, root, trusted=trusted)
            rules[rule.id] = rule
        except RuleErrors as found:
            errors.extend(found.errors)
    if errors:
        raise RuleErrors(errors)
    return rules


def _files(paths: Iterable[Path]) -> list[tuple[Path, Path]]:
    found: list[tuple[Path, Path]] = []
    for path in paths:
        if path.is_file():
            found.append((path.parent.parent, path))
        elif path.is_dir():
            found += [(path, file) for file in sorted(path.rglob("*.yaml"))]
        else:
            raise UsageError(f"no such rule file or folder: {path}")
    return found


def _load_file(path: Path, root: Path, *, trusted: bool) -> Rule:
    rule_id = path.resolve().relative_to(root.resolve()).with_suffix("").as_posix()
    try:
        data, marks = load_marked(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise RuleErrors([RuleError(str(error), file=str(path))]) from error
    except RuleError as error:
        raise RuleErrors([error]) from error
    if not isinstance(data, Mapping):
        raise RuleErrors([RuleError("a rule file is a mapping of keys", file=str(path), line=1, column=1)])
    if not trusted:
        from nsight_insight.rules.schema import validate

        faults = validate(data, marks, str(path))
        if faults:
            raise RuleErrors(faults)
    content: Mapping[str, Any] = data
    return build_rule(content, marks, str(path), rule_id)


def _references(rule: Rule, known: Mapping[str, Rule]) -> list[RuleError]:
    from fnmatch import filter as matching

    return [
        RuleError(f"explains unknown rule {target!r}", file=rule.file)
        for target in rule.explains
        if not matching(known, target)
    ]


def _tests(rule: Rule) -> list[RuleError]:
    if rule.status != "stable":
        return []
    outcomes = {test.expect for test in rule.tests}
    return [
        RuleError(f"a stable rule needs a test that expects {outcome!r}", file=rule.file)
        for outcome in ("fires", "silent", "unknown")
        if outcome not in outcomes
    ]
