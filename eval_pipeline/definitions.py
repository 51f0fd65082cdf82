"""What `dagster dev` and `dagster asset materialize` load: assets and schedules of every suite found."""

import dagster as dg

from eval_pipeline.assets.executors import find_executor
from eval_pipeline.assets.nightly import nightly_schedules
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.settings import data_root, executor_name
from eval_pipeline.suite_reading import find_suites

_suites = find_suites(data_root())

defs = dg.Definitions(
    assets=[asset for suite in _suites for asset in suite_assets(suite)],
    schedules=[schedule for suite in _suites for schedule in nightly_schedules(suite)],
    resources={"evaluation": EvaluationResource()},
    executor=find_executor(executor_name()),
)
