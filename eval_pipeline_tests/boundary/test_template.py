import pytest

from eval_pipeline.boundary.template import render, template_names
from eval_pipeline.errors import CallFailed

VALUES = {"input": "Hi?", "prompt": "Be brief.", "parameters": {"k": 3, "tags": ["a", "ä"]}, "model": None}


@pytest.mark.parametrize(
    ("template", "rendered"),
    [
        ("$input", "Hi?"),
        ({"q": "$input", "n": 5, "on": True, "none": None}, {"q": "Hi?", "n": 5, "on": True, "none": None}),
        (["$prompt", ["$parameters.k"]], ["Be brief.", [3]]),
        ("$parameters.tags", ["a", "ä"]),
        ("take $parameters.k of $parameters.tags", 'take 3 of ["a", "ä"]'),
        ("${input}s and $input.", "Hi?s and Hi?."),
        ("$$input costs $5", "$input costs $5"),
        ("$model", None),
    ],
)
def test_names_in_texts_are_filled_in_and_all_else_stays(template, rendered):
    assert render(template, VALUES) == rendered


def test_a_field_of_an_input_is_named_with_a_dot():
    assert render({"q": "$input.question"}, {"input": {"question": "Hi?"}}) == {"q": "Hi?"}


def test_a_name_without_a_value_is_the_case_s_fault():
    with pytest.raises(CallFailed, match=r"bad_input: .* names \$input.question, which this case has not"):
        render("$input.question", VALUES)


def test_all_names_are_found_wherever_they_stand():
    template = {"a": ["$input", {"b": "x ${parameters.k} $$prompt"}], "c": 1}
    assert list(template_names(template)) == ["input", "parameters.k"]
