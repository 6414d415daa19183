from __future__ import annotations

from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsight_insight import config_file
from nsight_insight.config import (
    NEVER,
    Config,
    Suppression,
    Threshold,
    matches_rule,
    parse_fail_on,
    parse_min_saving,
)
from nsight_insight.config_file import find_file, load_config, read_file
from nsight_insight.errors import ConfigError
from nsight_insight.model.finding import Saving
from nsight_insight.model.issues import Location
from nsight_insight.rules.engine import choose
from nsight_insight.rules.loader import load_rules
from nsight_insight.toml_lines import key_lines
from tests.unit.make_report import fp32_matrix, idle_device, optimizer_loop

FULL = """\
select = ["precision/*", "tensor-core"]
ignore = ["note-*"]
disable = ["launch/tiny"]
gpu = "H200"
fail-on = "warning"
min-saving = "1%"
top = 3
rules = ["perf/rules"]

[severity]
"precision/casts" = "error"

[params."precision/casts"]
min_share = 0.05

[[suppressions]]
rule = "precision/casts"
kernel = "*legacy*"
reason = "rewritten next quarter"
expires = 2027-03-31

[[suppressions]]
rule = "launch/*"
reason = "fine as it is"
"""
KNOWN = {
    "precision/casts": ["min_share"],
    "tensor-core/fp32": [],
    "launch/tiny": [],
    "launch/note-this": [],
}


