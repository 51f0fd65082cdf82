"""How a comparison is shown: what models wrote can neither steer a terminal nor be Markdown."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from eval_pipeline.comparing.comparison import Comparison, compare
from eval_pipeline.comparing.word_diff import word_diff
from eval_pipeline.report.comparison_blocks import comparison_blocks
from eval_pipeline.report.comparison_markdown import blocks_markdown
from eval_pipeline.report.comparison_spans import Span, cut
from eval_pipeline.report.comparison_text import blocks_text, print_blocks
from eval_pipeline_tests.comparing.sides import run_of, side_of


def one_worse(before: str, after: str) -> Comparison:
    """One case whose answer and outcome changed, among equal ones."""
    equal = [run_of(name) for name in ("b", "c")]
    return compare(
        side_of(run_of("a", 1.0, before), *equal, prompt="Be brief."),
        side_of(run_of("a", 0.0, after), *equal, candidate="bot@333333333333", prompt="Be brief."),
    )


def on_terminal(comparison: Comparison, width: int) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    print_blocks(comparison_blocks(comparison), console)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]


def test_answers_stand_side_by_side_where_there_is_room() -> None:
    comparison = one_worse("Tasks are in one file.", "Tasks are in two files.")
    wide, narrow = on_terminal(comparison, 120), on_terminal(comparison, 80)
    assert any("Tasks are in one file." in line and "in two files." in line for line in wide.splitlines())
    assert "    before     Tasks are in one file.\n    after      Tasks are in two files." in narrow


@pytest.mark.parametrize("width", [80, 120])
def test_control_characters_are_written_out(width: int) -> None:
    comparison = one_worse("red", "\x1b[31mred [bold]x[/bold]")
    for shown in (on_terminal(comparison, width), blocks_text(comparison_blocks(comparison))):
        assert "\x1b" not in shown
        assert r"\x1b[31mred [bold]x[/bold]" in shown


def test_what_a_model_wrote_is_code_in_markdown() -> None:
    shown = blocks_markdown(comparison_blocks(one_worse("Ask nobody.", "Ask @someone about #1 <b>now</b>.")))
    assert "@someone" not in shown.replace("`Ask @someone", "")
    assert "<b>" not in shown


def test_the_worst_news_comes_first() -> None:
    before = side_of(run_of("worse", 1.0), run_of("better", 0.0), run_of("talks", 1.0, "One."))
    after = side_of(run_of("worse", 0.0), run_of("better", 1.0), run_of("talks", 1.0, "Two."))
    lines = blocks_text(comparison_blocks(compare(before, after))).splitlines()
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert headings[1] == "1 worse, 1 better of 3: could be chance (exact McNemar p = 1)"
    assert headings[-4:] == [
        "worse (1)",
        "better (1)",
        "same outcomes, another answer (1)",
        "first failures that shifted",
    ]


def test_a_long_answer_is_cut_to_what_is_near_a_change() -> None:
    words = [f"word{i}" for i in range(100)]
    before = " ".join(words)
    shown = cut(word_diff(before, before.replace("word50", "other")))
    assert [span.style for span in shown] == ["plain", "gone", "new", "plain"]
    # Of the 40 characters beside the change, whole words: five of seven characters each.
    assert shown[0] == Span("…word45 word46 word47 word48 word49 ", foreign=True)
    assert shown[1:3] == (Span("word50", "gone", True), Span("other", "new", True))
    assert shown[3] == Span(" word51 word52 word53 word54 word55…", foreign=True)


def test_a_short_answer_is_shown_whole_on_one_line() -> None:
    shown = cut(word_diff("One.\nTwo.\nThree words here.", "One.\nTwo.\nFour words here."))
    assert "".join(span.text for span in shown) == "One. ↵ Two. ↵ ThreeFour words here."
