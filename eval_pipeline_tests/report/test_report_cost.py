"""Costs in a report: shown where they are known, with how many runs they cover."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval_pipeline.report.json_form import report_data
from eval_pipeline.report.rows import run_of
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.report.text import report_text
from eval_pipeline.traces import Usage
from eval_pipeline_tests.report_suite import RELEVANCY, TOOLS, check, make_suite, trace_of


def report_costing(*agent: float | None, judge: float | None = 0.5) -> StageReport:
    """A case for each cost of the agent's calls; the judge's calls cost the same in each."""
    names = [f"case-{i}" for i in range(len(agent))]
    suite = make_suite({name: ["tools"] for name in names}, stages=(TOOLS, RELEVANCY))
    traces = [
        replace(trace_of(name), usage=Usage(calls=2, called=1, cost=cost))
        for name, cost in zip(names, agent, strict=True)
    ]
    spent = {"calls": 4, "called": 3, "tokens": 90, "cost": judge}
    checks = [check(name, TOOLS, 1.0) for name in names]
    checks += [check(name, RELEVANCY, 1.0, **spent) for name in names]
    return build_report(suite, suite.cells[0], traces, checks)


def test_the_report_adds_the_agents_and_the_judges_costs() -> None:
    report = report_costing(1.0, 0.25)
    # 1.0 + 0.5 and 0.25 + 0.5
    assert report_data(report)["summary"]["cost"] == {"usd": 2.25, "runs": 2, "of": 2}
    assert "cost       $2.25 at list price\n" in report_text(report)


def test_runs_without_a_price_are_left_out_and_counted() -> None:
    report = report_costing(1.0, None)
    assert "cost       $1.50 at list price, 1/2 priced\n" in report_text(report)
    assert "cost" not in report.numbers()


@pytest.mark.parametrize("report", [report_costing(None), report_costing(1.0, judge=None)])
def test_an_unknown_cost_is_not_shown(report: StageReport) -> None:
    assert "cost" not in report_data(report)["summary"]
    assert "cost" not in report_text(report)


def test_a_run_counts_the_judges_calls_beside_the_agents() -> None:
    run = run_of(report_costing(1.0, 0.25), "run", "none")
    assert (run.calls, run.called, run.judge_calls, run.judge_called, run.judge_tokens) == (4, 2, 8, 6, 180)
    assert run.cost == 2.25
