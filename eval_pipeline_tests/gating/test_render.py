from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.decision import GateDecision
from eval_pipeline.gating.junit import render_junit
from eval_pipeline.gating.outcomes import (
    CheckOutcome,
    DeclaredStage,
    JudgeRecord,
    Outcomes,
    RunUsage,
)
from eval_pipeline.gating.policy import Policy
from eval_pipeline.gating.render import render_json, render_text
from eval_pipeline.gating.render_markdown import COMMENT_BYTES, render_markdown
from eval_pipeline_tests.gating.builders import eval_block, run, run_of

STAGES = (
    DeclaredStage(name="tools", threshold=1.0, scorer="tools"),
    DeclaredStage(name="label", threshold=1.0, scorer="label"),
    DeclaredStage(name="faithful", threshold=0.7, scorer="judge", gating="when_calibrated"),
)
RECORD = JudgeRecord(calibrated=False, defects=8, caught=2, sound=8, false_alarms=1)


def blocked() -> GateDecision:
    """A prompt edit that loses a label, mends another and meets a provider error."""
    before = run_of({"tools": "PPP", "label": "PFP", "faithful": "ppp"}, stages=STAGES)
    after = run_of({"tools": "PPV", "label": "FPP", "faithful": "pfp"}, stages=STAGES, prompt_sha="prompt-b")
    usage = RunUsage(calls=10, cost_usd=0.5), RunUsage(calls=12, cost_usd=0.5)
    return decide(
        Outcomes(before.eval, before.tests, usage[0]),
        Outcomes(after.eval, after.tests, usage[1]),
        Policy(min_pass_rate=0.5),
        {"faithful": RECORD},
    )


TEXT = """\
decision: BLOCK
suite: toy
baseline: ollama:small, v1, basics@1
candidate: ollama:small, v1, basics@1
reasons (2):
  block: 1 regression, max_regressions is 0: toy::c0::label (passed → failed)
  inconclusive: 1 unmeasured test, max_unmeasured is 0: toy::c2::tools (passed → error (provider))
pass rates (baseline, candidate):
  all checks  5/6 (0.44–0.97)  4/5 (0.38–0.96)
  cases       2/3 (0.21–0.94)  1/2 (0.09–0.91)
  tools       3/3 (0.44–1.00)  2/2 (0.34–1.00)
  label       2/3 (0.21–0.94)  2/3 (0.21–0.94)
paired: 1 worse, 1 better of 5 measured on both sides: could be chance (p = 1)
changed (1):
  prompt: v1 (prompt_sha prompt-a) → v1 (prompt_sha prompt-b) (released)
notes: none
regressed (1):
  toy::c0::label (passed → failed)
fixed (1):
  toy::c1::label (failed → passed)
critical failures: none
missing: none
new: none
errors (1):
  toy::c2::tools (passed → error (provider))
unmeasured (1):
  toy::c2::tools (passed → error (provider))
flaky: none
first failing stage (3):
  c0: none → label
  c1: label → none
  c2: none → tools: error (provider)
advisory stages (1):
  faithful: 2/3 (0.21–0.94) passed; advisory: judge caught 2 of 8 defects, 1 false alarm in 8 sound answers
cost and latency (2):
  calls: 10 → 12 (+20%)
  cost in USD: 0.5 → 0.5 (+0%)
"""


def test_text_begins_with_the_decision_and_lists_everything() -> None:
    assert render_text(blocked()) == TEXT


def test_text_of_a_pass_says_that_no_rule_is_broken() -> None:
    text = render_text(decide(run("P"), run("P"), Policy()))

    assert text.startswith("decision: PASS\n")
    assert "\nreasons: no rule is broken\n" in text


def test_where_nothing_was_compared_the_text_says_so() -> None:
    text = render_text(decide(None, run("P"), Policy()))

    assert text.startswith("decision: INCOMPARABLE\nsuite: toy\nbaseline: none\n")
    assert "\nregressed: not compared\n" in text
    assert "\npaired:" not in text
    assert "  all checks  –  1/1 (0.21–1.00)\n" in text


def test_a_long_list_is_cut_in_text_and_whole_in_json() -> None:
    decision = decide(run("P" * 30), run("F" * 30), Policy())

    assert "  … and 10 more; --format json has them all\n" in render_text(decision)
    assert len(json.loads(render_json(decision))["regressed"]) == 30


NASTY = "a\x1b[31m\n|<b>`@someone` :tada: [x](http://y) \ud800 ‮"


