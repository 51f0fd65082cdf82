"""A stage report as another tool saves it, built from figures; every sentence in it is made up here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Edit = Callable[[dict[str, Any]], object]
METRICS = ("faithfulness", "contextual_recall", "answer_relevancy", "contextual_precision")

# id: calls, recall (None: no page expected), then the metrics in the order above (None: not judged).
FIGURES: dict[str, tuple[list[str], float | None, tuple[float | None, ...]]] = {
    "backup": (["search_docs"], 1.0, (1.0, 1.0, 1.0, 1.0)),
    "two-laptops": (["search_docs"], 1.0, (1.0, 1.0, 1.0, 1.0)),
    "restore": (["search_docs"], 1.0, (1.0, 1.0, 1.0, 1.0)),
    "config-keys": (["search_docs"], 1.0, (1.0, 1.0, 1.0, 1.0)),
    "pipe-colors": (["search_docs"], 0.5, (2 / 3, 0.0, 1.0, 1.0)),
    "dry-run-import": (["search_docs"], 1.0, (1.0, 1.0, 1.0, 1.0)),
    "issue-212": (["get_issue"], None, (1.0, 1.0, 1.0, 1.0)),
    "issue-231": (["get_issue"], None, (1.0, 1.0, 1.0, 1.0)),
    "token-leak": (["get_issue", "search_docs"], 1.0, (1.0, 1.0, 1.0, 0.75)),
    "thanks": ([], None, (None, None, 1.0, None)),
}


def stage_report() -> dict[str, Any]:
    """Ten cases, of which one fails: 10 tools, 7 retrieval, 9 + 9 + 10 judged outcomes are 45."""
    return {
        "key": {
            "cases": "docs-assistant@1",
            "cases_sha": "98b0e5bca6c8",
            "docs_sha": "ea13ab95ac63",
            "prompt_sha": "a7990e4dc62c",
            "k": 3,
            "model": "gemini-3.8-flash",
            "embedder": "gemini-embedding-2",
            "judge": "gemini-3.8-flash",
            "strict_faithfulness": True,
        },
        "k": 3,
        "threshold": 0.7,
        "rows": [_row(case, *figures) for case, figures in FIGURES.items()],
        "summary": {"cases": 10, "passed": 9},
    }


def _row(
    case: str, calls: list[str], recall: float | None, scores: tuple[float | None, ...]
) -> dict[str, Any]:
    judged = {
        name: {"score": score, "reason": f"Made up: {name} of {case}."}
        for name, score in zip(METRICS, scores, strict=True)
        if score is not None
    }
    return {
        "id": case,
        "answer": f"A made-up answer to {case}.",
        "calls": calls,
        "tools": {"score": 1.0, "unexpected": [], "pass": True},
        "retrieval": None if recall is None else {"hit": True, "recall": recall, "reciprocal_rank": 1.0},
        "judged": judged,
        "first_failure": "retrieval" if recall == 0.5 else None,
    }


def own_stage_report() -> dict[str, Any]:
    """The same key, in the form of our own reports: two cases, one with an error of the judge."""
    report = stage_report()
    return report | {
        "rows": [
            {
                "id": "backup",
                "repeat": 0,
                "answer": "A made-up answer.",
                "calls": [],
                "tools": {"score": 0.0, "pass": False, "reason": "no call made", "unexpected": []},
                "retrieval": {"score": 0.0, "pass": False, "reason": "no page fetched", "hit": False},
                "grounding": {"score": 0.5, "pass": False, "reason": "one number without support"},
                "judged": {
                    "faithfulness": {"error": "the judge's reply was cut off", "error_source": "judge"},
                    "contextual_recall": {"score": 0.2, "pass": False, "reason": "little of it"},
                    "answer_relevancy": {"score": 0.9, "pass": True, "reason": "to the point"},
                    "contextual_precision": {"score": 0.4, "pass": False, "reason": "ranked low"},
                },
                "outcome": "failed",
                "outcomes": {
                    "tools": {"outcome": "failed", "gating": True},
                    "retrieval": {"outcome": "failed", "gating": True},
                    "grounding": {"outcome": "failed", "gating": False},
                    "faithfulness": {"outcome": "error", "gating": False, "error_source": "judge"},
                    "contextual_recall": {"outcome": "failed", "gating": False},
                    "answer_relevancy": {"outcome": "passed", "gating": False},
                    "contextual_precision": {"outcome": "failed", "gating": False},
                },
                "first_failure": "tools",
                "error": None,
            },
            {
                "id": "thanks",
                "repeat": 0,
                "answer": "You're welcome.",
                "calls": [],
                "tools": {"score": 1.0, "pass": True, "reason": "none expected", "unexpected": []},
                "retrieval": None,
                "grounding": None,
                "judged": {
                    "faithfulness": None,
                    "contextual_recall": None,
                    "answer_relevancy": {"score": 0.3, "pass": False, "reason": "beside the point"},
                    "contextual_precision": None,
                },
                "outcome": "passed",
                "outcomes": {
                    "tools": {"outcome": "passed", "gating": True},
                    "answer_relevancy": {"outcome": "failed", "gating": False},
                },
                "first_failure": None,
                "error": None,
            },
        ]
    }


def row(report: dict[str, Any], case: str) -> Any:
    """The row of a case."""
    return next(row for row in report["rows"] if row["id"] == case)


def set_key(name: str, value: Any) -> Edit:
    """An edit of one field of the key."""
    return lambda report: report["key"].update({name: value})


def set_row(name: str, value: Any, case: str = "backup") -> Edit:
    """An edit of one field of a row."""
    return lambda report: row(report, case).update({name: value})


def set_score(metric: str, value: Any) -> Edit:
    """An edit of one judged score of `backup`."""
    return lambda report: row(report, "backup")["judged"][metric].update(score=value)


def set_tools(**fields: Any) -> Edit:
    """An edit of the tools stage of `backup`."""
    return lambda report: row(report, "backup")["tools"].update(fields)
