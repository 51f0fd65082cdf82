"""What an edit invalidates: exactly the calls that would be asked differently, and a miss names the part."""

from __future__ import annotations

import pytest
from langchain_core.tools import tool

from eval_pipeline.errors import RecordingMisses
from eval_pipeline.models import retrying
from eval_pipeline.systems import docs_assistant
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.scripted import ScriptedConnector

# Nine cases look something up and then answer: two calls each; `thanks` answers at once: one call.
ALL_CALLS = 19
# Six cases search (backup, two-laptops, restore, config-keys, pipe-colors, dry-run-import): one query each;
# ten pages are embedded once.
ALL_EMBEDDINGS = 16


@pytest.fixture
def recorded(tmp_path):
    suite = DocsSuite(tmp_path)
    connector = ScriptedConnector()
    suite.run("new_episodes", connector)
    assert (len(connector.chats), len(connector.embedded)) == (ALL_CALLS, ALL_EMBEDDINGS)
    return suite


def calls_after(suite: DocsSuite) -> tuple[int, list[str]]:
    """Chat calls made, and texts embedded, when the edited suite records again."""
    connector = ScriptedConnector()
    suite.run("new_episodes", connector)
    return len(connector.chats), connector.embedded


def misses(suite: DocsSuite) -> dict[str, str]:
    with pytest.raises(RecordingMisses) as caught:
        suite.run("none")
    return {miss.case_id: miss.why for miss in caught.value.misses}


def test_an_unchanged_suite_replays_without_a_client(recorded):
    connector = ScriptedConnector()
    recorded.run("none", connector)
    assert connector.made == 0


def test_replay_gives_the_traces_that_were_recorded(tmp_path):
    suite = DocsSuite(tmp_path)
    live, replayed = suite.run("new_episodes"), suite.run("none")
    for before, after in zip(live, replayed, strict=True):
        assert (before.answer, before.tool_calls, before.retrieved, before.messages) == (
            after.answer,
            after.tool_calls,
            after.retrieved,
            after.messages,
        )
        assert before.latency_ms == after.latency_ms  # the model's time, not the replay's
    assert sum(trace.usage.called for trace in live) == sum(trace.usage.replayed for trace in replayed) > 0


def test_an_edited_prompt_asks_every_agent_call_again(recorded):
    recorded.edit("prompts/v1.md", "at most three sentences", "at most two sentences")
    why = misses(recorded)
    assert len(why) == 10
    assert all(
        text.startswith("prompt changed (") and "→" in text and ";" not in text for text in why.values()
    )
    assert calls_after(recorded) == (ALL_CALLS, [])


def test_an_edited_question_asks_only_its_own_case_again(recorded):
    recorded.edit("datasets/docs-assistant.yaml", "I archived a task by mistake.", "A task was archived.")
    assert list(misses(recorded)) == ["restore"]
    assert misses(recorded)["restore"].startswith("question changed (")
    chats, embedded = calls_after(recorded)
    assert chats == 2
    assert embedded == ["A task was archived. How do I get it back?"]


def test_an_edited_reference_asks_nothing_again(recorded):
    recorded.edit("datasets/docs-assistant.yaml", "with the ID of the archived task", "with its ID")
    assert calls_after(recorded) == (0, [])


def test_an_edited_page_embeds_itself_and_asks_only_the_cases_that_retrieved_it(recorded):
    retrieved = {
        trace.case_id for trace in recorded.run("none") if "sync" in {page.id for page in trace.retrieved}
    }
    assert 0 < len(retrieved) < 6  # some searches find it, others do not
    page = (recorded.folder / "documents" / "sync.md").read_text()
    edited = page + "\n(So it is.)\n"  # words too short to count: the ranks stay
    recorded.edit("documents/sync.md", page, edited)
    assert list(misses(recorded)) == ["page sync"]
    chats, embedded = calls_after(recorded)
    assert embedded == [edited]
    # Only the second call of each differs: the first one had not read the page yet.
    assert chats == len(retrieved)


def test_a_miss_after_an_edited_page_names_the_tool_whose_result_changed(recorded, monkeypatch):
    monkeypatch.setattr(retrying, "_backoff", lambda state: 0.0)  # an outage is asked again without a wait
    page = (recorded.folder / "documents" / "sync.md").read_text()
    recorded.edit("documents/sync.md", page, page.replace("lock", "LOCK"))
    # Embed the page, and let no chat call through.
    connector = ScriptedConnector(reply=_unreachable)
    recorded.run("new_episodes", connector)
    why = misses(recorded)
    assert why
    assert all(text.startswith("result of tool search_docs changed (") for text in why.values())


def test_an_edited_page_that_is_never_retrieved_costs_one_embedding(recorded):
    ever = {page.id for trace in recorded.run("none") for page in trace.retrieved}
    never = sorted({path.stem for path in (recorded.folder / "documents").iterdir()} - ever)[0]
    page = (recorded.folder / "documents" / f"{never}.md").read_text()
    recorded.edit(f"documents/{never}.md", page, page + "\n")
    assert misses(recorded).keys() == {f"page {never}"}
    assert calls_after(recorded) == (0, [page + "\n"])


def test_an_edited_page_whose_retrieved_text_stays_costs_one_embedding(recorded):
    page = (recorded.folder / "documents" / "sync.md").read_text()
    recorded.edit("documents/sync.md", page, page + "\n\n")  # the search strips the ends of a page
    assert calls_after(recorded) == (0, [page + "\n\n"])


def test_an_edited_tool_description_asks_every_call_that_offers_the_tool(recorded, monkeypatch):
    def issue_tool(issues):
        @tool
        async def get_issue(number: int) -> str:
            """Look an issue up."""
            return f"Issue {number}: {issues[str(number)].title}."

        return get_issue

    monkeypatch.setattr(docs_assistant, "issue_tool", issue_tool)
    why = misses(recorded)
    assert len(why) == 10
    assert all(text.startswith("schema of tool get_issue changed (") for text in why.values())
    assert calls_after(recorded)[0] == ALL_CALLS


def test_an_edited_model_parameter_is_named(recorded):
    recorded.edit(
        "suite.yaml", "model: openai:scripted", "model: {name: openai:scripted, settings: {seed: 2}}"
    )
    assert all(text.startswith("parameters changed (") for text in misses(recorded).values())


def test_how_the_server_is_reached_changes_nothing(recorded):
    recorded.edit(
        "suite.yaml",
        "model: openai:scripted",
        "model: {name: openai:scripted, base_url: 'http://127.0.0.1:1', timeout_s: 3}",
    )
    assert calls_after(recorded) == (0, [])


def test_a_missing_recording_stops_the_run_and_names_the_command(recorded):
    recorded.edit("prompts/v1.md", "at most three sentences", "at most two sentences")
    with pytest.raises(
        RecordingMisses, match="record what is missing with: eval-pipeline run docs --candidate scripted "
    ):
        recorded.run("none")


def _unreachable(messages):
    raise ConnectionRefusedError("scripted outage")
