"""Rule files: the built-in ones are sound, and faults are reported at their place, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsight_insight.data import rules_dir
from nsight_insight.errors import RuleErrors
from nsight_insight.rules.build import parse_cc_range, si_value
from nsight_insight.rules.loader import builtin_rules, check_paths, load_rules
from nsight_insight.rules.model import Rule
from nsight_insight.rules.schema import RuleModel, json_schema

GOOD = (rules_dir() / "tensor-core" / "small-matrix-kernels.yaml").read_text(encoding="utf-8")


def write(folder: Path, text: str, name: str = "tensor-core/mine") -> Path:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def faults(tmp_path: Path, text: str) -> list[str]:
    write(tmp_path, text)
    with pytest.raises(RuleErrors) as caught:
        load_rules([tmp_path])
    return [str(error).replace(str(tmp_path) + "/", "") for error in caught.value.errors]


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_built_in_rules_pass_the_check_users_run() -> None:
    assert check_paths() == []
    assert len(builtin_rules()) >= 25


def test_every_rule_covers_its_three_outcomes_and_names_when_it_is_wrong() -> None:
    for rule in builtin_rules().values():
        assert {test.expect for test in rule.tests} >= {"fires", "silent", "unknown"}, rule.id
        assert len(rule.false_positives) > 30, rule.id
        assert rule.references, rule.id


def test_a_user_rule_replaces_the_built_in_one(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("Many small matrix products", "Mine"), "tensor-core/small-matrix-kernels")
    assert load_rules([tmp_path])["tensor-core/small-matrix-kernels"].title == "Mine"
    assert load_rules()["tensor-core/small-matrix-kernels"].title == "Many small matrix products"


def test_a_misspelt_key_is_named_with_its_line(tmp_path: Path) -> None:
    bad = GOOD.replace("false_positives:", "false_positive:")
    found = faults(tmp_path, bad)
    line = line_of(bad, "false_positive:")
    assert any(f"mine.yaml:{line}:" in text and "did you mean 'false_positives'" in text for text in found)
    assert any("'false_positives' is missing" in text for text in found)


def test_a_misspelt_name_in_an_expression_points_at_its_column(tmp_path: Path) -> None:
    bad = GOOD.replace("if: launches >= many", "if: lunches >= many")
    line = line_of(bad, "lunches")
    column = bad.splitlines()[line - 1].index("lunches") + 1
    assert faults(tmp_path, bad)[0].startswith(
        f"tensor-core/mine.yaml:{line}:{column}: when.1.if: unknown name 'lunches'"
    )


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("mean_duration < small", "mean_duration < 5"), "tensor-core/one")
    write(tmp_path, GOOD.replace("resource: work", "resource: wrok"), "tensor-core/two")
    with pytest.raises(RuleErrors) as caught:
        load_rules([tmp_path])
    text = str(caught.value)
    assert "give the number a unit" in text
    assert "wrok" in text or "Input should be" in text


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("upper: 0.9 * duration", "upper: launches", "a saving is a time"),
        ("{value: 0.02, unit: fraction", "{value: 2, unit: fraction", "30 % is 0.30"),
        ("scope: kernel", "scope: kernels", "scope"),
        ("{launches} times for", "{lunches} times for", "unknown name {lunches}"),
        ("severity: warning", "severity: fatal", "severity|Input should be"),
        ('unit: us, doc: "a product', 'unit: parsec, doc: "a product', "unknown unit 'parsec'"),
        ("title: Many small", "title: &a Many small", "anchor"),
        ("status: stable", "status: stable\nstatus: preview", "status"),
    ],
)
def test_faults(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    import re

    assert old in GOOD
    found = faults(tmp_path, GOOD.replace(old, new))
    assert any(re.search(complaint, text) for text in found), found
    assert all(re.match(r"tensor-core/mine\.yaml:\d+:\d+: ", text) for text in found), found


def test_unknown_category_is_refused(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "tensorcore/mine")
    with pytest.raises(RuleErrors, match="not a category"):
        load_rules([tmp_path])


def test_a_rule_file_cannot_run_anything(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    bad = GOOD.replace("if: launches >= many", f"if: open('{marker}', 'w')")
    write(tmp_path / "r", bad)
    with pytest.raises(RuleErrors):
        load_rules([tmp_path / "r"])
    tagged = GOOD.replace("title: Many", "title: !!python/object/apply:os.system ['true'] Many")
    write(tmp_path / "s", tagged)
    with pytest.raises(RuleErrors):
        load_rules([tmp_path / "s"])
    assert not marker.exists()


def test_schema_and_dataclass_hold_the_same_fields() -> None:
    aliases = {field.alias or name for name, field in RuleModel.model_fields.items()}
    renamed = {"doubt": "doubts", "schema": None}
    expected = {renamed.get(name, name) for name in aliases} - {None}
    assert expected == set(Rule.__dataclass_fields__) - {"id", "file", "category", "applies_cc"}


def test_editor_schema_accepts_every_built_in_rule() -> None:
    import jsonschema

    from nsight_insight.catalog.yamlio import load_yaml

    validator = jsonschema.Draft202012Validator(json_schema())
    for path in sorted(rules_dir().rglob("*.yaml")):
        validator.validate(load_yaml(path.read_text(encoding="utf-8"), str(path)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [(">=9.0", (9.0, 999.0)), ("<=8.9", (0.0, 8.9)), ("8.0-8.9", (8.0, 8.9)), ("9.0", (9.0, 9.0)), ("nine", None)],
)
def test_compute_capability_ranges(text: str, expected: tuple[float, float] | None) -> None:
    assert parse_cc_range(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("10 ms", 0.01), ("3 us", 3e-6), (0.3, 0.3), ("NVIDIA H200", "NVIDIA H200"), ("100 MB", 1e8)],
)
def test_values_with_units(value: object, expected: object) -> None:
    assert si_value(value) == pytest.approx(expected) if isinstance(expected, float) else si_value(value) == expected
