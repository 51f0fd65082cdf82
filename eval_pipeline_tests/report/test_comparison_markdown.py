"""Whatever two answers hold, Markdown shows both as they are: read back with a parser of its own."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eval_pipeline.comparing.word_diff import side_of, word_diff
from eval_pipeline.report.comparison_cases import Answers, Line
from eval_pipeline.report.comparison_markdown import blocks_markdown
from eval_pipeline.report.comparison_spans import Span, spans_of

PIECES = ["tasks.db", "copy", "its", "`", "``", " ", "*", "_", "<b>", ". ", "&amp;", "[x](y)", "|", "@you"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def shown(before: str, after: str) -> list[str]:
    """What a reader of the Markdown sees of the two answers, without spaces."""
    segments = word_diff(before, after)
    answers = Answers(spans_of(side_of(segments, "new")), spans_of(side_of(segments, "gone")))
    written = blocks_markdown([Line((Span("title", "heading"),)), answers])
    inline = [token for token in MarkdownIt("commonmark").parse(written) if token.type == "inline"]
    texts = [
        "".join(part.content for part in found.children if part.type != "html_inline") for found in inline
    ]
    return ["".join(text.split()) for text in texts[1:]]


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
@example("copy its tasks.db. Close any.", "copy its `tasks.db`: all is there. Close any.")
@example("", "only after")
def test_both_answers_are_read_as_they_are(before, after):
    assert shown(before, after) == [
        f"before:{''.join(before.split())}",
        f"after:{''.join(after.split())}",
    ]


def test_what_is_coloured_on_a_terminal_is_bold_where_it_stands_by_itself():
    lines = [
        Line((Span("title", "heading"),)),
        Line((Span("worse (1)", "bad"),)),
        Line((Span("x", "bad"),), 1),
    ]
    assert blocks_markdown(lines) == "### title\n**worse (1)**  \n- x\n"
