import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from eval_pipeline.content_hash import sha12
from eval_pipeline.errors import RecordingMiss
from eval_pipeline.recordings import Recordings, Request, Scope, scope
from eval_pipeline.recordings.explaining import AskedIndex
from eval_pipeline.recordings.parsing import parse_line
from eval_pipeline_tests.recordings.questions import Model, ask, embedding, entry_id, line, question, record


def why(folder: Path, request: Request, case: str = "case-1", **where: object) -> str:
    with pytest.raises(RecordingMiss) as caught:
        ask(Recordings(folder), request, Model(), case, **where)
    return caught.value.why


def why_beside(folder: Path, request: Request, *in_use: str) -> str:
    """Why nothing answers, where agents ask with these models and prompts, and `fake:two` judges."""
    with pytest.raises(RecordingMiss) as caught:
        ask(Recordings(folder, in_use={"agent": in_use, "judge": ["fake:two"]}), request, Model(), "case-1")
    return caught.value.why


def change(before: str, now: str) -> str:
    return f"({sha12(before)} → {sha12(now)})"


def test_a_changed_prompt_is_named_with_both_hashes(tmp_path: Path):
    record(tmp_path, question("Where?", prompt="Be brief."))
    assert (
        why(tmp_path, question("Where?", prompt="Be kind."))
        == f"prompt changed {change('Be brief.', 'Be kind.')}"
    )


def test_the_hashes_are_those_people_read_elsewhere(tmp_path: Path):
    record(tmp_path, question("Where?", prompt="Be brief."))
    # printf '"Be brief."' | sha256sum, printf '"Be kind."' | sha256sum
    assert (
        why(tmp_path, question("Where?", prompt="Be kind.")) == "prompt changed (fecef222d773 → 8c294dd9b20a)"
    )


def test_an_edited_case_is_a_changed_question(tmp_path: Path):
    record(tmp_path, question("Where?"))
    assert why(tmp_path, question("Where to?")) == f"question changed {change('Where?', 'Where to?')}"


def test_a_changed_tool_result_is_named_by_its_tool(tmp_path: Path):
    record(tmp_path, question("Where?", **{"result of tool search_docs": "here"}))
    asked = question("Where?", **{"result of tool search_docs": "there"})
    assert why(tmp_path, asked) == f"result of tool search_docs changed {change('here', 'there')}"


def test_what_was_added_and_what_was_removed_is_named(tmp_path: Path):
    record(tmp_path, question("Where?", **{"schema of tool search_docs": "{}"}))
    asked = question("Where?", **{"schema of tool get_issue": "{}"})
    assert why(tmp_path, asked) == "schema of tool get_issue added; schema of tool search_docs removed"


def test_several_changes_are_told_in_the_order_asked(tmp_path: Path):
    record(tmp_path, question("Where?", prompt="Be brief."))
    told = f"prompt changed {change('Be brief.', 'Be kind.')}; question changed {change('Where?', 'When?')}"
    assert why(tmp_path, question("When?", prompt="Be kind.")) == told


def test_the_nearest_of_the_requests_of_the_case_is_compared(tmp_path: Path):
    record(
        tmp_path,
        question("Where?", **{"model reply 1": "search", "result of tool search_docs": "here"}),
        question("Where?"),
        question("Where?", **{"model reply 1": "list", "result of tool list_docs": "all"}),
    )
    asked = question("Where?", **{"model reply 1": "search", "result of tool search_docs": "there"})
    assert why(tmp_path, asked) == f"result of tool search_docs changed {change('here', 'there')}"


def test_the_case_itself_is_compared_before_a_nearer_other_one(tmp_path: Path):
    record(tmp_path, question("Where?"), case="case-1")
    record(tmp_path, question("When?", prompt="Be brief."), case="case-2")
    assert why(tmp_path, question("When?", prompt="Be kind."), "case-1").startswith("prompt changed")
    assert "nearest" not in why(tmp_path, question("When?", prompt="Be kind."), "case-1")


def test_a_case_never_recorded_is_compared_with_the_most_alike_other_one(tmp_path: Path):
    record(tmp_path, question("Where?"), question("When?"), case="case-1")
    record(tmp_path, question("Who?"), case="case-2")
    told = why(tmp_path, question("Who?", prompt="Be kind."), "case-3")
    assert told == f"prompt changed {change('Be brief.', 'Be kind.')} [nearest is case case-2]"


def test_a_case_alike_to_none_is_still_compared_with_one(tmp_path: Path):
    record(tmp_path, question("Where?", prompt="Be brief."))
    told = why(tmp_path, question("Who?", prompt="Be kind."), "case-2")
    assert told.endswith(f"question changed {change('Where?', 'Who?')} [nearest is case case-1]")


