import html
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eval_pipeline.report.inert_text import markdown_code, markdown_text, visible

GITHUB = MarkdownIt("commonmark", {"html": True}).enable("table")
HOSTILE = [
    "a|b",
    "a\\|b",
    "a\\",
    "`",
    "`` ` ``",
    "<script>alert(1)</script>",
    "&lt;b&gt;",
    "</code><img src=x onerror=alert(1)>",
    "[bold red]x[/]",
    "**bold** _it_ ~~s~~",
    "line\nbreak\r\n| x | y |",
    "@everyone #12 https://example.org :tada: $x$",
    "\x1b[31mred\x1b[0m\x07",
    "\u202egnp.exe",
    "# heading",
    "",
    " ",
    " lead",
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[2J\x00\x9b", "\\x1b[2J\\x00\\x9b"),
        ("\u202e\u2028\ufeff\ud800", "\\u202e\\u2028\\ufeff\\ud800"),
        ("👩‍👩‍👧 é 漢字 [bold]", "👩‍👩‍👧 é 漢字 [bold]"),
    ],
)
def test_what_would_act_on_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("search_docs", "`search_docs`"),
        ("a|b", "<code>a&#124;b</code>"),
        ("`x`", "<code>&#96;x&#96;</code>"),
        ("<b>", "<code>&#60;b&#62;</code>"),
        (" x", "<code> x</code>"),
        ("", ""),
    ],
)
def test_foreign_text_becomes_code(text: str, markdown: str) -> None:
    assert markdown_code(text) == markdown


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_table_cell(text: str) -> None:
    check_cell(text)


@settings(deadline=None)
@given(st.text(max_size=20))
@example("\\`|")
def test_any_text_stays_in_its_table_cell(text: str) -> None:
    check_cell(text)


def check_cell(text: str) -> None:
    rendered = GITHUB.render(f"| a | b |\n| --- | --- |\n| {markdown_code(text)} | end |\n")
    cells = re.findall(r"<td>(.*?)</td>", rendered, flags=re.DOTALL)
    assert len(cells) == 2
    assert cells[1] == "end"
    content = re.fullmatch(r"<code>(.*)</code>", cells[0])
    assert "<" not in (content[1] if content else cells[0])
    assert html.unescape(content[1] if content else cells[0]).strip() == visible(text).strip()


def test_our_own_words_are_escaped() -> None:
    rendered = GITHUB.render(markdown_text("*a* [b](c) <d> e_f_ `g` h|i"))
    assert rendered == "<p>*a* [b](c) &lt;d&gt; e_f_ `g` h|i</p>\n"
