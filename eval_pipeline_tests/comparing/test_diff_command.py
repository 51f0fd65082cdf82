"""`eval-pipeline diff`, over results of a toy suite that were stored as a run stores them."""

from __future__ import annotations

import json
import shutil
import sys

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app
from eval_pipeline.errors import CaseError, InputError, NotStoredError, SuiteError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline_tests.comparing.sides import store_all
from eval_pipeline_tests.toy import ToyFiles, write_toy


class ToyResults:
    """A toy suite, its results, and the command over them."""

    def __init__(self, toy: ToyFiles, warehouse: str) -> None:
        self.toy = toy
        self.warehouse = warehouse

    def run(self, *candidates: str) -> None:
        store_all(Evaluation("run", self.toy.data, self.warehouse), "toy", *candidates)

    def diff(self, *arguments: str) -> str:
        result = CliRunner().invoke(
            app,
            ["diff", "toy", *arguments],
            env={"EVAL_DATA": str(self.toy.data), "EVAL_WAREHOUSE": self.warehouse},
        )
        if result.exception is not None:
            raise result.exception
        return result.stdout

    def key(self, candidate: str) -> str:
        return Evaluation("", self.toy.data, self.warehouse).suite("toy").candidate_key(candidate)


@pytest.fixture
def toy(tmp_path):
    return ToyResults(write_toy(tmp_path), str(tmp_path / "warehouse"))


def test_two_candidates_are_compared_case_by_case(toy):
    toy.run()
    calm, loud = toy.key("calm"), toy.key("loud")
    # `loud` says RED, which the scorer does not take for red.
    title, verdict, answers, changed, *rest = toy.diff("calm", "loud").splitlines()
    assert title.startswith(f"toy: {calm} → {loud} on small@")
    assert verdict == "1 worse, none better of 2: could be chance (exact McNemar p = 1)"
    assert answers == "answer changed in 1 of 2 cases"
    assert changed == "changed: parameters.shout false → true"
    assert rest[:6] == [
        "",
        "worse (1)",
        "  apple  passes → fails at words",
        "    words      passed 1.00 → failed 0.00: said none of red",
        "    before     [-An apple is red.-]",
        "    after      {+AN APPLE IS RED.+}",
    ]


def test_an_edited_prompt_is_compared_with_the_key_stored_before(toy):
    toy.run("calm")
    before = toy.key("calm")
    toy.toy.edit("prompts/v1.md", "Look the page up.", "Look the page up, then answer.")
    toy.run("calm")
    shown = toy.diff("calm")
    assert shown.startswith(f"toy: {before} → {toy.key('calm')} on small@")
    assert "\nnone worse, none better of 2\nno answer changed in 2 cases\n" in shown
    assert "\nchanged: prompt text (0 words gone, 3 new)\n" in shown
    assert "\n  Look the page up{+, then answer+}.\n" in shown


def test_the_key_before_is_the_one_stored_last_even_when_an_edit_is_undone(toy):
    keys = []
    for prompt in ("First.", "Second.", "Third.", "First."):
        toy.toy.write("prompts/v1.md", prompt)
        toy.run("calm")
        keys.append(toy.key("calm"))
    assert toy.diff("calm").startswith(f"toy: {keys[2]} → {keys[0]} on small@")


def test_an_edited_dataset_is_compared_with_the_one_stored_before(toy):
    toy.run("calm")
    toy.toy.edit("documents/apple.md", "An apple is red.", "An apple is red and round.")
    toy.run("calm")
    shown = toy.diff("calm")
    key = toy.key("calm")
    assert shown.startswith(f"toy: {key} on small@")
    assert f" → {key} on small@" in shown
    assert "An apple is red{+ and round+}." in shown


def test_old_keys_are_read_from_the_warehouse_alone(toy):
    toy.run()
    calm, loud = toy.key("calm"), toy.key("loud")
    shown = toy.diff(calm, loud)
    toy.toy.edit("prompts/v1.md", "Look the page up.", "Answer at once.")
    shutil.rmtree(toy.toy.suite / "documents")
    toy.toy.write("documents/apple.md", "An apple is green.\n")
    assert toy.diff(calm, loud) == shown
    assert toy.diff(calm[:9], loud[:9]) == shown  # the beginning of a key is enough


def test_another_dataset_of_the_same_name_is_compared_on_the_common_cases(toy):
    toy.run("calm")
    toy.toy.edit("datasets/small.yaml", "- id: thanks\n    input: Thank you!", "- id: bye\n    input: Bye!")
    toy.toy.edit("datasets/small.yaml", "An apple is red.", "Red.")
    toy.toy.edit("prompts/v1.md", "page", "pages")
    toy.run("calm")
    shown = toy.diff("calm")
    assert "nothing to compare: no case is measured on both sides" in shown
    assert "edited cases, not counted (1)\n  apple  passes\n" in shown
    assert "only before (1): thanks\n" in shown
    assert "only after (1): bye\n" in shown


def test_results_from_before_an_edit_of_the_cases_are_pointed_out(toy):
    toy.run()
    toy.toy.edit("datasets/small.yaml", "An apple is red.", "Red.")
    result = CliRunner().invoke(
        app,
        ["diff", "toy", "calm", "loud"],
        env={"EVAL_DATA": str(toy.toy.data), "EVAL_WAREHOUSE": toy.warehouse},
    )
    told = result.stderr.splitlines()
    assert [line.partition(" on ")[0] for line in told] == [
        f"note: {toy.key('calm')}",
        f"note: {toy.key('loud')}",
    ]
    assert told[0].endswith(
        "is stored from before a change of cases; run: eval-pipeline run toy --candidate calm --dataset small"
    )


