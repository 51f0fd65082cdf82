from typing import Any

import pytest
from pydantic import JsonValue, ValidationError

from eval_pipeline.model_settings import EmbedderSettings, ModelSettings

MODEL = {"name": "ollama:gemma4:e2b", "settings": {"temperature": 0.5, "seed": 1}}


def test_a_name_alone_is_a_model_with_default_settings() -> None:
    model = ModelSettings.model_validate("ollama:gemma4:e2b")
    assert model == ModelSettings(name="ollama:gemma4:e2b")
    assert (model.tool_calling, model.timeout_s, model.max_concurrency, model.base_url) == (
        "native",
        120.0,
        8,
        None,
    )


@pytest.mark.parametrize("name", ["google_genai:gemini-3.8-flash", "openai:a/b:c", "ollama:qwen3:0.6b"])
def test_a_name_is_a_known_provider_and_a_model(name: str) -> None:
    assert ModelSettings(name=name).name == name
    assert EmbedderSettings(name=name).name == name


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"default_headers": {"X-Api-Token": "abc"}}, "default_headers.X-Api-Token"),
        ({"client_kwargs": {"headers": {"Authorization": "abc"}}}, "client_kwargs.headers.Authorization"),
        ({"client_kwargs": {"auth": ["me", "abc"]}}, "client_kwargs.auth"),
        ({"access_token": "abc"}, "access_token"),
        ({"openai_proxy": "http://me:abc@host"}, "openai_proxy"),
        ({"extra_body": {"urls": ["https://host/?key=abc"]}}, "extra_body.urls"),
    ],
)
def test_a_credential_is_found_wherever_it_stands(settings: dict[str, JsonValue], place: str) -> None:
    with pytest.raises(ValidationError, match=f"'{place}' is a credential; set the provider's"):
        ModelSettings(name="openai:m", settings=settings)


def test_what_merely_sounds_like_a_credential_is_a_setting() -> None:
    settings = {"max_tokens": 5, "extra_body": {"eos_token": "</s>"}, "default_headers": {"X-Title": "evals"}}
    assert ModelSettings(name="openai:m", settings=settings).settings == settings


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gemma4", "'gemma4' is not 'provider:model', such as 'ollama:gemma4:e2b'"),
        (":gemma4", "':gemma4' is not 'provider:model', such as 'ollama:gemma4:e2b'"),
        ("ollama:", "'ollama:' is not 'provider:model', such as 'ollama:gemma4:e2b'"),
        ("ollama: gemma4", "'ollama: gemma4' is not 'provider:model', such as 'ollama:gemma4:e2b'"),
        ("", "'' is not 'provider:model', such as 'ollama:gemma4:e2b'"),
        ("olama:gemma4", "unknown provider 'olama' in 'olama:gemma4'; did you mean 'ollama'?"),
        ("Ollama:gemma4", "unknown provider 'Ollama' in 'Ollama:gemma4'; did you mean 'ollama'?"),
        (
            "gemma4:e2b",
            "unknown provider 'gemma4' in 'gemma4:e2b'; known: google_genai, ollama, openai",
        ),
        (
            "onnx:all-MiniLM-L6-v2",
            "unknown provider 'onnx' in 'onnx:all-MiniLM-L6-v2'; known: google_genai, ",
        ),
    ],
)
def test_a_name_without_a_known_provider_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        ModelSettings(name=name)
    assert refusal.value.errors()[0]["msg"].startswith(f"Value error, {message}")


def test_the_local_provider_is_for_embedders_alone() -> None:
    assert EmbedderSettings(name="onnx:all-MiniLM-L6-v2").name == "onnx:all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("base_url", "'base_url' does not belong here; write 'base_url' beside 'settings'"),
        ("timeout", "'timeout' does not belong here; write 'timeout_s' beside 'settings'"),
        ("model", "'model' does not belong here; write 'name' beside 'settings'"),
        ("max_retries", "'max_retries' cannot be set: the pipeline itself retries; remove it"),
        ("api_key", "'api_key' is a credential; set the provider's environment variable instead"),
        (
            "OPENAI_API_KEY",
            "'OPENAI_API_KEY' is a credential; set the provider's environment variable instead",
        ),
    ],
)
def test_settings_hold_neither_our_own_fields_nor_credentials(name: str, message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        ModelSettings.model_validate({**MODEL, "settings": {name: "x"}})
    assert refusal.value.errors()[0]["msg"] == f"Value error, {message}"


@pytest.mark.parametrize(
    "change",
    [
        {"name": "ollama:gemma4:e4b"},
        {"weights": "sha256:1"},
        {"settings": {"temperature": 0.5, "seed": 2}},
        {"settings": {}},
        {"tool_calling": "json_schema"},
    ],
)
def test_what_changes_answers_is_part_of_the_identity(change: dict[str, Any]) -> None:
    assert (
        ModelSettings.model_validate(MODEL | change).identity != ModelSettings.model_validate(MODEL).identity
    )


@pytest.mark.parametrize(
    "change", [{"base_url": "http://127.0.0.1:8201/v1"}, {"timeout_s": 5.0}, {"max_concurrency": 1}]
)
def test_how_a_model_is_reached_is_no_part_of_the_identity(change: dict[str, Any]) -> None:
    assert (
        ModelSettings.model_validate(MODEL | change).identity == ModelSettings.model_validate(MODEL).identity
    )


@pytest.mark.parametrize(
    ("settings", "repeat", "expected"),
    [
        ({"temperature": 0.5, "seed": 7}, 0, {"temperature": 0.5, "seed": 7}),
        ({"temperature": 0.5, "seed": 7}, 2, {"temperature": 0.5, "seed": 9}),
        ({"temperature": 0.5}, 2, {"temperature": 0.5}),
        ({"seed": 0}, 1, {"seed": 1}),
        ({"seed": -1}, 1, {"seed": -1}),
        ({"seed": None}, 1, {"seed": None}),
    ],
)
def test_a_repeat_has_a_seed_of_its_own_and_the_temperature_of_production(
    settings: dict[str, Any], repeat: int, expected: dict[str, Any]
) -> None:
    assert ModelSettings(name="openai:m", settings=settings).in_repeat(repeat).settings == expected
