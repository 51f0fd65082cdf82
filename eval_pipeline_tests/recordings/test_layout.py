from pathlib import Path

import pytest

from eval_pipeline.recordings.layout import journals, model_folders, slug


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("google_genai:gemini-3.8-flash", "google_genai-gemini-3.8-flash"),
        ("ollama:gemma4:e2b", "ollama-gemma4-e2b"),
        ("openai:org/model@v1", "openai-org-model@v1"),
        ("fake:ä b", "fake---b"),
        ("../../etc", "--..-etc"),
        ("..", "-"),
        ("", "-"),
    ],
)
def test_a_slug_has_only_safe_characters_and_never_hides_or_climbs(model: str, name: str):
    assert slug(model) == name


def test_long_names_that_differ_at_the_end_have_short_slugs_that_differ():
    one, other = slug("fake:" + "m" * 300 + "1"), slug("fake:" + "m" * 300 + "2")
    assert len(one) == len(other) == 120
    assert one != other


def test_nothing_recorded_has_no_folders(tmp_path: Path):
    assert model_folders(tmp_path / "recordings") == []


def test_folders_and_journals_come_sorted_and_without_what_is_hidden(tmp_path: Path):
    for name in ("b", "a", ".git"):
        (tmp_path / name).mkdir()
    for name in ("journal-2-x.jsonl", "journal-1-y.jsonl", "calls.jsonl"):
        (tmp_path / "a" / name).touch()
    assert [path.name for path in model_folders(tmp_path)] == ["a", "b"]
    assert [path.name for path in journals(tmp_path / "a")] == ["journal-1-y.jsonl", "journal-2-x.jsonl"]
