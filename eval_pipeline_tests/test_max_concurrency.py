"""How many calls are in flight at once, as a run says in place of its suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from eval_pipeline.assets.materializing import Materializer
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.cli import main
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.live_suite import IN_FLIGHT, LiveSuite, search_then_repeat
from eval_pipeline_tests.provider_stub import ProviderStub

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub(search_then_repeat, latency_s=0.2) as running:
        yield running


@pytest.fixture
def suite(tmp_path: Path, stub: ProviderStub, monkeypatch: pytest.MonkeyPatch) -> LiveSuite:
    made = LiveSuite(tmp_path, stub, 6)
    monkeypatch.setenv("EVAL_DATA", str(made.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return made


# Six cases ask at once; the suite would let four ask the chat model, and four the embedder.
@pytest.mark.parametrize(("most", "seen"), [(1, {1, 2}), (2 * IN_FLIGHT, {5, 6})])
def test_a_run_says_it_in_place_of_the_suite(suite, stub, most, seen):
    found = find_suite(suite.data_root, "docs")
    with Materializer(found, "new_episodes", max_concurrency=most) as materializer:
        materializer.materialize(found.cells[0], lambda done, total: None)
    assert stub.most_in_flight in seen


@pytest.mark.parametrize("command", ["run", "calibrate"])
@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_less_than_one_at_once_is_a_usage_error_that_names_the_option(monkeypatch, capsys, command, value):
    monkeypatch.setattr("sys.argv", ["eval-pipeline", command, "docs", "--max-concurrency", value])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 4
    assert capsys.readouterr().err.startswith("error: Invalid value for '--max-concurrency': ")


def test_so_it_is_in_dagsters_run_config():
    with pytest.raises(dg.Failure, match="max_concurrency is 0; set 1 or more, or leave it out"):
        EvaluationResource(max_concurrency=0).evaluation("run")


def test_twice_as_many_runs_are_under_way_so_that_one_that_is_not_asking_leaves_its_place():
    settings = ModelSettings(name="openai:m", max_concurrency=100)
    assert RunCalls().window(settings) == 200
    assert RunCalls(max_concurrency=40).window(settings) == 80
    assert RunCalls(max_concurrency=1).window(settings) == 50
