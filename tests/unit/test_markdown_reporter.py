"""Markdown, checked by rendering it with markdown-it and looking at what a reader would see."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from syrupy.assertion import SnapshotAssertion

from nsight_insight.model.finding import Remedy
from nsight_insight.model.issues import Issue, Level, Location
from nsight_insight.reporters import _markdown as md
from nsight_insight.reporters import format as fmt
from nsight_insight.reporters.markdown import DETAILED, LISTED, render
from nsight_insight.reporters.options import RenderOptions
from tests.unit.make_ci_report import AMP, NASTY, REAL, healthy, large, nasty, real, three
from tests.unit.make_report import COLLECT, FILE, optimizer_loop, report

PARSER = MarkdownIt("commonmark").enable("table")
COMMENT = 65_536
"""Characters of a comment on GitHub."""
OWN_HTML = re.compile(r"</?(?:details|summary|br)>|<!-- -->")
TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from("`|\\*_[]()<>!#@$:&~-+=1.\n \tabz"), st.characters(exclude_categories=["Cs"])),
    max_size=60,
)


def seen(tokens: list[Token]) -> str:
    """What a reader sees of parsed Markdown; only the reporter's own bold words and comments may be in it."""
    text = ""
    for token in (part for whole in tokens for part in whole.children or ()):
        if token.type in ("text", "code_inline", "text_special"):
            text += token.content
        elif token.type == "html_inline":
            assert token.content in ("<!-- -->", "<br>")
        else:
            assert token.type in ("strong_open", "strong_close")
    return text


def rendered(markdown: str) -> list[Token]:
    return PARSER.parse(markdown)


def foreign_html(markdown: str) -> list[str]:
    """HTML and links that the page would contain beyond what the reporter writes itself."""
    found = []
    for token in rendered(markdown):
        for part in [token, *(token.children or ())]:
            if part.type in ("html_block", "html_inline"):
                left = OWN_HTML.sub("", part.content)
                found += re.findall(r"<[^>]*>?", left)
            elif part.type in ("link_open", "image", "s_open", "em_open"):
                found.append(part.type)
    return found


@given(TEXTS)
@example("a\\|b")
@example("1. x")
@example("- x")
@example("# x")
@example("194.3 ms")
def test_a_sentence_reads_as_it_was_written(text: str) -> None:
    tokens = rendered(md.text(text))
    line = fmt.flow(text)
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])
    assert seen(tokens) == line


@given(TEXTS)
@example("`")
@example("``a```")
@example("\\`")
def test_a_code_span_shows_exactly_its_text(text: str) -> None:
    # Behind a word: in a table or list it never stands alone on a line.
    tokens = rendered(f"x {md.code(text)}")
    assert seen(tokens) == f"x {fmt.flow(text)}".strip()


@given(TEXTS, TEXTS)
@example("a|b", "a\\|b")
@example("`|`", "\\\\|")
def test_a_table_keeps_its_cells(sentence: str, name: str) -> None:
    tokens = rendered("\n".join(md.table(["a", "b:"], [[md.text(sentence), md.code(name)]])))
    cells = [seen([token]) for token in tokens if token.type == "inline"]
    assert cells == ["a", "b", fmt.flow(sentence), fmt.flow(name).replace("\\|", "\\ |")]


@given(st.lists(st.text(alphabet="`a \n", max_size=12), max_size=4))
def test_a_code_block_ends_where_it_should(lines: list[str]) -> None:
    code = [line for text in lines for line in text.split("\n")]
    tokens = rendered("\n".join([*md.code_block(code, "sh"), "", "after"]))
    assert tokens[0].type == "fence"
    assert tokens[0].content == "".join(f"{line}\n" for line in code)
    assert seen(tokens[1:]) == "after"


@pytest.mark.parametrize("trigger", ["@user", "#12", ":smile:", "https://x.invalid", "www.x.invalid", "$x$"])
def test_what_a_forge_would_act_on_is_split(trigger: str) -> None:
    assert trigger not in md.text(f"see {trigger} now")
    assert seen(rendered(md.text(f"see {trigger} now"))) == f"see {trigger} now"
    assert trigger in md.code(trigger)


def test_snapshot(snapshot: SnapshotAssertion) -> None:
    assert render(three(), RenderOptions()) == snapshot


def test_the_first_line_and_the_table_say_it_all() -> None:
    lines = render(three(), RenderOptions()).splitlines()
    assert lines[0] == (
        "## nsight-insight: 3 findings, about 159.4 ms of 194.3 ms (82 %) together, at most 167.4 ms"
    )  # fmt: skip
    assert "| 1 | Matrix multiplication in FP32 on CUDA cores | warning | 149.5 ms | 77 % | 156.3 ms | high |" in lines
    assert lines.index("<details><summary>Where the time goes</summary>") > lines.index("| --- | ---: | ---: | ---: |")


