import pytest

from eval_pipeline.suggestions import did_you_mean


@pytest.mark.parametrize(
    ("word", "known", "text"),
    [
        ("promt", ["prompt", "model"], "; did you mean 'prompt'?"),
        ("PAGES", ["pages", "tools"], "; did you mean 'pages'?"),
        ("zzz", ["b", "a"], "; known: a, b"),
        ("zzz", [], ""),
        (
            "zzz",
            [f"n{i:02}" for i in range(12)],
            "; known: n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 2 more",
        ),
        ("Page-7", [f"page-{i}" for i in range(5000)], "; did you mean 'page-7'?"),
    ],
)
def test_a_misspelt_word_is_answered_with_what_was_meant(word: str, known: list[str], text: str) -> None:
    assert did_you_mean(word, known) == text
