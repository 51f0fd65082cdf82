"""What loading imports: no provider, LangChain or DeepEval; and replay no provider."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eval_pipeline_tests.judged_suite import JudgedSuite

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


def test_only_its_own_package_imports_deepeval_and_nothing_else_does():
    sources = [
        path for path in (ROOT / "eval_pipeline").rglob("*.py") if "scorers/deepeval/" not in path.as_posix()
    ]
    pattern = re.compile(r"^\s*(import deepeval|from deepeval)", re.MULTILINE)
    assert [path.name for path in sources if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_reading_a_suite_with_judged_stages_imports_no_deepeval(tmp_path):
    JudgedSuite(tmp_path)
    code = (
        "from pathlib import Path\n"
        "from eval_pipeline.suite_reading import find_suite\n"
        f"assert find_suite(Path({str(tmp_path / 'data')!r}), 'docs').judges"
    )
    assert imported_by(code, ("deepeval", "openai")) == "imported: []"
