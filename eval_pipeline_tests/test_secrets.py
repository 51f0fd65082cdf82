"""A key that turns up in every place a run could show it: nothing that is kept or logged holds it."""

from __future__ import annotations

import json
import logging
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.assets.materializing import Materializer
from eval_pipeline.errors import ProviderFault
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.connection import ProviderConnector
from eval_pipeline.recordings import Mode, read_entries
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.docs_suite import STAGES
from eval_pipeline_tests.live_suite import LiveSuite, search_then_repeat, tool_results
from eval_pipeline_tests.provider_replies import Protocol, Reply, Say, Status
from eval_pipeline_tests.provider_stub import Asked, ProviderStub

# Dagster's own tags of a run with a partition of two dimensions; clients that LangChain does not close.
pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
KEY = "fake-provider-key-0123456789"
"""In the environment, hence in the header of every request."""
KEY_VARIABLES: dict[Protocol, str] = {
    "google": "GOOGLE_API_KEY",
    "ollama": "OLLAMA_API_KEY",
    "openai": "OPENAI_API_KEY",
}
PROVIDERS: dict[Protocol, str] = {"google": "google_genai", "ollama": "ollama", "openai": "openai"}
PASSWORD = "fake-url-password-987"
"""In the address of the models, before the host."""
PARAMETER = "fake-url-parameter-555"
"""In a URL that an error shows."""
SECRETS = (KEY, PASSWORD, PARAMETER)


def answer(asked: Asked) -> Reply:
    """Echoes the key: in errors of two kinds, in an answer and in the arguments of a tool."""
    if asked.kind == "embed" or not asked.question.startswith("q"):
        return search_then_repeat(asked)
    shown = f"{KEY} of https://me:{PASSWORD}@host/v1?key={PARAMETER}"
    if asked.question == "q0?":
        return Status(400, f"Incorrect API key provided: {shown}")
    if asked.question == "q1?":
        return Status(403, f"not allowed: Authorization: Bearer {shown}")
    if asked.question == "q2?" and tool_results(asked):
        return Say(f"The key is {KEY}.")
    if asked.question == "q3?" and not tool_results(asked):
        return Say(calls=[("search_docs", {"query": f"what is {KEY}?"})])
    return search_then_repeat(asked)


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub(answer) as running:
        yield running


@pytest.fixture
def protocol() -> Protocol:
    """Whose models are asked; a test may name others."""
    return "openai"


