"""The scorer of docs/scorers.md works as it stands there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app

TEXT = (Path(__file__).parent.parent / "docs" / "scorers.md").read_text(encoding="utf-8")
PYTHON, STAGES, EXPECTED = re.findall(r"```(?:python|yaml)\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def stages(tmp_path, monkeypatch):
    """The stages of a case that a function answers, scored by the scorer as shown, and stored."""
    suite = tmp_path / "data" / "my_suite"
    for folder in ("prompts", "datasets"):
        (suite / folder).mkdir(parents=True)
    (tmp_path / "my_scorer.py").write_text(PYTHON)
    (tmp_path / "doc_agent.py").write_text("async def answer(question):\n    return question\n")
    (suite / "suite.yaml").write_text(
        f"system: doc_agent:answer\n{STAGES}candidates:\n  mini: {{prompt: v1}}\n"
    )
    (suite / "prompts" / "v1.md").write_text("Be kind.\n")
    cases = [
        ("small", "Will it rain?", EXPECTED),
        ("capital", "Rain is near.", EXPECTED),
        ("free", "Hello", ""),
    ]
    written = "".join(f"  - id: {name}\n    input: {said}\n{expected}" for name, said, expected in cases)
    (suite / "datasets" / "smoke.yaml").write_text(f"version: 1\ncases:\n{written}")
    monkeypatch.setenv("EVAL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = CliRunner().invoke(app, ["run", "my_suite", "--record-mode", "new_episodes"])
    assert ran.exit_code == 0, ran.stderr
    query = "select case_id, outcome, reason from stage_scores order by all"
    found = json.loads(CliRunner().invoke(app, ["sql", query, "--format", "json"]).stdout)
    for name in ("my_scorer", "doc_agent"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return [tuple(row.values()) for row in found]


def test_it_scores_the_cases_that_expect_words(stages):
    # Case counts, as ignore_case is false there: "Rain" is not "rain". The case without words has no outcome.
    assert stages == [("capital", "failed", "missing: rain"), ("small", "passed", "missing: nothing")]