def test_real_reports_render_to_tables_and_details() -> None:
    for fixture in REAL:
        text = render(real(fixture), RenderOptions())
        types = [token.type for token in rendered(text)]
        assert types.count("table_open") >= 3
        assert text.count("<details>") == text.count("</details>") >= 3
        assert foreign_html(text) == []
        assert len(text) < COMMENT / 3


def test_conversions_and_tensor_cores_are_accounted_for() -> None:
    amp = real(AMP)
    assert amp.ledger is not None
    assert amp.tensor_account is not None
    text = render(amp, RenderOptions())
    assert f"<summary>Precision conversions: {fmt.time(amp.ledger.time_ns)}, " in text
    for entry in amp.ledger.conversions[:3]:
        assert f"| {fmt.time(entry.time_ns)} | {fmt.share(entry.share)} | {entry.launches} |" in text
    assert re.search(r"<summary>Tensor Cores: 99 % of 12\.\d ms of matrix work</summary>", text)
    assert "| Tensor Cores fp16 | 11.2 ms | 89 % | not counted |" in text
    nothing = render(replace(amp, ledger=None, tensor_account=None), RenderOptions())
    assert "Precision conversions:" not in nothing
    assert "Tensor Cores:" not in nothing


def test_remedies_carry_code_of_one_framework() -> None:
    default = render(three(), RenderOptions())
    assert "```python\nwith torch.autocast" in default
    assert "cublasGemmEx" not in default
    jax = render(three(), RenderOptions(framework="jax"))
    assert "jax_default_matmul_precision" in jax
    assert "torch" not in jax.replace("PyTorch", "")
    every = render(three(), RenderOptions(verbose=True))
    assert "```cpp\ncublasGemmEx" in every
    assert "jax_default_matmul_precision" in every


def test_gaps_and_commands_are_there_to_copy() -> None:
    text = render(three(), RenderOptions())
    assert "<details><summary>3 rules could not be judged</summary>" in text
    fences = [token.content for token in rendered(text) if token.type == "fence" and token.info == "sh"]
    assert fences == [COLLECT + "\n"]


def test_lost_input_stands_above_the_findings() -> None:
    issues = (
        Issue(Level.INFO, "a remark", Location(FILE, 1)),
        Issue(Level.DATA_LOSS, "lost | a row", Location(FILE, 9)),
        Issue(Level.ERROR, "broken", Location("b.csv", 2)),
    )
    text = render(report(issues=issues), RenderOptions())
    assert text.index("- error `b.csv:2`: broken") < text.index("lost &#124; a row") < text.index("| # |")
    assert "a remark" not in text


def test_nothing_found_is_no_clean_bill() -> None:
    text = render(healthy(), RenderOptions())
    assert text.startswith("## nsight-insight: No finding. 31 rules checked 46 kernels (194.3 ms)")
    assert "no clean bill: 3 rules could not be judged" in text.splitlines()[0]
    assert "| # |" not in text


def test_many_findings_are_listed_and_told_in_part() -> None:
    many = [replace(optimizer_loop(), title=f"Title {index}") for index in range(1, 31)]
    text = render(report(*many), RenderOptions())
    assert text.count("\n| 20 | Title 20 |") == 1
    assert "Title 21" not in text
    assert "and 10 more findings" in text
    assert len(re.findall(r"<summary>\d+\. ", text)) == DETAILED
    assert len(re.findall(r"<summary>\d+\. ", render(report(*many), RenderOptions(top=2)))) == 2
    assert len(re.findall(r"<summary>\d+\. ", render(report(*many), RenderOptions(verbose=True)))) == LISTED


@pytest.mark.parametrize("options", [RenderOptions(), RenderOptions(verbose=True)])
def test_a_comment_never_grows_too_long(options: RenderOptions) -> None:
    assert len(render(large(60), options)) < COMMENT


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names_stay_texts(name: str) -> None:
    text = render(nasty(name), RenderOptions(verbose=True))
    assert foreign_html(text) == []
    blocks = "".join(token.content for token in rendered(text) if token.type == "html_block")
    assert blocks.count("<details>") == blocks.count("</details>") == 5
    assert fmt.flow(name)[:40] in seen(rendered(text))
    # Every table keeps its shape: as many cells in each row as in its head.
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        tokens = rendered(table)
        rows, cells = (sum(token.type == kind for token in tokens) for kind in ("tr_open", "td_open"))
        heads = sum(token.type == "th_open" for token in tokens)
        assert cells == heads * (rows - 1)


def test_hostile_remedy_code_cannot_leave_its_block() -> None:
    code = "a\n```\n</details>\n<script>x</script>\n````"
    finding = replace(optimizer_loop(), remedies=(Remedy("r", "Title", code={"pytorch": code}),))
    text = render(report(finding), RenderOptions())
    assert foreign_html(text) == []
    assert any(token.content == code + "\n" for token in rendered(text) if token.type == "fence")


def test_summaries_are_html_escaped() -> None:
    finding = replace(optimizer_loop(), title="<b>bold</b> & more")
    text = render(report(finding), RenderOptions())
    assert f"<summary>1. {html.escape('<b>bold</b> & more', quote=False)}: saves" in text
