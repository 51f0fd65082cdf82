from typing import Any

import pytest

from eval_pipeline.cases import Case, Known
from eval_pipeline.scorers.wording import ShortAndSpecific
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace


def score(text: Any, keeps: list[str], field: str | None = "summary") -> Score:
    trace = AgentTrace("c", answer=None if field else text, structured={"summary": text} if field else None)
    return ShortAndSpecific(max_words=5, field=field).score(Case("c", "q", expected={"keeps": keeps}), trace)


@pytest.mark.parametrize("field", ["summary", None])
@pytest.mark.parametrize(
    ("text", "keeps", "value", "words", "missing"),
    # The value: demands met, of the length and each term.
    [
        ("one two three four five", [], 1, 5, []),
        ("one two three four five six", [], 0, 6, []),
        ("Where is the BACKUP?", ["backup"], 1, 4, []),
        ("Nightly backups of config.toml", ["Backup", "config.toml"], 1, 4, []),
        ("Where is the database?", ["backup"], 1 / 2, 4, ["backup"]),
        ("a b c d e f", ["x", "y"], 0, 6, ["x", "y"]),
        ("a b c d e x", ["x", "y"], 1 / 3, 6, ["y"]),
        ("", ["x"], 1 / 2, 0, ["x"]),
    ],
)
def test_a_text_has_few_words_and_keeps_every_term(field, text, keeps, value, words, missing) -> None:
    scored = score(text, keeps, field)
    assert (scored.value, scored.passed) == (value, value == 1)
    assert scored.details == {"words": words, "missing": missing}


def test_the_reason_names_the_words_and_the_terms() -> None:
    assert score("tracker sync fails", ["sync"]).reason == "3 words of at most 5; keeps sync"
    assert score("it fails", ["sync", "it"]).reason == "2 words of at most 5; lacks sync"
    assert score("it fails", []).reason == "2 words of at most 5"


def test_without_a_text_it_fails() -> None:
    scorer, case = ShortAndSpecific(5, "summary"), Case("c", "q", expected={"keeps": []})
    unusable = scorer.score(case, AgentTrace("c", answer="no JSON"))
    assert (unusable.passed, unusable.reason) == (False, "there is no structured answer, and so no summary")
    assert score(["a"], []).reason == "summary is ['a'] and no text"


def test_terms_are_listed_once_and_say_something() -> None:
    case = Case("c", "q", expected={"keeps": ["sync", " ", "Sync"]})
    assert ShortAndSpecific(5).problems(case, Known()) == [
        "expected.keeps: a term is blank; remove it",
        "expected.keeps: 'sync' stands twice; list it once",
    ]


def test_a_limit_that_nothing_meets_is_refused() -> None:
    with pytest.raises(ValueError, match="max_words: 0 lets no text pass"):
        ShortAndSpecific(0)
