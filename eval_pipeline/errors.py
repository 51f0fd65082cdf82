"""Every error this project raises on purpose: each names the place, the value and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eval_pipeline.alike_texts import group_alike

ErrorSource = Literal["system", "provider", "judge", "scorer"]


class EvalError(Exception):
    """Something the user can mend; its text is shown without a traceback."""


class InputError(EvalError):
    """A file or setting that cannot be used: one line a problem, each with its place."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class SuiteError(InputError):
    """A suite's own file, or something it names, is wrong."""


class CaseError(InputError):
    """A dataset or a case in it is wrong."""


class DocumentError(InputError):
    """A document or fixture that the system reads is wrong."""


class StaleDefinitionsError(EvalError):
    """The files no longer hash to the partition key that is being materialized."""


class NotStoredError(EvalError):
    """Results were asked for that nothing has stored yet."""


class RecordingFileError(EvalError):
    """A recording file that is torn, unreadable, of another format, or cannot be written; names the file."""


@dataclass(frozen=True)
class MissedCall:
    """The call that no recording answers, for who wants to know what it would take."""

    entry_id: str = ""
    """What it would be recorded under: the same for whoever asks the same."""
    kind: Literal["chat", "embed"] = "chat"
    label: str = ""
    """The metric of a judge, or `documents`; empty for an agent's own."""
    characters: int = 0
    """Of the text to embed, or of a chat's last message."""
    chats_before: int = 0
    """Chats of the same run that were answered."""
    like: tuple[str, str] | None = None
    """Of the nearest recorded call, where there is one: its model, and 12 hash digits of its prompt."""

    @property
    def of_page(self) -> bool:
        """Whether a page is embedded, for all cases: its name stands in place of a case's id."""
        return self.kind == "embed" and bool(self.label)


class RecordingMiss(EvalError):
    """One call that no recording answers, with what differs from the nearest recorded one."""

    def __init__(
        self, case_id: str, role: str, model: str, why: str, repeat: int = 0, call: MissedCall | None = None
    ) -> None:
        """`repeat` is that of the run, or of the judge where `role` is one."""
        self.case_id = case_id
        self.role = role
        self.model = model
        self.why = why
        self.repeat = repeat
        self.call = call or MissedCall()
        super().__init__(_miss_text(case_id, role, why, [repeat]))

    def __reduce__(self) -> tuple[type[RecordingMiss], tuple[str, str, str, str, int, MissedCall]]:
        """How it is pickled: by what it was made of, where an exception goes by its text."""
        return RecordingMiss, (self.case_id, self.role, self.model, self.why, self.repeat, self.call)


MOST_CASES_NAMED = 12
MOST_REASONS_NAMED = 20


class RecordingMisses(EvalError):
    """All the cases of a run that no recording answers, and the command that records them."""

    def __init__(self, misses: Sequence[RecordingMiss], remedy: str = "") -> None:
        """Cases that miss for one reason stand in one line."""
        self.misses = tuple(misses)
        repeats: dict[tuple[str, str, str], set[int]] = {}
        for miss in misses:
            repeats.setdefault((miss.role, miss.why, miss.case_id), set()).add(miss.repeat)
        alike: dict[tuple[str, tuple[int, ...]], list[tuple[str, str]]] = {}
        for (role, why, case_id), missed in repeats.items():
            alike.setdefault((role, tuple(sorted(missed))), []).append((why, case_id))
        told = [
            f"  {_miss_text(_some_of(case_ids, MOST_CASES_NAMED), role, why, missed)}"
            for (role, missed), found in alike.items()
            for why, case_ids in group_alike(found).items()
        ]
        more = len(told) - MOST_REASONS_NAMED
        lines = "\n".join(told[:MOST_REASONS_NAMED]) + (f"\n  and {more} more reasons" if more > 0 else "")
        command = f"\nrecord what is missing with: {remedy}" if remedy else ""
        asked = {miss.case_id for miss in misses}
        what = f"answer {len(asked)} of the run's cases"
        if misses and all(miss.call.of_page for miss in misses):
            pages = f"vectors of {len(asked)} pages" if len(asked) > 1 else "vector of 1 page"
            what = f"hold the {pages}, which every run needs"
        super().__init__(f"the recordings do not {what}:\n{lines}{command}")


def _some_of(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _miss_text(cases: str, role: str, why: str, repeats: Sequence[int]) -> str:
    """A miss, or what several repeats miss alike; repeats are named where it is not the first one alone."""
    which = (
        f", repeat{'s' if len(repeats) > 1 else ''} {', '.join(map(str, repeats))}" if any(repeats) else ""
    )
    return f"{cases} ({role}{which}): {why}"


class CallFailed(EvalError):
    """A model answered, but with nothing usable (blocked, truncated, refused, empty, malformed).

    Recorded like an answer and raised again on replay: asking again would give the same.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(f"{kind}: {message}")


class ProviderFault(EvalError):
    """A provider that stayed unreachable or overloaded through all retries; never recorded."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(f"{kind}: {message}")


class ScorerError(EvalError):
    """A scorer that could not score; the check is unmeasured, never zero."""

    def __init__(self, scorer: str, reason: str, source: ErrorSource = "scorer") -> None:
        self.scorer = scorer
        self.reason = reason
        self.source: ErrorSource = source
        super().__init__(f"{scorer}: {reason}")
