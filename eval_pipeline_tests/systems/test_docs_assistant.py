"""The docs assistant's own parts: its two tools, its parameters, and what it refuses to be built from."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from eval_pipeline.agent_runs import build_system
from eval_pipeline.documents import read_documents, read_fixtures
from eval_pipeline.errors import DocumentError
from eval_pipeline.recordings import Recordings
from eval_pipeline.suite_reading import find_suite
from eval_pipeline.systems.docs_assistant import Issue, issue_tool, search_tool
from eval_pipeline_tests.docs_suite import SHIPPED, DocsSuite
from eval_pipeline_tests.scripted import ScriptedConnector, WordEmbeddings

ISSUES = {
    "212": Issue(title="sync crashes", state="closed", fixed_in="2.4.1"),
    "231": Issue(title="import drops rows", state="open"),
}


def search(
    k, query="sync two machines lock", texts=("sync two machines lock", "sync lock", "color", "import rows")
):
    store = InMemoryVectorStore(WordEmbeddings([]))
    store.add_texts(list(texts), ids=[f"page-{n}" for n in range(len(texts))])
    call = {"name": "search_docs", "args": {"query": query}, "id": "1", "type": "tool_call"}
    return asyncio.run(search_tool(store, k).ainvoke(call))


def test_a_search_returns_the_k_closest_pages_with_id_and_rank():
    found = search(2)
    assert [(page["id"], page["rank"]) for page in found.artifact] == [("page-0", 1), ("page-1", 2)]
    assert found.text.startswith("[1] page page-0\nsync two machines lock\n\n[2] page page-1\n")


def test_k_above_the_number_of_pages_returns_them_all():
    assert len(search(50).artifact) == 4


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (212, "Issue 212: sync crashes. State: closed, fixed in version 2.4.1."),
        (231, "Issue 231: import drops rows. State: open, not fixed in any version."),
        (999, "Issue 999 does not exist."),
    ],
)
def test_an_issue_is_told_with_state_and_version_or_as_missing(number, says):
    assert asyncio.run(issue_tool(ISSUES).ainvoke({"number": number})) == says


def test_the_shipped_data_has_its_ten_pages_and_three_issues():
    pages = {page.id for page in read_documents(SHIPPED / "documents")}
    assert pages == {
        *("storage", "sync", "archive", "config", "output"),
        *("import", "debug", "init", "install", "tokens"),
    }
    assert set(read_fixtures(SHIPPED / "fixtures")["issues"]) == {"212", "218", "231"}


def test_without_issues_it_is_not_built(tmp_path):
    suite = DocsSuite(tmp_path)
    (suite.folder / "fixtures" / "issues.yaml").unlink()
    found = find_suite(suite.data_root, "docs")
    recordings = Recordings(tmp_path / "recordings", "new_episodes")
    with pytest.raises(DocumentError, match=r"no issues\.yaml"):
        build_system(found, found.cells[0], recordings, ScriptedConnector())
