from pathlib import Path

import pytest

from eval_pipeline.suite_reading import read_suite
from eval_pipeline_tests.toy import SCORER, ToyFiles, line_of, write_toy

WORDS = "    threshold: 0.5\n"
"""Line 10 of the toy's suite.yaml, the last of stage `words`."""
TOOLS = "eval_pipeline.scorers.tools:ToolCalls"
"""The scorer in line 5."""


JUDGED = """\
    judged: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"answer"})

    def rubric(self):
        return {"words": "0" * 64}

"""


@pytest.fixture
def toy(tmp_path: Path) -> ToyFiles:
    return write_toy(tmp_path)


def test_stages_keep_their_order_and_gate_unless_the_suite_says_otherwise(toy: ToyFiles) -> None:
    stages = read_suite(toy.suite).stages
    assert [(stage.name, stage.threshold, stage.gating) for stage in stages] == [
        ("tools", 1.0, "always"),
        ("retrieval", 1.0, "always"),
        ("words", 0.5, "always"),
    ]


def test_a_judged_stage_gates_when_calibrated_unless_the_suite_says_otherwise(toy: ToyFiles) -> None:
    toy.edit_module("scorer", "    judged: ClassVar[bool] = False\n", JUDGED)
    toy.edit("suite.yaml", "candidates:\n", "judge: ollama:judge\ncandidates:\n")
    assert read_suite(toy.suite).stages[2].gating == "when_calibrated"
    toy.edit("suite.yaml", WORDS, "    gating: never\n")
    assert read_suite(toy.suite).stages[2].gating == "never"


def test_a_judged_scorer_says_what_its_judge_is_shown_and_asked(toy: ToyFiles) -> None:
    toy.edit_module("scorer", "judged: ClassVar[bool] = False", "judged: ClassVar[bool] = True")
    (problem,) = toy.problems()
    assert problem.endswith("is no scorer: a scorer is a dataclass with needs, rubric")


SCALE = "    judged: ClassVar[bool] = False\n"


@pytest.mark.parametrize(
    ("written", "threshold"),
    # (written - 1) / 4; left out, it is the top of the scale.
    [("    threshold: 4\n", 0.75), ("    threshold: 1\n", 0.0), ("    threshold: 2.5\n", 0.375), ("", 1.0)],
)
def test_a_threshold_is_written_in_the_scorers_own_scale(
    toy: ToyFiles, written: str, threshold: float
) -> None:
    toy.edit_module("scorer", SCALE, f"{SCALE}    scale: ClassVar[tuple[int, int]] = (1, 5)\n")
    toy.edit("suite.yaml", WORDS, written)
    assert read_suite(toy.suite).stages[2].threshold == threshold


def test_a_threshold_outside_of_the_scorers_own_scale_is_refused(toy: ToyFiles) -> None:
    toy.edit_module("scorer", SCALE, f"{SCALE}    scale: ClassVar[tuple[int, int]] = (1, 5)\n")
    toy.edit("suite.yaml", WORDS, "    threshold: 0.5\n")
    (problem,) = toy.problems()
    assert "`0.5` is not from 1 to 5, which is the scale of this scorer" in problem


