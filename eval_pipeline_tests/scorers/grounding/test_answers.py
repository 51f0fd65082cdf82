"""Which answers the pages support, which they do not, and which say the opposite."""

import pytest

from eval_pipeline_tests.scorers.grounding.pages import (
    DEBUG,
    ISSUE_212,
    ISSUE_231,
    OUTPUT,
    STORAGE,
    SYNC,
    score_answer,
)


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
