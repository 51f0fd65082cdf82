from pathlib import Path

import pytest

from eval_pipeline.errors import InputError
from eval_pipeline.yaml_data import MAX_DEPTH, MAX_REPEATED
from eval_pipeline.yaml_files import read_yaml


def write(folder: Path, content: str) -> Path:
    path = folder / "x.yaml"
    path.write_bytes(content.encode())
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(InputError) as refusal:
        read_yaml(path)
    return [problem.replace(f"{path.parent}/", "") for problem in refusal.value.problems]


def test_every_value_keeps_the_line_of_its_key_and_every_item_its_own(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "a: 1\nb:\n\n  - x\n  - c:\n      12\n"))
    places: list[tuple[str | int, ...]] = [("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "c"), ("b", 1, "no")]
    assert [file.where(place).rpartition(":")[2] for place in places] == ["1", "2", "4", "5", "5", "5"]
    assert file.written == {("a",): "1", ("b", 1, "c"): "12"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3: key 'a' stands twice in one mapping; keep one"),
        ("a: 1\nno: 2\n", "x.yaml:2: key `no` is not text to YAML; put it in quotes"),
        ("a: 1\n212: 2\n", "x.yaml:2: key `212` is not text to YAML; put it in quotes"),
        ("a: 1\n~: 2\n", "x.yaml:2: key `~` is not text to YAML; put it in quotes"),
        ("a: 1\n? [b]\n: 2\n", "x.yaml:2: a key is a list or a mapping; a key is text"),
        ("a: 1\n? !!str [b]\n: 2\n", "x.yaml:2: a key is a list or a mapping; a key is text"),
    ],
)
def test_keys_are_text_and_stand_once(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(write(tmp_path, text)) == [problem]


def test_one_look_shows_every_problem(tmp_path: Path) -> None:
    assert problems(write(tmp_path, "a: no\nb: .nan\nb: 1\n")) == [
        "x.yaml:3: key 'b' stands twice in one mapping; keep one",
        "x.yaml:1: `no` is false to YAML; write false, or put it in quotes if text is meant",
        "x.yaml:2: `.nan` is not a usable number; put it in quotes if text is meant",
    ]


def test_an_alias_stands_for_its_anchor(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "a: &x\n  k: [1]\nb: *x\n"))
    assert file.data == {"a": {"k": [1]}, "b": {"k": [1]}}
    assert file.where(("b",)).endswith(":3")  # where it is used
    assert file.where(("b", "k")).endswith(":2")  # where it is written


@pytest.mark.parametrize(
    ("merged", "data"),
    [
        ("{<<: *x, k: 3}", {"k": 3, "l": 1}),
        ("{k: 3, <<: *x}", {"k": 3, "l": 1}),  # the mapping's own key wins wherever it stands
        ("{<<: [*y, *x]}", {"k": 2, "l": 1}),  # the first of a list wins
        ("{<<: {m: 4}}", {"m": 4}),
    ],
)
def test_a_merge_key_adds_what_the_mapping_lacks(tmp_path: Path, merged: str, data: dict[str, int]) -> None:
    path = write(tmp_path, f"x: &x {{k: 1, l: 1}}\ny: &y {{k: 2}}\nz: {merged}\n")
    assert read_yaml(path).data["z"] == data


def test_a_merged_value_keeps_its_own_line_and_the_own_key_its_own(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "x: &x\n  k: 1\n  l: 1\nz:\n  k: 2\n  <<: *x\n"))
    assert file.where(("z", "k")).endswith(":5")
    assert file.where(("z", "l")).endswith(":3")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x\n  b: *x\n", "x.yaml:1: an anchor that contains itself; write the value out"),
        ("a: &x\n  - [*x]\n", "x.yaml:1: an anchor that contains itself; write the value out"),
        ("a: &x\n  <<: *x\n  b: 1\n", "x.yaml:1: an anchor that contains itself; write the value out"),
        ("a: &x {b: &y {<<: *x}}\n", "x.yaml:1: an anchor that contains itself; write the value out"),
        ("a: 1\n<<: 2\n", "x.yaml:2: `<<` takes a mapping or a list of them, such as `<<: *name`"),
        ("a: 1\n<<: [{b: 1}, 2]\n", "x.yaml:2: `<<` takes a mapping or a list of them, such as `<<: *name`"),
        ("<<: {a: 1}\n<<: {b: 1}\n", "x.yaml:2: key '<<' stands twice in one mapping; keep one"),
    ],
)
def test_an_anchor_that_cannot_be_used_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(write(tmp_path, text)) == [problem]


@pytest.mark.parametrize("use", ["[{}]", "{{<<: [{}]}}"])
def test_aliases_that_multiply_are_refused_before_they_fill_the_memory(tmp_path: Path, use: str) -> None:
    # Ten lines, each ten times the one before: 10 ** 10 values.
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{i}: &a{i} " + use.format(", ".join([f"*a{i - 1}"] * 10)) for i in range(1, 11)]
    [problem] = problems(write(tmp_path, "\n".join(lines)))
    assert problem.endswith(
        f"the aliases of this file stand for more than {MAX_REPEATED} values; write them out, or use fewer"
    )


def test_many_uses_of_one_anchor_are_fine(tmp_path: Path) -> None:
    text = "a: &x {k: [1, 2]}\nb:\n" + "  - *x\n" * 1000
    assert len(read_yaml(write(tmp_path, text)).data["b"]) == 1000


def test_deep_nesting_is_refused_and_less_deep_nesting_read(tmp_path: Path) -> None:
    # MAX_DEPTH lists, the innermost empty.
    assert read_yaml(write(tmp_path, "[" * MAX_DEPTH + "]" * MAX_DEPTH)).data
    deep = write(tmp_path, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert problems(deep) == [f"x.yaml:1: nested more than {MAX_DEPTH} levels deep; make it flatter"]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "- " * 100_000 + "a", "a:\n" + "".join(" " * i + "a:\n" for i in range(1, 2000))]
)
def test_nesting_that_would_overflow_the_stack_is_refused(tmp_path: Path, text: str) -> None:
    [problem] = problems(write(tmp_path, text))
    assert problem.endswith(": not YAML: exceeded maximum nesting depth; make it flatter")