def write(folder: Path, text: str, name: str = "nsight-insight.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def saving(share: float, ns: float = 1e6) -> Saving:
    return Saving(ns, ns, share, "math", "")


def test_every_key(tmp_path: Path) -> None:
    path = write(tmp_path, FULL)
    config = read_file(path)
    assert config.select == ("precision/*", "tensor-core")
    assert config.ignore == ("note-*",)
    assert config.disable == ("launch/tiny",)
    assert config.gpu == "H200"
    assert config.fail_on == Threshold(severity="warning")
    assert config.min_saving == Threshold(share=0.01)
    assert config.top == 3
    assert config.rules == (tmp_path / "perf/rules",)
    assert config.severity == {"precision/casts": "error"}
    assert config.params == {"precision/casts": {"min_share": 0.05}}
    assert config.suppressions == (
        Suppression(
            "precision/casts", "rewritten next quarter", Location(str(path), 16), "*legacy*", date(2027, 3, 31)
        ),
        Suppression("launch/*", "fine as it is", Location(str(path), 22)),
    )
    config.check(KNOWN)


def test_every_field_of_config_can_be_written_in_a_file() -> None:
    assert {field.name for field in fields(Config)} - {"file", "lines"} == set(config_file._FIELDS)


def test_pyproject_table_and_file_mean_the_same(tmp_path: Path) -> None:
    own = read_file(write(tmp_path, FULL))
    indented = FULL.replace("\n[[", "\n[[tool.nsight-insight.").replace("\n[s", "\n[tool.nsight-insight.s")
    indented = indented.replace("\n[p", "\n[tool.nsight-insight.p")
    project = read_file(write(tmp_path, "[tool.nsight-insight]\n" + indented, "pyproject.toml"))
    assert replace(project, file=own.file, suppressions=own.suppressions) == own
    assert [item.location.line for item in project.suppressions] == [17, 23]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["a"]', "nsight-insight.toml:1: unknown key 'selct'; did you mean 'select'?"),
        ('\n\ntop = "3"', "nsight-insight.toml:3: top: a whole number of at least 1 is needed, not '3'"),
        ("top = true", "a whole number"),
        ("top = 0", "a whole number"),
        ('select = "a"', "nsight-insight.toml:1: select: a list of texts is needed, not 'a'"),
        ('fail-on = "fatal"', "nsight-insight.toml:1: fail-on: 'fatal' is not a severity"),
        ('min-saving = "1 fortnight"', "'1 fortnight' is not a share such as 1% or a time such as 2ms"),
        ('[severity]\n"a/b" = "fatal"', "nsight-insight.toml:2: severity of a/b: 'fatal' is not one of note"),
        ('[params."a/b"]\nx = "big"', "nsight-insight.toml:2: parameter x of a/b: a number is needed, not 'big'"),
        ('params = 3', "nsight-insight.toml:1: params: a table is needed"),
        ('[[suppressions]]\nrule = "a"', "nsight-insight.toml:1: a suppression needs a reason"),
        ('[[suppressions]]\nrule = "a"\nreason = " "', "a suppression needs a reason"),
        ('[[suppressions]]\nreason = "a"', "a suppression needs a rule"),
        ('[[suppressions]]\nrule="a"\nreason="b"\n\nkernl="x"',
         "toml:5: unknown key 'kernl' in a suppression; did you mean 'kernel'?"),
        ('[[suppressions]]\nrule="a"\nreason="b"\nexpires="2027"', "toml:4: expires: a date such as 2027-01-31"),
        ('[suppressions]\nrule="a"', "suppressions are written as [[suppressions]] tables"),
        ("select = [", "not valid TOML"),
    ],
)  # fmt: skip
def test_faults_name_the_place_and_the_remedy(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_file(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert caught.value.exit_code == 2


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_config(file=tmp_path / "absent.toml", environ={})


def test_the_nearest_file_wins_and_foreign_pyprojects_are_passed_over(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    outer = write(tmp_path, "[tool.nsight-insight]\ntop = 1\n", "pyproject.toml")
    write(tmp_path / "a", "[tool.other]\n", "pyproject.toml")
    assert find_file(inner) == outer.resolve()
    write(tmp_path / "a", "broken [", "pyproject.toml")
    assert find_file(inner) == outer.resolve()
    nearer = write(tmp_path / "a", "top = 2")
    assert find_file(inner) == nearer.resolve()
    assert load_config(start=inner, environ={}).top == 2
    assert load_config(start=inner, environ={}, use_file=False) == Config()


def test_a_broken_pyproject_that_mentions_us_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "[tool.nsight-insight\n", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: not valid TOML"):
        load_config(start=tmp_path, environ={})


def test_command_line_beats_environment_beats_file(tmp_path: Path) -> None:
    write(tmp_path, 'top = 1\ngpu = "file"\nselect = ["a/*"]\nignore = ["c/*"]')
    environ = {"NSIGHT_INSIGHT_TOP": "2", "NSIGHT_INSIGHT_GPU": "env", "NSIGHT_INSIGHT_SELECT": "b/*, d"}
    options = {"top": 3, "gpu": None, "select": (), "fail_on": "5%"}
    config = load_config(start=tmp_path, environ=environ, options=options)
    assert (config.top, config.gpu, config.select, config.ignore) == (3, "env", ("b/*", "d"), ("c/*",))
    assert config.fail_on == Threshold(share=0.05)


def test_environment_faults_name_the_variable() -> None:
    with pytest.raises(ConfigError, match="environment variable NSIGHT_INSIGHT_TOP: a whole number"):
        load_config(use_file=False, environ={"NSIGHT_INSIGHT_TOP": "many"})
    assert load_config(use_file=False, environ={"NSIGHT_INSIGHT_TOP": ""}) == Config()
    rules = load_config(use_file=False, environ={"NSIGHT_INSIGHT_RULES": "x:y"}).rules
    assert rules == (Path("x"), Path("y"))


def test_command_line_faults_name_the_option() -> None:
    with pytest.raises(ConfigError, match="--fail-on: 'fatal' is not a severity"):
        load_config(use_file=False, environ={}, options={"fail_on": "fatal"})


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("note", Threshold(severity="note")),
        ("error", Threshold(severity="error")),
        ("never", NEVER),
        ("5%", Threshold(share=0.05)),
        (" 12.5 % ", Threshold(share=0.125)),
    ],
)
def test_fail_on(text: str, threshold: Threshold) -> None:
    assert parse_fail_on(text) == threshold


@pytest.mark.parametrize("text", ["", "5", "0.05", "2ms", "-5%", "200%", "warn", "5%%"])
def test_fail_on_refuses(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_fail_on(text)


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("1%", Threshold(share=0.01)),
        ("2ms", Threshold(time_ns=2e6)),
        ("1.5 s", Threshold(time_ns=1.5e9)),
        ("3us", Threshold(time_ns=3e3)),
    ],
)
def test_min_saving(text: str, threshold: Threshold) -> None:
    parsed = parse_min_saving(text)
    assert parsed.share == threshold.share
    assert parsed.time_ns == pytest.approx(threshold.time_ns) if threshold.time_ns else parsed.time_ns is None