@pytest.fixture
def suite(
    tmp_path: Path, stub: ProviderStub, monkeypatch: pytest.MonkeyPatch, protocol: Protocol
) -> LiveSuite:
    """Four questions of which every one meets the key, in a document too; and Dagster's home."""
    made = LiveSuite(tmp_path, stub, 0)
    made.edit("suite.yaml", "openai:", f"{PROVIDERS[protocol]}:")
    made.edit("suite.yaml", stub.base_url("openai"), stub.base_url(protocol))
    cases = [{"id": f"q{n}", "input": f"q{n}?", "expected": {"tools": ["search_docs"]}} for n in range(4)]
    (made.folder / "datasets" / "many.yaml").write_text(json.dumps({"version": 1, "cases": cases}))
    for page in (made.folder / "documents").glob("*.md"):
        page.write_text(f"# {page.stem}\n\nSet the key to {KEY} and be done.\n")
    made.edit("suite.yaml", "http://127", f"http://me:{PASSWORD}@127")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    for name, value in {
        KEY_VARIABLES[protocol]: KEY,
        "EVAL_DATA": str(made.data_root),
        "EVAL_WAREHOUSE": str(tmp_path / "warehouse"),
        "DAGSTER_HOME": str(tmp_path / "home"),
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    return made


def files_with(folder: Path, secret: str) -> list[str]:
    found = [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    return [str(path.relative_to(folder)) for path in found]


def every_stored_text(suite: LiveSuite) -> str:
    """All that the warehouse's views and report files show; Parquet itself is compressed."""
    warehouse = Evaluation(run_id="").warehouse
    views = ("cases", "documents", "prompts", "traces", "stage_scores", "stage_report", "runs")
    texts = [repr(warehouse.query(f"FROM {view}").to_pylist()) for view in views]
    return "\n".join((*texts, suite.report()))


KEPT: list[object] = []
"""Clients: LangChain has no way to close one, and one that is thrown away warns of its open connections."""


@pytest.fixture
def kept_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("chat", "embeddings"):
        made = getattr(ProviderConnector, name)

        def keep(self: ProviderConnector, settings: ModelSettings, made: Any = made) -> Any:
            KEPT.append(made(self, settings))
            return KEPT[-1]

        monkeypatch.setattr(ProviderConnector, name, keep)


def materialize(suite: LiveSuite, mode: Mode) -> None:
    found = find_suite(suite.data_root, "docs")
    with Materializer(found, mode) as materializer:
        materializer.materialize(found.cells[0], lambda done, total: None)
    Evaluation(run_id="").rebuild_catalogue()


@pytest.mark.parametrize(
    "protocol",
    [*(pytest.param(name, marks=pytest.mark.slow) for name in ("google", "ollama")), "openai"],
)
@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
@pytest.mark.usefixtures("kept_clients")
def test_a_key_is_nowhere_in_what_a_run_keeps_or_logs(
    suite: LiveSuite,
    stub: ProviderStub,
    protocol: Protocol,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG)
    materialize(suite, "new_episodes")
    headers = [value for asked in stub.asked for value in asked.headers.values()]
    # Where the address has a password, OpenAI's and Ollama's clients log in with that instead.
    assert any(KEY in value for value in headers) == (protocol == "google")
    assert KEY in json.dumps([asked.body for asked in stub.asked])  # the tools' output is sent as it is
    entries = {entry.cases[0]: entry for entry in read_entries(suite.recordings) if entry.kind == "chat"}
    assert "***" in str(entries["q0"].response)
    stored = every_stored_text(suite)
    assert "***" in stored
    for secret in SECRETS:
        assert files_with(suite.recordings, secret) == []
        assert files_with(tmp_path / "home", secret) == []
        assert files_with(tmp_path / "warehouse", secret) == []
        assert secret not in stored
        assert secret not in caplog.text
    assert caplog.text.count("HTTP") > 3  # or nothing was shown to hide
    report, calls = suite.report(), stub.calls
    materialize(suite, "new_episodes")
    # What was recorded without its key gives the same again; q1's fault is never recorded, and asked again.
    assert (suite.report(), stub.calls) == (report, calls + 1)


JUDGED = """  - {name: answer_relevancy, scorer: "eval_pipeline.scorers.deepeval:AnswerRelevancy"}
judge: openai:judge
"""


@pytest.mark.parametrize(
    ("without", "stages", "missing"),
    [
        ("agent", STAGES, "openai:live: no key; set OPENAI_API_KEY, or replay with --record-mode none"),
        ("judge", STAGES + JUDGED, "openai:judge: no key; set OPENAI_API_KEY, or replay with"),
    ],
)
def test_a_missing_key_is_one_line_before_anything_runs(
    suite: LiveSuite, stub, tmp_path, without, stages, missing
):
    text = (suite.folder / "suite.yaml").read_text().partition("\nstages:")[0] + "\n" + stages
    if without == "agent":
        head, at, tail = text.partition('openai:live", base_url')
        text = head + 'openai:live", ' + tail.partition('", ')[2]
        assert at
    (suite.folder / "suite.yaml").write_text(text)
    done = run_command(suite, "run", "docs", "--record-mode", "new_episodes")
    assert done.returncode == 4, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"error: no_key: {missing}")
    assert (stub.calls, list(tmp_path.glob("warehouse/*")), suite.recordings.exists()) == (0, [], False)


def run_command(suite: LiveSuite, *command: str) -> subprocess.CompletedProcess[str]:
    home = os.environ["DAGSTER_HOME"]
    return suite.command(*command, DAGSTER_HOME=home)


def test_dagsters_own_command_misses_the_judges_key_before_agents_run(suite: LiveSuite, stub, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setattr(ProviderConnector, "chat", lambda *_: pytest.fail("a client was made"))
    (suite.folder / "suite.yaml").write_text((suite.folder / "suite.yaml").read_text() + JUDGED)
    with pytest.raises(ProviderFault, match=r"^no_key: openai:judge: no key; set OPENAI_API_KEY"):
        materialize(suite, "new_episodes")
    assert stub.calls == 0
