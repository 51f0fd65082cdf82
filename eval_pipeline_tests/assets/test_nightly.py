"""The nightly schedule: off by default, one run a marked cell, fresh samples beside everything else."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import dagster as dg
import pytest

from eval_pipeline.assets.nightly import nightly_schedules
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.errors import InputError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.suite_reading import find_suite, find_suites
from eval_pipeline_tests.boundary.suites import write_function_suite
from eval_pipeline_tests.toy import write_toy

# Dagster's own tags of a run with a partition of two dimensions.
pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
NIGHT = datetime(2026, 1, 2, 3, tzinfo=UTC)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A function's suite with three candidates: two are marked, one of them on one of two datasets."""
    made = write_function_suite(tmp_path)
    made.write("datasets/other.yaml", "version: 1\ncases: [{id: hi, input: 'An apple?'}]\n")
    made.edit(
        "suite.yaml",
        "  calm: {",
        "  loud: {nightly: true, parameters: {shout: true}}\n"
        "  plain: {}\n"
        "  calm: {nightly: true, datasets: [small], ",
    )
    monkeypatch.setenv("EVAL_DATA", str(made.data))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    for name in ("EVAL_NIGHTLY_CRON", "EVAL_NIGHTLY_TIMEZONE", "EVAL_RECORD_MODE"):
        monkeypatch.delenv(name, raising=False)
    return made


def definitions(toy):
    suites = find_suites(toy.data)
    return dg.Definitions(
        assets=[asset for suite in suites for asset in suite_assets(suite)],
        schedules=[schedule for suite in suites for schedule in nightly_schedules(suite)],
        resources={"evaluation": EvaluationResource()},
        executor=dg.in_process_executor,
    )


def tick(defs, instance):
    schedule = defs.resolve_schedule_def("toy_nightly")
    with dg.build_schedule_context(
        instance=instance, scheduled_execution_time=NIGHT, repository_def=defs.get_repository_def()
    ) as context:
        return schedule.evaluate_tick(context).run_requests


def test_the_schedule_is_off_at_three_utc_until_somebody_says_otherwise(toy, monkeypatch):
    (schedule,) = nightly_schedules(find_suite(toy.data, "toy"))
    assert (schedule.name, schedule.default_status) == ("toy_nightly", dg.DefaultScheduleStatus.STOPPED)
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("0 3 * * *", "UTC")
    monkeypatch.setenv("EVAL_NIGHTLY_CRON", "30 1 * * 1-5")
    monkeypatch.setenv("EVAL_NIGHTLY_TIMEZONE", "Europe/Berlin")
    (schedule,) = nightly_schedules(find_suite(toy.data, "toy"))
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 1 * * 1-5", "Europe/Berlin")


def test_definitions_with_the_schedule_are_valid(toy):
    dg.Definitions.validate_loadable(definitions(toy))


def test_each_marked_cell_is_one_run_of_fresh_samples(toy):
    suite = find_suite(toy.data, "toy")
    with dg.DagsterInstance.ephemeral() as instance:
        requests = tick(definitions(toy), instance)
        again = tick(definitions(toy), instance)
    marked = [cell for cell in suite.cells if not cell.candidate.startswith("plain@")]
    assert len(marked) == 3  # loud on two datasets, calm on one
    assert [request.partition_key for request in requests] == [cell.partition for cell in marked]
    assert {json.dumps(request.run_config) for request in requests} == {
        '{"resources": {"evaluation": {"config": {"record_mode": "all"}}}}'
    }
    keys = [request.run_key for request in requests]
    assert len(set(keys)) == 3
    assert keys == [request.run_key for request in again]


def test_its_run_leaves_recordings_and_current_results_as_they_are(toy, tmp_path):
    suite = find_suite(toy.data, "toy")
    cell = suite.select_cells("calm")[0]
    defs = definitions(toy)
    with dg.DagsterInstance.ephemeral() as instance:
        request = next(found for found in tick(defs, instance) if found.partition_key == cell.partition)
        done = defs.resolve_job_def("toy_nightly").execute_in_process(
            partition_key=request.partition_key,
            run_config=request.run_config,
            instance=instance,
        )
    assert done.success
    assert not suite.recordings.exists()
    assert not (tmp_path / "warehouse" / "traces").exists()
    sample = tmp_path / "warehouse" / "samples" / done.run_id
    stored = {path.relative_to(sample).parts[0] for path in sample.rglob("*") if path.is_file()}
    assert stored == {"recordings", "traces", "stage_scores", "stage_report", "runs"}
    rows = Evaluation(run_id="").warehouse.query("select sample, cases, passed, called from sample_runs")
    assert rows.to_pylist() == [{"sample": done.run_id, "cases": 2, "passed": 2, "called": 2}]


def test_a_suite_without_a_marked_candidate_has_no_schedule(tmp_path):
    assert nightly_schedules(find_suite(write_toy(tmp_path).data, "toy")) == []


def test_a_broken_suite_has_no_schedule(toy):
    (toy.data / "broken").mkdir()
    (toy.data / "broken" / "suite.yaml").write_text("system: nowhere\n")
    broken = next(suite for suite in find_suites(toy.data) if suite.name == "broken")
    assert nightly_schedules(broken) == []


def test_a_mark_is_no_part_of_a_key(toy):
    before = list(find_suite(toy.data, "toy").candidates)
    toy.edit("suite.yaml", "loud: {nightly: true, ", "loud: {")
    assert list(find_suite(toy.data, "toy").candidates) == before


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        (
            "EVAL_NIGHTLY_CRON",
            "three",
            "EVAL_NIGHTLY_CRON is 'three', which is no cron expression; write minute",
        ),
        ("EVAL_NIGHTLY_CRON", "61 * * * *", "EVAL_NIGHTLY_CRON is '61 * * * *', which is no cron expression"),
        (
            "EVAL_NIGHTLY_TIMEZONE",
            "Mars/Base",
            "EVAL_NIGHTLY_TIMEZONE is 'Mars/Base', which is no time zone; ",
        ),
        ("EVAL_NIGHTLY_TIMEZONE", "../UTC", "EVAL_NIGHTLY_TIMEZONE is '../UTC', which is no time zone; "),
    ],
)
def test_a_time_that_there_is_not_is_a_clear_error(toy, monkeypatch, variable, value, message):
    monkeypatch.setenv(variable, value)
    with pytest.raises(InputError) as refusal:
        nightly_schedules(find_suite(toy.data, "toy"))
    assert str(refusal.value).startswith(message)
