"""The docs suite with a candidate that asks a provider stub over HTTP, run by the command in processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from eval_pipeline.recordings import Entry, read_entries
from eval_pipeline_tests.docs_suite import STAGES, DocsSuite
from eval_pipeline_tests.provider_replies import Reply, Say
from eval_pipeline_tests.provider_stub import Asked, ProviderStub

BIN = Path(sys.executable).parent
IN_FLIGHT = 4
"""Calls in flight at once, to the chat model and to the embedder each."""
RECORD = ("run", "docs", "--record-mode", "new_episodes")
SUITE = """
system: eval_pipeline.systems.docs_assistant
candidates:
  live:
    model: {{name: "openai:live", base_url: "{url}", max_concurrency: {in_flight}}}
    embedder: {{name: "openai:live-embedder", base_url: "{url}", max_concurrency: {in_flight}}}
    prompt: v1
"""


def search_then_repeat(asked: Asked) -> Reply:
    """Searches for the question, then repeats the first line found."""
    if asked.kind == "embed":
        return Say()
    results = tool_results(asked)
    if results:
        return Say(f"As the tool says: {results[0].splitlines()[0]}")
    return Say(calls=[("search_docs", {"query": asked.question})])


def tool_results(asked: Asked) -> list[str]:
    if asked.protocol == "google":
        parts = [part for turn in asked.body["contents"] for part in turn["parts"]]
        results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        return ["\n".join(map(str, result.values())) for result in results]
    return [turn["content"] for turn in asked.body["messages"] if turn["role"] == "tool"]


class LiveSuite(DocsSuite):
    """The suite `docs` with `cases` questions, its models at `stub`; each question is two chats."""

    def __init__(self, folder: Path, stub: ProviderStub, cases: int) -> None:
        super().__init__(folder)
        self.root = folder
        url = stub.base_url("openai")
        (self.folder / "suite.yaml").write_text(SUITE.format(url=url, in_flight=IN_FLIGHT) + STAGES)
        for dataset in (self.folder / "datasets").iterdir():
            dataset.unlink()
        self.questions = {f"q{n}": f"How do I list the tasks of week {n}?" for n in range(cases)}
        expected = {"tools": ["search_docs"], "pages": ["output"]}
        asked = [{"id": i, "input": text, "expected": expected} for i, text in self.questions.items()]
        (self.folder / "datasets" / "many.yaml").write_text(json.dumps({"version": 1, "cases": asked}))

    @property
    def recordings(self) -> Path:
        return self.folder / "recordings"

    def environment(self, **more: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DAGSTER", "EVAL_", "OPENAI_"))}
        return {
            **kept,
            "EVAL_DATA": str(self.data_root),
            "EVAL_WAREHOUSE": str(self.root / "warehouse"),
            "DAGSTER_DISABLE_TELEMETRY": "yes",
            "NO_PROXY": "127.0.0.1",
            **more,
        }

    def start(self, *command: str, **more: str) -> subprocess.Popen[str]:
        """`eval-pipeline` in a process of its own."""
        return subprocess.Popen(
            [str(BIN / "eval-pipeline"), *command],
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Whoever is started in the background ignores Ctrl-C, and so do its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def command(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """`eval-pipeline`, waited for."""
        process = self.start(*command, **more)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def report(self) -> str:
        """The one report's JSON."""
        (path,) = (self.root / "warehouse").glob("stage_report/*/*/*/report.json")
        return path.read_text(encoding="utf-8")

    def recorded(self) -> set[str]:
        """What is on disk, journals included, in the words of `asks`."""
        return {self._words(entry) for entry in read_entries(self.recordings)}

    def _words(self, entry: Entry) -> str:
        if entry.kind == "embed":
            return f"embed {entry.words}"
        results = sum(label.startswith("result of tool") for label, _ in entry.parts)
        return f"chat {self.questions[entry.cases[0]]} after {results} results"


def asks(asked: Asked) -> list[str]:
    """What a request asks, a text to embed each or a turn of a conversation."""
    if asked.kind == "embed":
        return [f"embed {' '.join(text.split())[:200]}" for text in asked.texts]
    return [f"chat {asked.question} after {len(tool_results(asked))} results"]
