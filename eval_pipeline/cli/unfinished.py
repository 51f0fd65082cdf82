"""The parts of a command that came to no result: the others go on, and its exit code tells of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from eval_pipeline.cli.printing import say_error
from eval_pipeline.errors import ProviderFault, RecordingMisses
from eval_pipeline.stored import NotRecordedError

NOT_MEASURED = 3
NOT_RECORDED = 4


class Unfinished:
    """Which parts of a command, such as cells or judges, gave nothing, and why."""

    def __init__(self) -> None:
        self.unrecorded: list[str] = []
        """Of these no call at all is recorded."""
        self.incomplete: list[str] = []
        """Of these some are."""
        self.unreachable: list[str] = []
        """The provider of these could not be had."""

    @contextlib.contextmanager
    def noting(self, part: str, remedy: str | None = None) -> Iterator[None]:
        """Do one part in this block; one that gives nothing is noted under its name, and ends the block.

        Args:
            part: names it.
            remedy: the command that records what it lacks, perhaps together with other parts; left out, the
                one for this part alone. What would be said alike of several parts is said once.

        Raises:
            KeyboardInterrupt: on Ctrl-C, after saying how to go on.
        """
        try:
            yield
        except KeyboardInterrupt:
            say_error("interrupted; the calls that were answered are kept: run the same command to go on")
            raise
        except NotRecordedError as missing:
            text = str(missing if remedy is None else NotRecordedError(missing.what, remedy))
            self.unrecorded += [text] if text not in self.unrecorded else []
        except RecordingMisses as missing:
            told = missing if remedy is None else RecordingMisses(missing.misses, remedy)
            self.incomplete.append(f"error: {part}: {told}")
        except ProviderFault as fault:
            self.unreachable.append(f"error: {part}: {fault.message}")

    def exit_code(self, *, finished: bool) -> int:
        """The command's exit code as far as these parts decide it, else 0.

        Args:
            finished: whether any part came to a result; without one, what is not recorded counts too.
        """
        if self.incomplete:
            return NOT_RECORDED
        if self.unreachable:
            return NOT_MEASURED
        return NOT_RECORDED if self.unrecorded and not finished else 0
