"""`eval-pipeline recordings`: look after the recorded calls."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from eval_pipeline.cli.options import SuiteName

app = typer.Typer(help="Look after recorded model calls.", no_args_is_help=True)
SHOWN_ANSWER = 300
"""Characters of an answer that a listing shows."""


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


@app.command()
def edited(
    suite: Annotated[str | None, typer.Argument(help="Name of the suite; left out: all.")] = None,
    against: Annotated[str, typer.Option("--against", help="A git revision.")] = "origin/main",
) -> None:
    """List recorded answers that differ from a revision's under the same keys: somebody edited them.

    Exits 0 whether or not there are any.
    """
    from eval_pipeline.cli.printing import say
    from eval_pipeline.recordings.edits import edited_answers
    from eval_pipeline.report.inert_text import visible
    from eval_pipeline.settings import data_root
    from eval_pipeline.suite_reading import find_suites

    for found in find_suites(data_root()):
        folder = found.folder / "recordings"
        if suite not in (None, found.name) or not folder.is_dir():
            continue
        for answer in edited_answers(folder, against):
            entry = answer.after
            say(
                visible(
                    f"{found.name}: {entry.model} {entry.id[:12]} ({', '.join(entry.cases)}): {entry.words!r}"
                )
            )
            say(visible(f"  - {_answer(answer.before.response)}"))
            say(visible(f"  + {_answer(entry.response)}"))


def _answer(response: dict[str, Any]) -> str:
    text = json.dumps(response, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= SHOWN_ANSWER else f"{text[: SHOWN_ANSWER - 1]}…"
