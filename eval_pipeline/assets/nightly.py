"""The nightly schedule: every cell marked `nightly` asked anew, off until somebody starts it."""

from collections.abc import Iterator

import dagster as dg

from eval_pipeline.errors import InputError
from eval_pipeline.settings import nightly_cron, nightly_timezone
from eval_pipeline.suite_reading import BrokenSuite
from eval_pipeline.suites import Suite

FRESH = {"resources": {"evaluation": {"config": {"record_mode": "all"}}}}
"""Run config of fresh samples, which go under `samples/<run id>/` of the warehouse."""


def nightly_schedules(suite: Suite | BrokenSuite) -> list[dg.ScheduleDefinition]:
    """The suite's schedule, `<suite>_nightly`; none where no candidate is marked.

    Raises:
        InputError: for a cron expression or a time zone that there is not.
    """
    if isinstance(suite, BrokenSuite) or not suite.nightly_cells:
        return []
    job = dg.define_asset_job(
        f"{suite.name}_nightly",
        selection=[dg.AssetKey([suite.name, name]) for name in ("traces", "stage_scores", "stage_report")],
        config=FRESH,
        description="Traces, scores and report of one cell, its models asked anew.",
    )

    def run_requests(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest]:
        for cell in suite.nightly_cells:
            key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
            # The same tick evaluated twice, as after a crash, starts no second run of a cell.
            run_key = f"{context.scheduled_execution_time.isoformat()}|{cell.partition}"
            yield dg.RunRequest(run_key=run_key, partition_key=key, run_config=FRESH)

    cron, timezone = nightly_cron(), nightly_timezone()
    try:
        schedule = dg.ScheduleDefinition(
            name=f"{suite.name}_nightly",
            job=job,
            cron_schedule=cron,
            execution_timezone=timezone,
            execution_fn=run_requests,
            default_status=dg.DefaultScheduleStatus.STOPPED,
            description="Fresh samples of the cells marked `nightly`, one run each.",
        )
    except dg.DagsterInvalidDefinitionError:
        raise InputError(
            f"EVAL_NIGHTLY_CRON is {cron!r}, which is no cron expression; "
            "write minute, hour, day, month and weekday, such as '0 3 * * *'"
        ) from None
    return [schedule]
