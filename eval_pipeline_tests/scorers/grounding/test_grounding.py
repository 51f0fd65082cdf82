import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.cases import Case, Known
from eval_pipeline.errors import ScorerError
from eval_pipeline.scorers.grounding import Grounding
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall

STORAGE = """[1] page storage
# Storage

Each list is one SQLite file, `tasks.db`, in the list folder. The list folder is `~/.tracker`
unless you picked another one.

To back up a list, copy its `tasks.db`. It is not safe to copy the file while a tracker command is running.
"""
SYNC = """[1] page sync
# Syncing

`tracker sync` holds a lock on the remote while it runs. A second machine waits for the lock, for up to
30 s. If the lock is still taken then, it exits with the message 'remote is locked'.
"""
OUTPUT = """[1] page output
# Output

The setting `color` in `config.toml` is one of `auto`, `always` and `never`. With `auto`, color is off
in a pipe. `--format csv` does not remove color. To restore an archived task, run `tracker restore ID`.
"""
DEBUG = """[1] page debug
# Debug output

With `--debug`, tracker writes the details of each request to `debug.log` in the list folder.
From version 2.4.1 on, it redacts API tokens in that file. The file holds at most 1,000 requests.
"""
ISSUE_231 = "Issue 231: CSV import drops rows but reports success. State: open, not fixed in any version."
ISSUE_212 = '{"number": 212, "title": "sync stops with KeyError", "state": "closed", "fixed_in": "2.4.1"}'


def score_answer(answer: str | None, *texts: str, question: str = "What does the page say?") -> Score:
    calls = tuple(ToolCall("search_docs", {}, text) for text in texts)
    trace = AgentTrace("c", answer=answer, tool_calls=calls, context=texts)
    return Grounding().score(Case("c", question, expected={"tools": ["search_docs"]}), trace)


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Each list is a single SQLite file, `tasks.db`.", STORAGE),
        ("Your tasks are in `~/.tracker/tasks.db`.", STORAGE),
        ("Your tasks are in ~/.tracker/.", STORAGE),
        ("**Backup:** copy “tasks.db”, which lies in the `~/.tracker` folder [1].", STORAGE),
        ("Run `cp ~/.tracker/tasks.db ~/backup/`.", STORAGE),
        ("Don't copy the file while a tracker command is running.", STORAGE),
        ("Copying the file is unsafe while a tracker command is running.", STORAGE),
        ("Copying the file is safe once no tracker command is running any more.", STORAGE),
        ("A second machine waits up to thirty seconds for the lock.", SYNC),
        ("The second machine has a 30-second wait.", SYNC),
        ("It waits for half a minute at most, then exits with ‘remote is locked’.", SYNC),
        ("It waits at most 0.5 minutes.", SYNC),
        ("It gives up after 30 s with `remote is locked`.", SYNC),
        ('The message is "Remote is locked."', SYNC),
        ("`color` has three values: `auto`, `always`, `never`.", OUTPUT),
        ("There are 3 values:\n- `auto`\n- `always`\n- `never`", OUTPUT),
        ("Set `color: never`, so that colors are always off.", OUTPUT),
        ('Set `color = "never"` in config.toml.', OUTPUT),
        ("Colour is off in a pipe with `auto`.", OUTPUT),
        ("`--format csv` keeps color: it doesn't remove it.", OUTPUT),
        ("Run `tracker restore 42`, if 42 is the number of your task.", OUTPUT),
        ("```bash\n$ tracker restore 42  # brings it back\n```", OUTPUT),
        ("Since v2.4.1, API tokens are redacted.", DEBUG),
        ("You need 2.4.1 or later.", DEBUG),
        ("Before 2.4.1, it did not redact API tokens.", DEBUG),
        ("Before 2.4.1, tokens were written to debug.log in full.", DEBUG),
        ("`debug.log` holds up to 1000 requests.", DEBUG),
        ("1. Run it with `--debug`.\n2. Open `~/.tracker/debug.log`.", DEBUG + STORAGE),
        ("Issue 231 is still open and has not been fixed.", ISSUE_231),
        ("#231 is open. No version fixes it.", ISSUE_231),
        ("Once issue 231 is closed, the import will report it.", ISSUE_231),
        ("Issue 212 was fixed in version **2.4.1**.", ISSUE_212),
        ("Issue 212 is closed, so the editor may stay open.", ISSUE_212),
        ("Replace `<id>` and `NAME` by your own.", SYNC),
        ("Set `log.enabled: true` to enable logs.", "Logs are disabled when `log.enabled` is false."),
        ("You get 2 KB-77 by May 3, 2024 for $1,249.90.", "2 KB-77, by 2024-05-03, 1249.90 USD"),
        ("Thank you for asking!", SYNC),
    ],
)
def test_a_good_answer_is_fully_supported(answer, context) -> None:
    score = score_answer(answer, context)

    assert score.details["sentences"] == []
    assert score.value == 1.0


