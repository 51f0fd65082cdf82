from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval_pipeline.whole_files import replace_file


def test_a_file_is_replaced_and_its_folder_made(tmp_path: Path) -> None:
    path = tmp_path / "made" / "file.json"

    replace_file(path, b"old")
    replace_file(path, b"new")

    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"new")

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    link.symlink_to(target)

    replace_file(link, b"new")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"
