"""`eval-pipeline recordings`: look after the recorded calls."""

from __future__ import annotations

import typer

from eval_pipeline.cli.options import SuiteName

app = typer.Typer(help="Look after recorded model calls.", no_args_is_help=True)


@app.command()
def prune(suite: SuiteName) -> None:
    """Remove recorded calls that no declared candidate uses."""
    from eval_pipeline.cli.printing import say
    from eval_pipeline.errors import RecordingFileError
    from eval_pipeline.recordings import prune as prune_recordings
    from eval_pipeline.recordings_use import replay_all
    from eval_pipeline.settings import data_root
    from eval_pipeline.suite_reading import find_suite

    found = find_suite(data_root(), suite)
    use = replay_all(found)
    if use.missing:
        # A run that stops at its first missing call says nothing of the calls after it.
        raise RecordingFileError("nothing pruned; record what is missing first:\n" + "\n".join(use.missing))
    say(f"{prune_recordings(found.recordings, use.used)} recorded calls removed")


@app.callback()
def _group() -> None:
    """Keeps `prune` a subcommand while it is the only one."""
