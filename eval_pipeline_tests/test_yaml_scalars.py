from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.errors import InputError
from eval_pipeline.yaml_files import read_yaml


def write(folder: Path, content: str) -> Path:
    path = folder / "x.yaml"
    path.write_bytes(content.encode())
    return path


def problems(path: Path, **options: Any) -> list[str]:
    with pytest.raises(InputError) as refusal:
        read_yaml(path, **options)
    return [problem.replace(f"{path.parent}/", "") for problem in refusal.value.problems]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("no", "`no` is false to YAML; write false, or put it in quotes if text is meant"),
        ("Yes", "`Yes` is true to YAML; write true, or put it in quotes if text is meant"),
        ("off", "`off` is false to YAML; write false, or put it in quotes if text is meant"),
        # 012 is octal: 1 × 8 + 2; 0x1F is 1 × 16 + 15; 12:30 is base 60: 12 × 60 + 30
        ("012", "`012` is 10 to YAML; write 10, or put it in quotes if text is meant"),
        ("0x1F", "`0x1F` is 31 to YAML; write 31, or put it in quotes if text is meant"),
        ("12:30", "`12:30` is 750 to YAML; write 750, or put it in quotes if text is meant"),
        ("1_000", "`1_000` is 1000 to YAML; write 1000, or put it in quotes if text is meant"),
        ("1_0.5", "`1_0.5` is 10.5 to YAML; write 10.5, or put it in quotes if text is meant"),
        (".nan", "`.nan` is not a usable number; put it in quotes if text is meant"),
        ("-.inf", "`-.inf` is not a usable number; put it in quotes if text is meant"),
        ("1.0e+999", "`1.0e+999` is not a usable number; put it in quotes if text is meant"),
        ("9" * 5000, f"`{'9' * 60}…` is not a usable number; put it in quotes if text is meant"),
        ("2026-11-30", "`2026-11-30` is a date to YAML; put it in quotes"),
        ("2026-11-30 12:00:00", "`2026-11-30 12:00:00` is a date to YAML; put it in quotes"),
        *(
            (text, f"`{text}` is text to YAML; write it like 8, -0.5 or 1.0e+5, or put it in quotes")
            for text in ("1e5", "1.5e3", "-.5", "08")
        ),
        ("=", "`=` is no plain value to YAML (value); put it in quotes"),
        ("!!float 3", "the tag `!!float` is not used here; leave it out"),
        ('!!int "3"', "the tag `!!int` is not used here; leave it out"),
        ("!!null words", "the tag `!!null` is not used here; leave it out"),
        ("!!binary aGk=", "the tag `!!binary` is not used here; leave it out"),
        ("!!set {a, b}", "the tag `!!set` is not used here; leave it out"),
        ("!own [1]", "the tag `!own` is not used here; leave it out"),
        (
            "!!python/object/apply:os.system [ls]",
            "the tag `!!python/object/apply:os.system` is not used here; leave it out",
        ),
    ],
)
def test_what_yaml_makes_of_a_value_is_never_a_surprise(tmp_path: Path, written: str, problem: str) -> None:
    assert problems(write(tmp_path, f"a: fine\nb: {written}\n")) == [f"x.yaml:2: {problem}"]


@pytest.mark.parametrize("written", ['"no"', "'012'", '".nan"', "'2026-11-30'", '"1e5"', "!!str 012"])
def test_quotes_make_text_of_anything(tmp_path: Path, written: str) -> None:
    assert isinstance(read_yaml(write(tmp_path, f"a: {written}")).data["a"], str)


@pytest.mark.parametrize("written", ["2.10", "1.", ".5", "0.1234567890123456789"])
def test_data_that_no_model_checks_may_be_held_to_the_digit(tmp_path: Path, written: str) -> None:
    path = write(tmp_path, f"fixed_in: {written}\n")
    assert read_yaml(path).data == {"fixed_in": float(written)}
    number = repr(float(written))
    assert problems(path, exact=True) == [
        f"x.yaml:1: `{written}` is {number} to YAML; write {number}, or put it in quotes if text is meant"
    ]


def test_exact_numbers_are_fine_where_digits_count(tmp_path: Path) -> None:
    path = write(tmp_path, "[2.4, 10, -0.5, +1.5, 1.0e+5]")
    assert read_yaml(path, exact=True).data == [2.4, 10, -0.5, 1.5, 1e5]
