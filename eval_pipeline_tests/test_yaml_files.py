import gc
from pathlib import Path

import pytest

from eval_pipeline.errors import CaseError, InputError
from eval_pipeline.yaml_files import read_text, read_yaml


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "x.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(InputError) as refusal:
        read_yaml(path)
    return [problem.replace(f"{path.parent}/", "") for problem in refusal.value.problems]


def test_plain_data_is_read_as_written(tmp_path: Path) -> None:
    text = """\
text: some words
quoted: "012"
block: |
  two
  lines
numbers: [0, -3, +4, 12, 0.5, 1.0e+5, -0.5]
booleans: [true, False]
nothing: [~, null, ]
map: {a: {b: []}}
"""
    assert read_yaml(write(tmp_path, text)).data == {
        "text": "some words",
        "quoted": "012",
        "block": "two\nlines\n",
        "numbers": [0, -3, 4, 12, 0.5, 1e5, -0.5],
        "booleans": [True, False],
        "nothing": [None, None],
        "map": {"a": {"b": []}},
    }


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "~\n"])
def test_an_empty_file_has_no_data(tmp_path: Path, text: str) -> None:
    assert read_yaml(write(tmp_path, text)).data is None


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa: b\nc: |\n  d\n", b"a: b\r\nc: |\r\n  d\r\n"])
def test_a_bom_and_crlf_change_nothing(tmp_path: Path, content: bytes) -> None:
    assert read_yaml(write(tmp_path, content)).data == {"a": "b", "c": "d\n"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "a: 1\n\tb: 2\n",
            "x.yaml:2: not YAML: found a tab character that violates indentation; "
            "indent with spaces, not with tabs",
        ),
        (
            "a:\n\t- 1\n",
            "x.yaml:2: not YAML: found character that cannot start any token; "
            "indent with spaces, and put text that begins with a special sign in quotes",
        ),
        (
            "a: @b\n",
            "x.yaml:1: not YAML: found character that cannot start any token; "
            "indent with spaces, and put text that begins with a special sign in quotes",
        ),
        (
            "a: b: c\n",
            "x.yaml:1: not YAML: mapping values are not allowed in this context; "
            "put text that holds ': ' in quotes",
        ),
        (
            "a: 1\n: 2\n",
            "x.yaml:2: not YAML: did not find expected key; "
            "look at the indentation, the quotes and the brackets here",
        ),
        (
            "a: &x 1\nb: &x 2\n",
            "x.yaml:2: not YAML: second occurrence; an anchor of this name stands above; rename one",
        ),
        (
            "a: *b\n",
            "x.yaml:1: not YAML: found undefined alias; "
            "define it with '&' above, or put text that begins with '*' in quotes",
        ),
        (
            "a: 1\n---\nb: 2\n",
            "x.yaml:2: not YAML: but found another document; keep one document a file, without '---' between",
        ),
        (
            'a: 1\nb: "x\nc: 3\n',
            "x.yaml:2: not YAML: found unexpected end of stream; close the quote that begins here",
        ),
        (
            "a: 1\nb: [x, y\nc: 3\n",
            "x.yaml:2: not YAML: did not find expected ',' or ']'; "
            "close the bracket that begins here, and put a comma between what it holds",
        ),
        (
            "a: [",
            "x.yaml:1: not YAML: did not find expected node content; "
            "look at the indentation, the quotes and the brackets here",
        ),
        (
            'a: "\\d"\n',
            "x.yaml:1: not YAML: found unknown escape character; write the sign itself, or use single quotes",
        ),
        ("a: é\nb: \x07\n", "x.yaml:2: not YAML: the control character U+0007; remove it"),
    ],
)
def test_what_is_not_yaml_is_named_with_its_line_and_remedy(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(write(tmp_path, text)) == [problem]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a: 1\nb: \xff\n", "x.yaml:2: byte 0xff is not UTF-8; save the file as UTF-8"),
        ("a: 1\n".encode("utf-16"), "x.yaml:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (
            "a: 1\n".encode("utf-16-le"),
            "x.yaml:1: a NUL character, as in a binary or UTF-16 file; save the file as UTF-8",
        ),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    assert problems(write(tmp_path, content)) == [problem]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"none\.yaml: cannot be read: No such file or directory$"):
        read_text(tmp_path / "none.yaml", CaseError)
    with pytest.raises(CaseError, match=r"cannot be read: Is a directory$"):
        read_text(tmp_path, CaseError)


def test_reading_leaves_the_garbage_collector_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_yaml(write(tmp_path, "a: ["))
    assert gc.isenabled()
