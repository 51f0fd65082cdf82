"""A copy of the docs assistant's suite in a temporary folder, with a scripted candidate."""

from __future__ import annotations

import shutil
from pathlib import Path

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.recordings import Mode, Recordings
from eval_pipeline.suite_reading import find_suite
from eval_pipeline.traces import AgentTrace
from eval_pipeline_tests.scripted import ScriptedConnector

SHIPPED = Path(__file__).parent.parent / "data" / "docs_assistant"
STAGES = """
stages:
  - {name: tools, scorer: "eval_pipeline.scorers.tools:ToolCalls"}
  - {name: retrieval, scorer: "eval_pipeline.scorers.retrieval:RetrievalById"}
"""
CANDIDATE = """
system: eval_pipeline.systems.docs_assistant
candidates:
  scripted:
    model: openai:scripted
    embedder: openai:scripted-embedder
    prompt: v1
"""


class DocsSuite:
    """The suite `docs` below `data_root`; edit its files, then `run` it."""

    def __init__(self, folder: Path) -> None:
        self.data_root = folder / "data"
        self.folder = self.data_root / "docs"
        shutil.copytree(
            SHIPPED,
            self.folder,
            ignore=shutil.ignore_patterns(
                "recordings",
                "suite.yaml",
                "reports",
                "calibration.yaml",
                "policy.yaml",
                "baselines",
                "decisions",
            ),
        )
        (self.folder / "suite.yaml").write_text(CANDIDATE + STAGES)

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text()
        assert old in text, f"{path} does not hold {old!r}"
        file.write_text(text.replace(old, new))

    def run(self, mode: Mode, connector: ScriptedConnector | None = None) -> list[AgentTrace]:
        suite = find_suite(self.data_root, "docs")
        (cell,) = suite.cells
        return run_cell(
            suite,
            cell,
            lambda: Recordings(suite.recordings, mode),
            connector=connector or ScriptedConnector(),
        )
