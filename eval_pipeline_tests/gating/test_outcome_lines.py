from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from eval_pipeline.gating.json_files import load_json
from eval_pipeline.gating.outcome_lines import read_as_written
from eval_pipeline.gating.outcomes import CheckOutcome, Outcomes, OutcomesError
from eval_pipeline.gating.own_outcomes import outcomes_text, read_own_outcomes
from eval_pipeline.gating.published import read_published
from eval_pipeline_tests.gating.builders import eval_block, run_of
from eval_pipeline_tests.gating.stage_reports import stage_report

RUN = run_of({"tools": "PFSVN", "label": "pf-P"})
TEXT = outcomes_text(RUN)
FIRST = '{"nodeid": "toy::c0::tools", "repeat": 0, "outcome": "passed", "gating": true, "error_source": null}'
NAMES = (
    "ends with a colon:",
    'a "quote"',
    "back\\slash",
    "tab\tand line\n",
    "ümläut",
    "🦊",
    "\u2028",
    "[c] {d}",
)


def named(case: str, check: str = "tools") -> CheckOutcome:
    return CheckOutcome(f"toy::{case}::{check}", case, check, "passed")


@pytest.mark.parametrize(
    "outcomes",
    [
        RUN,
        run_of({"tools": "P/F/V", "label": "P/P/-"}),
        replace(RUN, tests=tuple(map(named, NAMES))),
        replace(RUN, tests=tuple(named("c0", check) for check in NAMES)),
        replace(RUN, eval=eval_block(suite=...)),
        read_published(stage_report(), "report.json"),
    ],
    ids=["outcomes", "repeats", "cases", "checks", "no suite", "imported"],
)
def test_the_written_layout_is_read_by_lines_as_it_would_be_as_json(outcomes: Outcomes) -> None:
    text = outcomes_text(outcomes)

    assert read_as_written(text) == outcomes
    assert read_own_outcomes(json.loads(text), "o.json") == outcomes


@pytest.mark.parametrize(
    "change",
    [
        lambda text: json.dumps(json.loads(text)),
        lambda text: text.replace("    {", "  {"),
        lambda text: text.replace(FIRST + ",", FIRST + " ,"),
        lambda text: text.replace('"tests": [\n', '"tests":[\n'),
        lambda text: text + "\n",
    ],
    ids=["one line", "indent", "comma", "head", "end"],
)
def test_another_layout_is_left_to_the_json_reader(change: Callable[[str], str]) -> None:
    text = change(TEXT)
    assert text != TEXT

    assert read_as_written(text) is None
    assert read_own_outcomes(load_json(text, "o.json", OutcomesError), "o.json") == RUN


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"repeat": 0, "outcome": "passed"', '"repeat": 0, "repeat": 0, "outcome": "passed"'),
        ('"repeat": 0, "outcome": "passed"', '"repeat": true, "outcome": "passed"'),
        ('"repeat": 0, "outcome": "passed"', '"repeat": NaN, "outcome": "passed"'),
        ('"repeat": 0, "outcome": "passed"', '"repeet": 0, "outcome": "passed"'),
        ('"repeat": 0, "outcome": "passed"', '"nodeid": "toy::c0::other", "outcome": "passed"'),
        ('"outcome": "passed"', '"outcome": "ok"'),
        ('"outcome": "passed"', '"outcome": "error"'),
        ('"error_source": null', '"error_source": "toy::judge"'),
        ('"error_source": null}', '"error_source": null}, {}'),
        ('"error_source": null}', '"error_source": null'),
        ("toy::c0::tools", "other::c0::tools"),
        ("toy::c0::tools", "toy::c0::c1::tools"),
        ("toy::c0::tools", "toy::c0"),
        ("toy::c0::tools", "toy::::tools"),
        ("toy::c0::tools", "::c0::tools"),
        ("toy::c0::tools", "toy::c0::"),
        ("toy::c0::tools", "toy::c\t0::tools"),
        ("toy::c0::tools", 'toy::c"0::tools'),
        ("toy::c0::tools", "toy::c\\::tools"),
        ("toy::c0::tools", "toy::c\\u003a:0::tools"),
        ('"tests": [', '"tests": [], "tests": ['),
        ('"format":', '"fromat":'),
        ('"k": 3', '"k": "3"'),
    ],
)
def test_what_is_not_in_order_is_left_to_the_reader_that_names_it(old: str, new: str) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT

    assert read_as_written(text) is None
    with pytest.raises(OutcomesError, match=r"^o\.json"):
        read_own_outcomes(load_json(text, "o.json", OutcomesError), "o.json")


def test_an_escaped_colon_before_a_check_belongs_to_the_case() -> None:
    text = TEXT.replace("toy::c0::tools", "toy::c0::\\u003atools", 1)

    assert read_as_written(text) is None
    first = read_own_outcomes(json.loads(text), "o.json").tests[0]
    assert (first.case, first.check) == ("c0:", "tools")
