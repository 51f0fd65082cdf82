"""One turn of `eval-pipeline watch`: plan, run what may be run, and compare with what was stored before."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property

from rich.console import Console

from eval_pipeline.assets.materializing import Materializer
from eval_pipeline.cli.printing import progress, say, say_error
from eval_pipeline.comparing.comparison import compare
from eval_pipeline.comparing.sides import Side
from eval_pipeline.comparing.stored_keys import last_stored, stored_cells
from eval_pipeline.comparing.stored_sides import read_side
from eval_pipeline.errors import EvalError, NotStoredError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.cell_plan import CellPlan, CellPlanner
from eval_pipeline.planning.kept_plans import compare_with_plan, keep_plan
from eval_pipeline.planning.plan_text import plan_text, total_text
from eval_pipeline.planning.planned_rows import PlannedAbove
from eval_pipeline.planning.typical_calls import TypicalCalls
from eval_pipeline.recordings import Mode, Recordings
from eval_pipeline.report.comparison_blocks import short_blocks
from eval_pipeline.report.comparison_text import print_blocks
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.report.table import summary_lines
from eval_pipeline.suites import Cell, Suite


def make_turn(suite_name: str, candidate: str | None, dataset: str | None, mode: Mode) -> bool:
    """Plan, run and compare the chosen cells; whether all of them could be run.

    In mode `none` a cell whose system would call a model is planned and not run.

    Raises:
        EvalError: when the suite's files cannot be used, or a key is missing in a live mode.
        KeyboardInterrupt: after Ctrl-C; the calls that were answered are recorded.
    """
    evaluation = Evaluation(run_id="", mode=mode)
    suite = evaluation.suite(suite_name)
    cells = suite.select_cells(candidate, dataset)
    evaluation.refuse_missing_keys(suite, cells)
    with Materializer(suite, mode) as materializer:
        turn = _Turn(evaluation, suite, materializer)
        befores = {cell: turn.stored_before(cell) for cell in cells}
        done = [turn.take(cell, befores[cell]) for cell in cells]
    if turn.waiting:
        chosen = {"--candidate": candidate, "--dataset": dataset}
        options = "".join(f" {name} {shlex.quote(value)}" for name, value in chosen.items() if value)
        command = f"eval-pipeline watch {suite_name}{options} --record-mode new_episodes"
        say(f"not run: {total_text(turn.waiting, command)}")
    return all(done)


@dataclass(frozen=True)
class _Turn:
    """What the cells of a turn share."""

    evaluation: Evaluation
    suite: Suite
    materializer: Materializer

    @cached_property
    def waiting(self) -> list[CellPlan]:
        """The plans that nobody has allowed to be paid for."""
        return []

    @cached_property
    def above(self) -> PlannedAbove:
        return PlannedAbove()

    @cached_property
    def typical(self) -> TypicalCalls:
        return TypicalCalls.of(self.suite.recordings)

    def stored_before(self, cell: Cell) -> Side | None:
        """What was stored last of the same candidate and dataset, whatever their keys were."""
        warehouse = self.evaluation.shared_warehouse
        before = last_stored(stored_cells(warehouse, self.suite.name), cell)
        try:
            return None if before is None else read_side(warehouse, self.suite, before)
        except NotStoredError:  # stored in part
            return None

    def take(self, cell: Cell, before: Side | None) -> bool:
        """Plan, run and compare one cell; whether it could be run."""
        plan = CellPlanner(self.evaluation, self.suite, cell, self.typical, self.above).plan()
        self.above.forget_made()  # of a cell that was run it is stored by now
        if self.evaluation.mode == "none" and plan.traces.need_answers:
            asked = self.suite.system.model_asked(self.suite.candidates[cell.candidate].model)
            if Recordings(self.suite.recordings).recorded(asked):
                say(plan_text(plan))
                self.waiting.append(plan)
            else:
                say(f"{cell.candidate} on {cell.dataset}: not recorded")
            return False
        told = bool(plan.trace_reasons or plan.check_reasons) or (before is not None and before.cell != cell)
        if told:
            say(plan_text(plan))
        if plan.calls:
            keep_plan(self.evaluation.warehouse, plan)
        try:
            with progress(f"{self.suite.name} {cell.candidate} on {cell.dataset}", "runs") as on_progress:
                self.materializer.materialize(cell, on_progress)
        except EvalError as failure:
            say_error(f"error: {cell.candidate} on {cell.dataset}: {failure}")
            return False
        report = self.materializer.reports[cell]
        label, counted = summary_lines(report)[0]
        if told:
            say(f"  {label:7} {counted}")
            self._say_changes(report, before)
        else:
            say(f"{cell.candidate} on {cell.dataset}: {label} {counted}")
        return True

    def _say_changes(self, report: StageReport, before: Side | None) -> None:
        warehouse = self.evaluation.shared_warehouse
        if compared := compare_with_plan(warehouse, report, self.suite.recordings):
            say(f"  plan    {compared}")
        if before is None:
            return
        same = before.cell == report.cell
        say(f"since {'its last run' if same else f'{before.cell.candidate} on {before.cell.dataset}'}:")
        comparison = compare(before, read_side(warehouse, self.suite, report.cell))
        print_blocks(short_blocks(comparison), Console())
        if before.cell.candidate != report.cell.candidate:
            keys = f"{before.cell.candidate} {report.cell.candidate}"
            say(f"more: eval-pipeline diff {self.suite.name} {keys}")
        say()
