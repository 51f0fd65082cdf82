import pytest

from eval_pipeline.scorers.grounding.contradictions import Context


@pytest.mark.parametrize(
    ("sentence", "context"),
    [
        ("Deleting the lock is unsafe.", "It is safe to delete the lock."),
        ("Deleting the lock is not unsafe.", "It is not safe to delete the lock."),
        ("The log is enabled by default.", "The log is disabled by default."),
        ("The log is on by default.", "The log is turned off by default."),
        ("The lock never blocks the remote.", "The lock always blocks the remote."),
        ("The remote is closed.", "The remote is open."),
        ("Back up the list after you close the editor.", "Back up the list before you close the editor."),
        ("Tokens are redacted since 2.4.1.", "Tokens are redacted in 2.4.0 and until 2.4.1."),
        ("A list holds at least 100 tasks.", "A list holds at most 100 tasks."),
        ("Imports can't be undone in the editor.", "Imports can be undone in the editor."),
    ],
)
def test_opposites_contradict(sentence, context) -> None:
    assert Context.of([context]).contradiction(sentence) == context


@pytest.mark.parametrize(
    ("sentence", "context"),
    [
        ("Deleting the lock is not unsafe.", "It is safe to delete the lock."),
        (
            "It is safe to delete the lock when no sync runs.",
            "It is not safe to delete the lock when a sync runs.",
        ),
        ("Before 2.4.1, tokens are not redacted.", "Since 2.4.1, tokens are redacted."),
        ("It is not only safe but fast to delete the lock.", "It is safe to delete the lock."),
        ("Not all tasks are deleted by a sync.", "All tasks are deleted by a sync."),
        ("Is it unsafe to delete the lock?", "It is safe to delete the lock."),
        ("You asked whether deleting the lock is unsafe.", "Deleting the lock is safe."),
        ("Set `lock` to `never` to delete the lock.", "Set `lock` to `always` to delete the lock."),
        ("Setting the lock to never deletes the file.", "Setting the lock deletes the file."),
        ("`--fast` does not delete the lock.", "`--slow` does delete the lock."),
        ("It does not hold 200 tasks but fewer.", "It holds 100 tasks."),
        ("The list is on the remote.", "The list is off by default."),
        ("The lock is safe.", "A token is unsafe."),
        ("Close the editor, so that no editor is open.", "Close any editor that is still open."),
    ],
)
def test_what_only_sounds_opposite_does_not_contradict(sentence, context) -> None:
    assert Context.of([context]).contradiction(sentence) is None


def test_a_sentence_that_agrees_outweighs_one_that_does_not() -> None:
    context = Context.of(["It is safe to delete the lock.", "It is not safe to delete the lock."])

    assert context.contradiction("It is not safe to delete the lock.") is None
