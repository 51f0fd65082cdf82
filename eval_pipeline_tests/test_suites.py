import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_pipeline.datasets import Dataset
from eval_pipeline.errors import SuiteError
from eval_pipeline.suite_reading import read_suite
from eval_pipeline.suites import Cell, Suite, key_name, partition_key, slug
from eval_pipeline_tests.toy import FILES, ToyFiles, write_toy


@pytest.fixture
def toy(tmp_path: Path) -> ToyFiles:
    return write_toy(tmp_path)


def dataset_of(suite: Suite) -> Dataset:
    [dataset] = suite.datasets.values()
    return dataset


# -- keys ------------------------------------------------------------------------------------------------


def test_keys_are_names_with_12_digits_of_the_content(toy: ToyFiles) -> None:
    suite = read_suite(toy.suite)
    assert {key: candidate.sha for key, candidate in suite.candidates.items()} == {
        f"{name}@{sha[:12]}": sha
        for name, sha in ((candidate.name, candidate.sha) for candidate in suite.candidates.values())
    }
    assert list(suite.datasets) == [f"small@{dataset_of(suite).sha[:12]}"]
    assert len(dataset_of(suite).sha) == 64


def test_keys_are_the_same_wherever_the_files_are(toy: ToyFiles, tmp_path: Path) -> None:
    other = write_toy(tmp_path / "elsewhere")
    one, two = read_suite(toy.suite), read_suite(other.suite)
    assert (list(one.candidates), list(one.datasets)) == (list(two.candidates), list(two.datasets))


CANDIDATE_EDITS: list[tuple[str, str, str]] = [
    ("prompts/v1.md", "Look", "Please look"),
    ("suite.yaml", "ollama:toy\n    prompt: v1\n  loud", "ollama:toy2\n    prompt: v1\n  loud"),
    ("suite.yaml", "  calm:\n", "  calm:\n    embedder: onnx:all-MiniLM-L6-v2\n"),
    ("suite.yaml", "  calm:\n", "  calm:\n    parameters: {shout: true}\n"),
    (
        "suite.yaml",
        "  calm:\n    model: ollama:toy\n",
        "  calm:\n    model: {name: ollama:toy, settings: {seed: 1}}\n",
    ),
    (
        "suite.yaml",
        "  calm:\n    model: ollama:toy\n",
        "  calm:\n    model: {name: ollama:toy, weights: abc}\n",
    ),
]


@pytest.mark.parametrize(("name", "old", "new"), CANDIDATE_EDITS)
def test_an_edit_of_what_a_candidate_is_makes_a_new_key(toy: ToyFiles, name: str, old: str, new: str) -> None:
    before = read_suite(toy.suite)
    toy.edit(name, old, new)
    after = read_suite(toy.suite)
    assert before.candidate_key("calm") != after.candidate_key("calm")
    assert list(before.datasets) == list(after.datasets)
    same_loud = before.candidate_key("loud") == after.candidate_key("loud")
    assert same_loud == (name == "suite.yaml")  # both share the prompt


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  calm:\n", "  calm:\n    description: In a low voice.\n"),
        ("  calm:\n", "  calm:\n    datasets: [small]\n"),
        ("  calm:\n", "  calm:\n    parameters: {shout: false}\n"),  # the default, written out
        (
            "  calm:\n    model: ollama:toy\n",
            "  calm:\n    model: {name: ollama:toy, base_url: http://x/v1}\n",
        ),
        ("  calm:\n    model: ollama:toy\n", "  calm:\n    model: {name: ollama:toy, timeout_s: 5}\n"),
        ("  calm:\n    model: ollama:toy\n", "  calm:\n    model: {name: ollama:toy, max_concurrency: 1}\n"),
        ("description: A toy", "description: Another toy"),
        ("    threshold: 0.5\n", "    threshold: 0.7\n    gating: never\n"),
    ],
)
def test_an_edit_of_anything_else_leaves_every_key(toy: ToyFiles, old: str, new: str) -> None:
    before = read_suite(toy.suite)
    toy.edit("suite.yaml", old, new)
    after = read_suite(toy.suite)
    assert (list(before.candidates), list(before.datasets)) == (list(after.candidates), list(after.datasets))


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("datasets/small.yaml", "What colour is", "Which colour has", "cases_sha"),
        ("datasets/small.yaml", "An apple is red.", "Red.", "cases_sha"),
        ("datasets/small.yaml", "words: [red]", "words: [red, apple]", "cases_sha"),
        ("datasets/small.yaml", "id: thanks", "id: Thanks", "cases_sha"),
        ("documents/pear.md", "green", "yellow", "docs_sha"),
        ("fixtures/prices.yaml", "pear: 4", "pear: 5", "fixtures_sha"),
    ],
)
def test_an_edit_of_a_case_page_or_fixture_makes_a_new_dataset_key_and_its_own_hash_alone(
    toy: ToyFiles, name: str, old: str, new: str, changed: str
) -> None:
    before = read_suite(toy.suite)
    toy.edit(name, old, new)
    after = read_suite(toy.suite)
    assert list(before.datasets) != list(after.datasets)
    assert list(before.candidates) == list(after.candidates)
    hashes = ("cases_sha", "docs_sha", "fixtures_sha")
    one, two = dataset_of(before), dataset_of(after)
    assert [name for name in hashes if getattr(one, name) != getattr(two, name)] == [changed]