def test_a_judge_is_compared_only_with_the_same_metric(tmp_path: Path):
    record(tmp_path, question("Is it grounded?"), role="judge", label="faithfulness")
    record(tmp_path, question("Is it grounded?", prompt="Be kind."), role="judge", label="relevancy")
    told = why(tmp_path, question("Is it grounded?", prompt="Be stern."), role="judge", label="faithfulness")
    assert told == f"prompt changed {change('Be brief.', 'Be stern.')}"


def test_a_metric_never_recorded_says_so(tmp_path: Path):
    record(tmp_path, question("Is it grounded?"), role="judge", label="faithfulness")
    told = why(tmp_path, question("Is it relevant?"), role="judge", label="relevancy")
    assert told == "nothing recorded for judge relevancy with fake:one"


def test_nothing_recorded_at_all_says_so(tmp_path: Path):
    assert why(tmp_path, question("Where?")) == "nothing recorded for agent with fake:one"


def test_an_embedding_is_compared_only_with_embeddings(tmp_path: Path):
    record(tmp_path, question("Where?"))
    assert why(tmp_path, embedding("Where?")) == "nothing recorded for agent with fake:one"


def test_a_swapped_model_is_compared_with_the_recordings_of_the_other(tmp_path: Path):
    record(tmp_path, question("Where?", model="fake:one"))
    assert why(tmp_path, question("Where?", model="fake:two")) == "model changed (fake:one → fake:two)"


def test_a_swapped_model_that_is_recorded_as_the_judge_only_is_compared_so_too(tmp_path: Path):
    record(tmp_path, question("Is it grounded?", model="fake:two"), role="judge")
    record(tmp_path, question("Where?", model="fake:one"))
    told = why(tmp_path, question("Where?", model="fake:two", prompt="Be kind."))
    assert told == f"model changed (fake:one → fake:two); prompt changed {change('Be brief.', 'Be kind.')}"


def test_a_prompt_that_is_asked_with_elsewhere_is_not_what_an_edited_one_was(tmp_path: Path):
    record(tmp_path, question("Where?", prompt="Be brief."), question("Where?", prompt="Be stern."))
    asked = question("Where?", prompt="Be kind.")
    for elsewhere, before in (("Be brief.", "Be stern."), ("Be stern.", "Be brief.")):
        told = why_beside(tmp_path, asked, sha12(elsewhere))
        assert told == f"prompt changed {change(before, 'Be kind.')}"
    assert why_beside(tmp_path, asked, sha12("Be brief."), sha12("Be stern.")) == "prompt is new"


def test_of_earlier_prompts_the_one_known_to_be_before_was_it_else_the_one_recorded_last():
    same = ["question", sha12("Where?")]
    dates = (("Be brief.", "2026-01-01"), ("Be stern.", "2026-01-03"), ("Be dull.", "2026-01-02"))
    lines = [
        line(
            id=entry_id(number),
            parts=[["prompt", sha12(prompt)], same],
            at=f"{day}T12:00:00Z",
        )
        for number, (prompt, day) in enumerate(dates)
    ]
    index = AskedIndex(map(parse_line, lines))
    for before, found in (((), "Be stern."), ([sha12("Be dull.")], "Be dull."), (["0" * 12], "Be stern.")):
        asked = question("Where?", prompt="Be kind.")
        nearest = index.nearest(asked, Scope("case-1"), before=before, same_case=True)
        assert nearest is not None
        assert nearest.labels["prompt"] == sha12(found)


def test_a_model_that_others_ask_is_not_what_a_new_one_was(tmp_path: Path):
    record(tmp_path, question("Where?", model="fake:one"))
    asked = question("Where?", model="fake:two")
    assert why_beside(tmp_path, asked, "fake:one") == "nothing recorded for agent with fake:two"


def test_a_model_that_judges_may_be_what_an_agents_new_one_was(tmp_path: Path):
    record(tmp_path, question("Where?", model="fake:two"))
    told = why_beside(tmp_path, question("Where?", model="fake:new"))  # of the judge, which is `fake:two`
    assert told == "model changed (fake:two → fake:new)"


def test_other_models_are_looked_at_for_the_case_first(tmp_path: Path):
    record(tmp_path, question("Where?", model="fake:one"), case="case-2")
    record(tmp_path, question("When?", model="fake:two"), case="case-1")
    told = why(tmp_path, question("Where?", model="fake:three"), "case-1")
    assert told == f"model changed (fake:two → fake:three); question changed {change('When?', 'Where?')}"


