"""An agent that answers questions about `tracker`, a task-tracker CLI, from its docs and its issues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from eval_pipeline.cases import Case
from eval_pipeline.documents import Document
from eval_pipeline.errors import DocumentError
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace, System

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from langchain_core.vectorstores import VectorStore

TOOLS = ("search_docs", "get_issue")
MAX_TOOL_ROUNDS = 5


class Parameters(BaseModel):
    """What a candidate may set."""

    model_config = ConfigDict(extra="forbid")

    k: int = Field(default=3, ge=1)
    """Pages that one search returns."""


class Issue(BaseModel):
    """One entry of `fixtures/issues.yaml`."""

    model_config = ConfigDict(extra="forbid")

    title: str
    state: str
    fixed_in: str | None = None


def build(context: SystemContext) -> System:
    """Index the pages and build the agent, once per cell.

    Raises:
        DocumentError: when the fixtures hold no usable issues.
        RecordingMisses: on replay, when a page's vector is not recorded.
    """
    from langchain.agents import create_agent

    from eval_pipeline.langchain_agent import ToolFailuresToModel

    agent = create_agent(
        context.models.chat(),
        [search_tool(_index(context), context.parameters.k), issue_tool(_issues(context.fixtures))],
        system_prompt=context.prompt,
        middleware=[ToolFailuresToModel()],
    )
    return DocsAssistant(agent)


@dataclass(frozen=True)
class DocsAssistant:
    """The built agent; it keeps nothing between runs."""

    agent: Any

    async def run(self, case: Case) -> AgentTrace:
        """Answer one question."""
        from eval_pipeline.langchain_agent import run_agent

        return await run_agent(self.agent, case, max_tool_rounds=MAX_TOOL_ROUNDS)


def _index(context: SystemContext) -> VectorStore:
    """All pages in an exact in-memory store."""
    from langchain_core.documents import Document as Page
    from langchain_core.vectorstores import InMemoryVectorStore

    if not context.documents:
        raise DocumentError("the docs assistant searches documents, but the dataset has none")
    store = InMemoryVectorStore(context.models.embeddings(context.documents))
    pages: list[Document] = sorted(context.documents, key=lambda page: page.id)
    store.add_documents([Page(page.text, id=page.id) for page in pages])
    return store


def _issues(fixtures: Mapping[str, Any]) -> Mapping[str, Issue]:
    table = fixtures.get("issues")
    if not isinstance(table, Mapping):
        raise DocumentError("fixtures: no issues.yaml with a mapping from issue number to issue")
    return {str(number): Issue.model_validate(issue) for number, issue in table.items()}


def search_tool(store: VectorStore, k: int) -> BaseTool:
    """The tool that returns the `k` closest pages, each with its page id and rank."""
    from langchain_core.tools import tool

    @tool(response_format="content_and_artifact")
    async def search_docs(query: str) -> tuple[str, list[dict[str, Any]]]:
        """Search the tracker documentation. Use it for how tracker works."""
        found = await store.asimilarity_search_with_score(query, k=k)
        pages: list[dict[str, Any]] = [
            {"id": page.id, "rank": rank, "score": float(score), "text": page.page_content}
            for rank, (page, score) in enumerate(found, 1)
        ]
        text = "\n\n".join(f"[{page['rank']}] page {page['id']}\n{page['text'].strip()}" for page in pages)
        return text, pages

    return search_docs


def issue_tool(issues: Mapping[str, Issue]) -> BaseTool:
    """The tool that looks a numbered issue up."""
    from langchain_core.tools import tool

    @tool
    async def get_issue(number: int) -> str:
        """Look up one numbered issue of tracker: its title, its state and the version that fixed it."""
        issue = issues.get(str(number))
        if issue is None:
            return f"Issue {number} does not exist."
        fixed = f"fixed in version {issue.fixed_in}" if issue.fixed_in else "not fixed in any version"
        return f"Issue {number}: {issue.title}. State: {issue.state}, {fixed}."

    return get_issue
