import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from eval_pipeline.cases import Case, Known
from eval_pipeline.scorers.retrieval import RetrievalById
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace, RetrievedDocument

PAGES = st.sampled_from(["archive", "config", "output", "storage", "sync"])


def score_pages(expected: list[str], retrieved: list[str]) -> Score:
    documents = tuple(RetrievedDocument(page, i + 1, 0.5, "text", 0) for i, page in enumerate(retrieved))
    return RetrievalById().score(
        Case("c", "q", expected={"pages": expected}), AgentTrace("c", retrieved=documents)
    )


@pytest.mark.parametrize(
    ("expected", "retrieved", "recall", "hit", "reciprocal_rank"),
    [
        (["sync"], ["sync"], 1.0, True, 1.0),
        (["sync"], ["config", "output", "sync"], 1.0, True, 1 / 3),
        (["sync"], ["config", "config", "sync"], 1.0, True, 1 / 2),
        (["sync"], ["config"], 0.0, False, 0.0),
        (["sync"], [], 0.0, False, 0.0),
        (["sync", "config"], ["output", "config"], 0.5, True, 1 / 2),
        (["sync", "config"], ["config", "sync"], 1.0, True, 1.0),
        (["sync", "sync"], ["sync", "sync"], 1.0, True, 1.0),
        (["sync", "sync", "config"], ["sync"], 0.5, True, 1.0),
    ],
)
def test_recall_hit_and_reciprocal_rank_by_hand(expected, retrieved, recall, hit, reciprocal_rank) -> None:
    score = score_pages(expected, retrieved)

    assert score.value == recall
    assert score.passed is (recall == 1.0)
    assert score.metrics == {"hit": float(hit), "reciprocal_rank": reciprocal_rank}
    assert score.details["hit"] is hit
    assert score.details["recall"] == recall
    assert score.details["reciprocal_rank"] == reciprocal_rank


def test_the_ranking_is_what_all_searches_showed_in_order_each_page_once() -> None:
    searches = [("config", 1, 0), ("output", 2, 0), ("output", 1, 1), ("sync", 2, 1)]
    trace = AgentTrace("c", retrieved=tuple(RetrievedDocument(p, r, 0.5, "text", c) for p, r, c in searches))

    score = RetrievalById().score(Case("c", "q", expected={"pages": ["sync", "archive"]}), trace)

    assert score.details["retrieved"] == ["config", "output", "sync"]
    assert score.details["missing"] == ["archive"]
    assert score.metrics["reciprocal_rank"] == 1 / 3
    assert score.reason == "1 of 2 expected pages among 3 retrieved; missing: archive"


def test_an_agent_that_fetched_nothing_fails_and_the_reason_says_so() -> None:
    score = score_pages(["sync"], [])

    assert score.passed is False
    assert score.reason == "the agent fetched no page, though the case needs sync"


@pytest.mark.parametrize("expected", [{}, {"pages": []}, {"pages": None}])
def test_the_check_does_not_apply_where_no_page_is_needed(expected) -> None:
    assert not RetrievalById().applies(Case("c", "q", expected=expected))


def test_an_unknown_page_is_a_problem_that_names_the_right_one() -> None:
    known = Known(documents=frozenset(["sync", "storage"]))

    problems = RetrievalById().problems(Case("c", "q", expected={"pages": ["snyc", "storage"]}), known)

    assert problems == ["expected.pages: no page 'snyc'; did you mean 'sync'?"]


def test_a_page_listed_twice_is_a_problem() -> None:
    known = Known(documents=frozenset(["sync"]))

    problems = RetrievalById().problems(Case("c", "q", expected={"pages": ["sync", "sync"]}), known)

    assert problems == ["expected.pages: page 'sync' is listed 2 times; list it once"]


def test_an_unknown_expectation_is_refused() -> None:
    with pytest.raises(ValidationError, match="page"):
        RetrievalById.Expected.model_validate({"page": ["sync"]})


@given(expected=st.lists(PAGES, min_size=1), retrieved=st.lists(PAGES), data=st.data())
def test_repeating_what_was_retrieved_changes_nothing(expected, retrieved, data) -> None:
    again = data.draw(st.lists(st.sampled_from(retrieved))) if retrieved else []

    assert score_pages(expected, retrieved + again) == score_pages(expected, retrieved)


@given(expected=st.lists(PAGES, min_size=1), retrieved=st.lists(PAGES), page=PAGES)
def test_retrieving_one_more_page_never_lowers_recall(expected, retrieved, page) -> None:
    assert score_pages(expected, [*retrieved, page]).value >= score_pages(expected, retrieved).value


@given(expected=st.lists(PAGES, min_size=1), retrieved=st.lists(PAGES))
def test_recall_counts_expected_pages_as_a_set(expected, retrieved) -> None:
    wanted = set(expected)

    assert score_pages(expected, retrieved).value == pytest.approx(len(wanted & set(retrieved)) / len(wanted))
