from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from nsight_insight.model.finding import Quantity, Saving
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.model.profile import VendorFinding
from nsight_insight.model.totals import Totals
from nsight_insight.reporters.json import EXTENSIONS, NAME, SCHEMA_VERSION, render, to_dict
from nsight_insight.reporters.options import RenderOptions
from tests.unit.make_report import FILE, KERNEL_NS, fp32_matrix, hostile, idle_device, report

OPTIONS = RenderOptions()


def schema() -> dict[str, Any]:
    text = (files("nsight_insight.reporters") / "report-v1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def closed(node: Any) -> Any:
    """The schema with every object closed, so that a key nobody documented fails."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: closed(value) for key, value in node.items()}
    if "properties" in node and "required" in node:
        result["unevaluatedProperties"] = False
    return result


def strict() -> dict[str, Any]:
    result: dict[str, Any] = closed(schema())
    # A folded judgement and a whole finding share a definition that must stay open for the latter.
    judgement = result["$defs"]["judgement"]
    del judgement["unevaluatedProperties"]
    result["$defs"]["finding"]["properties"]["explains"]["items"]["unevaluatedProperties"] = False
    return result


def rendered(*arguments: Any, **changes: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(render(report(*arguments, **changes), OPTIONS))
    return loaded


def everything() -> dict[str, Any]:
    vendor = VendorFinding(
        "ncu", "SOLBottleneck", "OPT", "text", Location(FILE, 3), "SpeedOfLight", "k", 1, "global", 0.3
    )
    issue = Issue(Level.DATA_LOSS, "row dropped", Location("x.sqlite", 3, table="CUPTI_ACTIVITY_KIND_KERNEL"))
    return rendered(fp32_matrix(), idle_device(), vendor_findings=(vendor,), issues=(issue,), suppressed=2)


def test_name_and_extension() -> None:
    assert (NAME, EXTENSIONS) == ("json", (".json",))


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("document", [everything(), rendered(), json.loads(render(hostile(), OPTIONS))])
def test_output_is_what_the_schema_says_and_nothing_else(document: dict[str, Any]) -> None:
    errors = list(jsonschema.Draft202012Validator(strict()).iter_errors(document))
    assert errors == []


@pytest.mark.parametrize(
    "path",
    [
        ("tool", "version"),
        ("totals", "kernel_ns"),
        ("findings", 0, "saving", "upper_ns"),
        ("findings", 0, "evidence", 0, "values", 0, "location", "line"),
        ("findings", 0, "explains", 0, "rule"),
        ("not_evaluated", 0, "collect"),
    ],
)
def test_schema_notices_a_missing_key(path: tuple[str | int, ...]) -> None:
    document = everything()
    parent: Any = document
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(document))


def test_closed_schema_notices_an_unknown_key() -> None:
    document = everything()
    document["findings"][0]["explains"][0]["extra"] = 1
    assert list(jsonschema.Draft202012Validator(strict()).iter_errors(document))
    assert not list(jsonschema.Draft202012Validator(schema()).iter_errors(document))


def test_values_are_those_of_the_report() -> None:
    document = everything()
    first = document["findings"][0]
    assert document["schema_version"] == SCHEMA_VERSION == 1
    assert document["tool"] == {"name": "nsight-insight", "version": "0.1.0", "rules": 31}
    assert document["totals"]["kernel_ns"] == 194_261_000
    assert document["totals"]["window_ns"] is None
    assert document["totals"]["families"]["gemm"] == 161_841_572
    assert first["subject"]["time_share"] == pytest.approx(161_841_572 / KERNEL_NS)
    assert [member["time_ns"] for member in first["subject"]["members"]][:2] == [51_259_497, 50_354_230]
    place = first["evidence"][2]["values"][1]
    assert place["location"] == {"file": FILE, "line": 2, "column": 2, "field": "Total Time (ns)", "table": ""}
    assert (place["value"], place["cell"], place["unit"]) == (0.161841572, 0.051259497, "s")
    assert first["remedies"][0]["saving"] is None
    assert first["remedies"][1]["saving"]["expected_ns"] == 137_500_000
    assert first["explains"][0]["rule"] == "tensor-core/small-matrix-kernels"
    assert document["suppressed"] == 2
    assert document["issues"][0]["level"] == "data-loss"
    assert document["vendor_findings"][0]["estimated_speedup"] == 0.3


def test_unknown_numbers_are_null_never_nan() -> None:
    evidence = replace(fp32_matrix().evidence[0], values=(Quantity("x", math.nan, "s"), Quantity("y", None, "s")))
    finding = replace(fp32_matrix(), evidence=(evidence,))
    totals = Totals(KERNEL_NS, 1, 1, copy_ns=math.nan, window_ns=math.inf)
    text = render(report(finding, totals=totals), OPTIONS)
    document = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the output"))
    assert [value["value"] for value in document["findings"][0]["evidence"][0]["values"]] == [None, None]
    assert document["totals"]["copy_ns"] is document["totals"]["window_ns"] is None


def test_same_report_same_bytes_whatever_the_order_of_mappings() -> None:
    one = report()
    families = dict(reversed(list(one.totals.families.items())))
    other = replace(one, totals=replace(one.totals, families=families))
    assert render(one, OPTIONS) == render(other, OPTIONS)


def test_the_last_bit_of_a_sum_does_not_matter() -> None:
    def with_potential(value: float) -> str:
        return render(report(potential=Saving(value, value, 0.1 + 0.2, "all", "")), OPTIONS)

    assert with_potential(0.1 + 0.2) == with_potential(0.3)


def test_presentation_does_not_change_the_contract_but_top_cuts() -> None:
    one = report(fp32_matrix(), idle_device())
    plain = render(one, OPTIONS)
    assert render(one, RenderOptions(width=200, color=True, verbose=True, framework="jax")) == plain
    cut = json.loads(render(one, RenderOptions(top=1)))
    assert [finding["rule"] for finding in cut["findings"]] == [fp32_matrix().rule]
    assert cut["findings_total"] == 2


def test_hostile_texts_carry_no_control_characters() -> None:
    def texts(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield key
                yield from texts(value)
        elif isinstance(node, list):
            for item in node:
                yield from texts(item)
        elif isinstance(node, str):
            yield node

    for text in texts(to_dict(hostile())):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert "[lambda() (instance 3)]" in render(hostile(), OPTIONS)
    render(hostile(), OPTIONS).encode("utf-8")
