"""What an edit makes again: exactly the rows that it touches, and the others are the stored ones."""

from __future__ import annotations

import pytest

from eval_pipeline import fingerprints
from eval_pipeline.carry_over import stored_rows
from eval_pipeline.recordings import Mode
from eval_pipeline_tests.carry_over.shop import Shop

ALWAYS_TRACES = {"plain broken", "loud broken"}
"""A run that an exception ended may have met something from outside: it runs every time."""

ALL_CHECKS = 19
"""Ten of each candidate; but the run that broke off is the same of both, and so is the check of it."""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    shop = Shop(tmp_path)
    shop.write()
    shop.carried("new_episodes")
    return shop


def both(*names: str) -> set[str]:
    return {f"{candidate} {name}" for candidate in ("plain", "loud") for name in names}


def again(shop: Shop, mode: Mode = "none") -> tuple[set[str], set[str]]:
    """What the next run makes again, of traces and of checks; it agrees with one from scratch."""
    shop.write()
    results = shop.carried(mode)
    assert shop.carried().rows() == shop.from_scratch().rows()
    return results.made_traces() - ALWAYS_TRACES, results.made_checks()


def test_an_unchanged_suite_makes_nothing_again(shop):
    assert again(shop) == (set(), set())


def test_nothing_is_carried_over_where_that_is_switched_off(shop):
    made = shop.from_scratch()
    assert len(made.made_traces()) == 14  # seven cases, two candidates
    # `kind` of all seven, `says` of the three that expect it, of two candidates.
    assert len(made.made_checks()) == ALL_CHECKS + 1


def test_an_edited_question_makes_its_own_rows_again(shop):
    shop.cases[5]["input"] = "hello there"
    assert again(shop, "new_episodes") == (both("hello"), both("hello kind"))


def test_an_edited_expectation_leaves_the_traces(shop):
    shop.cases[0]["expected"] = {"says": "4"}
    assert again(shop) == (set(), both("apple says", "apple kind"))


def test_a_case_added_makes_its_own_rows(shop):
    shop.cases.insert(0, {"id": "new", "input": "hi"})
    assert again(shop, "new_episodes") == (both("new"), both("new kind"))


def test_a_row_in_a_partition_beyond_the_most_rows_is_made_again(shop, monkeypatch):
    shop.cases[5]["input"] = "hello there"
    shop.write()
    shop.carried("new_episodes")
    shop.cases[5]["input"] = "hello"
    shop.cases.reverse()
    shop.cases.append({"id": "new", "input": "hi"})  # another key than the first, which has all rows but this
    # Its own partition is empty, so that one more is opened: the candidate's edited one.
    monkeypatch.setattr(stored_rows, "MOST_ROWS", 1)
    monkeypatch.setattr(stored_rows, "LEAST_PARTITIONS", 2)
    assert again(shop, "new_episodes") == (both("hello", "new"), both("hello kind", "new kind"))


def test_cases_in_another_order_are_carried_over_in_that_order(shop):
    shop.cases.reverse()
    assert again(shop) == (set(), set())


def test_an_edited_record_touches_the_runs_that_looked_it_up_or_went_through_all(shop):
    shop.edit("data/shop/fixtures/prices.yaml", "pear: 4", "pear: 5")
    # `least` goes through the whole table, which then counts for every run; so all runs run again, and of
    # their traces just those of pear come out otherwise.
    traces, checks = again(shop, "new_episodes")
    assert traces == both("apple", "pear", "plum", "least", "page", "hello")
    assert checks == both("pear says", "pear kind")


def test_an_edited_record_touches_just_its_runs_where_nobody_goes_through_all(shop):
    del shop.cases[3]
    shop.write()
    shop.carried()
    shop.edit("data/shop/fixtures/prices.yaml", "pear: 4", "pear: 4\nplum: 1")
    traces, _ = again(shop, "new_episodes")
    # That `least` had gone through all still holds for rows made beside it: they run once more, without it.
    assert traces == both("apple", "pear", "plum", "page", "hello")
    shop.edit("data/shop/fixtures/prices.yaml", "pear: 4", "pear: 5")
    assert again(shop, "new_episodes") == (both("pear"), both("pear says", "pear kind"))


def test_an_edited_page_that_a_run_reads_makes_the_runs_again(shop):
    shop.edit("data/shop/documents/hours.md", "nine", "ten")
    _, checks = again(shop, "new_episodes")
    assert checks == both("page kind")


