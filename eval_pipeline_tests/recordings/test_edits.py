"""Answers that a checkout holds otherwise than a git revision does, under the same keys."""

from __future__ import annotations

import json
import subprocess

import pytest

from eval_pipeline.errors import EvalError, RecordingFileError
from eval_pipeline.recordings.edits import edited_answers


def entry(number: int, answer: str, **fields) -> str:
    """One recorded call as its line; calls of different numbers have different keys."""
    return json.dumps(
        {
            "v": 1,
            "id": f"{number:064x}:0.0:0",
            "kind": "chat",
            "role": "agent",
            "model": "openai:toy",
            "label": "",
            "cases": [f"case-{number}"],
            "parts": [["system prompt", "0123456789ab"]],
            "words": f"Question {number}?",
            "response": {"content": answer},
            "usage": None,
            "latency_ms": 5,
            "at": "2026-01-01T00:00:00Z",
            "versions": {"python": "3.11"},
            **fields,
        }
    )


@pytest.fixture
def recordings(tmp_path):
    """A folder of recordings with two calls, committed."""
    folder = tmp_path / "recordings"
    write(folder, entry(1, "One."), entry(2, "Two."))
    for arguments in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "Record"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    return folder


def write(folder, *lines):
    model = folder / "openai-toy"
    model.mkdir(parents=True, exist_ok=True)
    (model / "calls.jsonl").write_text("".join(f"{line}\n" for line in lines))


def test_nothing_is_listed_while_nothing_is_edited(recordings):
    assert edited_answers(recordings, "HEAD") == []


def test_another_answer_under_a_known_key_is_listed_with_both(recordings):
    write(recordings, entry(1, "One."), entry(2, "Three."))
    (edit,) = edited_answers(recordings, "HEAD")
    assert edit.after.cases == ("case-2",)
    assert (edit.before.response, edit.after.response) == ({"content": "Two."}, {"content": "Three."})


def test_new_and_dropped_calls_and_other_fields_are_no_edits(recordings):
    write(recordings, entry(1, "One.", latency_ms=9), entry(3, "Three."))
    assert edited_answers(recordings, "HEAD") == []


def test_a_model_that_the_revision_lacks_is_new(recordings):
    (recordings / "openai-toy").rename(recordings / "openai-other")
    assert edited_answers(recordings, "HEAD") == []


def test_an_unknown_revision_names_what_to_give(recordings):
    with pytest.raises(EvalError, match="give a revision of this repository, such as origin/main"):
        edited_answers(recordings, "nowhere")


def test_a_broken_line_is_named(recordings):
    write(recordings, entry(1, "One."), "{")
    with pytest.raises(RecordingFileError, match=r"calls\.jsonl:2: "):
        edited_answers(recordings, "HEAD")