def test_a_scorer_s_parameters_are_read_as_its_fields_say(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", WORDS, "    threshold: 1\n    parameters: {ignore_case: true, also: [apple]}\n")
    stage = read_suite(toy.suite).stages[2]
    assert repr(stage.scorer) == "SaysWords(ignore_case=True, also=('apple',))"
    assert stage.threshold == 1.0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("gate: x", "unknown key 'stages[2].gate'; did you mean 'gating'?"),
        (
            "parameters: {ignore_cas: true}",
            "unknown key 'stages[2].parameters.ignore_cas'; did you mean 'ignore_case'?",
        ),
        (
            "parameters: {ignore_case: 1}",
            "stages[2].parameters.ignore_case: input should be a valid boolean, found `1`",
        ),
        ("parameters: {also: [1]}", "stages[2].parameters.also[0]: `1` is a number to YAML; quote it"),
        ("parameters: [also]", "stages[2].parameters: input should be a mapping, found a list"),
        (
            "threshold: 1.5",
            "stages[2].threshold: `1.5` is not from 0 to 1, which is the scale of this scorer",
        ),
        ("threshold: -1", "stages[2].threshold: `-1` is not from 0 to 1, which is the scale of this scorer"),
        ("threshold: '1'", "stages[2].threshold: input should be a valid number, found '1'"),
        ("threshold: true", "stages[2].threshold: input should be a valid number, found `true`"),
        ("threshold: .nan", "`.nan` is not a usable number; put it in quotes if text is meant"),
        (
            "gating: sometimes",
            "stages[2].gating: input should be 'always', 'when_calibrated' or 'never', found 'sometimes'",
        ),
        ("gating: no", "`no` is false to YAML; write false, or put it in quotes if text is meant"),
    ],
)
def test_a_line_that_a_stage_cannot_have_is_refused(toy: ToyFiles, line: str, problem: str) -> None:
    toy.edit("suite.yaml", WORDS, f"    {line}\n")
    assert toy.problems() == [f"suite.yaml:10: {problem}"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("tools", "stage 'tools' stands twice, first at suite.yaml:4; rename one"),
        ("Words!", "stages[2].name: 'Words!' is no stage name; use small letters, digits and '_'"),
        ("12", "stages[2].name: `12` is a number to YAML; quote it"),
    ],
)
def test_a_stage_has_a_plain_name_of_its_own(toy: ToyFiles, name: str, problem: str) -> None:
    toy.edit("suite.yaml", "  - name: words\n", f"  - name: {name}\n")
    assert toy.problems() == [f"suite.yaml:8: {problem}"]


@pytest.mark.parametrize(
    ("scorer", "problem"),
    [
        (
            "eval_pipeline.scorers.tools:ToolCall",
            "scorer 'eval_pipeline.scorers.tools:ToolCall': no class 'ToolCall' there; "
            "did you mean 'ToolCalls'?",
        ),
        (
            "eval_pipeline.scorers.tool:ToolCalls",
            "scorer 'eval_pipeline.scorers.tool:ToolCalls' cannot be imported: "
            "no module 'eval_pipeline.scorers.tool'; "
            "it is looked for on PYTHONPATH and beside the data folder",
        ),
        (
            "eval_pipeline.scorers.tools",
            "stages[0].scorer: 'eval_pipeline.scorers.tools' is not 'package.module:Class'",
        ),
        *(
            (
                name,
                f"scorer '{name}' is no scorer: a scorer is a dataclass with "
                "version, judged, Expected, problems, applies, score",
            )
            for name in ("eval_pipeline.cases:Case", "eval_pipeline.case_reading:read_cases")
        ),
    ],
)
def test_a_scorer_that_does_not_exist_is_refused(toy: ToyFiles, scorer: str, problem: str) -> None:
    toy.edit("suite.yaml", TOOLS, scorer)
    assert toy.problems() == [f"suite.yaml:5: {problem}"]


def test_a_parameter_of_a_scorer_without_any_is_refused(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", TOOLS, f"{TOOLS}\n    parameters: {{k: 3}}")
    assert toy.problems() == ["suite.yaml:6: unknown key 'stages[0].parameters.k'"]


LAST = "    also: tuple[str, ...] = ()\n"
INIT = f"{LAST}\n    def __post_init__(self):\n        "


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (LAST, f"{INIT}raise ValueError('no way')\n", "8: stages[2].parameters: no way"),
        (
            LAST,
            f"{INIT}raise KeyError('no way')\n",
            "9: scorer '{scorer}' refuses its parameters: {path}:{line}: KeyError: 'no way'",
        ),
        ("@dataclass(frozen=True)\n", "", "9: scorer '{scorer}' is no scorer: a scorer is a dataclass"),
        (
            "    judged: ClassVar[bool] = False\n",
            "",
            "9: scorer '{scorer}' is no scorer: a scorer is a dataclass with judged",
        ),
        (
            "class Expected(BaseModel)",
            "class Expected",
            "9: scorer '{scorer}': Expected is not a pydantic model",
        ),
        (
            "words: list[str] = []",
            "tools: str = ''",
            "9: stages 'tools' and 'words' read expected.tools as different types "
            "(list[str] | None and <class 'str'>); rename one key",
        ),
    ],
)
def test_a_scorer_that_cannot_be_used_is_refused(toy: ToyFiles, old: str, new: str, problem: str) -> None:
    path = toy.edit_module("scorer", old, new)
    line = line_of(LAST, SCORER) + 3
    scorer = f"toy_scorer_{toy.number}:SaysWords"
    assert toy.problems() == [f"suite.yaml:{problem.format(path=path, line=line, scorer=scorer)}"]