@pytest.mark.parametrize(
    ("answer", "context", "unsupported"),
    [
        ("Each list is two SQLite files.", STORAGE, "2"),
        ("Your tasks are in `tasks.sqlite`.", STORAGE, "tasks.sqlite"),
        ("Your tasks are in ~/.config/tracker.", STORAGE, "~/.config/tracker"),
        ("A second machine waits for 300 s.", SYNC, "300 s"),
        ("A second machine waits for 3 s.", SYNC, "3 s"),
        ("A second machine waits up to 30 minutes.", SYNC, "30 minutes"),
        ("A second machine waits for forty-five seconds.", SYNC, "45 seconds"),
        ("It exits with 'remote is busy'.", SYNC, '"remote is busy"'),
        ("`color` is one of `auto`, `always` and `sometimes`.", OUTPUT, "sometimes"),
        ("Use `tracker list --format xml`.", OUTPUT, "xml"),
        ("Set color_mode in the settings.", OUTPUT, "color_mode"),
        ("Run it with --debug-all.", DEBUG, "--debug-all"),
        ("Run it with `-d`.", DEBUG, "-d"),
        ("From 12.4.1 on, it redacts API tokens.", DEBUG, "12.4.1"),
        ("From 2.4 on, it redacts API tokens.", DEBUG, "2.4"),
        ("The tokens are hashed with sha256.", DEBUG, "sha256"),
        ("See https://example.com/docs for more.", DEBUG, "https://example.com/docs"),
        ("Issue 213 is open.", ISSUE_231, "213"),
    ],
)
def test_what_no_tool_result_has_is_named(answer, context, unsupported) -> None:
    score = score_answer(answer, context)

    assert score.value == 0.0
    assert unsupported in score.details["sentences"][0]["unsupported"]
    assert unsupported in score.reason


@pytest.mark.parametrize(
    ("answer", "context", "opposite"),
    [
        ("It is safe to copy the file while a tracker command is running.", STORAGE, "not safe"),
        ("The list folder is never `~/.tracker`.", STORAGE, "list folder is `~/.tracker`"),
        ("A second machine does not wait for the lock.", SYNC, "waits for the lock"),
        ("A second machine waits at least 30 s.", SYNC, "up to 30 s"),
        ("`--format csv` removes color.", OUTPUT, "does not remove"),
        ("With `auto`, color is on in a pipe.", OUTPUT, "is off"),
        ("With `auto`, color is turned on in a pipe.", OUTPUT, "is off"),
        ("Before version 2.4.1, it redacts API tokens in that file.", DEBUG, "From version 2.4.1 on"),
        ("From version 2.4.1 on, it no longer redacts API tokens in that file.", DEBUG, "it redacts"),
        ("Issue 231 is closed.", ISSUE_231, "issue 231 is open"),
        ("Issue 231 was fixed by an update.", ISSUE_231, "issue 231 is open"),
        ("Issue 212 is not fixed yet.", ISSUE_212, "issue 212 is closed"),
    ],
)
def test_an_answer_that_says_the_opposite_is_not_supported(answer, context, opposite) -> None:
    score = score_answer(answer, context)

    assert score.value == 0.0
    [contradiction] = score.details["sentences"][0]["unsupported"]
    assert contradiction.startswith("contradicts: ")
    assert opposite in contradiction


@pytest.mark.parametrize("answer", ["Yes.", "Yes, it is safe.", "Yes, it's safe to do that."])
def test_a_short_reply_is_read_with_the_question(answer) -> None:
    question = "Is it safe to copy the file while a tracker command is running?"

    assert score_answer(answer, STORAGE, question=question).value == 0.0
    assert score_answer("No, it is not safe.", STORAGE, question=question).value == 1.0


def test_what_the_question_says_may_be_repeated() -> None:
    question = "I have 2 laptops on 2.3.0 and my export.csv: does `--fast` help?"

    assert (
        score_answer("On 2.3.0, `--fast` with export.csv is not described.", SYNC, question=question).value
        == 1.0
    )


def test_an_amount_of_the_question_is_not_confirmed_against_the_context() -> None:
    question = "Does the second machine wait 60 seconds for the lock?"

    assert (
        score_answer("Yes, the second machine waits 60 seconds for the lock.", SYNC, question=question).value
        == 0
    )
    assert score_answer("No, it doesn't wait 60 seconds but 30 seconds.", SYNC, question=question).value == 1


@pytest.mark.parametrize(
    "answer",
    [
        "The docs do not say how long `--frobnicate` waits.",
        "That is not in the docs.",
        "I couldn't find anything about Windows 11 in the documentation.",
        "Sorry, there is no information about encryption.",
        "The documentation doesn't mention it. Please ask the maintainers.",
        "The search results don't cover it. They only describe `debug.log`.",
    ],
)
def test_an_answer_that_the_docs_do_not_tell_is_recognised(answer) -> None:
    score = score_answer(answer, DEBUG)

    assert score.details == {"sentences": [], "declined": True}
    assert score.value == 1.0
    assert score.reason == "the answer says that the tool results do not tell"


