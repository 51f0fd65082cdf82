from __future__ import annotations

import pytest

from eval_pipeline.comparing.word_diff import Segment, changed_lines, side_of, word_diff


def marked(before: str, after: str) -> str:
    marks = {"same": "{}", "gone": "[-{}-]", "new": "{{+{}+}}"}
    return "".join(marks[part.kind].format(part.text) for part in word_diff(before, after))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("Answer in three lines.", "Answer in two lines.", "Answer in [-three-]{+two+} lines."),
        ("Use it.", "Use it now.", "Use it{+ now+}."),
        ("Use it now.", "Use it.", "Use it[- now-]."),
        ("same words", "same words", "same words"),
        ("", "new", "{+new+}"),
        ("gone", "", "[-gone-]"),
        ("", "", ""),
        # The comma between two changed words stayed; alone it would split one change in two.
        ("is red, round fruit", "is big, ripe fruit", "is [-red, round-]{+big, ripe+} fruit"),
        # One common word of five is no common ground.
        ("a b c d e", "v w x y e", "[-a b c d e-]{+v w x y e+}"),
    ],
)
def test_words_that_went_and_came_are_marked(before, after, shown):
    assert marked(before, after) == shown


def test_a_sides_segments_add_up_to_its_text():
    before, after = "Close any  command\nbefore you copy.", "Stop every command\n\nbefore copying it."
    diff = word_diff(before, after)
    assert "".join(part.text for part in side_of(diff, "new")) == before
    assert "".join(part.text for part in side_of(diff, "gone")) == after


def test_long_texts_are_compared_too():
    words = " ".join(f"word{i}\n" for i in range(5000))
    diff = word_diff(words, words.replace("word2500\n", "other\n"))
    assert [part.text.strip() for part in diff if part.kind != "same"] == ["word2500", "other"]


def test_only_lines_that_changed_are_kept():
    lines = changed_lines(word_diff("one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\nfive\n"))
    assert lines == [
        (Segment("gone", "two"), Segment("new", "2")),
        (Segment("new", "five"),),
    ]