def nasty() -> GateDecision:
    """A case whose name does what it can to break out."""
    test = CheckOutcome(f"toy::{NASTY}::tools", NASTY, "tools", "failed")
    return decide(run("P"), Outcomes(eval_block(), (test,)), Policy())


def test_text_holds_nothing_but_what_is_printable() -> None:
    text = render_text(nasty())

    assert all(line.isprintable() for line in text.splitlines())
    assert "toy::a\\x1b[31m\\n|<b>`@someone` :tada: [x](http://y) \\ud800 \\u202e::tools (failed)" in text


def test_json_holds_the_whole_decision() -> None:
    data = json.loads(render_json(blocked()))

    assert (data["decision"], data["exit_code"]) == ("block", 1)
    assert data["reasons"][0] == {
        "verdict": "block",
        "rule": "max_regressions",
        "text": "1 regression, max_regressions is 0: toy::c0::label (passed → failed)",
        "tests": ["toy::c0::label"],
    }
    assert data["pass_rates"][0]["candidate"] == {"passed": 4, "total": 5, "interval": [0.3755, 0.9638]}
    assert data["fixed"] == [{"nodeid": "toy::c1::label", "baseline": "failed", "candidate": "passed"}]
    assert data["advisory"][0]["judge"]["caught"] == 2
    assert data["usage"]["candidate"]["calls"] == 12
    assert data["candidate"]["prompt_sha"] == "prompt-b"


def test_json_is_stable_and_can_be_written_whatever_a_name_holds() -> None:
    text = render_json(nasty())

    assert text == render_json(nasty())
    assert json.loads(text.encode())["new"][0]["nodeid"] == f"toy::{NASTY}::tools"


def test_markdown_has_the_verdict_first_and_a_table_of_rates() -> None:
    markdown = render_markdown(blocked())

    assert markdown.startswith("**decision: BLOCK**\n\n- **block** ")
    assert "| `all checks` | 5/6 (0.44–0.97) | 4/5 (0.38–0.96) |\n" in markdown
    assert "**missing**: none\n" in markdown


def test_names_do_nothing_in_markdown() -> None:
    markdown = render_markdown(nasty())

    listed = [line for line in markdown.splitlines() if "someone" in line]
    assert listed
    assert all(line.count("<code>") == 1 for line in listed)
    for harmful in ("<b>", "`@someone`", ":tada:", "](http", "\x1b"):
        assert harmful not in markdown


def test_markdown_is_cut_to_the_bytes_there_are() -> None:
    decision = decide(run("P" * 9000), run("F" * 9000), Policy())

    markdown = render_markdown(decision, limit=COMMENT_BYTES)

    assert COMMENT_BYTES - 200 < len(markdown.encode()) <= COMMENT_BYTES
    assert markdown.startswith("**decision: BLOCK**\n")
    assert markdown.endswith("_Cut here: the whole decision is in `--format json`._\n")


def test_markdown_that_fits_is_whole() -> None:
    assert render_markdown(blocked(), limit=COMMENT_BYTES) == render_markdown(blocked())


def test_junit_has_the_decision_and_a_test_for_every_check() -> None:
    before = run("PPPPPPF")
    after = run("PFV-kfS")

    root = ET.fromstring(render_junit(decide(before, after, Policy())))

    gate, checks = root.findall("testsuite")
    failure = gate.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "block"
    kinds = {
        str(case.get("classname")): [(child.tag, child.get("type")) for child in case] for case in checks
    }
    assert kinds == {
        "c0": [],
        "c1": [("failure", "failed")],
        "c2": [("error", "unmeasured")],
        "c3": [("failure", "missing")],
        "c4": [("failure", "missing")],  # skipped, which the baseline did not
        "c5": [("skipped", "advisory")],
        "c6": [("failure", "failed")],
    }
    assert {name: checks.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7",
        "failures": "4",
        "errors": "1",
        "skipped": "1",
    }


def test_junit_of_a_pass_has_no_failure() -> None:
    root = ET.fromstring(render_junit(decide(run("P"), run("P"), Policy())))

    assert list(root.iter("failure")) == []


def test_junit_is_xml_whatever_a_name_holds() -> None:
    root = ET.fromstring(render_junit(nasty()).encode())

    names = [case.get("classname") for case in root.iter("testcase")]
    assert "a\\x1b[31m\n|<b>`@someone` :tada: [x](http://y) \\ud800 ‮" in names
