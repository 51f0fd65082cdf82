"""`eval-pipeline gate`: may a candidate replace its baseline?"""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval_pipeline.cli.options import AnyDataset

if TYPE_CHECKING:
    from eval_pipeline.gate_files import GateFiles
    from eval_pipeline.gating.decision import GateDecision
    from eval_pipeline.suites import Cell, Suite


class Format(StrEnum):
    """How a decision is written; `md` is short for `markdown`."""

    text = "text"
    json = "json"
    markdown = "markdown"
    md = "md"
    junit = "junit"


SUFFIXES = {".txt": Format.text, ".json": Format.json, ".md": Format.markdown, ".xml": Format.junit}


def command(
    suite_or_baseline: Annotated[
        str, typer.Argument(metavar="SUITE|BASELINE.json", help="A suite's name, or the baseline's file.")
    ],
    candidate_file: Annotated[
        str | None,
        typer.Argument(metavar="[CANDIDATE.json]", help="With a baseline's file: the candidate's."),
    ] = None,
    candidate: Annotated[
        str | None, typer.Option("--candidate", help="With a suite: a candidate's name or key.")
    ] = None,
    dataset: AnyDataset = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="Another baseline file than the suite's; none: without.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="Another policy than the suite's; default: the defaults.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How the decision is printed.")] = Format.text,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", help="Also write it to a file: .json, .md, .xml (JUnit), .txt; may be given repeatedly."
        ),
    ] = None,
    note: Annotated[
        list[str] | None,
        typer.Option("--note", help="Said with the decision, such as whose baseline it is; repeatable."),
    ] = None,
) -> None:
    """Decide whether a candidate may replace its baseline, and say why.

    With a suite, the candidate is replayed and the decision is stored like every result. With two files
    (outcomes, pytest-json-report reports or stage reports) nothing runs.

    Exit codes: 0 pass, 1 block, 2 incomparable, 3 inconclusive, 4 a usage or input error.
    """
    from eval_pipeline.cli.printing import say, write_file
    from eval_pipeline.garbage_collection import collector_paused
    from eval_pipeline.gate_files import GateFiles
    from eval_pipeline.gating.decision import EXIT_CODES, PRECEDENCE

    targets = [(path, _format_of(path)) for path in out or ()]
    with collector_paused() if candidate_file else nullcontext():
        if candidate_file is None:
            files = GateFiles(baseline, policy)
            several = bool(out) or baseline is not None or format in (Format.json, Format.junit)
            decisions = _gate_suite(suite_or_baseline, candidate, dataset, files, one_only=several)
        else:
            _refuse_names(suite_or_baseline, candidate_file)
            given = {"--candidate": candidate, "--dataset": dataset, "--baseline": baseline}
            _refuse_options([name for name, value in given.items() if value is not None])
            decisions = [_gate_files(Path(suite_or_baseline), Path(candidate_file), policy)]
        decisions = [replace(decision, notes=(*(note or ()), *decision.notes)) for decision in decisions]
        for path, written in targets:
            write_file(path, _rendered(decisions[0], written))
        for place, decision in enumerate(decisions):
            say(("\n" if place else "") + _rendered(decision, format).rstrip("\n"))
    verdicts = {decision.verdict for decision in decisions}
    raise typer.Exit(next((EXIT_CODES[worst] for worst in PRECEDENCE if worst in verdicts), 0))


def _gate_suite(
    name: str, candidate: str | None, dataset: str | None, files: GateFiles, *, one_only: bool
) -> list[GateDecision]:
    from eval_pipeline.assets.materializing import Materializer
    from eval_pipeline.cli.printing import progress
    from eval_pipeline.errors import InputError
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.gate_results import decide_cell

    if Path(name).suffix == ".json":
        raise InputError(
            "give a suite and --candidate, or two files: the baseline's outcomes and the candidate's"
        )
    evaluation = Evaluation(run_id="")
    suite = evaluation.suite(name)
    if candidate is None:
        names = ", ".join(known.name for known in suite.candidates.values())
        raise InputError(f"name a candidate of {name} with --candidate: {names}; or give two files")
    cells = suite.select_cells(candidate, dataset)
    if one_only and len(cells) > 1:
        names = ", ".join(suite.datasets[cell.dataset].name for cell in cells)
        raise InputError(f"candidate {candidate!r} has several datasets ({names}); name one with --dataset")
    _read_early(suite, cells, files)
    decisions = []
    with Materializer(suite) as materializer:
        for cell in cells:
            with progress(f"{name} {cell.candidate} on {cell.dataset}") as on_progress:
                materializer.materialize(cell, on_progress)
            materializer.gate(cell, files)
            decisions.append(decide_cell(evaluation, cell, files))
    return decisions


def _read_early(suite: Suite, cells: tuple[Cell, ...], files: GateFiles) -> None:
    """Read policy and baselines before anything runs, for what is wrong with them need not wait."""
    from eval_pipeline.baselines import read_gate_baseline
    from eval_pipeline.gate_results import read_gate_policy

    read_gate_policy(suite, files)
    for cell in cells:
        read_gate_baseline(suite, cell.dataset, files)


def _gate_files(baseline: Path, candidate: Path, policy: Path | None) -> GateDecision:
    from eval_pipeline.gate_files import DEFAULT_POLICY
    from eval_pipeline.gating.decide import decide
    from eval_pipeline.gating.outcome_files import read_outcomes
    from eval_pipeline.gating.policy import PUBLISHED_POLICY, Policy, read_policy

    sides = read_outcomes(baseline), read_outcomes(candidate)
    if policy is not None:
        rules = Policy() if policy == DEFAULT_POLICY else read_policy(policy)
    else:
        rules = PUBLISHED_POLICY if any(side.imported for side in sides) else Policy()
    return decide(*sides, rules, sides[1].calibration)


def _refuse_names(first: str, second: str) -> None:
    """Refuse what was meant as a suite and its candidate, not as two files."""
    from eval_pipeline.errors import InputError

    path = Path(first)
    if (path.is_dir() or not path.exists()) and path.suffix != ".json":
        raise InputError(
            f"{first!r} is no file; of a suite, --candidate names the candidate: "
            f"{shlex.join(['eval-pipeline', 'gate', first, '--candidate', second])}"
        )


def _refuse_options(given: list[str]) -> None:
    from eval_pipeline.errors import InputError

    if given:
        raise InputError(f"{', '.join(given)} goes with a suite, not with two files; leave it out")


def _format_of(path: Path) -> Format:
    from eval_pipeline.errors import InputError

    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"--out {path}: cannot tell the format; end the name in {', '.join(SUFFIXES)}")
    return SUFFIXES[suffix]


def _rendered(decision: GateDecision, format: Format) -> str:
    from eval_pipeline.gating.junit import render_junit
    from eval_pipeline.gating.render import render_json, render_text
    from eval_pipeline.gating.render_markdown import COMMENT_BYTES, render_markdown

    if format is Format.json:
        return render_json(decision)
    if format in (Format.markdown, Format.md):
        return render_markdown(decision, COMMENT_BYTES)
    return render_junit(decision) if format is Format.junit else render_text(decision)
