"""What holds of any answer and any pages."""

from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline_tests.scorers.grounding.pages import DEBUG, ISSUE_231, OUTPUT, STORAGE, SYNC, score_answer

SENTENCES = [
    "It waits for 30 s.",
    "It exits with 'remote is locked'.",
    "A second machine does not wait for the lock.",
    "It writes sync.log.",
]


@given(st.permutations(SENTENCES))
def test_the_order_of_an_answers_sentences_never_changes_the_value(sentences) -> None:
    assert score_answer(" ".join(sentences), SYNC).value == 0.5


@given(st.permutations([STORAGE, SYNC, OUTPUT, DEBUG, ISSUE_231]))
def test_the_order_of_tool_results_never_changes_the_score(texts) -> None:
    answer = "A second machine waits 30 s. `--format csv` removes color. Issue 231 is closed. Use `--fast`."

    assert score_answer(answer, *texts) == score_answer(answer, *sorted(texts))


NOISE = [
    "`",
    "'",
    '"',
    "*",
    "30",
    " s",
    "2.4.1",
    ".",
    "not",
    " ",
    "\n",
    "~/",
    "-a",
    "two",
    "|",
    "[1]",
    "<id>",
]
WORDS = [
    "`-a`",
    "'no way'",
    "30 s",
    "v2.4.1",
    "is not",
    "two",
    "~/x/y.db",
    "--flag",
    "safe",
    "1,000",
    "a_b",
    "10:30",
]


@given(st.lists(st.sampled_from(NOISE)).map("".join))
def test_any_answer_gets_a_score_with_any_context(noise) -> None:
    assert 0 <= score_answer(f"word {noise}", SYNC).value <= 1
    assert 0 <= score_answer("It waits for 30 s.", f"word {noise}").value <= 1


@given(st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join))
def test_a_text_supports_itself(text) -> None:
    assert score_answer(text, text).details["sentences"] == []
