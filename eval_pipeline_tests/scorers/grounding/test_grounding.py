"""What the check makes of an answer as a whole: its value, its reason, and when it cannot say."""

import pytest

from eval_pipeline.cases import Case, Known
from eval_pipeline.errors import ScorerError
from eval_pipeline.scorers.grounding import Grounding
from eval_pipeline.traces import AgentTrace, RetrievedDocument
from eval_pipeline_tests.scorers.grounding.pages import DEBUG, SYNC, score_answer


@pytest.mark.parametrize(
    "answer",
    [
        "The docs do not say how long `--frobnicate` waits.",
        "That is not in the docs.",
        "I couldn't find anything about Windows 11 in the documentation.",
        "Sorry, there is no information about encryption.",
        "The documentation doesn't mention it. Please ask the maintainers.",
        "The search results don't cover it. They only describe `debug.log`.",
    ],
)
def test_an_answer_that_the_docs_do_not_tell_is_recognised(answer) -> None:
    score = score_answer(answer, DEBUG)

    assert score.details == {"sentences": [], "declined": True}
    assert score.value == 1.0
    assert score.reason == "the answer says that the tool results do not tell"


@pytest.mark.parametrize(
    "answer",
    [
        "The docs do not mention this, but it waits 45 seconds.",
        "The docs don't say it. It waits 45 seconds.",
        "If a timeout is not specified, it waits 45 seconds.",
    ],
)
def test_declining_does_not_cover_what_the_answer_adds(answer) -> None:
    assert "45 seconds" in score_answer(answer, SYNC).reason


def test_the_value_is_the_share_of_supported_sentences() -> None:
    score = score_answer(
        "It waits for 30 s. It then runs `tracker reset`. It exits. It logs to sync.log.", SYNC
    )

    assert score.value == 0.5
    assert score.details["sentences"] == [
        {"text": "It then runs `tracker reset`.", "unsupported": ["reset"]},
        {"text": "It logs to sync.log.", "unsupported": ["sync.log"]},
    ]
    assert score.reason == "2 of 4 sentences lack support, the first: reset"


def test_an_answer_without_checkable_claims_scores_one_and_the_reason_says_so() -> None:
    score = score_answer("That depends on the remote.", SYNC)

    assert score.value == 1.0
    assert score.reason == "the answer makes no claim that can be looked up"


@pytest.mark.parametrize("answer", [None, "", " \n", "...", "**"])
def test_a_blank_answer_is_an_error_and_no_score(answer) -> None:
    with pytest.raises(ScorerError, match="has no words"):
        score_answer(answer, SYNC)


@pytest.mark.parametrize("texts", [(), ("",)])
def test_an_agent_that_fetched_nothing_fails_and_the_reason_says_so(texts) -> None:
    score = score_answer("The docs do not say.", *texts)

    assert (score.value, score.passed) == (0.0, False)
    assert score.reason == "the agent fetched nothing, so nothing supports its answer"


def test_pages_and_their_ids_are_evidence() -> None:
    page = RetrievedDocument("sync_guide", 1, 0.9, "It waits for 30 s.", 0)
    trace = AgentTrace("c", answer="It waits for 30 s (see `sync_guide`).", retrieved=(page,))

    assert Grounding().score(Case("c", "q", expected={"tools": ["search_docs"]}), trace).value == 1.0


def test_the_rank_of_a_search_result_is_no_evidence() -> None:
    assert score_answer("Version 1 does it.", SYNC).value == 0.0


@pytest.mark.parametrize(("tools", "applies"), [(None, False), ([], False), (["search_docs"], True)])
def test_the_check_applies_where_the_case_expects_a_tool(tools, applies) -> None:
    assert Grounding().applies(Case("c", "q", expected={"tools": tools})) is applies


def test_a_misspelt_tool_is_a_problem() -> None:
    problems = Grounding().problems(
        Case("c", "q", expected={"tools": ["serch"]}), Known(tools=frozenset(["search"]))
    )

    assert problems == ["expected.tools: no tool 'serch'; did you mean 'search'?"]
