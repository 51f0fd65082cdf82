"""What a plan counts as calls: shared questions once, texts to embed apart, calibrations beside a run."""

from __future__ import annotations

from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.cell_plan import CellPlan, CellPlanner
from eval_pipeline.planning.kept_plans import compare_with_plan, keep_plan
from eval_pipeline.planning.plan_text import calibration_text, plan_text, total_text
from eval_pipeline.planning.planned_rows import PlannedAbove, RowsPlanned
from eval_pipeline.planning.typical_calls import TypicalCalls
from eval_pipeline_tests.carry_over.shop import Shop
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.support_suite import SupportSuite


def plan(evaluation: Evaluation, suite_name: str, above: PlannedAbove | None = None) -> CellPlan:
    suite = evaluation.suite(suite_name)
    (cell,) = suite.cells
    return CellPlanner(evaluation, suite, cell, TypicalCalls.of(suite.recordings), above).plan()


def docs_evaluation(suite: DocsSuite) -> Evaluation:
    return Evaluation("p", suite.data_root, str(suite.data_root.parent / "warehouse"))


def test_a_question_that_two_cases_share_is_one_call(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    shop = Shop(tmp_path)
    del shop.suite["candidates"]["loud"]
    shop.write()
    shop.carried("new_episodes")
    shop.cases += [{"id": "one", "input": "hi"}, {"id": "two", "input": "hi"}]
    shop.write()
    evaluation = Evaluation("p", tmp_path / "data", str(tmp_path / "warehouse"))
    found = plan(evaluation, "shop")
    assert (found.traces.called, found.traces.open, found.with_others) == (1, 1, False)
    agent, judge = found.calls
    assert (agent.calls, agent.at_least) == (1, 1)
    # Two answers that are not there yet, each with at most one question to the judge.
    assert (judge.calls, judge.at_least) == (2, 0)
    made = shop.carried("new_episodes")
    assert sum(made.traces["plain"]["called"].to_pylist()) == 1


def test_the_first_call_of_each_run_is_certain_and_the_others_are_estimated(tmp_path):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    suite.edit("prompts/v1.md", "three", "two")
    found = plan(docs_evaluation(suite), "docs")
    embedder, agent = found.calls
    # Nine questions take two chats, and `thanks` one; which the second will be is for the first to say.
    assert (agent.kind, agent.at_least, agent.calls) == ("chat", 10, 19)
    assert "openai:scripted: at least 10, about 19" in plan_text(found)
    # Whether a search is another one than before is for the answers to say.
    assert (embedder.kind, embedder.at_most) == ("embed", True)


def test_a_page_to_embed_is_planned_with_its_tokens_and_stands_beside_what_was_embedded(tmp_path):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    page = suite.folder / "documents" / "sync.md"
    page.write_text("x" * 400)
    evaluation = docs_evaluation(suite)
    above = PlannedAbove()
    found = plan(evaluation, "docs", above)
    text, *chats = found.calls
    assert [call.kind for call in chats] == ["chat"]  # the searches are embedded already
    # 400 characters are about 100 tokens.
    assert (text.kind, text.at_least, text.input_tokens) == ("embed", 1, 100)
    assert "openai:scripted-embedder: 1 text to embed, 100 tokens in" in plan_text(found)
    again = plan(evaluation, "docs", above)  # what it embeds and answers, a cell after it needs not
    assert (again.calls, again.pages, again.traces) == ((), (), RowsPlanned(planned_above=10, awaited=10))
    assert again.trace_reasons == {}
    assert total_text([found, again], "run").startswith("1 text to embed and up to 19 more")
    keep_plan(evaluation.warehouse, found)
    suite.run("new_episodes")
    evaluation.store_traces(found.cell)
    evaluation.store_scores(found.cell)
    report = evaluation.build_report(found.cell)
    compared = compare_with_plan(evaluation.warehouse, report, suite.folder / "recordings")
    assert compared is not None
    assert compared.startswith("planned 0 to ")
    assert compared.endswith(" calls, made 0; 1 page to embed, 1 embedded")


def test_a_calibration_that_is_not_recorded_is_told_beside_the_run(tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.run("new_episodes")
    suite.score("new_episodes")
    found = plan(docs_evaluation(suite), "docs")
    assert found.calls == ()
    later = found.calibration
    assert later is not None
    # Three cases, three times each; the two of faithfulness once more for its variant, which asks the same.
    assert (later.missing, later.calls.at_least) == (15, 9)
    text = calibration_text([found, found])
    assert text.count("is not recorded, and its stages only advise") == 1
    assert text.endswith("eval-pipeline calibrate docs --judge openai:judge --record-mode new_episodes")
    suite.calibrate("new_episodes")
    assert plan(docs_evaluation(suite), "docs").calibration is None


def test_stages_that_share_a_question_to_the_judge_ask_it_once(tmp_path):
    suite = SupportSuite(tmp_path)
    suite.report()
    evaluation = Evaluation("p", suite.data_root, str(tmp_path / "warehouse"))
    rubric = suite.folder / "rubric.md"
    rubric.write_text(f"{rubric.read_text()}\nBe strict.\n")
    (judge,) = plan(evaluation, "support_agent").calls
    # Five metrics of twelve answers, in one question an answer.
    assert (judge.role, judge.at_least, judge.calls) == ("judge", 12, 12)
    prompt = suite.folder / "prompts" / "v1.md"
    prompt.write_text(f"{prompt.read_text()}\nBe kind.\n")
    judge = plan(evaluation, "support_agent").calls[-1]
    assert (judge.role, judge.at_most, judge.calls) == ("judge", True, 12)
