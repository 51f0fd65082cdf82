"""The judge's prompts: DeepEval's own words, with what they are made of."""

from __future__ import annotations

import pytest

from eval_pipeline.scorers.deepeval import Faithfulness, GEval, templates
from eval_pipeline.scorers.deepeval.importing import import_deepeval
from eval_pipeline.scorers.deepeval.templates import Templates, template_hashes


@pytest.mark.parametrize(
    ("metric_class", "step", "values"),
    [
        ("FaithfulnessMetric", "generate_verdicts", {"claims": ["a"], "retrieval_context": "b"}),
        ("AnswerRelevancyMetric", "generate_statements", {"actual_output": "a {{ b }}"}),
        ("ContextualRecallMetric", "generate_reason", None),
    ],
)
def test_a_prompt_is_rendered_as_deepeval_renders_it(metric_class, step, values):
    import_deepeval()
    from deepeval.templates import resolve_template

    reason = {
        "expected_output": "a",
        "supportive_reasons": [],
        "unsupportive_reasons": ["b"],
        "score": "0.50",
    }
    values = values or {**reason, "content_type": "sentence"}
    values = {**values, "multimodal": False}
    rendered = getattr(Templates(metric_class, "metric"), step)(**values)
    assert rendered == resolve_template("metrics", metric_class, step, **values)


def test_a_prompt_says_what_it_is_made_of():
    counts = {"generate_verdicts": lambda values: len(values["claims"])}
    made = Templates("FaithfulnessMetric", "faithfulness", counts)
    rendered = made.generate_verdicts(claims=["a", "b"], retrieval_context="c", multimodal=False, strict=True)
    assert (rendered.prompt.metric, rendered.prompt.step) == ("faithfulness", "generate_verdicts")
    assert rendered.prompt.inputs == {"claims": "['a', 'b']", "retrieved context": "c"}
    assert rendered.items == 2
    assert rendered.prompt.template_sha == template_hashes("FaithfulnessMetric")["generate_verdicts"]


def test_a_template_that_deepeval_lacks_is_an_attribute_that_is_not_there():
    assert not hasattr(Templates("FaithfulnessMetric", "faithfulness"), "generate_poem")


@pytest.fixture
def edited(monkeypatch):
    def edit(metric_class, step, text):
        changed = {**templates.bundle(), metric_class: {**templates.bundle()[metric_class], step: text}}
        monkeypatch.setattr(templates, "bundle", lambda: changed)

    return edit


def test_a_changed_template_changes_the_rubric_of_its_metric_alone(edited):
    faithfulness, graded = Faithfulness().rubric(), GEval(steps=("Look.",)).rubric()
    edited("FaithfulnessMetric", "generate_claims", "List the claims of {{ actual_output }}")
    changed = {step for step, sha in Faithfulness().rubric().items() if sha != faithfulness[step]}
    assert changed == {"generate_claims"}
    assert GEval(steps=("Look.",)).rubric() == graded


def test_a_changed_shared_piece_changes_the_templates_that_use_it(edited):
    before = template_hashes("FaithfulnessMetric")
    edited("_fragments", "faithfulness_verdicts_format_instruction", "Say yes or no.")
    after = template_hashes("FaithfulnessMetric")
    assert {step for step in before if before[step] != after[step]} == {"generate_verdicts"}


def test_the_steps_of_g_eval_are_its_rubric():
    assert GEval(steps=("Look.",)).rubric() != GEval(steps=("Look twice.",)).rubric()
    assert GEval(steps=("Look.",)).rubric() == GEval(steps=("Look.",), name="other").rubric()


def test_the_field_that_is_judged_is_part_of_the_rubric():
    whole, field = GEval(steps=("Look.",)), GEval(steps=("Look.",), field="summary")
    assert set(field.rubric()) - set(whole.rubric()) == {"field"}
