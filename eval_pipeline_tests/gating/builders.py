"""Runs written short: a letter a case, so that a table of decisions can be read at a glance."""

from __future__ import annotations

from typing import Any

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.decision import GateDecision
from eval_pipeline.gating.outcomes import CheckOutcome, EvalBlock, GateOutcome, Outcomes, node_id

LETTERS: dict[str, tuple[GateOutcome, ErrorSource | None]] = {
    "P": ("passed", None),
    "F": ("failed", None),
    "S": ("error", "system"),
    "V": ("error", "provider"),
    "J": ("error", "judge"),
    "C": ("error", "scorer"),
    "E": ("error", None),  # pytest's error, of which nobody said whose fault it was
    "N": ("not_measured", None),
    "k": ("skipped", None),
    "x": ("xfailed", None),
    "X": ("xpassed", None),
}
ADVISORY = {"p": "P", "f": "F"}


def eval_block(**fields: Any) -> EvalBlock:
    """What a run of the toy suite was made with, but for `fields`; a field set to ... is left out."""
    known: dict[str, Any] = {
        "suite": "toy",
        "dataset": "basics@1",
        "cases_sha": "cases-a",
        "docs_sha": "docs-a",
        "dataset_sha": "dataset-a",
        "judge_id": "judge-a",
        "judge_model": "ollama:judge",
        "model": "ollama:small",
        "model_sha": "model-a",
        "prompt_version": "v1",
        "prompt_sha": "prompt-a",
        "embedder": "onnx:tiny",
        "k": 3,
        "parameters_sha": "parameters-a",
        "tool_schemas_sha": "tools-a",
        "system_code_sha": "code-a",
        "stages": (),
    }
    given = known | fields
    given.setdefault("embedder_sha", given["embedder"])  # one embedder, one hash
    return EvalBlock(**{name: value for name, value in given.items() if value is not ...})


def run(letters: str, *, check: str = "tools", **fields: Any) -> Outcomes:
    """One run of one check: the letter at place n is the outcome of case `cn`, `-` a missing one."""
    return run_of({check: letters}, **fields)


def run_of(checks: dict[str, str], **fields: Any) -> Outcomes:
    """One run of several checks, in their order; several letters with `/` between are repeats."""
    tests = []
    for check, letters in checks.items():
        groups = [letters] if "/" in letters else list(letters)
        for number, group in enumerate(groups):
            for repeat, letter in enumerate(group.split("/")):
                if letter != "-":
                    tests.append(outcome(f"c{number}", check, letter, repeat))
    return Outcomes(eval_block(**fields), tuple(tests))


def outcome(case: str, check: str, letter: str, repeat: int = 0) -> CheckOutcome:
    """One outcome from its letter."""
    result, source = LETTERS[ADVISORY.get(letter, letter)]
    return CheckOutcome(
        nodeid=node_id("toy", case, check),
        case=case,
        check=check,
        outcome=result,
        gating=letter not in ADVISORY,
        repeat=repeat,
        error_source=source,
    )


def rules(decision: GateDecision) -> list[str]:
    """The rules a decision finds broken, in its order."""
    return [reason.rule for reason in decision.reasons]