def test_among_many_alike_cases_the_one_that_shares_the_rarest_part_is_the_nearest():
    prompt, same = ["prompt", "0" * 12], ["question", "f" * 12]
    many = [line(id=entry_id(n), cases=["a"], parts=[prompt, ["question", f"{n:012x}"]]) for n in range(1000)]
    alike = line(id=entry_id(1000), cases=["z"], parts=[prompt, same])
    index = AskedIndex(map(parse_line, [*many, alike]))
    request = Request("chat", "fake:one", {"prompt": "0" * 64, "question": "f" * 64, "tool choice": "1" * 64})
    nearest = index.nearest(request, Scope("new"), same_case=False)
    assert nearest is not None
    assert nearest.cases == ("z",)


def judged(template: str, answer: str, parameters: str = "t=0") -> Request:
    parts = {"parameters": parameters, "text": template + answer}
    finer = {"judge template of faithfulness": template, "input: actual output": answer}
    hashed = question("", "fake:one")
    return Request(
        "chat",
        hashed.model,
        {label: question(text).parts["question"] for label, text in parts.items()},
        {label: question(text).parts["question"] for label, text in finer.items()},
        frozenset({"text"}),
    )


def test_finer_labels_are_named_in_place_of_the_part_they_cover(tmp_path: Path):
    record(tmp_path, judged("Judge {}", "yes"))
    told = why(tmp_path, judged("Judge well {}", "yes"))
    assert told == f"judge template of faithfulness changed {change('Judge {}', 'Judge well {}')}"


def test_a_covered_part_is_not_named_beside_another_change(tmp_path: Path):
    record(tmp_path, judged("Judge {}", "yes"))
    told = why(tmp_path, judged("Judge {}", "no", parameters="t=1"))
    assert told == (
        f"parameters changed {change('t=0', 't=1')}; input: actual output changed {change('yes', 'no')}"
    )


def test_a_covered_part_is_named_when_nothing_else_differs(tmp_path: Path):
    one = judged("Judge {}", "yes")
    record(tmp_path, one)
    other = Request("chat", one.model, {**one.parts, "text": "f" * 64}, one.explain, one.covered)
    assert why(tmp_path, other) == f"text changed ({one.parts['text'][:12]} → ffffffffffff)"


def test_parts_in_another_order_are_called_that(tmp_path: Path):
    one = question("Where?")
    record(tmp_path, one)
    other = Request("chat", one.model, dict(reversed(one.parts.items())))
    assert why(tmp_path, other) == "its parts stand in another order"


def test_a_repeat_that_was_not_recorded_is_called_that(tmp_path: Path):
    record(tmp_path, question("Where?"))
    told = "the same request is recorded for repeat 0, but not for this one"
    assert why(tmp_path, question("Where?"), repeat=2) == told
    assert why(tmp_path, question("Where?"), role="judge", judge_repeat=1) == told
    record(tmp_path, question("Where?"), repeat=1)
    told = "the same request is recorded for repeats 0, 1, but not for this one"
    assert why(tmp_path, question("Where?"), repeat=2) == told


def seeded(words: str, seed: int, **more: str) -> Request:
    """A question of repeat `seed`, whose first repeat has seed 0."""
    asked = question(words, parameters=f"seed {seed}", **more)
    return replace(asked, first_repeat={"parameters": question("", parameters="seed 0").parts["parameters"]})


def test_a_repeat_with_a_seed_of_its_own_was_merely_not_recorded(tmp_path: Path):
    record(tmp_path, question("Where?", parameters="seed 0"))
    assert why(tmp_path, seeded("Where?", 2), repeat=2) == (
        "the same request is recorded for repeat 0, but not for this one"
    )


def test_a_repeats_own_seed_is_no_difference_worth_naming(tmp_path: Path):
    record(tmp_path, question("Where?", parameters="seed 0"))
    assert why(tmp_path, seeded("When?", 2), repeat=2) == f"question changed {change('Where?', 'When?')}"


def test_how_often_one_run_asked_is_told_when_that_is_all(tmp_path: Path):
    record(tmp_path, question("Where?"))

    async def run() -> None:
        store = Recordings(tmp_path)
        with scope("case-1"):
            for _ in range(2):
                await store.ask(question("Where?"), Model())

    with pytest.raises(RecordingMiss, match="recorded, but not for time 2 that one run asks it"):
        asyncio.run(run())


def test_the_message_names_the_repeat(tmp_path: Path):
    with pytest.raises(RecordingMiss) as caught:
        ask(Recordings(tmp_path), question("Where?"), Model(), "case-7", repeat=3)
    assert caught.value.repeat == 3
    assert str(caught.value) == "case-7 (agent, repeat 3): nothing recorded for agent with fake:one"


def test_the_message_names_case_role_and_reason(tmp_path: Path):
    with pytest.raises(RecordingMiss) as caught:
        ask(Recordings(tmp_path), question("Where?"), Model(), "case-7", role="judge")
    miss = caught.value
    assert (miss.case_id, miss.role, miss.model) == ("case-7", "judge", "fake:one")
    assert str(miss) == "case-7 (judge): nothing recorded for judge with fake:one"
