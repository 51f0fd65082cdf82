"""What makes a stage report untrustworthy, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.gating.outcomes import OutcomesError
from eval_pipeline.gating.published import read_published
from eval_pipeline_tests.gating.stage_reports import (
    Edit,
    row,
    set_key,
    set_row,
    set_score,
    set_tools,
    stage_report,
)


def import_edited(edit: Edit) -> None:
    report = stage_report()
    edit(report)
    read_published(report, "report.json")


REFUSED: dict[str, tuple[Edit, str]] = {
    "no key": (lambda report: report.pop("key"), "report.json: key is missing"),
    "no judge": (lambda report: report["key"].pop("judge"), "report.json: key.judge is missing"),
    "empty name": (set_key("model", ""), "key.model: string should have at least 1 character, found ''"),
    "k as text": (set_key("k", "3"), "key.k: '3' is not a valid integer"),
    "k as boolean": (set_key("k", True), "key.k: True is not a valid integer"),
    "strict as number": (
        set_key("strict_faithfulness", 1),
        "key.strict_faithfulness: 1 is not a valid boolean",
    ),
    "a row that passes itself off as one of ours": (
        lambda report: report["rows"][0].update(outcomes={}, judged={}, tools=None, retrieval=None),
        "judged.faithfulness is missing",
    ),
    "two k": (set_key("k", 1), "report.json: k is 3, and key.k is 1; they must agree"),
    "threshold 70": (
        lambda report: report.update(threshold=70),
        "threshold: 70 is not less than or equal to 1",
    ),
    "no rows": (lambda report: report.update(rows=[]), "report.json: rows is empty"),
    "rows as text": (lambda report: report.update(rows="all"), "rows: 'all' is not a valid list"),
    "row as text": (lambda report: report.update(rows=["backup"]), "rows[0]: 'backup' is not an object"),
    "twins": (
        lambda report: report["rows"].append(row(report, "backup")),
        "rows[10] (backup): duplicate case id, first in rows[0]; ids are unique",
    ),
    "id with colons": (set_row("id", "a::b"), "rows[0] (a::b): the id holds '::'"),
    "id as number": (set_row("id", 1), "rows[0].id: 1 is not a valid string"),
    "score true": (
        set_score("faithfulness", True),
        "rows[0].judged.faithfulness.score: True is not a valid number",
    ),
    "score NaN": (
        set_score("faithfulness", float("nan")),
        "rows[0].judged.faithfulness.score: nan is not a finite number",
    ),
    "score 1.5": (set_score("faithfulness", 1.5), "score: 1.5 is not less than or equal to 1"),
    "score -0.1": (set_score("contextual_precision", -0.1), "score: -0.1 is not greater than or equal to 0"),
    "score null": (set_score("faithfulness", None), "score: None is not a valid number"),
    "recall true": (
        set_row("retrieval", {"hit": True, "recall": True, "reciprocal_rank": 1.0}),
        "rows[0].retrieval.recall: True is not a valid number",
    ),
    "tools score NaN": (set_tools(score=float("nan")), "rows[0].tools.score: nan is not a finite number"),
    "tools passing at 0.5": (
        set_tools(score=0.5),
        "rows[0] (backup): tools.pass is true, which contradicts score 0.5 with unexpected []",
    ),
    "tools passing with a surplus call": (
        set_tools(unexpected=["get_issue"]),
        "tools.pass is true, which contradicts score 1 with unexpected ['get_issue']",
    ),
    "tools failing at 1.0": (set_tools(**{"pass": False}), "tools.pass is false, which contradicts score 1"),
    "a metric less": (
        lambda report: row(report, "backup")["judged"].pop("faithfulness"),
        "rows[0] (backup): judged.faithfulness is missing; a case with tool calls has answer_relevancy, "
        "contextual_precision, contextual_recall, faithfulness",
    ),
    "a metric more": (
        lambda report: row(report, "backup")["judged"].update(bias={"score": 1.0, "reason": ""}),
        "rows[0] (backup): judged.bias is surplus",
    ),
    "context metrics without a call": (
        set_row("calls", []),
        "rows[0] (backup): judged.faithfulness is surplus; a case without tool calls has answer_relevancy",
    ),
    "first failure where none fails": (
        set_row("first_failure", "tools"),
        "rows[0] (backup): first_failure is 'tools', and yet the first stage that fails is None",
    ),
    "no first failure where one fails": (
        set_row("first_failure", None, "pipe-colors"),
        "rows[4] (pipe-colors): first_failure is None, and yet the first stage that fails is 'retrieval'",
    ),
    "a later first failure": (
        set_row("first_failure", "faithfulness", "pipe-colors"),
        "first_failure is 'faithfulness', and yet the first stage that fails is 'retrieval'",
    ),
    "NaN where nobody looks": (
        lambda report: report["summary"].update(mean=float("nan")),
        "report.json: holds NaN or an infinity",
    ),
}


@pytest.mark.parametrize(("edit", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_a_report_that_cannot_be_trusted_is_refused(edit: Edit, problem: str) -> None:
    with pytest.raises(OutcomesError) as refusal:
        import_edited(edit)

    assert problem in str(refusal.value)


def test_every_problem_of_a_report_is_named_at_once() -> None:
    def edit(report: dict[str, Any]) -> None:
        set_key("k", 1)(report)
        set_tools(score=0.5)(report)
        set_row("first_failure", None, "pipe-colors")(report)

    with pytest.raises(OutcomesError) as refusal:
        import_edited(edit)

    assert len(refusal.value.problems) == 3
