"""What the tools returned in these tests, and the score of an answer that rests on it."""

from eval_pipeline.cases import Case
from eval_pipeline.scorers.grounding import Grounding
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace, ToolCall

STORAGE = """[1] page storage
# Storage

Each list is one SQLite file, `tasks.db`, in the list folder. The list folder is `~/.tracker`
unless you picked another one.

To back up a list, copy its `tasks.db`. It is not safe to copy the file while a tracker command is running.
"""
SYNC = """[1] page sync
# Syncing

`tracker sync` holds a lock on the remote while it runs. A second machine waits for the lock, for up to
30 s. If the lock is still taken then, it exits with the message 'remote is locked'.
"""
OUTPUT = """[1] page output
# Output

The setting `color` in `config.toml` is one of `auto`, `always` and `never`. With `auto`, color is off
in a pipe. `--format csv` does not remove color. To restore an archived task, run `tracker restore ID`.
"""
DEBUG = """[1] page debug
# Debug output

With `--debug`, tracker writes the details of each request to `debug.log` in the list folder.
From version 2.4.1 on, it redacts API tokens in that file. The file holds at most 1,000 requests.
"""
ISSUE_231 = "Issue 231: CSV import drops rows but reports success. State: open, not fixed in any version."
ISSUE_212 = '{"number": 212, "title": "sync stops with KeyError", "state": "closed", "fixed_in": "2.4.1"}'


def score_answer(answer: str | None, *texts: str, question: str = "What does the page say?") -> Score:
    calls = tuple(ToolCall("search_docs", {}, text) for text in texts)
    trace = AgentTrace("c", answer=answer, tool_calls=calls, context=texts)
    return Grounding().score(Case("c", question, expected={"tools": ["search_docs"]}), trace)
