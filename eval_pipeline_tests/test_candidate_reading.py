from pathlib import Path

import pytest

from eval_pipeline.suite_reading import read_suite
from eval_pipeline_tests.toy import ToyFiles, write_toy

CALM = "  calm:\n    model: ollama:toy\n    prompt: v1\n"
"""Lines 12 to 14 of the toy's suite.yaml."""


@pytest.fixture
def toy(tmp_path: Path) -> ToyFiles:
    return write_toy(tmp_path)


def test_a_candidate_is_read_with_its_prompt_and_all_its_parameters(toy: ToyFiles) -> None:
    calm, loud = read_suite(toy.suite).candidates.values()
    assert (calm.prompt_version, calm.prompt, calm.parameters) == (
        "v1",
        "Look the page up.",
        {"shout": False},
    )
    assert loud.parameters == {"shout": True}


def test_anchors_and_merge_keys_share_a_model_s_settings(toy: ToyFiles) -> None:
    toy.edit(
        "suite.yaml",
        CALM,
        "  calm: &calm\n    model: &model {name: ollama:toy, settings: {seed: 1}}\n    prompt: v1\n"
        "  seeded: {<<: *calm, model: {<<: *model, settings: {seed: 2}}}\n",
    )
    calm, seeded, _ = read_suite(toy.suite).candidates.values()
    assert (calm.model.settings, seeded.model.settings) == ({"seed": 1}, {"seed": 2})
    assert seeded.prompt_version == "v1"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("promt: v1", "unknown key 'candidates.calm.promt'; did you mean 'prompt'?"),
        (
            "parameters: {shuot: true}",
            "unknown key 'candidates.calm.parameters.shuot'; did you mean 'shout'?",
        ),
        (
            "parameters: {shout: 'true'}",
            "candidates.calm.parameters.shout: input should be a valid boolean, found 'true'",
        ),
        (
            "parameters: {shout: 1}",
            "candidates.calm.parameters.shout: input should be a valid boolean, found `1`",
        ),
        ("parameters:", "candidates.calm.parameters: input should be a mapping, found nothing"),
        (
            "parameters: {shout: yes}",
            "`yes` is true to YAML; write true, or put it in quotes if text is meant",
        ),
        ("description: 2026-11-30", "`2026-11-30` is a date to YAML; put it in quotes"),
        ("description: 12", "candidates.calm.description: `12` is a number to YAML; quote it"),
        (
            "embedder: onx:a",
            "candidates.calm.embedder.name: unknown provider 'onx' in 'onx:a'; did you mean 'onnx'?",
        ),
        (
            "embedder: {name: ollama:a, setings: {}}",
            "unknown key 'candidates.calm.embedder.setings'; did you mean 'settings'?",
        ),
        ("datasets: [smal]", "no dataset 'smal'; did you mean 'small'?"),
        ("datasets: [small, zzz]", "no dataset 'zzz'; known: small"),
        ("datasets: small", "candidates.calm.datasets: input should be a list, found 'small'"),
        (
            "datasets: []",
            "candidates.calm.datasets: an empty list evaluates nothing; leave 'datasets' out for all of them",
        ),
        (
            "datasets: [small, small]",
            "candidates.calm.datasets: dataset 'small' is listed twice; list it once",
        ),
        ("prompt: v1", "key 'prompt' stands twice in one mapping; keep one"),
    ],
)
def test_a_line_that_a_candidate_cannot_have_is_refused(toy: ToyFiles, line: str, problem: str) -> None:
    toy.edit("suite.yaml", CALM, f"{CALM}    {line}\n")
    assert toy.problems() == [f"suite.yaml:15: {problem}"]


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("olama:toy", "model.name: unknown provider 'olama' in 'olama:toy'; did you mean 'ollama'?"),
        ("toy", "model.name: 'toy' is not 'provider:model', such as 'ollama:gemma4:e2b'"),
        ("':toy'", "model.name: ':toy' is not 'provider:model', such as 'ollama:gemma4:e2b'"),
        ("12", "model: input should be a mapping, found `12`"),
        ("{name: 12}", "model.name: `12` is a number to YAML; quote it"),
        ("{name: ollama:a, timeout_s: 0}", "model.timeout_s: input should be greater than 0, found `0`"),
        (
            "{name: ollama:a, max_concurrency: 1.5}",
            "model.max_concurrency: input should be a valid integer, found `1.5`",
        ),
        (
            "{name: ollama:a, tool_calling: JSON}",
            "model.tool_calling: input should be 'native' or 'json_schema', found 'JSON'",
        ),
        (
            "{name: ollama:a, settings: {api_key: x}}",
            "model.settings: 'api_key' is a credential; set the provider's environment variable instead",
        ),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(toy: ToyFiles, model: str, problem: str) -> None:
    toy.edit("suite.yaml", CALM, f"  calm:\n    model: {model}\n    prompt: v1\n")
    assert toy.problems() == [f"suite.yaml:13: candidates.calm.{problem}"]


