"""A dataset as JSON Lines is the same dataset, and its problems are told by line."""

from __future__ import annotations

import json

import pytest
import yaml

from eval_pipeline.suite_reading import read_suite
from eval_pipeline_tests.toy import DATASET, write_toy


@pytest.fixture
def toy(tmp_path):
    toy = write_toy(tmp_path)
    dataset = yaml.safe_load(DATASET)
    cases = dataset.pop("cases")
    (toy.suite / "datasets" / "small.yaml").unlink()
    toy.write("datasets/small.jsonl", "".join(json.dumps(row) + "\n" for row in [dataset, *cases]))
    return toy


def test_it_has_the_key_of_the_same_cases_in_yaml(toy, tmp_path):
    other = write_toy(tmp_path / "other")
    assert list(read_suite(toy.suite).datasets) == list(read_suite(other.suite).datasets)


def test_a_problem_of_a_case_names_its_line(toy):
    toy.edit("datasets/small.jsonl", '"id": "thanks"', '"id": "apple"')
    # The settings stand in line 1, the two cases in lines 2 and 3.
    assert toy.problems() == [
        "datasets/small.jsonl:3: duplicate case id 'apple', first at "
        f"{toy.suite}/datasets/small.jsonl:2; ids must be unique within a dataset".replace(
            f"{toy.suite}/", ""
        )
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('{"id": "thanks"', '{"id" "thanks"', "datasets/small.jsonl:3: not JSON: Expecting ':' delimiter"),
        (
            '"input": "Thank you!"',
            '"input": 1, "input": 2',
            "key 'input' stands twice in one object; keep one",
        ),
        ('"input": "Thank you!"', '"inputs": "Hi"', "datasets/small.jsonl:3: unknown key 'cases[1].inputs'"),
        ('{"version": 1}', '{"version": "1"}', "datasets/small.jsonl:1: version"),
        ('{"version": 1}\n', "", "the first line holds the dataset's settings, such as"),
        ('{"version": 1}', "[1]", "datasets/small.jsonl:1: not an object"),
    ],
)
def test_each_problem_is_told_with_its_line(toy, old, new, problem):
    toy.edit("datasets/small.jsonl", old, new)
    assert any(problem in found for found in toy.problems()), toy.problems()


def test_an_empty_file_is_no_dataset(toy):
    toy.write("datasets/small.jsonl", "\n")
    assert toy.problems() == ["datasets/small.jsonl:1: the file is empty"]