def test_one_case_in_full(toy):
    toy.run()
    shown = toy.diff("calm", "loud", "--case", "apple").splitlines()[1:]
    assert shown[:8] == [
        "case       apple",
        "question   What colour is an apple?",
        "reference  An apple is red.",
        "",
        "outcome    passes → fails at words",
        'tools      look_up(page="apple")',
        "before     [-An apple is red.-]",
        "after      {+AN APPLE IS RED.+}",
    ]
    assert "words      passed 1.00 → failed 0.00" in shown


def test_json_holds_the_cases_that_changed_with_both_sides_and_counts_the_others(toy):
    toy.run()
    data = json.loads(toy.diff("calm", "loud", "--format", "json"))
    (found,) = data["comparisons"]
    assert (data["version"], data["suite"]) == (2, "toy")
    assert found["before"]["candidate"] == toy.key("calm")
    assert found["verdict"]["worse"] == 1
    assert found["changes"] == [{"name": "parameters.shout", "before": False, "after": True}]
    assert found["first_failures"] == [{"before": None, "after": "words", "cases": ["apple"]}]
    (apple,) = found["cases"]
    assert (apple["id"], apple["direction"], found["unchanged"]) == ("apple", "worse", 1)
    (run,) = apple["runs"]
    assert run["moved"] == ["words"]
    assert run["stages"]["words"]["after"]["score"] == 0.0
    assert run["answer"]["diff"] == [
        {"kind": "gone", "text": "An apple is red."},
        {"kind": "new", "text": "AN APPLE IS RED."},
    ]


@pytest.mark.parametrize(
    ("arguments", "listed"), [(("--case", "thanks"), ["thanks"]), (("--all-cases",), ["apple", "thanks"])]
)
def test_json_lists_an_unchanged_case_that_is_asked_for(toy, arguments, listed):
    toy.run()
    (found,) = json.loads(toy.diff("calm", "loud", "--format", "json", *arguments))["comparisons"]
    assert [case["id"] for case in found["cases"]] == listed
    thanks = found["cases"][-1]
    assert (thanks["direction"], thanks["runs"][0]["answer"]["diff"]) == ("same", [])


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_what_is_written_grows_with_what_changed_and_not_with_the_cases(toy, form):
    sizes = []
    for unchanged in (1, 200):
        thanks = [
            f"  - id: thanks-{n}\n    input: Thank you!\n    expected: {{tools: []}}\n"
            for n in range(1, unchanged)
        ]
        text = (toy.toy.suite / "datasets/small.yaml").read_text()
        toy.toy.write("datasets/small.yaml", text + "".join(thanks))
        toy.run()
        shown = toy.diff("calm", "loud", "--format", form)
        assert "thanks-7" not in shown
        sizes.append(len(shown))
    # Counts and rates take a few more digits.
    assert sizes[1] < sizes[0] + 100


def test_a_case_whose_pages_alone_differ_is_shown(toy):
    toy.run("calm")
    before = "RetrievedDocument(found[0], 1, 1.0, text, 0),)"
    toy.toy.edit("prompts/v1.md", "page", "pages")
    path = toy.toy.edit_module("system", before, before[:-1] + " RetrievedDocument('pear', 2, 0.5, '', 0))")
    sys.modules.pop(path.stem)
    toy.run("calm")
    shown = toy.diff("calm")
    assert (
        "same outcomes and answers, other pages or tools (1)\n  apple  passes\n    pages      gained pear\n"
        in shown
    )


def test_markdown_shows_what_models_wrote_as_code(toy):
    toy.run()
    shown = toy.diff("calm", "loud", "--format", "markdown")
    assert shown.startswith("### toy: calm@")
    assert "\n  - before: <del>`An apple is red.`</del>\n" in shown


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("calm",), NotStoredError, "stored under no other key than calm@.*: run it before and after"),
        (
            ("calm", "loud"),
            NotStoredError,
            "nothing is stored of loud@.*; run: .* run toy .* loud",
        ),
        (("calm", "calm"), SuiteError, "are the same candidate"),
        (("calm", "loud", "shy"), InputError, "compares two candidates, and 3 are named: calm, loud, shy"),
        (("clam", "loud"), SuiteError, "no candidate 'clam', declared or stored; did you mean 'calm'"),
        (("calm", "loud", "--dataset", "smal"), SuiteError, "no dataset 'smal'.*did you mean 'small'"),
    ],
)
def test_what_cannot_be_compared_is_a_clear_error(toy, arguments, error, message):
    toy.run("calm")
    with pytest.raises(error, match=message):
        toy.diff(*arguments)


def test_an_edited_candidate_that_was_not_run_names_its_stored_key(toy):
    toy.run("calm")
    before = toy.key("calm")
    toy.toy.edit("prompts/v1.md", "Look the page up.", "Look the page up, then answer.")
    told = (
        rf"nothing is stored of {toy.key('calm')} \(its last stored key is {before}\); run: .* --record-mode"
    )
    with pytest.raises(NotStoredError, match=told):
        toy.diff("calm")


def test_a_case_that_not_both_sides_have_is_a_clear_error(toy):
    toy.run()
    with pytest.raises(CaseError, match="no case 'aple' on both sides; did you mean 'apple'"):
        toy.diff("calm", "loud", "--case", "aple")


def test_nothing_stored_at_all_names_the_command(toy):
    with pytest.raises(NotStoredError, match="eval-pipeline run toy --candidate loud"):
        toy.diff("calm", "loud")
