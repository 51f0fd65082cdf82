from pathlib import Path

import pytest

from eval_pipeline.documents import Document, read_documents, read_fixtures
from eval_pipeline.errors import DocumentError
from eval_pipeline.yaml_data import MAX_DEPTH


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def page_problems(folder: Path) -> list[str]:
    with pytest.raises(DocumentError) as refusal:
        read_documents(folder)
    return [problem.replace(f"{folder}/", "") for problem in refusal.value.problems]


def fixture_problems(folder: Path) -> list[str]:
    with pytest.raises(DocumentError) as refusal:
        read_fixtures(folder)
    return [problem.replace(f"{folder}/", "") for problem in refusal.value.problems]


# -- pages -----------------------------------------------------------------------------------------------


def test_pages_are_sorted_by_id_and_their_text_is_kept(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "\nB \n\n", "sub/a.txt": "A", "C.MD": "C", "d.x.md": "D"})
    assert read_documents(tmp_path) == (
        Document("C", "C"),
        Document("a", "A"),
        Document("b", "\nB \n\n"),
        Document("d.x", "D"),
    )


def test_no_folder_means_no_pages(tmp_path: Path) -> None:
    assert read_documents(tmp_path / "none") == ()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"documents": "a page?"})
    with pytest.raises(DocumentError, match=r"documents: is a file; make it a folder$"):
        read_documents(tmp_path / "documents")


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa\nb\n", b"a\r\nb\r\n", b"a\rb\r"])
def test_a_bom_and_line_ends_change_no_text(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, {"a.md": content})
    assert read_documents(tmp_path) == (Document("a", "a\nb\n"),)


def test_a_directory_named_like_a_page_is_a_folder(tmp_path: Path) -> None:
    write(tmp_path, {"x.md/y.md": "Y"})
    assert read_documents(tmp_path) == (Document("y", "Y"),)


def test_other_files_hidden_files_and_hidden_folders_are_no_pages(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "A", "a.png": b"\xff", ".b.md": "B", ".git/c.md": "C", "a.md~": "old"})
    assert read_documents(tmp_path) == (Document("a", "A"),)


@pytest.mark.parametrize("hidden", [".cache/data", ".x.md"])
def test_a_hidden_folder_above_the_pages_hides_none(tmp_path: Path, hidden: str) -> None:
    assert read_documents(write(tmp_path / hidden, {"a.md": "A"})) == (Document("a", "A"),)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"a.md": b"ok\nb\xe9d\n"}, "a.md:2: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (
            {"a.md": b"\x89PNG\r\n\x1a\n\0\0"},
            "a.md:1: byte 0x89 is not UTF-8; save the file as UTF-8",
        ),
        (
            {"a.md": b"ok\nb\0"},
            "a.md:2: a NUL character, as in a binary or UTF-16 file; save the file as UTF-8",
        ),
        ({"a.md": ""}, "a.md: the page is empty; write it or delete the file"),
        ({"a.md": b"\xef\xbb\xbf \r\n\t"}, "a.md: the page is empty; write it or delete the file"),
        (
            {"a.md": "A", "sub/a.md": "A"},
            "sub/a.md: page id 'a' is already that of a.md; rename one file",
        ),
        ({"a.md": "A", "a.txt": "A"}, "a.txt: page id 'a' is already that of a.md; rename one file"),
    ],
)
def test_a_page_that_cannot_be_used_is_refused(
    tmp_path: Path, files: dict[str, str | bytes], problem: str
) -> None:
    assert page_problems(write(tmp_path, files)) == [problem]


def test_a_page_id_that_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a\x07.md": "A"})
    assert page_problems(tmp_path) == [
        f"'{tmp_path}/a\\x07.md': page id 'a\\x07' holds a control character; rename the file".replace(
            f"{tmp_path}/", ""
        )
    ]


def test_a_dangling_link_is_a_lost_page(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to(tmp_path / "moved.md")
    assert page_problems(tmp_path) == ["a.md: cannot be read: No such file or directory"]


def test_one_look_shows_every_page_s_problem(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "", "b.md": b"\xff", "c.md": "C"})
    assert page_problems(tmp_path) == [
        "a.md: the page is empty; write it or delete the file",
        "b.md:1: byte 0xff is not UTF-8; save the file as UTF-8",
    ]


# -- fixtures --------------------------------------------------------------------------------------------


def test_fixtures_are_plain_data_by_the_file_s_name(tmp_path: Path) -> None:
    emoji = '{\n\t"text": "\\ud83d\\ude00 \\/",\n\t"many": 1e5\n}'
    write(tmp_path, {"a.yaml": '"212": {open: true}', "sub/b.yml": "[1, 2.5]", "c.json": emoji})
    assert read_fixtures(tmp_path) == {
        "a": {"212": {"open": True}},
        "b": [1, 2.5],
        "c": {"text": "\U0001f600 /", "many": 100000.0},
    }


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"a.yaml": ""}, "a.yaml: the fixture is empty; write it or delete the file"),
        ({"a.json": " "}, "a.json: the fixture is empty; write it or delete the file"),
        ({"a.json": "null"}, "a.json: the fixture is empty; write it or delete the file"),
        (
            {"a.yaml": "[1]", "a.json": "[1]"},
            "a.yaml: fixture id 'a' is already that of a.json; rename one file",
        ),
        ({"a.yaml": "212: x"}, "a.yaml:1: key `212` is not text to YAML; put it in quotes"),
        (
            {"a.yaml": "x: y\nfixed_in: 2.10"},
            "a.yaml:2: `2.10` is 2.1 to YAML; write 2.1, or put it in quotes if text is meant",
        ),
        ({"a.json": '{\n"a": 1,}'}, "a.json:2: not JSON: Expecting property name enclosed in double quotes"),
        ({"a.json": '{"a": 1, "a": 2}'}, "a.json: key 'a' stands twice in one object; keep one"),
        ({"a.json": "[NaN]"}, "a.json: `NaN` is not a usable number; quote it if text is meant"),
        ({"a.json": "[1e999]"}, "a.json: `1e999` is not a usable number; quote it if text is meant"),
        (
            {"a.json": "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)},
            f"a.json: nested more than {MAX_DEPTH} levels deep; make it flatter",
        ),
        ({"a.json": "[" * 100_000}, f"a.json: nested more than {MAX_DEPTH} levels deep; make it flatter"),
    ],
)
def test_a_fixture_that_cannot_be_used_is_refused(
    tmp_path: Path, files: dict[str, str | bytes], problem: str
) -> None:
    assert fixture_problems(write(tmp_path, files)) == [problem]


def test_a_number_with_more_digits_than_python_reads_is_refused(tmp_path: Path) -> None:
    [problem] = fixture_problems(write(tmp_path, {"a.json": "9" * 5000}))
    assert problem.startswith("a.json: not usable JSON: Exceeds the limit (4300 digits)")