@pytest.mark.parametrize(
    "answer",
    [
        "The docs do not mention this, but it waits 45 seconds.",
        "The docs don't say it. It waits 45 seconds.",
        "If a timeout is not specified, it waits 45 seconds.",
    ],
)
def test_declining_does_not_cover_what_the_answer_adds(answer) -> None:
    assert "45 seconds" in score_answer(answer, SYNC).reason


def test_the_value_is_the_share_of_supported_sentences() -> None:
    score = score_answer(
        "It waits for 30 s. It then runs `tracker reset`. It exits. It logs to sync.log.", SYNC
    )

    assert score.value == 0.5
    assert score.details["sentences"] == [
        {"text": "It then runs `tracker reset`.", "unsupported": ["reset"]},
        {"text": "It logs to sync.log.", "unsupported": ["sync.log"]},
    ]
    assert score.reason == "2 of 4 sentences lack support, the first: reset"


def test_an_answer_without_checkable_claims_scores_one_and_the_reason_says_so() -> None:
    score = score_answer("That depends on the remote.", SYNC)

    assert score.value == 1.0
    assert score.reason == "the answer makes no claim that can be looked up"


@pytest.mark.parametrize("answer", [None, "", " \n", "...", "**"])
def test_a_blank_answer_is_an_error_and_no_score(answer) -> None:
    with pytest.raises(ScorerError, match="has no words"):
        score_answer(answer, SYNC)


@pytest.mark.parametrize("texts", [(), ("",)])
def test_an_agent_that_fetched_nothing_fails_and_the_reason_says_so(texts) -> None:
    score = score_answer("The docs do not say.", *texts)

    assert (score.value, score.passed) == (0.0, False)
    assert score.reason == "the agent fetched nothing, so nothing supports its answer"


def test_pages_and_their_ids_are_evidence() -> None:
    page = RetrievedDocument("sync_guide", 1, 0.9, "It waits for 30 s.", 0)
    trace = AgentTrace("c", answer="It waits for 30 s (see `sync_guide`).", retrieved=(page,))

    assert Grounding().score(Case("c", "q", expected={"tools": ["search_docs"]}), trace).value == 1.0


def test_the_rank_of_a_search_result_is_no_evidence() -> None:
    assert score_answer("Version 1 does it.", SYNC).value == 0.0


@pytest.mark.parametrize(("tools", "applies"), [(None, False), ([], False), (["search_docs"], True)])
def test_the_check_applies_where_the_case_expects_a_tool(tools, applies) -> None:
    assert Grounding().applies(Case("c", "q", expected={"tools": tools})) is applies


def test_a_misspelt_tool_is_a_problem() -> None:
    problems = Grounding().problems(
        Case("c", "q", expected={"tools": ["serch"]}), Known(tools=frozenset(["search"]))
    )

    assert problems == ["expected.tools: no tool 'serch'; did you mean 'search'?"]


SENTENCES = [
    "It waits for 30 s.",
    "It exits with 'remote is locked'.",
    "A second machine does not wait for the lock.",
    "It writes sync.log.",
]


@given(st.permutations(SENTENCES))
def test_the_order_of_an_answers_sentences_never_changes_the_value(sentences) -> None:
    assert score_answer(" ".join(sentences), SYNC).value == 0.5


@given(st.permutations([STORAGE, SYNC, OUTPUT, DEBUG, ISSUE_231]))
def test_the_order_of_tool_results_never_changes_the_score(texts) -> None:
    answer = "A second machine waits 30 s. `--format csv` removes color. Issue 231 is closed. Use `--fast`."

    assert score_answer(answer, *texts) == score_answer(answer, *sorted(texts))


NOISE = [
    "`",
    "'",
    '"',
    "*",
    "30",
    " s",
    "2.4.1",
    ".",
    "not",
    " ",
    "\n",
    "~/",
    "-a",
    "two",
    "|",
    "[1]",
    "<id>",
]
WORDS = [
    "`-a`",
    "'no way'",
    "30 s",
    "v2.4.1",
    "is not",
    "two",
    "~/x/y.db",
    "--flag",
    "safe",
    "1,000",
    "a_b",
    "10:30",
]


@given(st.lists(st.sampled_from(NOISE)).map("".join))
def test_any_answer_gets_a_score_with_any_context(noise) -> None:
    assert 0 <= score_answer(f"word {noise}", SYNC).value <= 1
    assert 0 <= score_answer("It waits for 30 s.", f"word {noise}").value <= 1


@given(st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join))
def test_a_text_supports_itself(text) -> None:
    assert score_answer(text, text).details["sentences"] == []