@pytest.mark.parametrize("moved", ["documents/apple.md", "fixtures/prices.yaml"])
def test_a_renamed_page_or_fixture_makes_a_new_dataset_key(toy: ToyFiles, moved: str) -> None:
    before = read_suite(toy.suite)
    toy.edit("datasets/small.yaml", "pages: [apple]", "pages: []")
    edited = read_suite(toy.suite)
    path = toy.suite / moved
    path.rename(path.with_stem("plum"))
    after = read_suite(toy.suite)
    assert len({*before.datasets, *edited.datasets, *after.datasets}) == 3


def test_a_further_stage_leaves_every_key(toy: ToyFiles) -> None:
    toy.edit(
        "suite.yaml",
        f"  - name: words\n    scorer: toy_scorer_{toy.number}:SaysWords\n    threshold: 0.5\n",
        "",
    )
    toy.edit("datasets/small.yaml", "      words: [red]\n", "")
    before = read_suite(toy.suite)
    toy.edit(
        "suite.yaml",
        "candidates:\n",
        f"  - name: words\n    scorer: toy_scorer_{toy.number}:SaysWords\ncandidates:\n",
    )
    after = read_suite(toy.suite)
    assert (list(before.candidates), list(before.datasets)) == (list(after.candidates), list(after.datasets))


def test_the_order_of_cases_keys_and_files_makes_no_new_key(toy: ToyFiles) -> None:
    before = read_suite(toy.suite)
    _, _, rest = FILES["datasets/small.yaml"].partition("  - id: apple")
    apple, _, thanks = rest.partition("  - id: thanks")
    toy.write("datasets/small.yaml", f"cases:\n  - id: thanks{thanks}  - id: apple{apple}version: 1\n")
    toy.write("fixtures/prices.yaml", "pear: 4\napple: 3\n")
    (toy.suite / "documents/apple.md").rename(toy.suite / "documents/moved")
    (toy.suite / "documents/moved").rename(toy.suite / "documents/apple.md")
    after = read_suite(toy.suite)
    assert [case.id for case in dataset_of(after).cases] == ["thanks", "apple"]
    assert list(before.datasets) == list(after.datasets)


