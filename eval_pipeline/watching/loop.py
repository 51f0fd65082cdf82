"""A turn after each change, until somebody ends it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence

from eval_pipeline.watching.watched_files import Look, WatchedFiles

PATIENCE_S = 30
"""How long a turn that is to end may take to put away what was answered."""
MOST_NAMED = 5
"""Changed files that are named; of more, how many."""

Say = Callable[[str], None]


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which ends the loop as Ctrl-C does."""


def watch_files(files: WatchedFiles, command: Sequence[str], say: Say, *, records: bool) -> None:
    """Run `command` now, and again after each change; a change made meanwhile is seen when it ends.

    However it ends, waiting goes on.

    Args:
        files: what is watched.
        command: makes one turn, in a process of its own.
        say: tells what changed.
        records: whether the command itself writes recordings, which are then no change.

    Raises:
        KeyboardInterrupt: after Ctrl-C or SIGTERM, once the turn that was being made has ended.
    """
    with _termination_interrupts():
        before = files.look()
        while True:
            _make_turn(command, say)
            if records:
                before = _with_own_recordings(files, before)
            say(f"\nwatching for changes in {files.project}; Ctrl-C ends")
            now = files.wait(before)
            say(f"\nchanged: {_named(files.changed(before, now))}\n")
            before = now


def _with_own_recordings(files: WatchedFiles, before: Look) -> Look:
    now = files.look()
    kept = {path: stamp for path, stamp in before.items() if not files.is_recording(path)}
    return kept | {path: stamp for path, stamp in now.items() if files.is_recording(path)}


def _make_turn(command: Sequence[str], say: Say) -> None:
    # A group of its own: Ctrl-C in a terminal reaches the watcher alone, which passes it on once.
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0) as turn:
        try:
            code = turn.wait()
        except KeyboardInterrupt as interrupt:
            _end(turn, signal.SIGTERM if isinstance(interrupt, _Terminated) else signal.SIGINT)
            raise
    if code < 0:
        say(f"error: the run was ended by {signal.Signals(-code).name}")


def _end(turn: subprocess.Popen[bytes], number: signal.Signals) -> None:
    turn.send_signal(number)
    try:
        turn.wait(PATIENCE_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        turn.kill()


@contextlib.contextmanager
def _termination_interrupts() -> Iterator[None]:
    def interrupt(number: int, frame: object) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - MOST_NAMED
    return ", ".join(paths[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
