from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from eval_pipeline.errors import InputError
from eval_pipeline.validation import validate
from eval_pipeline.yaml_files import read_yaml
from eval_pipeline_tests.bad_yaml import NO_MAPPING, NO_TEXT


def write(folder: Path, text: str) -> Path:
    path = folder / "x.yaml"
    path.write_text(text, encoding="utf-8")
    return path


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    depth: int = Field(default=1, ge=1)
    kind: Literal["Flat", "Deep"] = "Flat"


class Outer(BaseModel):
    name: str
    share: float = 1.0
    pair: tuple[int, ...] = ()
    inner: Inner | None = None
    by_name: dict[str, list[Inner]] = {}


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


def faults(folder: Path, text: str, model: type[BaseModel] = Outer) -> list[str]:
    path = write(folder, text)
    with pytest.raises(InputError) as refusal:
        validate(read_yaml(path), model)
    return [problem.replace(f"{path.parent}/", "") for problem in refusal.value.problems]


def test_a_model_is_filled_from_what_files_can_say(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "name: x\nshare: 1\npair: [1, 2]\nby_name: {a: [{depth: 2}]}"))
    assert validate(file, Outer) == Outer(name="x", share=1.0, pair=(1, 2), by_name={"a": [Inner(depth=2)]})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, f"x.yaml:1: {problem}") for text, problem in NO_MAPPING),
        *((f"name: {written}\n", f"x.yaml:1: name: {problem}") for written, problem in NO_TEXT),
        ("share: 1\n", "x.yaml:1: 'name' is missing"),
        ("name: x\nnmae: y\n", "x.yaml:2: unknown key 'nmae'; did you mean 'name'?"),
        ("name: x\nzzz:\n  y: 1\n", "x.yaml:2: unknown key 'zzz'; known: by_name, inner, name, pair, share"),
        ("name: x\ninner:\n  dept: 1\n", "x.yaml:3: unknown key 'inner.dept'; did you mean 'depth'?"),
        (
            "name: x\nby_name:\n  a:\n    - {}\n    - {knd: Flat}\n",
            "x.yaml:5: unknown key 'by_name.a[1].knd'; did you mean 'kind'?",
        ),
        ("name: x\nshare: true\n", "x.yaml:2: share: input should be a valid number, found `true`"),
        ("name: x\nshare: '1'\n", "x.yaml:2: share: input should be a valid number, found '1'"),
        ("name: x\npair: 1\n", "x.yaml:2: pair: input should be a list, found `1`"),
        ("name: x\npair:\n  - 1\n  - a\n", "x.yaml:4: pair[1]: input should be a valid integer, found 'a'"),
        (
            "name: x\ninner: {depth: 0}\n",
            "x.yaml:2: inner.depth: input should be greater than or equal to 1, found `0`",
        ),
        (
            "name: x\ninner: {kind: flat}\n",
            "x.yaml:2: inner.kind: input should be 'Flat' or 'Deep', found 'flat'",
        ),
        ("name: x\ninner: []\n", "x.yaml:2: inner: input should be a mapping, found []"),
        (
            f"name: x\nshare: {'z' * 200}\n",
            f"x.yaml:2: share: input should be a valid number, found '{'z' * 78}…",
        ),
    ],
)
def test_a_fault_names_file_line_value_and_remedy(tmp_path: Path, text: str, problem: str) -> None:
    assert faults(tmp_path, text) == [problem]


def test_unknown_keys_are_fine_where_a_model_says_so(tmp_path: Path) -> None:
    assert validate(read_yaml(write(tmp_path, "a: 1")), Open).model_extra == {"a": 1}


def test_a_place_that_is_left_out_is_an_empty_mapping(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "a: {b: {depth: 3}}"))
    assert validate(file, Inner, place=("a", "b")) == Inner(depth=3)
    assert validate(file, Inner, place=("a", "c")) == Inner()
