"""`calibration.yaml`, the judge and the minimums of a suite, and what is refused about them."""

from __future__ import annotations

import pytest

from eval_pipeline.calibration import Minimums
from eval_pipeline.errors import InputError
from eval_pipeline_tests.judged_suite import JudgedSuite


def problems(suite: JudgedSuite) -> list[str]:
    try:
        _ = suite.suite
    except InputError as error:
        return [problem.replace(f"{suite.folder}/", "") for problem in error.problems]
    return []


def test_cases_and_minimums_are_read(tmp_path):
    suite = JudgedSuite(tmp_path, more="calibration: {cases: 1, caught: 0.9, false_alarms: 0.1}\n").suite
    assert suite.calibration is not None
    assert suite.calibration.minimums == Minimums(1, 0.9, 0.1)
    first = suite.calibration.cases[0]
    assert (first.id, first.expected, first.metrics) == ("engine", "defect", ("faithfulness",))
    assert first.wrong == "The page says SQLite."
    assert list(suite.judges) == [suite.calibration_key(judge) for judge in suite.judges.values()]
    assert next(iter(suite.judges)).startswith("openai-judge@")


def test_a_suite_without_calibration_has_uncalibrated_judges(tmp_path):
    suite = JudgedSuite(tmp_path, calibration="").suite
    assert suite.calibration is None
    assert len(suite.judges) == 1


def test_the_key_changes_with_the_cases_and_not_with_the_minimums(tmp_path):
    suite = JudgedSuite(tmp_path)
    (before,) = suite.suite.judges
    suite.edit("suite.yaml", "judge:\n", "calibration: {cases: 2}\njudge:\n")
    assert list(suite.suite.judges) == [before]
    suite.edit("calibration.yaml", "PostgreSQL", "MySQL")
    assert list(suite.suite.judges) != [before]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "expected: sound",
            "expected: good",
            "cases[1].expected: input should be 'defect' or",
        ),
        (
            "    wrong: The page says SQLite.\n",
            "",
            "case 'engine' is expected to be defect; say under `wrong`",
        ),
        (
            "expected: sound",
            "expected: sound\n    wrong: Something.",
            "is expected to be sound; remove `wrong`",
        ),
        ("id: engine-sound", "id: engine", "duplicate case id 'engine'"),
        ("metrics: [contextual_recall]", "metrics: [recall]", "no stage 'recall'"),
        ("metrics: [contextual_recall]", "metrics: [tools, tools]", "'tools' is listed twice"),
        ("    reference: In SQLite.\n", "", "no reference, which contextual_recall needs"),
        ("    answer: In a SQLite file, mark-2.\n", "", "no answer, which faithfulness needs"),
        ("answer: In a SQLite file, mark-2.", "answer: ' '", "no answer, which faithfulness needs"),
        ("context: [Sync locks the remote.]", r'context: [" ", "\n"]', "no context, which contextual_recall"),
        ("reference: In SQLite.", r'reference: "\n"', "no reference, which contextual_recall needs"),
        ("input: Where are tasks kept, mark-3?", "input: ' '", "case 'page-missing': input is blank"),
        (  # the same answer and context cannot be both sound and a defect
            "    answer: In a SQLite file, mark-2.\n    context: ['Tasks are in one SQLite file, mark-2.']",
            "    answer: In a PostgreSQL database, mark-1.\n"
            "    context: ['Tasks are in one SQLite file, mark-1.']",
            "case 'engine-sound' shows faithfulness the same as case 'engine'; write another answer",
        ),
        ("metrics: [contextual_recall]", "metrics: []", "cases[2].metrics"),
        ("    input: Where are tasks kept, mark-3?\n", "", "'cases[2].input' is missing"),
        ("version: 1\n", "version: 1\nminimum: 3\n", "unknown key 'minimum'"),
    ],
)
def test_a_calibration_file_that_cannot_be_used_is_refused_with_its_place(tmp_path, old, new, problem):
    suite = JudgedSuite(tmp_path)
    suite.edit("calibration.yaml", old, new)
    found = problems(suite)
    assert any(problem in text for text in found), found
    assert all(text.startswith("calibration.yaml:") for text in found)


@pytest.mark.parametrize(
    ("minimums", "problem"),
    [
        ("{caught: 0}", "calibration.caught"),  # who need catch nothing could always pass
        ("{cases: 0}", "calibration.cases"),
        ("{false_alarms: 1}", "calibration.false_alarms"),
        ("{missed: 1}", "unknown key 'calibration.missed'"),
    ],
)
def test_minimums_that_ask_nothing_are_refused(tmp_path, minimums, problem):
    (found,) = problems(JudgedSuite(tmp_path, more=f"calibration: {minimums}\n"))
    assert problem in found


def test_minimums_without_cases_are_refused(tmp_path):
    (found,) = problems(JudgedSuite(tmp_path, calibration="", more="calibration: {cases: 4}\n"))
    assert "minimums without cases; write" in found


def test_a_judged_stage_without_a_judge_names_the_candidate(tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.edit("suite.yaml", "judge:\n  name: openai:judge\n  settings: {temperature: 0.4, seed: 7}\n", "")
    (found,) = problems(suite)
    assert found.startswith("suite.yaml:")
    assert "stage 'contextual_precision' is judged, and candidate 'scripted' has no judge" in found


def test_a_judge_is_selected_by_model_or_key(tmp_path):
    suite = JudgedSuite(tmp_path).suite
    (key,) = suite.judges
    assert list(suite.select_judges("openai:judge")) == list(suite.select_judges(key)) == [key]
    with pytest.raises(InputError, match="no judge 'openai:juge'; did you mean 'openai:judge'"):
        suite.select_judges("openai:juge")
