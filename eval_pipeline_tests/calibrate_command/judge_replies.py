"""What the scripted judge says of the calibration cases."""

from __future__ import annotations

from eval_pipeline_tests.scripted_judge import Question, reply


def sees_postgres(question: Question) -> str:
    return reply(question, ["no" if "mark-1" in question.prompt else "yes"] * (question.items or 0))
