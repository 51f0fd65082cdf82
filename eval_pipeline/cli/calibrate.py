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
    scores advise. Exits 0 once everything is scored, whatever the judge is worth; a judge that is not
    recorded at all is passed over where another is. Exits 4 where none is, or one is recorded in part, and
    3 where a judge could not be reached; the others are scored all the same.
    """
    from eval_pipeline.assets.materializing import Materializer
    from eval_pipeline.calibration_results import read_calibration_scores
    from eval_pipeline.cli.printing import progress, say, say_error
    from eval_pipeline.cli.unfinished import Unfinished
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
    shown: str | None = None
    unfinished = Unfinished()
    with opened as materializer:
        for key in judges:
            part = f"{suite} {key}"
            with unfinished.noting(part):
                with progress(part) as on_progress:
                    run_id = materializer.calibrate(key, on_progress)
                evaluation = Evaluation(run_id=run_id, mode=record_mode.value)
                scores = read_calibration_scores(evaluation.warehouse, found, key)
                say(calibration_text(found, key, scores))
                shown = judges[key].model.name
                unreached = [score.reason for score in scores if score.error_source == "provider"]
                if unreached:
                    told = f"the provider gave no answer for {len(unreached)} of {len(scores)} scores"
                    unfinished.unreachable.append(f"error: {part}: {told}; the first: {unreached[0]}")
    if shown:
        say(f"one case: eval-pipeline explain {suite} --judge {shown} --case ID")
    for text in unfinished.unrecorded:
        say_error(text if shown else f"error: {text}")
    for text in (*unfinished.incomplete, *unfinished.unreachable):
        say_error(text)
    raise typer.Exit(unfinished.exit_code(finished=shown is not None))
