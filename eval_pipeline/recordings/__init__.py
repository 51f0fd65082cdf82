"""Recorded model calls: a run replays from them without a model, and records what is missing."""

from eval_pipeline.recordings.digests import read_digests
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.lines import TornJournalWarning
from eval_pipeline.recordings.listing import check_recordings, prune, read_entries
from eval_pipeline.recordings.request import Kind, Mode, Request, Role
from eval_pipeline.recordings.scope import Scope, current_scope, scope
from eval_pipeline.recordings.store import Recordings

__all__ = [
    "Entry",
    "Kind",
    "Mode",
    "Recordings",
    "Request",
    "Role",
    "Scope",
    "TornJournalWarning",
    "check_recordings",
    "current_scope",
    "prune",
    "read_digests",
    "read_entries",
    "scope",
]
