"""The JSON report and the rule file, from their JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from generated_pages.markdown import cell, prose, table
from nsight_insight.data import PACKAGE
from nsight_insight.rules.schema import json_schema

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """``report-schema.md``, ``rule-schema.md`` and the schemas themselves."""
    report = json.loads((PACKAGE / "reporters" / "report-v1.schema.json").read_text(encoding="utf-8"))
    rule = json_schema()
    return {
        "report-schema.md": page("JSON report", report, "report-v1.schema.json", REPORT),
        "rule-schema.md": page("Rule file", rule, "rule.schema.json", RULE),
        "report-v1.schema.json": json.dumps(report, indent=2) + "\n",
        "rule.schema.json": json.dumps(rule, indent=2) + "\n",
    }


REPORT = (
    "What `--format json` writes. Version 1 is a contract: keys may be added, none will change or go. Times are in "
    "nanoseconds, shares are fractions, null means unknown."
)
RULE = (
    "What a rule file may hold; `nsight-insight rules schema` prints the schema for your editor "
    "([how](../how-to/custom-rules.md))."
)


def page(title: str, schema: Schema, file: str, text: str) -> str:
    """Keys of every object of a schema."""
    parts = [f"# {title}\n", text + "\n", f"{{download}}`{file}`\n", table(["key", "type", "meaning"], rows(schema))]
    for name, part in sorted(schema.get("$defs", {}).items()):
        if part.get("properties"):
            parts += [f"## {short(name)}\n", prose(part.get("description", "").replace("``", "")) + "\n"]
            parts.append(table(["key", "type", "meaning"], rows(part)))
    return "\n".join(parts)


def short(name: str) -> str:
    """A definition's name without what it is in our code."""
    return name.removesuffix("Model") or name


def rows(schema: Schema) -> Iterator[list[str]]:
    """A row per key."""
    required = schema.get("required", ())
    for key, value in schema.get("properties", {}).items():
        note = "" if key in required else "Optional. "
        yield [cell(key), prose(kind(value)), note + prose(value.get("description", ""))]


def kind(value: Schema) -> str:
    """The type of a value in a few words."""
    if "$ref" in value:
        return short(str(value["$ref"]).rpartition("/")[2])
    for key in ("oneOf", "anyOf"):
        if key in value:
            return " or ".join(dict.fromkeys(kind(one) for one in value[key]))
    if "const" in value:
        return json.dumps(value["const"])
    if "enum" in value:
        return ", ".join(map(str, value["enum"]))
    if value.get("type") == "array":
        return f"list of {kind(value['items'])}" if "items" in value else "list"
    found = value.get("type", "any")
    if found == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"mapping to {kind(value['additionalProperties'])}"
    return " or ".join(found) if isinstance(found, list) else str(found)
