"""All captures together: what to beware of, which rules can be judged, and what would fill the gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsight_insight._version import __version__
from nsight_insight.collection import Wish, for_profile
from nsight_insight.inspection.cautions import cautions
from nsight_insight.model.inspection import Inspection
from nsight_insight.rules.coverage import coverage
from nsight_insight.rules.engine import choose
from nsight_insight.rules.loader import load_rules
from nsight_insight.views.build import build_all

if TYPE_CHECKING:
    from nsight_insight.config import Config
    from nsight_insight.model.inspection import InspectedFile
    from nsight_insight.model.profile import Profile


def judged(profile: Profile, files: tuple[InspectedFile, ...], config: Config) -> Inspection:
    """The inspection of files that hold a profile together."""
    rules = load_rules(config.rules)
    config.check({rule.id: rule.params.keys() for rule in rules.values()})
    views = build_all(profile)
    statuses, gaps = coverage(profile, choose(rules, config), views)
    plan = for_profile(profile, views, gaps, Wish())
    told = {issue for file in files for issue in file.issues}
    return Inspection(
        __version__,
        files,
        cautions=tuple(cautions(profile, views)),
        rules=statuses,
        collect=plan.commands,
        notes=plan.notes,
        issues=tuple(issue for issue in profile.issues if issue not in told),
    )