def test_an_edited_prompt_that_changes_an_answer_makes_all_of_it_again(shop):
    shop.edit("data/shop/prompts/v1.md", "Hello", "Good day")
    traces, checks = again(shop, "new_episodes")
    assert len(traces) == 12
    # An exception was raised before any answer: that trace is as it was.
    assert checks == both(
        *("apple says", "pear says", "plum says"),
        *(f"{case} kind" for case in ("apple", "pear", "plum", "least", "page", "hello")),
    )


def test_a_prompt_put_back_finds_its_rows_again(shop):
    shop.edit("data/shop/prompts/v1.md", "Hello", "Good day")
    again(shop, "new_episodes")
    shop.edit("data/shop/prompts/v1.md", "Good day", "Hello")
    assert again(shop) == (set(), set())


def test_a_candidate_of_equal_content_is_carried_over_under_its_new_name(shop):
    shop.suite["candidates"]["twin"] = dict(shop.suite["candidates"]["plain"])
    traces, checks = again(shop)
    assert (traces, checks) == ({"twin broken"}, set())


def test_an_edited_system_makes_every_trace_again_and_only_changed_ones_checks(shop):
    shop.edit(shop.system_file, 'SUFFIX = "."', 'SUFFIX = "!"')
    traces, checks = again(shop, "new_episodes")
    assert len(traces) == 12
    assert "plain broken kind" not in checks


def test_a_comment_in_the_system_makes_every_trace_again_and_no_check(shop):
    shop.edit(shop.system_file, 'SUFFIX = "."', 'SUFFIX = "."  # ends it')
    traces, checks = again(shop)
    assert (len(traces), checks) == (12, set())


def test_an_edited_scorer_leaves_the_traces(shop):
    shop.edit(shop.scorers_file, '"says it"', '"it does"')
    traces, checks = again(shop)
    assert traces == set()
    assert len(checks) == ALL_CHECKS  # both scorers are in the edited file


def test_a_scorers_parameter_makes_its_stage_again(shop):
    shop.suite["stages"][0]["parameters"] = {"also": "o"}
    assert again(shop) == (set(), both("apple says", "pear says", "plum says"))


def test_a_threshold_makes_its_stage_again(shop):
    shop.suite["stages"][1]["threshold"] = 0.9
    traces, checks = again(shop)
    assert traces == set()
    assert {check.rpartition(" ")[2] for check in checks} == {"kind"}


def test_another_judge_makes_its_stage_again(shop):
    shop.suite["judge"]["settings"]["seed"] = 2
    traces, checks = again(shop, "new_episodes")
    assert traces == set()
    assert len(checks) == 13  # `kind` of seven traces each, one of them the same


def test_another_server_makes_rows_again_as_prices_go_by_it_but_not_another_timeout(shop):
    shop.suite["candidates"]["plain"]["model"] = {"name": "openai:shop", "timeout_s": 3}
    shop.suite["judge"]["timeout_s"] = 3
    assert again(shop) == (set(), set())
    shop.suite["candidates"]["plain"]["model"]["base_url"] = "http://127.0.0.1:1"
    traces, checks = again(shop)
    assert (len(traces), checks) == (6, set())


def test_another_library_makes_everything_again(shop, monkeypatch):
    monkeypatch.setattr(fingerprints, "_installed", lambda: "another")
    monkeypatch.setitem(fingerprints._FIRST_SEEN, "installed", "another")
    traces, checks = again(shop)
    assert (len(traces), len(checks)) == (12, ALL_CHECKS)


def test_an_edited_response_makes_again_what_used_it(shop):
    (calls,) = shop.recordings.glob("*shop/calls.jsonl")
    before = calls.read_text()
    assert before.count('"text": "Hello loud 3"') == 1
    calls.write_text(before.replace('"text": "Hello loud 3"', '"text": "Hello LOUD 3"'))
    traces, checks = again(shop, "new_episodes")
    assert traces == {"loud apple"}
    assert checks == {"loud apple says", "loud apple kind"}


def test_an_edited_verdict_makes_its_check_again(shop):
    (calls,) = shop.recordings.glob("*judge/calls.jsonl")
    lines = calls.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if '"cases": ["hello"]' in line)
    changed = lines[at].replace('"response": {"text": "', '"response": {"text": "1')
    calls.write_text("".join([*lines[:at], changed, *lines[at + 1 :]]))
    traces, checks = again(shop)
    assert traces == set()
    assert len(checks) == 1
    assert checks.pop().endswith("hello kind")


def test_code_that_changed_after_this_process_had_imported_it_carries_nothing_over(shop):
    path = shop.root / shop.system_file
    path.write_text(path.read_text() + "\n# edited\n")
    made = shop.carried()
    assert len(made.made_traces()) == 14
    assert made.traces["plain"]["inputs_hash"].null_count == 7
