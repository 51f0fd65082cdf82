import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.errors import EvalError
from eval_pipeline.scores import CheckResult, Score
from eval_pipeline.warehouse.arrow_schemas import STAGE_SCORES
from eval_pipeline.warehouse.score_rows import checks_from, scores_table
from eval_pipeline_tests.warehouse.test_trace_rows import FINITE, OBJECT, TEXT

UNIT = st.floats(0, 1)
METRICS = st.dictionaries(TEXT.map(lambda text: f"m{text}"), UNIT, max_size=3)


@st.composite
def check_lists(draw: st.DrawFn) -> list[CheckResult]:
    ids = draw(
        st.lists(
            st.tuples(TEXT, st.integers(0, 2), st.sampled_from(["tools", "retrieval"])),
            max_size=4,
            unique=True,
        )
    )
    checks = []
    for case_id, repeat, stage in ids:
        reason = draw(TEXT)
        score = draw(
            st.none() | st.builds(Score, UNIT, st.just(reason), st.none() | st.booleans(), METRICS, OBJECT)
        )
        outcomes = ["error", "not_measured", "failed"] if score is None else ["passed", "failed"]
        checks.append(
            CheckResult(
                case_id,
                repeat,
                stage,
                draw(st.sampled_from(outcomes)),
                draw(st.booleans()),
                draw(UNIT),
                reason,
                score,
                draw(st.sampled_from([None, "system", "judge"])),
                draw(FINITE),
                draw(st.none() | TEXT),
                draw(st.integers(0, 2)),
            )
        )
    return checks


@settings(deadline=None)
@given(check_lists())
def test_checks_come_back_as_they_were(checks: list[CheckResult]) -> None:
    table = scores_table(checks)
    assert table.schema == STAGE_SCORES
    assert checks_from(table) == checks


RETRIEVAL = CheckResult(
    "backup",
    0,
    "retrieval",
    "failed",
    True,
    1.0,
    "missing: config",
    Score(0.5, "missing: config", metrics={"hit": 1.0, "recall": 0.5}, details={"missing": ["config"]}),
)


def test_a_check_is_one_row_and_each_metric_another() -> None:
    rows = scores_table([RETRIEVAL]).to_pylist()
    shown = [(r["metric"], r["score"], r["threshold"], r["outcome"], r["gating"], r["reason"]) for r in rows]
    assert shown == [
        ("retrieval", 0.5, 1.0, "failed", True, "missing: config"),
        ("hit", 1.0, None, None, False, None),
        ("recall", 0.5, None, None, False, None),
    ]


def test_an_unmeasured_check_has_an_error_and_no_score() -> None:
    check = CheckResult("a", 0, "tools", "error", True, 1.0, "the agent raised", error_source="system")
    (row,) = scores_table([check]).to_pylist()
    assert (row["score"], row["reason"], row["error"], row["error_source"]) == (
        None,
        None,
        "the agent raised",
        "system",
    )


def test_metrics_of_repeats_stay_apart() -> None:
    other = dataclasses.replace(
        RETRIEVAL, repeat=1, score=Score(1.0, "missing: config", metrics={"hit": 0.0})
    )
    assert checks_from(scores_table([RETRIEVAL, other])) == [RETRIEVAL, other]


def test_a_metric_named_like_its_stage_is_refused() -> None:
    check = dataclasses.replace(RETRIEVAL, score=Score(1.0, "", metrics={"retrieval": 1.0}))
    with pytest.raises(EvalError, match="metric 'retrieval' has the stage's own name"):
        scores_table([check])