def test_a_field_that_no_file_could_give_is_refused(toy: ToyFiles) -> None:
    toy.edit_module("scorer", LAST, f"{LAST}    known: Known | None = None\n    thread: 'Thread' = None\n")
    [problem] = toy.problems()
    assert problem.startswith(
        f"suite.yaml:9: scorer 'toy_scorer_{toy.number}:SaysWords': its fields cannot be checked: "
    )


def test_a_stage_may_not_have_the_name_of_a_report_s_own_field(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", "name: words", "name: answer")
    assert toy.problems() == [
        "suite.yaml:8: stage 'answer' has the name of a report's own field; rename it",
    ]


def test_a_stage_on_request_applies_to_no_case_that_does_not_name_it(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", WORDS, "    on_request: true\n")
    toy.edit("datasets/small.yaml", "tools: []", "tools: []\n      words: [a]\n      checks: [words]")
    suite = read_suite(toy.suite)
    [dataset] = suite.datasets.values()
    assert [suite.stages[2].applies(case) for case in dataset.cases] == [False, True]


def test_a_case_can_ask_for_a_stage_on_request_alone(toy: ToyFiles) -> None:
    toy.edit("datasets/small.yaml", "tools: []", "tools: []\n      checks: [words]")
    assert toy.problems() == [
        "datasets/small.yaml:14: unknown key 'cases[1].expected.checks'; known: pages, tools, words"
    ]
    toy.edit("suite.yaml", WORDS, "    on_request: true\n")
    toy.edit("datasets/small.yaml", "checks: [words]", "checks: [tools]")
    (problem,) = toy.problems()
    assert (
        problem
        == "datasets/small.yaml:14: cases[1].expected.checks[0]: input should be 'words', found 'tools'"
    )


def test_a_scorer_cannot_read_the_key_under_which_cases_ask_for_stages(toy: ToyFiles) -> None:
    toy.edit_module(
        "scorer",
        "        words: list[str] = []",
        "        words: list[str] = []\n        checks: bool = False",
    )
    assert toy.problems() == []
    toy.edit("suite.yaml", WORDS, "    on_request: true\n")
    assert toy.problems() == [
        "suite.yaml:9: stage 'words' reads expected.checks, where cases name the stages they ask for; "
        "rename its key"
    ]


BY_PARAMETER = """\
    @property
    def Expected(self):
        return {}


    def problems(self"""


def test_what_a_scorer_expects_may_depend_on_its_parameters(toy: ToyFiles) -> None:
    made = 'create_model("Expected", words=(list[str], [str(self.ignore_case)]))'
    toy.edit_module("scorer", "    def problems(self", BY_PARAMETER.format(made))
    toy.edit_module("scorer", "from pydantic import ", "from pydantic import create_model, ")
    toy.edit("suite.yaml", WORDS, "    parameters: {ignore_case: true}\n")
    [dataset] = read_suite(toy.suite).datasets.values()
    assert [case.expected["words"] for case in dataset.cases] == [["red"], ["True"]]


@pytest.mark.parametrize(
    ("made", "problem"),
    [("{}", "Expected is not a pydantic model"), ("self.none", "its Expected cannot be had: ")],
)
def test_a_property_that_gives_no_model_is_refused(toy: ToyFiles, made: str, problem: str) -> None:
    toy.edit_module("scorer", "    def problems(self", BY_PARAMETER.format(made))
    (found,) = toy.problems()
    assert f"suite.yaml:9: scorer 'toy_scorer_{toy.number}:SaysWords': {problem}" in found
