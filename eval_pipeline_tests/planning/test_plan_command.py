"""`eval-pipeline plan` and `run` after several edits, one of which was taken back."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app
from eval_pipeline.content_hash import sha12
from eval_pipeline_tests.docs_suite import DocsSuite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning"),
]


def test_the_prompt_before_is_the_one_stored_last_and_not_one_that_was_tried_and_taken_back(
    tmp_path, monkeypatch
):
    suite = DocsSuite(tmp_path)
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)

    def cli(*arguments: str) -> str:
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code in (0, 4), result.output
        return result.output

    def run() -> None:
        suite.run("new_episodes")
        cli("run", "docs")

    prompt = suite.folder / "prompts" / "v1.md"
    first = prompt.read_text()
    run()
    prompt.write_text(first.replace("three", "two"))
    run()
    prompt.write_text(first)
    run()
    prompt.write_text(first.replace("three", "four"))
    change = f"({sha12(first.strip())} → {sha12(prompt.read_text().strip())})"
    assert f"prompt v1 changed {change}: 10\n" in cli("plan", "docs")
    assert f" (agent): prompt changed {change}\n" in cli("run", "docs")
