"""`eval-pipeline calibrate`: try a judge on answers whose defect is known."""

from __future__ import annotations

from typing import Annotated

import typer

from eval_pipeline.cli.options import HowToAsk, MaxConcurrency, RecordMode, RetryErrors, SuiteName


def command(
    suite: SuiteName,
    judge: Annotated[
        str | None, typer.Option("--judge", help="A judge's model or calibration key; left out: all.")
    ] = None,
    record_mode: HowToAsk = RecordMode.none,
    retry_errors: RetryErrors = False,
    max_concurrency: MaxConcurrency = None,
) -> None:
    """Score the suite's calibration cases with its judges and print what each caught and missed.

    Each case is scored three times. A judge gates once it meets the minimums in suite.yaml; until then its
    scores advise. Exits 0 once everything is scored, whatever the judge is worth.
    """
    from eval_pipeline.assets.materializing import Materializer
    from eval_pipeline.calibration_results import read_calibration_scores
    from eval_pipeline.cli.printing import progress, say, say_error
    from eval_pipeline.errors import SuiteError
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.report.calibration import calibration_text

    found = Evaluation(run_id="").suite(suite)
    judges = found.select_judges(judge)
    if found.calibration is None:
        raise SuiteError(
            f"suite {suite!r} has no calibration cases; write {found.folder / 'calibration.yaml'}"
        )
    opened = Materializer(
        found, record_mode.value, retry_errors=retry_errors, max_concurrency=max_concurrency
    )
    with opened as materializer:
        for key in judges:
            try:
                with progress(f"{suite} {key}") as on_progress:
                    run_id = materializer.calibrate(key, on_progress)
            except KeyboardInterrupt:
                say_error("interrupted; the calls that were answered are kept: run the same command to go on")
                raise
            evaluation = Evaluation(run_id=run_id, mode=record_mode.value)
            scores = read_calibration_scores(evaluation.warehouse, found, key)
            say(calibration_text(found, key, scores))
    say(f"one case: eval-pipeline explain {suite} --judge {judges[key].model.name} --case ID")