@pytest.mark.parametrize("disguise", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_bom_and_crlf_make_no_new_key(toy: ToyFiles, disguise: Callable[[str], str]) -> None:
    before = read_suite(toy.suite)
    for path in toy.suite.rglob("*.*"):
        if path.is_file():
            path.write_bytes(disguise(path.read_text(encoding="utf-8")).encode())
    after = read_suite(toy.suite)
    assert (list(before.candidates), list(before.datasets)) == (list(after.candidates), list(after.datasets))


def test_candidates_keep_the_order_of_the_file_and_datasets_that_of_their_names(toy: ToyFiles) -> None:
    toy.write("datasets/a-first.yaml", FILES["datasets/small.yaml"])
    suite = read_suite(toy.suite)
    assert [candidate.name for candidate in suite.candidates.values()] == ["calm", "loud"]
    assert [dataset.name for dataset in suite.datasets.values()] == ["a-first", "small"]


@pytest.mark.parametrize(
    ("name", "slugged"),
    [
        ("qwen-1.5b_k1", "qwen-1.5b_k1"),
        ("a b/c|d@e:f", "a-b-c-d-e-f"),
        ("[x],y", "-x--y"),
        ("Größe", "Gr--e"),
        ("a..b", "a..b"),
        ("a...b....c", "a-b-c"),  # Dagster refuses three dots
    ],
)
def test_a_slug_is_safe_in_partition_keys_and_paths(name: str, slugged: str) -> None:
    assert slug(name) == slugged


def test_the_name_of_a_key_is_what_stands_before_the_hash() -> None:
    key = partition_key("a b", "573cd471224cff")
    assert key == "a-b@573cd471224c"
    assert key_name(key) == "a-b"


# -- cells -----------------------------------------------------------------------------------------------


@pytest.fixture
def suite(toy: ToyFiles) -> Suite:
    """Candidates calm (all datasets), loud (small alone); datasets large, small, and unused: no one's."""
    for name in ("large", "unused"):
        toy.write(f"datasets/{name}.yaml", FILES["datasets/small.yaml"])
    toy.edit("suite.yaml", "  calm:\n", "  calm:\n    datasets: [large, small]\n")
    toy.edit("suite.yaml", "  loud:\n", "  loud:\n    datasets: [small]\n")
    return read_suite(toy.suite)


def named(cells: tuple[Cell, ...]) -> list[tuple[str, str]]:
    return [(key_name(cell.candidate), key_name(cell.dataset)) for cell in cells]


def test_a_candidate_is_evaluated_on_its_datasets(suite: Suite) -> None:
    assert named(suite.cells) == [("calm", "large"), ("calm", "small"), ("loud", "small")]


def test_a_candidate_without_datasets_is_evaluated_on_all(toy: ToyFiles) -> None:
    toy.write("datasets/large.yaml", FILES["datasets/small.yaml"])
    cells = [(name, dataset) for name in ("calm", "loud") for dataset in ("large", "small")]
    assert named(read_suite(toy.suite).cells) == cells


def test_a_cell_s_partition_key_is_candidate_then_dataset(suite: Suite) -> None:
    cell = suite.select_cells("loud")[0]
    assert cell.partition == f"{suite.candidate_key('loud')}|{suite.dataset_key('small')}"
    assert cell.suite == "toy"


@pytest.mark.parametrize(
    ("candidate", "dataset", "cells"),
    [
        (None, None, [("calm", "large"), ("calm", "small"), ("loud", "small")]),
        ("calm", None, [("calm", "large"), ("calm", "small")]),
        (None, "small", [("calm", "small"), ("loud", "small")]),
        ("loud", "small", [("loud", "small")]),
    ],
)
def test_cells_are_selected_by_name_or_key(
    suite: Suite, candidate: str | None, dataset: str | None, cells: list[tuple[str, str]]
) -> None:
    by_name = suite.select_cells(candidate, dataset)
    by_key = suite.select_cells(
        None if candidate is None else suite.candidate_key(candidate),
        None if dataset is None else suite.dataset_key(dataset),
    )
    assert named(by_name) == cells
    assert by_key == by_name


@pytest.mark.parametrize(
    ("candidate", "dataset", "message"),
    [
        ("clam", None, "suite 'toy' has no candidate 'clam'; did you mean 'calm'?"),
        ("zzz", None, "suite 'toy' has no candidate 'zzz'; known: calm, loud"),
        ("calm", "smal", "suite 'toy' has no dataset 'smal'; did you mean 'small'?"),
        (
            "loud",
            "large",
            "suite 'toy' does not evaluate candidate 'loud' on dataset 'large'; "
            "add the dataset to a candidate's `datasets` in suite.yaml",
        ),
        (
            None,
            "unused",
            "suite 'toy' does not evaluate dataset 'unused'; "
            "add the dataset to a candidate's `datasets` in suite.yaml",
        ),
    ],
)
def test_a_cell_that_is_not_declared_is_refused(
    suite: Suite, candidate: str | None, dataset: str | None, message: str
) -> None:
    with pytest.raises(SuiteError) as refusal:
        suite.select_cells(candidate, dataset)
    assert str(refusal.value) == message


def test_a_key_of_older_files_is_told_the_new_one(suite: Suite) -> None:
    with pytest.raises(SuiteError) as refusal:
        suite.candidate_key("calm@000000000000")
    assert str(refusal.value) == (
        "suite 'toy' has no candidate 'calm@000000000000': its files have changed since, "
        f"its key is now {suite.candidate_key('calm')!r}"
    )


def test_a_name_is_found_as_it_is_written_in_the_file(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", "  calm:\n", "  calm & quiet:\n")
    suite = read_suite(toy.suite)
    assert suite.candidate_key("calm & quiet").startswith("calm---quiet@")


def test_a_changed_dataset_has_a_hash_of_its_own(suite: Suite) -> None:
    dataset = next(iter(suite.datasets.values()))
    assert dataclasses.replace(dataset, cases=dataset.cases[:1]).sha != dataset.sha
