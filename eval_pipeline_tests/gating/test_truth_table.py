"""The decision's truth table, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.policy import Policy
from eval_pipeline_tests.gating.builders import rules, run

NINE = "P" * 9

# Ten cases c0 … c9 of one check, `tools`; unless a row says otherwise nothing is critical, no
# regression and no unmeasured test is tolerated, and 9 of 10 must pass, so that one failure alone
# never breaks the floor. Letters: P passed, F failed, S V J C errors of system, provider, judge,
# scorer, E an error of nobody's, N not measured, k skipped, x xfailed, X xpassed, - no outcome,
# p f advisory.
TRUTH_TABLE = [
    # nothing moved
    ("all pass", "P" + NINE, "P" + NINE, {}, "pass", []),
    ("a known failure stays", "F" + NINE, "F" + NINE, {}, "pass", []),
    ("a fix", "F" + NINE, "P" + NINE, {}, "pass", []),
    # regressions; 9/10 pass, which the floor bears
    ("failing", "P" + NINE, "F" + NINE, {}, "block", ["max_regressions"]),
    ("erring by the system's fault", "P" + NINE, "S" + NINE, {}, "block", ["max_regressions"]),
    ("failing as announced", "P" + NINE, "x" + NINE, {}, "block", ["max_regressions"]),
    ("missing", "P" + NINE, "-" + NINE, {}, "block", ["max_regressions"]),
    ("skipped", "P" + NINE, "k" + NINE, {}, "block", ["max_regressions", "max_unmeasured"]),
    ("one tolerated", "P" + NINE, "F" + NINE, {"max_regressions": 1}, "pass", []),
    (
        "one too many, and 8/10 below the floor",
        "PP" + "P" * 8,
        "FF" + "P" * 8,
        {"max_regressions": 1},
        "block",
        ["max_regressions", "min_pass_rate"],
    ),
    (
        "tolerated, but not in a protected case",
        "P" + NINE,
        "F" + NINE,
        {"max_regressions": 1, "protected_cases": ("c0",)},
        "block",
        ["protected_cases"],
    ),
    (
        "tolerated in another than the protected case",
        "P" + NINE,
        "F" + NINE,
        {"max_regressions": 1, "protected_cases": ("c1",)},
        "pass",
        [],
    ),
    # what the baseline could not measure cannot have regressed
    ("unmeasured before, failing now", "V" + NINE, "F" + NINE, {}, "pass", []),
    ("new and failing", "-" + NINE, "F" + NINE, {}, "pass", []),
    # the floor
    ("8/10 on both sides", "FF" + "P" * 8, "FF" + "P" * 8, {}, "block", ["min_pass_rate"]),
    ("8/10 where 0.8 is asked", "FF" + "P" * 8, "FF" + "P" * 8, {"min_pass_rate": 0.8}, "pass", []),
    # critical tests
    ("critical, failing as ever", "F" + NINE, "F" + NINE, {"critical": ("tools",)}, "block", ["critical"]),
    ("critical, erring", "S" + NINE, "S" + NINE, {"critical": ("c0::tools",)}, "block", ["critical"]),
    ("critical, xfailed", "x" + NINE, "x" + NINE, {"critical": ("tools",)}, "block", ["critical"]),
    ("critical, new, failing", "-" + NINE, "F" + NINE, {"critical": ("tools",)}, "block", ["critical"]),
    (
        "critical, passed before",
        "P" + NINE,
        "F" + NINE,
        {"critical": ("tools",)},
        "block",
        ["max_regressions", "critical"],
    ),
    (
        "critical, failing before, deleted",
        "F" + NINE,
        "-" + NINE,
        {"critical": ("tools",)},
        "block",
        ["critical_missing"],
    ),
    (
        "critical, unmeasured before, deleted",
        "V" + NINE,
        "-" + NINE,
        {"critical": ("tools",)},
        "block",
        ["critical_missing"],
    ),
    (
        "critical, passing before, deleted, although regressions are tolerated",
        "P" + NINE,
        "-" + NINE,
        {"critical": ("tools",), "max_regressions": 5},
        "block",
        ["critical_missing"],
    ),
    (
        "critical, failing before, skipped, although unmeasured ones are tolerated",
        "F" + NINE,
        "k" + NINE,
        {"critical": ("tools",), "max_unmeasured": 5},
        "block",
        ["critical_missing"],
    ),
    # whoever calls a test critical wants its verdict, whatever else may go without
    (
        "critical, unmeasured, although one unmeasured is tolerated",
        "P" + NINE,
        "V" + NINE,
        {"critical": ("tools",), "max_unmeasured": 1},
        "inconclusive",
        ["critical_unmeasured"],
    ),
    (
        "critical, unmeasured, none tolerated",
        "P" + NINE,
        "N" + NINE,
        {"critical": ("tools",)},
        "inconclusive",
        ["critical_unmeasured", "max_unmeasured"],
    ),
    (
        "critical, new, skipped",
        "-" + NINE,
        "k" + NINE,
        {"critical": ("tools",), "max_unmeasured": 1},
        "inconclusive",
        ["critical_unmeasured"],
    ),
    (
        "another than the unmeasured one is critical",
        "P" + NINE,
        "V" + NINE,
        {"critical": ("c1::tools",), "max_unmeasured": 1},
        "pass",
        [],
    ),
    ("another is critical", "F" + NINE, "F" + NINE, {"critical": ("c1::tools",)}, "pass", []),
    ("not critical, failing before, deleted", "F" + NINE, "-" + NINE, {}, "pass", []),
    # unmeasured
    ("provider error", "P" + NINE, "V" + NINE, {}, "inconclusive", ["max_unmeasured"]),
    ("judge error", "P" + NINE, "J" + NINE, {}, "inconclusive", ["max_unmeasured"]),
    ("scorer error", "P" + NINE, "C" + NINE, {}, "inconclusive", ["max_unmeasured"]),
    ("error of nobody's", "P" + NINE, "E" + NINE, {}, "inconclusive", ["max_unmeasured"]),
    ("not measured", "P" + NINE, "N" + NINE, {}, "inconclusive", ["max_unmeasured"]),
    ("passing against its mark", "P" + NINE, "X" + NINE, {}, "inconclusive", ["max_unmeasured"]),
    ("skipped on both sides", "k" + NINE, "k" + NINE, {}, "inconclusive", ["max_unmeasured"]),
    ("one unmeasured tolerated", "P" + NINE, "V" + NINE, {"max_unmeasured": 1}, "pass", []),
    (
        "two unmeasured, one tolerated",
        "PP" + "P" * 8,
        "VJ" + "P" * 8,
        {"max_unmeasured": 1},
        "inconclusive",
        ["max_unmeasured"],
    ),
    # 8 passed of 9 measured: 0.89
    (
        "unmeasured is not in the rate",
        "FP" + "P" * 8,
        "FV" + "P" * 8,
        {"max_unmeasured": 1},
        "block",
        ["min_pass_rate"],
    ),
    ("nothing measured", "F" * 10, "V" * 10, {"max_unmeasured": 10}, "inconclusive", ["empty_run"]),
    ("an empty run", "F" * 10, "-" * 10, {}, "inconclusive", ["empty_run"]),
    ("an empty run after passes", "P" * 10, "-" * 10, {}, "block", ["max_regressions", "empty_run"]),
    # several broken rules: the stronger verdict, and each its own reason
    (
        "regressed and unmeasured",
        "PP" + "P" * 8,
        "FV" + "P" * 8,
        {},
        "block",
        ["max_regressions", "min_pass_rate", "max_unmeasured"],
    ),
    # advisory checks count in nothing
    ("advisory and failing", "p" + NINE, "f" + NINE, {}, "pass", []),
    ("critical but advisory", "f" + NINE, "f" + NINE, {"critical": ("tools",)}, "pass", []),
    ("gated, and only advises now", "P" + NINE, "f" + NINE, {}, "inconclusive", ["gating_lost"]),
    ("failed, and only advises now", "F" + NINE, "f" + NINE, {}, "inconclusive", ["gating_lost"]),
    ("advised, and gates now", "p" + NINE, "F" + NINE, {}, "pass", []),
    (
        "advised, and gates now, critical",
        "f" + NINE,
        "F" + NINE,
        {"critical": ("tools",)},
        "block",
        ["critical"],
    ),
    # nothing to compare with: what the candidate breaks alone is said all the same
    ("no baseline", None, "P" + NINE, {}, "incomparable", ["baseline"]),
    (
        "no baseline, critical failure",
        None,
        "F" + NINE,
        {"critical": ("tools",)},
        "incomparable",
        ["baseline", "critical"],
    ),
    ("an empty baseline", "-" * 10, "P" + NINE, {}, "incomparable", ["baseline"]),
    ("an unmeasured baseline", "V" * 10, "P" + NINE, {}, "incomparable", ["baseline"]),
    ("a baseline that only advised", "p" * 10, "P" + NINE, {}, "incomparable", ["baseline"]),
]


@pytest.mark.parametrize(
    ("before", "after", "policy", "verdict", "broken"),
    [row[1:] for row in TRUTH_TABLE],
    ids=[row[0] for row in TRUTH_TABLE],
)
def test_truth_table(
    before: str | None, after: str, policy: dict[str, Any], verdict: str, broken: list[str]
) -> None:
    decision = decide(None if before is None else run(before), run(after), Policy(**policy))

    assert (decision.verdict, rules(decision)) == (verdict, broken)
