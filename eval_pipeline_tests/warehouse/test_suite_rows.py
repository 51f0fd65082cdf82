import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.cases import Case
from eval_pipeline.documents import Document
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.suites import Candidate
from eval_pipeline.warehouse.arrow_schemas import CASES, DOCUMENTS, PROMPTS
from eval_pipeline.warehouse.suite_rows import (
    cases_from,
    cases_table,
    documents_from,
    documents_table,
    prompts_table,
)
from eval_pipeline_tests.warehouse.test_trace_rows import JSON, OBJECT, TEXT


@settings(deadline=None)
@given(st.lists(st.builds(Case, TEXT, JSON, st.none() | TEXT, OBJECT), max_size=3))
def test_cases_come_back_as_they_were(cases: list[Case]) -> None:
    table = cases_table(cases)
    assert table.schema == CASES
    assert cases_from(table) == cases
    assert table["position"].to_pylist() == list(range(len(cases)))


def test_documents_come_back_with_the_hash_of_their_text() -> None:
    documents = [Document("storage", "One file.\n"), Document("sync", "A lock.\n")]
    table = documents_table(documents)
    assert table.schema == DOCUMENTS
    assert documents_from(table) == documents
    assert table["sha"][0].as_py() == hashlib.sha256(b"One file.\n").hexdigest()


def test_a_candidates_prompt_stands_with_what_else_it_is_made_of() -> None:
    candidate = Candidate(
        name="gemma",
        model=ModelSettings(name="ollama:gemma4:e2b"),
        prompt_version="v2",
        prompt="Answer.",
        embedder=EmbedderSettings(name="onnx:all-MiniLM-L6-v2"),
        parameters={"k": 3},
    )
    table = prompts_table(candidate)
    assert table.schema == PROMPTS
    assert table.to_pylist() == [
        {
            "prompt": "Answer.",
            "prompt_sha": candidate.prompt_sha,
            "prompt_version": "v2",
            "model": "ollama:gemma4:e2b",
            "embedder": "onnx:all-MiniLM-L6-v2",
            "parameters": '{"k": 3}',
        }
    ]
