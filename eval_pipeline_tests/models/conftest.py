"""Models against a provider on this machine, with keys that are none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline_tests.models.live_models import KEYS, PROTOCOLS, LiveModels
from eval_pipeline_tests.provider_stub import ProviderStub


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OLLAMA_HOST", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # google-genai derives from a class of aiohttp that wants no heirs; pytest takes this back after the test.
    warnings.filterwarnings("ignore", "Inheritance class AiohttpClientSession", DeprecationWarning)


@pytest.fixture(scope="module")
def shared_stub() -> Iterator[ProviderStub]:
    with ProviderStub() as stub:
        yield stub


@pytest.fixture
def stub(shared_stub: ProviderStub) -> ProviderStub:
    """A stub that knows nothing of earlier tests."""
    shared_stub.reset()
    return shared_stub


@pytest.fixture(params=PROTOCOLS)
def live(request: pytest.FixtureRequest, stub: ProviderStub, tmp_path: Path) -> LiveModels:
    """Each provider in turn."""
    return LiveModels(stub, tmp_path, request.param)
