"""The library in a few calls: ``load`` inputs into a profile, ``analyze`` it into a report."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nsight_insight.errors import InputError, UsageError
from nsight_insight.model.issues import Issue, Level, Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nsight_insight.config import Config
    from nsight_insight.model.charts import Charts
    from nsight_insight.model.comparison import Comparison
    from nsight_insight.model.finding import Report
    from nsight_insight.model.profile import Profile
    from nsight_insight.model.verification import Verifications
    from nsight_insight.readers.text import SourceText
    from nsight_insight.rules.model import Rule
    from nsight_insight.rules.selftest import TestOutcome


def load(*paths: str | Path | SourceText, format: str | None = None, gpu: str | None = None) -> Profile:  # noqa: A002
    """Read profiles of one program into one ``Profile``.

    Args:
        paths: files, directories (walked), "-" for standard input, or texts already in memory.
        format: reader to use for all of them; None recognises each by its content.
        gpu: name of the GPU the program ran on, where the inputs do not say or are to be overruled.

    Returns:
        Everything that could be read. An input that could not is an issue of level ``ERROR``; files of a directory
        that are no profile are issues of level ``INFO``.

    Raises:
        UsageError: no paths, an unknown format or an unknown GPU.
        InputError: nothing could be read; the first error, with the others in its text.
    """
    from nsight_insight.catalog.gpu_choice import chosen_gpu
    from nsight_insight.readers._inputs import Inputs
    from nsight_insight.readers.assemble import assemble

    if not paths:
        raise UsageError("no input given")
    device = chosen_gpu(gpu) if gpu is not None else None
    inputs = Inputs(format)
    for path in paths:
        inputs.add(path)
    alone = [result.alone for result in inputs.results if result.alone is not None]
    held = any(len(table) for result in inputs.results for table in result.tables)
    if not inputs.results or (alone and not held):
        raise _together([*inputs.errors, *alone])
    failed = [Issue(Level.ERROR, error.text, Location(error.path, error.line)) for error in inputs.errors]
    return assemble(inputs.results, device, [*inputs.issues, *failed])


def analyze(profile: Profile, config: Config | None = None) -> Report:
    """Judge a profile by the rules.

    Args:
        profile: what ``load`` returned.
        config: selection of rules, thresholds, overrides and suppressions; None takes every rule as it is.

    Raises:
        RuleErrors: faults in the rule files of ``config.rules``.
        ConfigError: the configuration names a rule or parameter that does not exist.
    """
    from nsight_insight.config import Config
    from nsight_insight.rules.engine import analyze_profile
    from nsight_insight.rules.loader import load_rules

    config = config or Config()
    rules = load_rules(config.rules)
    config.check({rule.id: rule.params.keys() for rule in rules.values()})
    return analyze_profile(profile, rules, config)


def charts(profile: Profile) -> Charts:
    """What pictures of a profile show: rooflines, stalls, time breakdowns, timelines and the kernel table.

    Args:
        profile: what ``load`` returned.
    """
    from nsight_insight.views.build import build_all
    from nsight_insight.views.charts import charts as charts_of

    return charts_of(profile, build_all(profile))


def compare(
    before: Profile, after: Profile, *, steps: tuple[int, int] | None = None, config: Config | None = None
) -> Comparison:
    """What a change did: kernels, families, idle time and findings of two captures of one program.

    Args:
        before: what ``load`` returned for the capture before the change.
        after: the same for the capture after it.
        steps: training steps in each, where the captures do not show them or are to be overruled.
        config: as of ``analyze``.
    """
    from nsight_insight.comparison import Side
    from nsight_insight.comparison import compare as compare_sides

    return compare_sides(Side(before, analyze(before, config)), Side(after, analyze(after, config)), steps)


def verify(
    before: Profile, after: Profile, *, steps: tuple[int, int] | None = None, config: Config | None = None
) -> Verifications:
    """Which findings on the capture before are confirmed by the capture after; arguments as of ``compare``."""
    from nsight_insight.comparison import Side
    from nsight_insight.comparison.verification import verify as verify_sides
    from nsight_insight.rules.loader import load_rules

    rules = load_rules(config.rules if config else ())
    return verify_sides(Side(before, analyze(before, config)), Side(after, analyze(after, config)), rules, steps)


def test_rules(rules: Iterable[Rule]) -> list[TestOutcome]:
    """Run the tests inside rule files, those on real captures included where the captures are at hand."""
    from nsight_insight.rules.selftest import run_tests

    return run_tests(rules, _analyze_fixture)


def _analyze_fixture(path: str, rule: Rule) -> Report | None:
    from nsight_insight.config import Config, Threshold
    from nsight_insight.data import fixture
    from nsight_insight.rules.engine import analyze_profile

    file = fixture(path)
    if file is None:
        return None
    return analyze_profile(_load_cached(file), {rule.id: rule}, Config(min_saving=Threshold(share=0.0)))


@lru_cache(maxsize=8)
def _load_cached(file: Path) -> Profile:
    return load(file)


def _together(errors: Sequence[InputError]) -> InputError:
    """The first error; what else went wrong is told in its text."""
    first, *others = errors
    if not others:
        return first
    text = "\n".join([first.text, *(str(error) for error in others)])
    return type(first)(text, path=first.path, line=first.line)
