from pathlib import Path

import pytest

from eval_pipeline.calibration import CalibrationScore
from eval_pipeline.report.calibration import calibration_markdown, calibration_text
from eval_pipeline.suite_reading import find_suite

DATA = Path(__file__).parents[2] / "data"


def scores(metric: str, *values: float | None) -> list[CalibrationScore]:
    """Of one defect, a repeat each; the threshold of 4 of 1 to 5 is stored as 0.75."""
    return [
        CalibrationScore(
            case_id="case",
            metric=metric,
            expected="defect",
            judge_repeat=repeat,
            outcome="error" if value is None else "passed" if value >= 0.75 else "failed",
            threshold=0.75,
            score=value,
            reason="so",
            judge="openai:judge@1",
        )
        for repeat, value in enumerate(values)
    ]


def test_scores_and_thresholds_of_a_rubric_stand_in_its_own_scale():
    suite = find_suite(DATA, "support_agent")
    # 0, 0.25 and 0.75 are 1, 2 and 4 of 5.
    found = scores("correctness", 0.0, 0.25, 0.75)
    rows = [" ".join(line.split()) for line in calibration_text(suite, "judge@1", found).splitlines()]
    assert rows[-1] == "case correctness defect 1 2 4 4 missed"
    assert "| case | correctness | defect | 1 2 4 | 4 | missed |" in calibration_markdown(suite, "j@1", found)


@pytest.mark.parametrize(
    ("values", "kappa"), [((0.0, 0.0), "undefined: one class"), ((None, 0.0), "undefined: nothing scored")]
)
def test_why_kappa_is_undefined(values, kappa):
    suite = find_suite(DATA, "support_agent")
    assert kappa in calibration_text(suite, "judge@1", scores("correctness", *values))
