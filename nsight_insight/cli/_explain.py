"""What is known about a name, as titled lists of labelled paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from nsight_insight.config import suggestion
from nsight_insight.errors import UsageError

if TYPE_CHECKING:
    from nsight_insight.catalog.metrics import Alias, Metric
    from nsight_insight.rules.expr import Expression
    from nsight_insight.rules.model import Param, Rule, SavingRule
    from nsight_insight.views.facts import Fact

Section = tuple[str, list[str]]
Page = tuple[str, list[Section]]
Rules = Mapping[str, "Rule"]

MANY: Final = 6
"""More rules than this are listed by id alone."""

_COMBINED: Final = {
    "sum": "added up over launches",
    "mean": "mean over launches, weighted with their durations",
    "max": "largest of the launches",
    "min": "smallest of the launches",
    "first": "the same for all launches",
}


def explain(name: str, rules: Rules) -> list[Page]:
    """Everything called ``name``: a rule, a metric under any of its names, a stall reason or a fact.

    Raises:
        UsageError: nothing is called so; names the nearest.
    """
    word = name.strip()
    matching = [rule for rule_id, rule in rules.items() if word in (rule_id, rule_id.split("/")[-1])]
    if matching:
        return [rule_page(rule) for rule in matching]
    metrics = _metrics(word)
    if metrics:
        return [page for metric in metrics for page in (metric_page(metric, rules), *_stall_pages(metric, rules))]
    facts = _facts(word)
    if facts:
        return [fact_page(facts, rules)]
    raise UsageError(f"nothing is called {name!r}{suggestion(word, _all_names(rules))}")


def _metrics(word: str) -> list[Metric]:
    from nsight_insight.catalog.metrics import label_index, load_columns, load_metrics, metric_index

    known = {**load_columns(), **load_metrics()}
    for spelling in (word, f"stall_{word.lower().replace(' ', '_').removeprefix('stall_')}"):
        if spelling in known:
            return [known[spelling]]
    pairs = list(metric_index().get(word, ()))
    if not pairs:
        pairs = [pair for (_, label), found in label_index().items() if label.lower() == word.lower() for pair in found]
    return list({metric.name: metric for metric, _ in pairs}.values())


def _stall_pages(metric: Metric, rules: Rules) -> list[Page]:
    """A stall reason is best explained by the rules that judge it."""
    judges = [rule for rule in rules.values() if "/stall-" in rule.id and metric.name in _inputs(rule)]
    return [rule_page(rule) for rule in judges] if metric.name.startswith("stall_") else []


def _facts(word: str) -> list[Fact]:
    from nsight_insight.views.facts import SCOPES, facts_of

    return [facts_of(scope)[word] for scope in SCOPES if word in facts_of(scope)]


def _all_names(rules: Rules) -> list[str]:
    from nsight_insight.catalog.metrics import label_index, load_columns, load_metrics, metric_index
    from nsight_insight.views.facts import SCOPES, STALLS, facts_of

    labels = [label for _, label in label_index()]
    facts = [name for scope in SCOPES for name in facts_of(scope)]
    short = [rule.split("/")[-1] for rule in rules]
    return [*rules, *short, *load_metrics(), *load_columns(), *STALLS, *metric_index(), *labels, *facts]


def rule_page(rule: Rule) -> Page:
    """A rule: why, evidence, formula, remedies, when it is wrong, references."""
    head = f"{rule.severity}, {rule.confidence} confidence, {rule.status} since {rule.since}; looks at: {rule.scope}"
    sections: list[Section] = [("", [head]), ("why", [rule.why])]
    applies = [f"{key}: {', '.join(values)}" for key, values in rule.applies_to.items()]
    if rule.applies_cc:
        low, high = rule.applies_cc
        applies.append(f"compute capability {low}" + (f" to {high}" if high < 900 else " or newer"))
    sections.append(("applies to", applies))
    sections.append(("evidence", [f"{clause.text}: {clause.condition.text}" for clause in rule.when]))
    sections.append(("where", [f"{name} = {expression.text}" for name, expression in rule.let.items()]))
    sections.append(("limits", [f"{name} = {_param(param)}: {param.doc}" for name, param in rule.params.items()]))
    sections.append(("saving", _saving(rule.saving)))
    sections.append(("doubts", [f"{doubt.text}: {doubt.condition.text}" for doubt in rule.doubts]))
    sections.append(("what to do", list(_remedies(rule))))
    moves = {"up": "should rise", "down": "should fall"}
    sections.append(
        ("verify", [f"{v.metric} {moves[v.moves]}" + (f": {v.where}" if v.where else "") for v in rule.verify])
    )
    sections.append(("explains", [", ".join(rule.explains)] if rule.explains else []))
    sections.append(("wrong when", [rule.false_positives]))
    sections.append(("see", list(rule.references)))
    return f"{rule.id}: {rule.title}", [section for section in sections if section[1]]


def _param(param: Param) -> str:
    from nsight_insight.model.text import quantity
    from nsight_insight.model.units import NUMBER, parse_unit

    unit = parse_unit(param.unit)
    return quantity(param.value, unit.dimension if unit else NUMBER)


def _saving(saving: SavingRule) -> list[str]:
    return [
        f"expected: {saving.expected.text}",
        f"at most: {saving.upper.text}",
        f"relieves: {saving.resource}",
        saving.basis,
    ]


def _remedies(rule: Rule) -> Iterator[str]:
    from nsight_insight.reporters.format import block

    for remedy in rule.remedies:
        details = [f"{remedy.effort} effort"] if remedy.effort else []
        details += [f"when {remedy.when.text}"] if remedy.when else []
        yield f"→ {remedy.title}" + (f" ({'; '.join(details)})" if details else "")
        if remedy.saving:
            yield f"  saves: {remedy.saving.expected.text}"
        for framework, code in sorted(remedy.code.items()):
            yield f"  {framework}"
            yield from (f"    {line}" for line in block(code))
        for label, text in (("risk: ", remedy.risk), ("", remedy.note)):
            if text:
                yield f"{label}{text}"


def metric_page(metric: Metric, rules: Rules) -> Page:
    """A metric: meaning, unit, names per compute capability, the section that collects it, rules that use it."""
    from nsight_insight.catalog.collect import collect_command

    labels = dict.fromkeys(label for alias in metric.aliases for _, label in alias.labels)
    sections: list[Section] = [
        ("meaning", [metric.doc]),
        ("unit", [f"{metric.unit}; {_COMBINED[metric.combine]}"]),
        ("names", [_alias(alias) for alias in metric.aliases]),
        ("labels", ["; ".join(labels)] if labels else []),
    ]
    if not metric.column:
        sections.append(("collect", ["  " + collect_command([metric.name], None, "ncu")]))
    sections.append(("rules", _users(metric.name, rules)))
    title = f"{metric.name} (activity column)" if metric.column else metric.name
    return title, [section for section in sections if section[1]]


def _alias(alias: Alias) -> str:
    ranges = ", ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in alias.cc)
    notes = [f"section {alias.section}" if alias.section else "only by name, --metrics"]
    if ranges:
        notes.append(f"compute capability {ranges}")
    return f"{' + '.join(alias.terms)} ({'; '.join(notes)})"


def fact_page(facts: Iterable[Fact], rules: Rules) -> Page:
    """A fact of the rule language: meaning, what it is derived from, rules that use it."""
    first, *_ = found = list(facts)
    scopes = sorted({scope for fact in found for scope in fact.scopes})
    sections: list[Section] = [
        ("meaning", list(dict.fromkeys(fact.doc for fact in found))),
        ("kind", [first.kind if first.kind == "text" else str(first.dimension)]),
        ("scopes", [", ".join(scopes)]),
        ("needs", [", ".join(first.needs)] if first.needs else []),
        ("rules", _users(first.name, rules)),
    ]
    return f"{first.name} (fact)", [section for section in sections if section[1]]


def _users(name: str, rules: Rules) -> list[str]:
    users = [rule_id for rule_id, rule in sorted(rules.items()) if name in _inputs(rule)]
    return [f"{rule_id}: {rules[rule_id].title}" for rule_id in users] if len(users) <= MANY else [", ".join(users)]


def _inputs(rule: Rule) -> set[str]:
    """Every fact and metric a rule looks at, directly or through others."""
    from nsight_insight.rules import vocabulary

    facts = vocabulary.facts(rule.scope)
    names = {name for expression in _expressions(rule) for name in expression.names}
    names |= {name.removeprefix(vocabulary.TRACE_PREFIX) for name in names}
    return names | {need for name in names if name in facts for need in facts[name].needs}


def _expressions(rule: Rule) -> Iterator[Expression]:
    yield from rule.let.values()
    yield from (clause.condition for clause in rule.when)
    yield from (rule.saving.upper, rule.saving.expected)
