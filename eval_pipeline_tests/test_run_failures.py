"""What `run` says and keeps when a provider is down or the disk is full, at each step that can meet it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from typer.testing import CliRunner, Result

from eval_pipeline.cli import app
from eval_pipeline.errors import EvalError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.warehouse import storage
from eval_pipeline_tests.live_suite import LiveSuite, search_then_repeat
from eval_pipeline_tests.provider_replies import Status
from eval_pipeline_tests.provider_stub import ProviderStub

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub(search_then_repeat) as running:
        yield running


@pytest.fixture
def suite(tmp_path: Path, stub: ProviderStub, monkeypatch: pytest.MonkeyPatch) -> LiveSuite:
    made = LiveSuite(tmp_path, stub, 2)
    monkeypatch.setenv("EVAL_DATA", str(made.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("DAGSTER_HOME", "EVAL_RECORD_MODE"):
        monkeypatch.delenv(name, raising=False)
    return made


def run(mode: str = "new_episodes") -> Result:
    return CliRunner().invoke(app, ["run", "docs", "--record-mode", mode])


def stored_checks() -> list[dict[str, Any]]:
    query = "from current_stage_scores select case_id, stage, outcome order by all"
    rows: list[dict[str, Any]] = Evaluation(run_id="").warehouse.query(query).to_pylist()
    assert rows
    return rows


def test_a_provider_that_is_down_while_the_system_is_built_is_exit_3(suite, stub):
    # The pages are embedded when the docs assistant is built, before any case runs.
    stub.answer = lambda asked: Status(404) if asked.kind == "embed" else search_then_repeat(asked)
    result = run()
    assert result.exit_code == 3, result.output
    assert "openai:live-embedder: HTTP 404" in result.stderr
    assert "Traceback" not in result.output
    stub.answer = search_then_repeat
    assert run().exit_code == 0


def test_a_disk_that_is_full_after_the_traces_leaves_older_results_readable(suite, stub, monkeypatch):
    assert run().exit_code == 0
    report, checks = suite.report(), stored_checks()
    create = storage._create

    def full_for_scores(path: Path) -> IO[bytes]:
        if "stage_scores" in path.parts:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return create(path)

    monkeypatch.setattr(storage, "_create", full_for_scores)
    with pytest.raises(EvalError) as caught:
        CliRunner().invoke(app, ["run", "docs"], catch_exceptions=False)
    assert str(caught.value).endswith("No space left on device; EVAL_WAREHOUSE names another place")
    assert suite.report() == report
    assert stored_checks() == checks
