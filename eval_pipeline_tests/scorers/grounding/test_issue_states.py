import pytest

from eval_pipeline.scorers.grounding.issue_states import read_states


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("Issue 231: Rows are dropped. State: open, not fixed in any version.", {"231": True}),
        ("#231 Rows are dropped\nstate: closed\nlabels: bug", {"231": False}),
        ("number: 231\ntitle: Like #212\n**Status:** Closed", {"231": False}),
        ('[{"number": 1, "state": "open"}, {"number": 2, "state": "closed"}]', {"1": True, "2": False}),
        ('[{"state": "open", "number": 1}, {"state": "closed", "number": 2}]', {}),
        ("Issue 231 is still open.", {"231": True}),
        ("Issue 231 is open.\nstate: closed", {}),
        ("Open the file. The state is kept.", {}),
    ],
)
def test_the_state_of_an_issue_is_read_from_text_and_json(text, states) -> None:
    assert read_states([text]) == states
