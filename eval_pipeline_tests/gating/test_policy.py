from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.gating.policy import Policy, PolicyError, read_policy
from eval_pipeline_tests.gating.builders import eval_block, run_of


def write(folder: Path, text: str) -> Path:
    path = folder / "policy.yaml"
    path.write_text(text)
    return path


def test_everything_a_policy_says_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """\
max_regressions: 2
min_pass_rate: 0.75
critical: [tools, "backup::*"]
max_unmeasured: 1
require_calibrated_judge: [faithfulness]
may_change: [model, prompt, index]
protected_cases: [backup]
repeats_required: 3
case_passes: majority
""",
    )

    assert read_policy(path) == Policy(
        max_regressions=2,
        min_pass_rate=0.75,
        critical=("tools", "backup::*"),
        max_unmeasured=1,
        require_calibrated_judge=("faithfulness",),
        may_change=("model", "prompt", "index"),
        protected_cases=("backup",),
        repeats_required=3,
        case_passes="majority",
    )


def test_what_is_left_out_has_the_default(tmp_path: Path) -> None:
    assert read_policy(write(tmp_path, "min_pass_rate: 1\n")) == Policy(min_pass_rate=1.0)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("critcal: [tools]", "unknown key 'critcal'; did you mean 'critical'?"),
        ("min_pass_rate: 90", "min_pass_rate: 90 is not a rate from 0 to 1; for 90 % write 0.9"),
        ("min_pass_rate: -0.1", "min_pass_rate: -0.1 is not a rate from 0 to 1; write one such as 0.9"),
        ("min_pass_rate: true", "min_pass_rate: True is not a rate from 0 to 1; write a number such as 0.9"),
        ('min_pass_rate: "0.9"', "min_pass_rate: '0.9' is not a rate"),
        ("max_regressions: -1", "max_regressions: "),
        ("max_regressions: 0.1", "max_regressions: "),
        ("max_unmeasured: true", "max_unmeasured: "),
        ("repeats_required: 0", "repeats_required: "),
        ("case_passes: most", "case_passes: "),
        ("may_change: [judge]", "may_change[0]: "),
        ("critical: tools", "critical: "),
    ],
)
def test_what_is_no_policy_is_refused_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path, f"# our rules\n{line}\n")

    with pytest.raises(PolicyError) as refusal:
        read_policy(path)

    assert str(refusal.value).startswith(f"{path}:2: {problem}")


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "min_pass_rate: 90\ncritcal: []\n")

    with pytest.raises(PolicyError) as refusal:
        read_policy(path)

    assert len(refusal.value.problems) == 2


OUTCOMES = run_of({"tools": "PP", "label": "PP"})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("critical: [tool]", "critical: 'tool' matches no test; did you mean 'tools'?"),
        ("critical: [c0::tool]", "critical: 'c0::tool' matches no test; did you mean 'c0::tools'?"),
        ("critical: [d0::tools]", "critical: 'd0::tools' matches no test; did you mean 'c0::tools'?"),
        ('critical: ["tools[d0]"]', "critical: 'tools[d0]' matches no test; did you mean 'tools[c0]'?"),
        ('critical: ["x*"]', "critical: 'x*' matches no test; known: label, tools"),
        (
            "require_calibrated_judge: [labels]",
            "require_calibrated_judge: 'labels' matches no stage; did you mean 'label'?",
        ),
        ("protected_cases: [c7]", "protected_cases: 'c7' matches no case; known: c0, c1"),
    ],
)
def test_a_name_that_matches_nothing_is_refused(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path, f"{line}\n")

    with pytest.raises(PolicyError) as refusal:
        read_policy(path).refuse_unmatched_names(OUTCOMES)

    assert str(refusal.value) == f"{path}:1: {problem}"


def test_a_name_may_be_known_to_one_side_only() -> None:
    gone = run_of({"label": "PP"})

    Policy(critical=("tools",), protected_cases=("c1",)).refuse_unmatched_names(OUTCOMES, gone)


def test_a_declared_stage_that_applies_to_no_case_is_a_known_name() -> None:
    declared = eval_block(stages=({"name": "recall", "threshold": 1.0, "scorer": "recall"},))
    outcomes = run_of({"tools": "P"}, stages=declared.stages)

    Policy(critical=("recall",)).refuse_unmatched_names(outcomes)
