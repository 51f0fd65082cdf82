"""A small suite whose every input can be edited: a system that looks prices up and asks a model, two scorers.

Nothing of it needs a model framework on replay. The system's module is loaded anew after an edit, as a new
process would load it.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from langchain_core.messages import AIMessage

from eval_pipeline import fingerprints
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.gating.own_outcomes import outcomes_text
from eval_pipeline.recordings import Mode
from eval_pipeline.report.json_form import report_json
from eval_pipeline_tests.carry_over.shop_files import CASES, SCORERS, SUITE, SYSTEM
from eval_pipeline_tests.scripted import ScriptedChatModel

REPORT_FILES = ("report.json", "outcomes.json")
COUNTS_OF_CALLS = ("called", "replayed", "judge_called")
"""Numbers that differ between a live run and its replay."""
_NUMBERS = itertools.count(1)


class Grader:
    """Makes the judge's client: it grades by the length of what it is shown."""

    def chat(self, settings: Any) -> ScriptedChatModel:
        return ScriptedChatModel(reply=lambda messages: AIMessage(str(len(messages[-1].text) % 11)), asked=[])


@dataclass
class Shop:
    """The suite's files; a warehouse whose rows are carried over, and empty ones for runs from scratch."""

    root: Path
    number: int = field(default_factory=lambda: next(_NUMBERS))
    suite: dict[str, Any] = field(default_factory=lambda: yaml.safe_load(yaml.safe_dump(SUITE)))
    cases: list[dict[str, Any]] = field(default_factory=lambda: yaml.safe_load(yaml.safe_dump(CASES)))
    files: dict[str, str] = field(default_factory=dict)
    scratches: itertools.count[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.files |= {
            "data/shop/prompts/v1.md": "Hello",
            "data/shop/documents/hours.md": "Open at nine.",
            "data/shop/fixtures/prices.yaml": "apple: 3\npear: 4\n",
            f"shop_system_{self.number}.py": SYSTEM,
            f"shop_scorers_{self.number}.py": SCORERS,
        }
        self.suite["system"] = f"shop_system_{self.number}"
        for stage, kind in zip(self.suite["stages"], ("Says", "Kind"), strict=True):
            stage["scorer"] = f"shop_scorers_{self.number}:{kind}"

    def write(self) -> None:
        """Write all files, and forget what this process has imported of them."""
        files = {
            **self.files,
            "data/shop/suite.yaml": yaml.safe_dump(self.suite),
            "data/shop/datasets/small.yaml": yaml.safe_dump({"version": 1, "cases": self.cases}),
        }
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for kind in ("system", "scorers"):
            module = f"shop_{kind}_{self.number}"
            sys.modules.pop(module, None)
            fingerprints.forget(module)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text of one file."""
        assert old in self.files[name], f"{name} does not hold {old!r}"
        self.files[name] = self.files[name].replace(old, new)

    @property
    def system_file(self) -> str:
        return f"shop_system_{self.number}.py"

    @property
    def scorers_file(self) -> str:
        return f"shop_scorers_{self.number}.py"

    @property
    def recordings(self) -> Path:
        return self.root / "data" / "shop" / "recordings"

    def carried(self, mode: Mode = "none") -> Results:
        """Run every cell, carrying over from all that was stored before."""
        return self._run(self.root / "warehouse", mode, carry_over=True)

    def from_scratch(self) -> Results:
        """Run every cell in an empty warehouse."""
        return self._run(self.root / f"scratch-{next(self.scratches)}", "none", carry_over=False)

    def _run(self, warehouse: Path, mode: Mode, *, carry_over: bool) -> Results:
        evaluation = Evaluation(
            run_id="r",
            data_root=self.root / "data",
            warehouse_root=str(warehouse),
            mode=mode,
            connector=Grader(),  # type: ignore[arg-type]
            carry_over=carry_over,
        )
        results = Results()
        for cell in evaluation.suite("shop").cells:
            name = cell.candidate.partition("@")[0]
            evaluation.store_traces(cell)
            evaluation.store_scores(cell)
            keys = {"suite": cell.suite, "dataset": cell.dataset, "candidate": cell.candidate}
            results.traces[name] = evaluation.warehouse.read("traces", **keys)  # type: ignore[arg-type]
            results.checks[name] = evaluation.warehouse.read("stage_scores", **keys)  # type: ignore[arg-type]
            report, _ = evaluation.store_report(cell)
            read_text, numbers = evaluation.warehouse.read_text, report.numbers()
            said = {file: read_text("stage_report", file, **keys) for file in REPORT_FILES}  # type: ignore[arg-type]
            assert said["report.json"] == report_json(report)
            assert said["outcomes.json"] == outcomes_text(evaluation.build_outcomes(cell))
            results.reports[name] = {
                "files": said,
                "numbers": {key: numbers[key] for key in numbers if key not in COUNTS_OF_CALLS},
                "table": evaluation.warehouse.read("stage_report", **keys).to_pylist(),  # type: ignore[arg-type]
            }
        return results


@dataclass
class Results:
    """The stored tables of every cell, by the candidate's name."""

    traces: dict[str, pa.Table] = field(default_factory=dict)
    checks: dict[str, pa.Table] = field(default_factory=dict)
    reports: dict[str, Any] = field(default_factory=dict)
    """Its files, its numbers and its table."""

    def rows(self, *, live: bool = False) -> dict[str, Any]:
        """All rows but for what two runs of the same may differ in, with `live` also for what counts calls.

        What a run notes of shared reads depends on the runs that were made beside it.
        """
        volatile = {"milliseconds", "carried_over", "inputs_hash", "inputs_used"}
        volatile |= {"called", "replayed"} if live else set()
        tables = {f"traces of {name}": table for name, table in self.traces.items()}
        tables |= {f"checks of {name}": table for name, table in self.checks.items()}
        kept = {
            name: table.select(
                [column for column in table.column_names if column not in volatile]
            ).to_pylist()
            for name, table in tables.items()
        }
        return kept | self.reports

    def made_traces(self) -> set[str]:
        """The runs whose rows were not carried over: candidate and case."""
        return {
            f"{name} {row['case_id']}"
            for name, table in self.traces.items()
            for row in table.to_pylist()
            if not row["carried_over"]
        }

    def made_checks(self) -> set[str]:
        """The checks that were not carried over: candidate, case and stage."""
        return {
            f"{name} {row['case_id']} {row['stage']}"
            for name, table in self.checks.items()
            for row in table.to_pylist()
            if not row["carried_over"]
        }