@pytest.mark.parametrize("text", ["", "2", "2MB", "2 GHz", "300%"])
def test_min_saving_refuses(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_min_saving(text)


def test_thresholds() -> None:
    assert Threshold(severity="warning").reached(saving(0.0), "error")
    assert not Threshold(severity="warning").reached(saving(1.0), "note")
    assert Threshold(share=0.05).reached(saving(0.05), "note")
    assert not Threshold(share=0.05).reached(saving(0.049), "error")
    assert Threshold(time_ns=1e6).reached(saving(0.0, 1e6), "note")
    assert not NEVER.reached(saving(1.0), "error")


def test_fails_looks_at_every_finding() -> None:
    findings = [optimizer_loop(), fp32_matrix()]
    assert Config(fail_on=parse_fail_on("warning")).fails(findings)
    assert not Config(fail_on=parse_fail_on("error")).fails(findings)
    assert Config(fail_on=parse_fail_on("50%")).fails(findings)
    assert not Config(fail_on=parse_fail_on("80%")).fails(findings)
    assert not Config().fails(findings)


@pytest.mark.parametrize(
    ("pattern", "rule", "expected"),
    [
        ("precision/*", "precision/casts", True),
        ("precision", "precision/casts", True),
        ("casts", "precision/casts", True),
        ("cast*", "precision/casts", True),
        ("precision/casts", "precision/casts", True),
        ("*", "precision/casts", True),
        ("*/casts", "precision/casts", True),
        ("Precision", "precision/casts", False),
        ("cast", "precision/casts", False),
        ("launch/*", "precision/casts", False),
    ],
)
def test_rule_patterns(pattern: str, rule: str, expected: bool) -> None:
    assert matches_rule(pattern, rule) is expected


def test_select_ignore_disable() -> None:
    config = Config(select=("precision", "launch/*"), ignore=("tiny",), disable=("launch/note-*",))
    assert [rule for rule in KNOWN if config.wants(rule)] == ["precision/casts"]
    assert [rule for rule in KNOWN if Config().wants(rule)] == list(KNOWN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('select = ["presicion/*"]', "toml:1: no rule matches 'presicion/*'; did you mean 'precision/casts'?"),
        ('\n[severity]\n"precision/cast" = "note"',
         "toml:3: unknown rule 'precision/cast'; did you mean 'precision/casts'?"),
        ('[params."precision/casts"]\nmin_shar = 0.1',
         "toml:2: rule precision/casts has no parameter 'min_shar'; did you mean 'min_share'?"),
        ('[params."launch/tny"]\nx = 0.1', "toml:1: unknown rule 'launch/tny'"),
        ('[[suppressions]]\nrule = "lunch/tiny"\nreason = "x"', "toml:2: no rule matches 'lunch/tiny'"),
    ],
)  # fmt: skip
def test_check_against_the_rules_that_exist(tmp_path: Path, text: str, message: str) -> None:
    config = read_file(write(tmp_path, text))
    with pytest.raises(ConfigError) as caught:
        config.check(KNOWN)
    assert message in str(caught.value)


def test_check_of_the_command_line_names_no_file(tmp_path: Path) -> None:
    config = load_config(use_file=False, environ={}, options={"select": ("nothing",)})
    with pytest.raises(ConfigError, match=r"^no rule matches 'nothing'"):
        config.check(KNOWN)


def test_parameters_are_written_in_their_own_unit() -> None:
    rules = load_rules()
    rule = next(rule for rule in rules.values() for param in rule.params.values() if param.unit == "us")
    name = next(name for name, param in rule.params.items() if param.unit == "us")
    chosen = choose(rules, Config(params={rule.id: {name: 123.0}}, severity={rule.id: "error"}))[rule.id]
    assert chosen.params[name].value == pytest.approx(123e-6)
    assert chosen.severity == "error"
    others = [key for key in rule.params if key != name]
    assert [chosen.params[key] for key in others] == [rule.params[key] for key in others]


def suppression(**changes: Any) -> Suppression:
    return replace(Suppression("tensor-core/*", "because", Location("x", 1)), **changes)


def test_suppression_expires_after_its_last_day() -> None:
    entry = suppression(expires=date(2027, 3, 31))
    assert not entry.expired(date(2027, 3, 31))
    assert entry.expired(date(2027, 4, 1))
    assert not suppression().expired(date(9999, 1, 1))


def test_suppression_covers_a_merged_finding_only_as_a_whole() -> None:
    finding = fp32_matrix()
    assert suppression().covers_finding(finding)
    assert not suppression(kernel="*simt_sgemm*").covers_finding(finding)
    assert suppression(kernel="*gemm*").covers_finding(finding)
    assert not suppression(rule="launch/*").covers_finding(finding)
    assert suppression(rule="idle/*").covers_finding(idle_device())
    assert not suppression(rule="idle/*", kernel="x").covers_finding(idle_device())


def test_suppression_knows_a_kernel_by_either_name() -> None:
    entry = suppression(kernel="at::native::vectorized_elementwise_kernel")
    assert entry.covers("tensor-core/a", "void at::native::...", "at::native::vectorized_elementwise_kernel")


@given(
    st.dictionaries(st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True), st.integers(), max_size=6), st.integers(0, 5)
)
def test_key_lines_point_at_the_key(table: dict[str, int], blanks: int) -> None:
    text = "\n" * blanks + "[a.'b/c']\n" + "".join(f"{key} = {value}\n" for key, value in table.items())
    lines = key_lines(text)
    for key in table:
        line = text.splitlines()[lines["a", "b/c", key] - 1]
        assert line.startswith(f"{key} =")


def test_a_suppression_that_only_names_itself_is_valid_toml_everywhere(tmp_path: Path) -> None:
    config = read_file(write(tmp_path, 'suppressions = [{rule = "a/b", reason = "c"}]'))
    assert config.suppressions[0].rule == "a/b"
