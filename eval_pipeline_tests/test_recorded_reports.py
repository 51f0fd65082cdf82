"""Replaying the committed recordings reproduces the committed reports; run this file to write them anew.

A suite's reports are `data/<suite>/reports/<candidate name>.json`, and, of a candidate with several datasets,
`data/<suite>/reports/<dataset name>/<candidate name>.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline.recordings import Recordings
from eval_pipeline.report.json_form import report_json
from eval_pipeline.suites import Cell, Suite
from eval_pipeline_tests.replayed import DATA, committed_suite, replayed

SUITES = sorted(path.parent.name for path in DATA.glob("*/reports"))


def recorded_cells(suite: Suite) -> Iterator[tuple[Path, Cell]]:
    """The cells of the candidates whose model is recorded, each with the file of its report."""
    recordings = Recordings(suite.recordings)
    for cell in suite.cells:
        candidate, dataset = suite.candidates[cell.candidate], suite.datasets[cell.dataset]
        if recordings.recorded(suite.system.model_asked(candidate.model)):
            several = len(suite.select_cells(cell.candidate)) > 1
            folder = suite.folder / "reports" / (dataset.name if several else "")
            yield folder / f"{candidate.name}.json", cell


REPORTS = [found for name in SUITES for found in recorded_cells(committed_suite(name))]


def test_every_recorded_cell_has_a_committed_report_and_no_other():
    assert {path for path, _ in REPORTS} == set(DATA.glob("*/reports/**/*.json"))
    assert {"docs_assistant", "issue_triage"} <= set(SUITES)


@pytest.mark.parametrize(
    ("path", "cell"), [pytest.param(*found, id=str(found[0].relative_to(DATA))) for found in REPORTS]
)
def test_replay_reproduces_a_committed_report(path, cell):
    report, _ = replayed(cell.suite, cell)
    assert report_json(report) == path.read_text(encoding="utf-8")


if __name__ == "__main__":
    for written, of in REPORTS:
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(report_json(replayed(of.suite, of)[0]), encoding="utf-8")
