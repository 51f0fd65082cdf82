"""The docs assistant's suite with judged stages, a scripted candidate and a scripted judge."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.calibration import CalibrationScore
from eval_pipeline.calibration_runs import calibrate
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.recordings import Mode, Recordings
from eval_pipeline.scores import CheckResult
from eval_pipeline.suite_reading import find_suite
from eval_pipeline.suites import Suite
from eval_pipeline_tests.docs_suite import CANDIDATE, STAGES, DocsSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector

DEEPEVAL = "eval_pipeline.scorers.deepeval"
JUDGED_STAGES = f"""
  - {{name: contextual_precision, scorer: "{DEEPEVAL}:ContextualPrecision", threshold: 0.7, gating: never}}
  - {{name: faithfulness, scorer: "{DEEPEVAL}:Faithfulness", threshold: 0.7}}
  - {{name: contextual_recall, scorer: "{DEEPEVAL}:ContextualRecall", threshold: 0.7}}
  - {{name: answer_relevancy, scorer: "{DEEPEVAL}:AnswerRelevancy", threshold: 0.7}}
judge:
  name: openai:judge
  settings: {{temperature: 0.4, seed: 7}}
"""
CALIBRATION = """\
version: 1
cases:
  - id: engine
    metrics: [faithfulness]
    expected: defect
    wrong: The page says SQLite.
    input: Where are tasks kept?
    answer: In a PostgreSQL database, mark-1.
    context: ['Tasks are in one SQLite file, mark-1.']
  - id: engine-sound
    metrics: [faithfulness]
    expected: sound
    input: Where are tasks kept?
    answer: In a SQLite file, mark-2.
    context: ['Tasks are in one SQLite file, mark-2.']
  - id: page-missing
    metrics: [contextual_recall]
    expected: defect
    wrong: The page about storage is not in the context.
    input: Where are tasks kept, mark-3?
    context: [Sync locks the remote.]
    reference: In SQLite.
"""


class JudgedSuite(DocsSuite):
    """The suite `docs` with judged stages; edit its files, then `run` and `score` it."""

    def __init__(self, folder: Path, *, calibration: str = CALIBRATION, more: str = "") -> None:
        super().__init__(folder)
        (self.folder / "suite.yaml").write_text(CANDIDATE + STAGES + JUDGED_STAGES + more)
        if calibration:
            (self.folder / "calibration.yaml").write_text(calibration)

    @property
    def suite(self) -> Suite:
        return find_suite(self.data_root, "docs")

    def score(
        self,
        mode: Mode = "none",
        connector: JudgedConnector | None = None,
        records: dict[str, JudgeRecord] | None = None,
    ) -> list[CheckResult]:
        """Run and score the suite's only cell."""
        suite, connector = self.suite, connector or JudgedConnector()
        (cell,) = suite.cells
        open_recordings = lambda: Recordings(suite.recordings, mode)  # noqa: E731
        traces = run_cell(suite, cell, open_recordings, connector=connector)
        return score_cell(suite, cell, traces, open_recordings, connector=connector, records=records)

    def calibrate(
        self, mode: Mode = "none", connector: JudgedConnector | None = None
    ) -> list[CalibrationScore]:
        """Calibrate the suite's only judge."""
        suite = self.suite
        (judge,) = suite.judges.values()
        open_recordings = lambda: Recordings(suite.recordings, mode)  # noqa: E731
        return calibrate(suite, judge, open_recordings, connector=connector or JudgedConnector()).scores
