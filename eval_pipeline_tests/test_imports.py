"""What loading imports: no provider, LangChain or DeepEval; and replay no provider."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = (
    "langchain",
    "langgraph",
    "deepeval",
    "openai",
    "google.genai",
    "ollama",
    "onnxruntime",
    "tokenizers",
)
PROVIDERS = (
    "langchain_openai",
    "langchain_google_genai",
    "langchain_ollama",
    "openai",
    "ollama",
    "onnxruntime",
)


def imported_by(code: str, watched: tuple[str, ...]) -> str:
    """Which of the watched modules a fresh process has imported after `code`."""
    program = f"{code}\nimport sys\nprint('imported:', [m for m in {watched!r} if m in sys.modules])"
    environment = {**os.environ, "EVAL_DATA": str(ROOT / "data")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "code",
    [
        "import eval_pipeline.definitions",
        "import eval_pipeline.cli\ntry: eval_pipeline.cli.app(['--help'])\nexcept SystemExit: pass",
    ],
    ids=["definitions", "help"],
)
def test_loading_imports_nothing_heavy(code):
    assert imported_by(code, HEAVY) == "imported: []"


def test_help_does_not_import_dagster_or_data_libraries():
    code = "import eval_pipeline.cli\ntry: eval_pipeline.cli.app(['--help'])\nexcept SystemExit: pass"
    assert imported_by(code, ("dagster", "pandas", "pyarrow", "duckdb")) == "imported: []"


def test_replay_imports_no_provider():
    code = (
        "from eval_pipeline.settings import data_root\n"
        "from eval_pipeline.suite_reading import find_suite\n"
        "from eval_pipeline.agent_runs import run_cell\n"
        "from eval_pipeline.recordings import Recordings\n"
        "suite = find_suite(data_root(), 'docs_assistant')\n"
        "(cell,) = suite.select_cells('qwen-1.5b')\n"
        "run_cell(suite, cell, lambda: Recordings(suite.recordings))"
    )
    assert imported_by(code, PROVIDERS) == "imported: []"
