"""One page per rule, and their index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from bench.proof.cases import Case, load_cases
from generated_pages.markdown import cell, code, fence, prose, sentence, table
from nsight_insight.data import rules_dir
from nsight_insight.model.text import percent, quantity
from nsight_insight.model.units import NUMBER, parse_unit
from nsight_insight.rules.loader import builtin_rules
from nsight_insight.rules.model import CATEGORIES, Param, Rule, SavingRule

ROOT = Path(__file__).resolve().parents[2]
HEAD = """{rules} rules, each one YAML file under `rules/`. On its page: what fires, from which facts and with which
limits, what is saved, what to do, when the rule is wrong, and how it did on programs with a planted cause.
"""
LANGUAGES = {"pytorch": "python", "tensorflow": "python", "jax": "python", "triton": "python", "cuda": "cpp"}
NAMES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "triton": "Triton", "cuda": "CUDA"}
BASES = {
    "kernel": "a share of all kernel time",
    "steady": "a share of the device's steady window (warm-up cut off)",
    "copies": "a share of kernel time and the copies after the first kernel",
}
SCOPES = {
    "launch": "each launch",
    "kernel": "each kernel",
    "sequence": "kernels in the order of their stream",
    "trace": "each GPU as a whole",
}


def pages() -> dict[str, str]:
    """``rules/<id>.md`` and ``rules/index.md``."""
    rules = builtin_rules()
    categories = sorted({rule.category for rule in rules.values()}, key=CATEGORIES.index)
    return {
        "rules/index.md": index(rules, categories),
        **{f"rules/{one}/index.md": category(one, rules) for one in categories},
        **{f"rules/{rule.id}.md": page(rule, rules) for rule in rules.values()},
    }


def index(rules: Mapping[str, Rule], categories: Sequence[str]) -> str:
    """All rules, by category."""
    parts = [
        "# Rules\n",
        HEAD.format(rules=len(rules)),
    ]
    for one in categories:
        parts += [f"## [{one}]({one}/index.md)\n", _listed(_members(one, rules), "")]
    links = "".join(f"{one}/index\n" for one in categories)
    return "\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{links}```\n"])


def category(name: str, rules: Mapping[str, Rule]) -> str:
    """The rules of one category."""
    members = _members(name, rules)
    links = "".join(f"{rule.id.partition('/')[2]}\n" for rule in members)
    title = name.capitalize().replace("-core", " Core")
    return "\n".join([f"# {title}\n", _listed(members, "../"), f"```{{toctree}}\n:hidden:\n\n{links}```\n"])


def _members(name: str, rules: Mapping[str, Rule]) -> list[Rule]:
    return [rule for _, rule in sorted(rules.items()) if rule.category == name]


def _listed(members: Iterable[Rule], up: str) -> str:
    rows = ([f"[{prose(rule.title)}]({up}{rule.id}.md)", rule.severity, SCOPES[rule.scope]] for rule in members)
    return table(["rule", "severity", "looks at"], rows)


def page(rule: Rule, rules: Mapping[str, Rule]) -> str:
    """The page of one rule."""
    file = rules_dir() / f"{rule.id}.yaml"
    return _template().render(
        rule=rule,
        scope=SCOPES[rule.scope],
        base=BASES[rule.saving.base],
        params=[[cell(name), number(param), prose(param.doc)] for name, param in rule.params.items()],
        applies=list(_applies(rule)),
        explained=[one for one in rule.explains if one in rules],
        patterns=[one for one in rule.explains if one not in rules],
        proof=list(proof(rule)),
        source=f"{'../' * (rule.id.count('/') + 3)}{file.relative_to(ROOT).as_posix()}",
        saving=_saving,
    )


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  Markdown, not HTML
    )
    environment.filters |= {"prose": prose, "code": code, "cell": cell, "sentence": sentence}
    environment.filters |= {"block": _block, "opening": _opening}
    return environment.get_template("rule.md.j2")


@lru_cache(maxsize=1)
def _cases() -> list[Case]:
    return load_cases()


def number(param: Param) -> str:
    """A parameter's default with its unit."""
    unit = parse_unit(param.unit)
    return quantity(param.value, unit.dimension if unit else NUMBER)


def _saving(saving: SavingRule) -> str:
    return f"expected {code(saving.expected.text)}, at most {code(saving.upper.text)}"


def _opening(text: str) -> str:
    """A text that opens a paragraph."""
    return text[:1].upper() + text[1:]


def _block(text: str, framework: str) -> str:
    return f"**{NAMES.get(framework, framework)}**\n\n{fence(text, LANGUAGES.get(framework, 'text'))}"


def _applies(rule: Rule) -> Iterator[str]:
    for key, values in rule.applies_to.items():
        yield f"{key}: {', '.join(map(code, values))}"
    if rule.applies_cc:
        low, high = rule.applies_cc
        yield f"compute capability {low}" + (f" to {high}" if high < 900 else " or newer")


def proof(rule: Rule) -> Iterator[list[str]]:
    """Proof cases whose cause the rule should name, or on which it came first."""
    for case in _cases():
        scored = scorecard()["cases"].get(case.id)
        if scored and not case.control and (_named(rule, case) or scored["top"] == rule.id):
            yield [
                case.id, prose(case.planted), _place(rule, case, scored), _percent(scored["true"]),
                _percent(scored["expected"]), _percent(scored["upper"]),
            ]  # fmt: skip


def _named(rule: Rule, case: Case) -> bool:
    return any(fnmatchcase(rule.id, pattern) for pattern in case.expect)


def _place(rule: Rule, case: Case, scored: Mapping[str, Any]) -> str:
    if scored["top"] == rule.id:
        return "first" if _named(rule, case) else "first, though another cause was planted"
    return f"by {code(scored['top'])}" if scored["rank"] == 1 else "missed" if scored["rank"] is None else "later"


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share).replace(" ", "\N{NO-BREAK SPACE}")


@lru_cache(maxsize=1)
def scorecard() -> dict[str, Any]:
    """What ``python -m bench.proof.score`` wrote."""
    card: dict[str, Any] = json.loads((ROOT / "bench" / "proof" / "scorecard.json").read_text(encoding="utf-8"))
    return card
