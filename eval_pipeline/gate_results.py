"""The gate as a step of an evaluation: a cell's stored outcomes decided on by its baseline and policy."""

from __future__ import annotations

import json

from eval_pipeline.baselines import read_gate_baseline
from eval_pipeline.cell_outcomes import declared_outcomes, eval_block
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import EvalError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.gate_files import DEFAULT_POLICY, GateFiles
from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.decision import GateDecision
from eval_pipeline.gating.outcomes import EvalBlock, Outcomes
from eval_pipeline.gating.own_outcomes import read_own_outcomes
from eval_pipeline.gating.policy import Policy, read_policy
from eval_pipeline.gating.render import decision_data, render_json
from eval_pipeline.stored import Stored
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.gate_rows import gate_table
from eval_pipeline.warehouse.store import Keys, cell_command

OUTCOMES_FILE = "outcomes.json"
"""A cell's outcomes, beside its stage report in the warehouse."""
_SEEN_IN_TRACES = ("tool_schemas_sha",)
"""Fields of an eval block that only a run can tell."""


def read_gate_policy(suite: Suite, files: GateFiles) -> Policy:
    """The rules: of the file asked for, else the suite's, else the defaults of `Policy`.

    Raises:
        PolicyError: when the file cannot be used.
    """
    if files.policy == DEFAULT_POLICY:
        return Policy()
    return read_policy(files.policy) if files.policy else suite.policy or Policy()


def read_cell_outcomes(evaluation: Evaluation, cell: Cell) -> Outcomes:
    """The outcomes stored with a cell's stage report.

    Raises:
        NotStoredError: when there are none.
        EvalError: when they are not what the files would give now, such as after a change of judge.
    """
    suite = evaluation.suite(cell.suite)
    text = evaluation.warehouse.read_text(
        "stage_report", OUTCOMES_FILE, suite=cell.suite, candidate=cell.candidate, dataset=cell.dataset
    )
    outcomes = read_own_outcomes(json.loads(text), f"outcomes of {cell.partition}")
    declared = eval_block(suite, cell)
    stale = [
        name
        for name in EvalBlock.model_fields
        if name not in _SEEN_IN_TRACES and getattr(outcomes.eval, name) != getattr(declared, name)
    ]
    if stale:
        raise EvalError(
            f"{cell.suite} {cell.partition}: what is stored differs from what the files say now "
            f"({', '.join(stale)}); run: {cell_command(cell)}"
        )
    return outcomes


def decide_cell(evaluation: Evaluation, cell: Cell, files: GateFiles) -> GateDecision:
    """Decide on a cell's stored outcomes.

    Raises:
        NotStoredError: when there are none.
        InputError: when baseline or policy cannot be used.
    """
    suite = evaluation.suite(cell.suite)
    candidate = read_cell_outcomes(evaluation, cell)
    return decide_outcomes(suite, cell, candidate, files)


def decide_outcomes(suite: Suite, cell: Cell, candidate: Outcomes, files: GateFiles) -> GateDecision:
    """Decide on a cell's outcomes, wherever they come from.

    Raises:
        InputError: when baseline or policy cannot be used.
    """
    return decide(
        read_gate_baseline(suite, cell.dataset, files),
        candidate,
        read_gate_policy(suite, files),
        candidate.calibration,
        declared=declared_outcomes(suite),
        candidate_name=suite.candidates[cell.candidate].name,
    )


def store_decision(evaluation: Evaluation, cell: Cell, files: GateFiles) -> tuple[GateDecision, Stored]:
    """One row, and the decision as JSON beside it.

    Raises:
        NotStoredError: when the cell's outcomes are not stored.
        InputError: when baseline or policy cannot be used.
    """
    decision = decide_cell(evaluation, cell, files)
    keys: Keys = {"suite": cell.suite, "candidate": cell.candidate, "dataset": cell.dataset}
    evaluation.warehouse.write("gate_decision", gate_table(decision), **keys)
    evaluation.warehouse.write_text("gate_decision", "decision.json", render_json(decision), **keys)
    content = {key: value for key, value in decision_data(decision).items() if key != "usage"}
    return decision, Stored(content_hash(content), gate_numbers(decision))


def gate_numbers(decision: GateDecision) -> dict[str, int | float]:
    """The numbers worth plotting over time; a pass rate of nothing is left out."""
    rate = decision.rates[0].candidate.value if decision.rates else None
    return {
        "exit_code": decision.exit_code,
        "regressed": len(decision.regressed),
        "fixed": len(decision.fixed),
        "critical_failures": len(decision.critical_failures),
        "missing": len(decision.missing),
        "new": len(decision.new),
        "unmeasured": len(decision.unmeasured),
        **({} if rate is None else {"pass_rate": rate}),
    }


def refuse_unused_names(suite: Suite) -> None:
    """Refuse names in the suite's policy that match no test of any of its datasets.

    Raises:
        InputError: one problem a name, with what was probably meant.
    """
    if suite.policy is not None:
        suite.policy.refuse_unmatched_names(declared_outcomes(suite))
