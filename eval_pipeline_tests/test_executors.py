"""Shards on executors that run them in processes of their own: the same rows as in one piece."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from eval_pipeline.evaluation import Evaluation
from eval_pipeline_tests.docs_suite import DocsSuite

pytestmark = pytest.mark.slow
BIN = Path(sys.executable).parent
VARYING = ["milliseconds", "latency_ms"]


@pytest.fixture
def sharded(tmp_path):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    suite.edit("suite.yaml", "candidates:\n", "shards: 3\ncandidates:\n")
    return suite


@pytest.fixture
def environment(sharded, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    # Made first: two processes that set up one fresh home at the same time trip over each other.
    with dg.DagsterInstance.from_config(str(home)):
        pass
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAGSTER", "EVAL_"))}
    return {
        **kept,
        "PATH": f"{BIN}:{kept['PATH']}",
        "DAGSTER_HOME": str(home),
        "EVAL_DATA": str(sharded.data_root),
        "EVAL_WAREHOUSE": str(tmp_path / "warehouse"),
    }


def materialize(environment, *options):
    data_root = Path(environment["EVAL_DATA"])
    (cell,) = Evaluation("", data_root).suite("docs").cells
    return subprocess.run(
        [
            *(str(BIN / "dagster"), "asset", "materialize", "-m", "eval_pipeline.definitions"),
            *("--select", "docs/traces,docs/stage_scores", "--partition", cell.partition, *options),
        ],
        env=environment,
        capture_output=True,
        text=True,
    )


def rows(evaluation, asset):
    (cell,) = evaluation.suite("docs").cells
    table = evaluation.warehouse.read(asset, suite=cell.suite, candidate=cell.candidate, dataset=cell.dataset)
    return table.drop_columns([name for name in VARYING if name in table.column_names]).to_pylist()


def expect_same_rows(sharded, tmp_path):
    whole = Evaluation("r", sharded.data_root, str(tmp_path / "whole"))
    (cell,) = whole.suite("docs").cells
    whole.store_traces(cell)
    whole.store_scores(cell)
    cut = Evaluation("r", sharded.data_root, str(tmp_path / "warehouse"))
    for asset in ("traces", "stage_scores"):
        assert rows(cut, asset) == rows(whole, asset)


def test_one_process_a_shard(sharded, environment, tmp_path):
    done = materialize(environment | {"EVAL_EXECUTOR": "multiprocess"})
    assert done.returncode == 0, done.stderr[-3000:]
    assert "docs_traces_shard[2]" in done.stderr
    expect_same_rows(sharded, tmp_path)


@contextmanager
def celery_worker(environment, config: Path) -> Iterator[None]:
    command = [str(BIN / "dagster-celery"), "worker", "start", "-y", str(config), "-A", "dagster_celery.app"]
    process = subprocess.Popen(
        [*command, "--", "--pool", "solo"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_celery_worker(sharded, environment, tmp_path):
    pytest.importorskip("dagster_celery")
    broker, results = tmp_path / "broker", tmp_path / "results"
    for folder in (broker, results):
        folder.mkdir()
    folders = {"data_folder_in": str(broker), "data_folder_out": str(broker)}
    settings = {
        "broker": "filesystem://",
        "backend": f"file://{results}",
        "config_source": {"broker_transport_options": folders | {"control_folder": str(broker / "control")}},
    }
    config = tmp_path / "celery.yaml"
    config.write_text(json.dumps({"execution": {"config": settings}}))  # JSON is YAML
    environment = environment | {"EVAL_EXECUTOR": "dagster_celery:celery_executor"}
    with celery_worker(environment, config):
        done = materialize(environment, "--config-json", config.read_text())
    assert done.returncode == 0, done.stderr[-3000:]
    assert 'Submitting celery task for step "docs__traces.docs_traces_shard[2]"' in done.stderr
    expect_same_rows(sharded, tmp_path)
