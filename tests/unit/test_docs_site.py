"""The documentation: the commands of its pages print what they show, and the reference covers what the code has."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import nsight_insight
from bench.proof.cases import load_cases
from nsight_insight.catalog.gpus import load_gpus
from nsight_insight.catalog.kernels import load_patterns
from nsight_insight.catalog.metrics import load_metrics
from nsight_insight.cli._group import LazyGroup
from nsight_insight.plots import KINDS
from nsight_insight.rules.loader import builtin_rules
from tests.paths import ROOT

DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
snippets = import_module("snippets")
markdown = import_module("generated_pages.markdown")
generated = import_module("generated_pages")
sys.path.remove(str(DOCS))


def name(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    made: dict[str, str] = generated.pages()
    return made


@pytest.mark.skipif(shutil.which("bash") is None, reason="the commands are for bash")
@pytest.mark.parametrize("page", snippets.pages(), ids=name)
def test_commands_print_what_the_page_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with snippets.workplace() as folder:
        assert snippets.updated(text, folder) == text, f"run: python docs/snippets.py {page.relative_to(ROOT)}"


@pytest.mark.parametrize("module", ["markdown", "project"])
def test_pieces_are_as_their_examples(module: str) -> None:
    failed, tried = doctest.testmod(sys.modules[f"generated_pages.{module}"])
    assert failed == 0
    assert tried


def links(text: str) -> list[str]:
    """Targets of links outside code, without their anchors."""
    prose = re.sub(r"^(`{3,}).*?^\1|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"(?<!\\)\]\(([^)\s]+)\)", prose)
    return [target.partition("#")[0] for target in found if not re.match(r"[a-z]+:|#", target)]


def test_links_lead_somewhere_and_pages_are_in_the_menu(pages: dict[str, str]) -> None:
    written = [
        path for path in DOCS.rglob("*.md") if not {"_build", "examples", "reference", "readings"} & set(path.parts)
    ]
    texts = {name(path): path.read_text(encoding="utf-8") for path in written}
    texts |= {f"reference/{path}": text for path, text in pages.items() if path.endswith(".md")}
    known = texts.keys() | {f"reference/{path}" for path in pages}
    for page, text in texts.items():
        for target in links(text):
            place = os.path.normpath(Path(page).parent / target)
            assert place in known or place.endswith(".svg") or (DOCS / place).exists(), (page, target)
        assert str(ROOT) not in text
        assert "/work" not in text, page
    menu = {line for text in texts.values() for line in menu_lines(text)}
    assert {page.removesuffix(".md") for page in texts if "/rules/" not in page} - menu == {"index"}


def menu_lines(text: str) -> list[str]:
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]


def test_a_changed_output_is_noticed(tmp_path: Path) -> None:
    text = "```console\n$ echo one\ntwo\n```\n"
    assert snippets.updated(text, tmp_path) == text.replace("two", "one")


def test_what_is_not_run_stays_and_files_are_saved(tmp_path: Path) -> None:
    text = (
        "<!-- not run: needs a GPU -->\n```console\n$ false\nkept\n```\n"
        "<!-- file: a/b.txt -->\n```yaml\nkey: 1\n```\n```console\n$ cat a/b.txt\n```\n"
    )
    assert snippets.updated(text, tmp_path) == text.replace("b.txt\n```\n", "b.txt\nkey: 1\n```\n")


def test_every_rule_has_a_page_with_all_it_says(pages: dict[str, str]) -> None:
    for rule in builtin_rules().values():
        page = pages[f"rules/{rule.id}.md"]
        assert f"({rule.id}.md)" in pages["rules/index.md"]
        for part in (*rule.params, rule.saving.upper.text, rule.saving.expected.text):
            assert part in page, (rule.id, part)
        assert all(markdown.prose(remedy.title) in page for remedy in rule.remedies)
        assert markdown.prose(rule.false_positives) in page
        assert (DOCS / "reference" / "rules" / rule.category / source(page)).resolve().exists()


def source(page: str) -> str:
    found = re.search(r"\{literalinclude\} (\S+)", page)
    assert found
    return found[1]


def test_a_rule_page_shows_its_proof(pages: dict[str, str]) -> None:
    """Every planted case stands on the page of each rule that should name it."""
    known = builtin_rules()
    for case in (case for case in load_cases() if not case.control):
        for rule in case.expect:
            if rule in known:
                assert f"| {case.id} |" in pages[f"rules/{rule}.md"], (case.id, rule)


def test_a_page_without_proof_says_so(pages: dict[str, str]) -> None:
    assert "No program of the [proof]" in pages["rules/communication/exposed-collectives.md"]


def test_every_key_of_a_rule_file_is_explained(pages: dict[str, str]) -> None:
    """Editors show these texts while a rule is written."""
    rows = [line for line in pages["rule-schema.md"].splitlines() if line.startswith("| `")]
    assert len(rows) > 40
    assert [row for row in rows if re.search(r"\| (?:Optional\. )? ?\|$", row)] == []


def verbs(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for word in command.list_commands(None):
        inner = command.get_command(None, word)
        yield f"{path} {word}".strip(), inner
        if hasattr(inner, "list_commands"):
            yield from verbs(inner, f"{path} {word}".strip())


def test_every_verb_and_option_is_described(pages: dict[str, str]) -> None:
    text = pages["cli.md"]
    for path, command in verbs(LazyGroup()):
        section = text.split(f"# {path}\n", 1)[1].split("\n## ", 1)[0]
        for param in command.params:
            if not getattr(param, "hidden", False) and param.param_type_name == "option":
                assert param.opts[0] in section, (path, param.opts)


def test_catalogues_are_whole(pages: dict[str, str]) -> None:
    assert [one for one in load_metrics() if f"| `{one}` |" not in pages["metrics.md"]] == []
    assert [one.id for one in load_patterns() if f"| `{one.id}` |" not in pages["kernels.md"]] == []
    whole = [gpu for gpu in load_gpus() if not gpu.partition]
    assert pages["gpus.md"].count("\n| ") == len(whole) + 2
    assert all(f"({kind}.svg)" in pages["plots.md"] for kind in KINDS)
    for public in nsight_insight.__all__:
        assert public.startswith("_") or f"### {public}\n" in pages["api.md"]


def test_tables_have_a_cell_for_every_heading(pages: dict[str, str]) -> None:
    for path, text in pages.items():
        width = None
        for line in text.splitlines() if path.endswith(".md") else ():
            cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("| ") else None
            assert width is None or cells is None or cells == width, (path, line)
            width = cells


def test_what_is_no_longer_made_is_removed(
    tmp_path: Path, pages: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated, "pages", lambda: pages)
    monkeypatch.setattr(generated.pictures, "draw", lambda folder: None)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "gone.md").write_text("# Gone\n")
    generated.write(tmp_path)
    assert not (tmp_path / "rules" / "gone.md").exists()
    assert (tmp_path / "rules" / "index.md").exists()