@pytest.mark.parametrize("number", [".nan", ".NaN", ".inf", "-.Inf", "1.0e+400"])
def test_a_setting_is_a_number_that_json_has(toy: ToyFiles, number: str) -> None:
    toy.edit(
        "suite.yaml",
        CALM,
        f"  calm:\n    model:\n      name: ollama:toy\n      settings:\n        temperature: {number}\n",
    )
    assert toy.problems() == [
        f"suite.yaml:16: `{number}` is not a usable number; put it in quotes if text is meant"
    ]


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("  calm:\n    prompt: v1\n", "12: 'candidates.calm.model' is missing"),
        ("  calm:\n    model:\n    prompt: v1\n", "13: 'candidates.calm.model' is missing"),
        ("  calm:\n", "12: candidates.calm: input should be a mapping, found nothing"),
        (
            "  calm:\n    model: ollama: toy\n",
            "13: not YAML: mapping values are not allowed in this context; "
            "put text that holds ': ' in quotes",
        ),
        (
            "  calm:\n    model:\n      name: ollama:toy\n      seting: {}\n",
            "15: unknown key 'candidates.calm.model.seting'; did you mean 'settings'?",
        ),
        (CALM + CALM, "15: key 'calm' stands twice in one mapping; keep one"),
        (
            CALM.replace("calm", "a b") + CALM.replace("calm", "a/b"),
            "15: candidates 'a b' and 'a/b' are both 'a-b' in keys; rename one",
        ),
        (CALM.replace("calm", "''"), "12: candidate name '' is empty; give it a short name"),
        (
            CALM.replace("calm", "x" * 101),
            f"12: candidate name '{'x' * 101}' has 101 characters; use at most 100",
        ),
        (CALM.replace("calm", "12"), "12: key `12` is not text to YAML; put it in quotes"),
        (CALM.replace("v1", "v2"), "14: no prompt file prompts/v2.md; known: v1"),
        (CALM.replace("v1", "V1"), "14: no prompt file prompts/V1.md; did you mean 'v1'?"),
        (CALM.replace("v1", "v1.md"), "14: no prompt file prompts/v1.md.md; known: v1"),
        (CALM.replace("v1", "1"), "14: candidates.calm.prompt: `1` is a number to YAML; quote it"),
    ],
)
def test_a_candidate_that_cannot_be_used_is_refused(toy: ToyFiles, block: str, problem: str) -> None:
    toy.edit("suite.yaml", CALM, block)
    assert toy.problems() == [f"suite.yaml:{problem}"]


@pytest.mark.parametrize("prompt", ["", " \n", "\ufeff\r\n"])
def test_an_empty_prompt_is_refused(toy: ToyFiles, prompt: str) -> None:
    toy.write("prompts/v1.md", prompt)
    assert toy.problems() == [
        "prompts/v1.md: the prompt is empty; write it, or name no prompt at suite.yaml:14",
        "prompts/v1.md: the prompt is empty; write it, or name no prompt at suite.yaml:17",
    ]


def test_a_directory_is_no_prompt_and_none_is_suggested(toy: ToyFiles) -> None:
    (toy.suite / "prompts/v1.md").unlink()
    (toy.suite / "prompts/v1.md").mkdir()
    assert toy.problems()[0] == "suite.yaml:14: no prompt file prompts/v1.md"


def test_unknown_parameters_are_refused_though_the_system_s_model_forgot_to(toy: ToyFiles) -> None:
    toy.edit_module("system", '    model_config = ConfigDict(extra="forbid")\n\n', "")
    toy.edit("suite.yaml", "{shout: true}", "{shuot: true}")
    assert toy.problems() == [
        "suite.yaml:18: unknown key 'candidates.loud.parameters.shuot'; did you mean 'shout'?"
    ]


def test_a_system_without_a_parameters_model_takes_any(toy: ToyFiles) -> None:
    toy.edit_module("system", "class Parameters(BaseModel)", "class _Parameters(BaseModel)")
    calm, loud = read_suite(toy.suite).candidates.values()
    assert (calm.parameters, loud.parameters) == ({}, {"shout": True})


def test_parameters_that_no_key_can_name_are_refused(toy: ToyFiles) -> None:
    old = "    shout: bool = False\n"
    toy.edit_module("system", old, f"{old}    share: float = float('nan')\n")
    assert toy.problems()[0] == (
        "suite.yaml:12: the system's Parameters are no JSON, so no key can name them: "
        "Out of range float values are not JSON compliant"
    )
