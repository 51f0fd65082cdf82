import pytest

from eval_pipeline.scorers.grounding.sentences import split_sentences, without_citations


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It waits. Then it exits!", ["It waits.", "Then it exits!"]),
        ("Use 2.4.1. It is new.", ["Use 2.4.1.", "It is new."]),
        ("Open `a. B c`, e.g. `tasks.db`. Done.", ["Open `a. B c`, e.g. `tasks.db`.", "Done."]),
        ('It says "remote is locked." Then it exits.', ['It says "remote is locked."', "Then it exits."]),
        ("A line\nthat goes on.\n\nAnother.", ["A line that goes on.", "Another."]),
        ("# Head\nText", ["Head", "Text"]),
        ("- one\n- two\n\n1. three", ["one", "two", "three"]),
        ("**Note:** see [the page](sync.md) — now.", ["Note: see the page - now."]),
        ("See [it](https://a.b/c).", ["See it https://a.b/c."]),
        ("| a | b |\n|---|---|\n| c | d |", ["| a | b |", "| c | d |"]),
        ("It’s “locked”.", ['It\'s "locked".']),
        ("", []),
    ],
)
def test_markdown_is_cut_into_sentences(text, sentences) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == sentences


def test_lines_of_a_code_block_and_list_items_are_marked() -> None:
    code, item = split_sentences("```sh\n$ tracker sync\n```\n- one")

    assert (code.text, code.code, code.item) == ("$ tracker sync", True, False)
    assert (item.text, item.code, item.item) == ("one", False, True)


def test_citation_marks_go_and_links_stay() -> None:
    assert without_citations("It waits [1], then[2, 3] exits. See [4](a.md).") == (
        "It waits, then exits. See [4](a.md)."
    )
