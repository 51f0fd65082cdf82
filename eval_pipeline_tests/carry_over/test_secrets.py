"""A row that shows what has become a secret is made again, and so are the checks that follow from it."""

from __future__ import annotations

import pytest

from eval_pipeline.evaluation import Evaluation
from eval_pipeline_tests.toy import ToyFiles, write_toy

SECRET = "sesame-open-9"


@pytest.fixture
def toy(tmp_path):
    toy = write_toy(tmp_path)
    toy.write("documents/apple.md", f"An apple is {SECRET}.\n")
    toy.edit("datasets/small.yaml", "words: [red]", f"words: [{SECRET}]")
    return toy


def run(toy: ToyFiles) -> tuple[str | None, str, dict[str, bool]]:
    """Of the case `apple`: the answer, and how `words` came out; which traces were carried over."""
    evaluation = Evaluation(run_id="r", data_root=toy.data, warehouse_root=str(toy.root / "warehouse"))
    (cell,) = evaluation.suite("toy").select_cells("calm")
    evaluation.store_traces(cell)
    evaluation.store_scores(cell)
    keys = {"suite": cell.suite, "dataset": cell.dataset, "candidate": cell.candidate}
    traces = evaluation.warehouse.read("traces", **keys).to_pylist()
    checks = evaluation.warehouse.read("stage_scores", **keys).to_pylist()
    (words,) = (check["outcome"] for check in checks if check["metric"] == "words")
    return traces[0]["answer"], words, {row["case_id"]: row["carried_over"] for row in traces}


def test_what_has_become_a_secret_is_carried_over_nowhere(toy, monkeypatch):
    assert run(toy) == (f"An apple is {SECRET}.", "passed", {"apple": False, "thanks": False})
    monkeypatch.setenv("DOOR_TOKEN", SECRET)
    # What is scored is what is stored, and that no longer says the expected word.
    answer, words, carried = run(toy)
    assert (answer, words, carried["apple"]) == ("An apple is ***.", "failed", False)
    assert run(toy) == ("An apple is ***.", "failed", {"apple": True, "thanks": True})
