"""Output that README and docs show is what the commands really print; run this file to write it anew."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(<!-- output: (eval-pipeline .*?) -->\n```\n)(.*?)(```)", re.DOTALL)
BLOCKS = [
    (command, shown)
    for page in PAGES
    for _, command, shown, _ in BLOCK.findall(page.read_text(encoding="utf-8"))
]
LINK = re.compile(r"\]\(([^)#:]+)\)")


def printed(command: str, warehouse: str) -> str:
    """What a command prints, with the folder of the warehouse as a reader would have it."""
    names = ("DAGSTER_HOME", "EVAL_RECORD_MODE")
    environment = {**dict.fromkeys(names), "EVAL_DATA": str(ROOT / "data"), "EVAL_WAREHOUSE": warehouse}
    result = CliRunner().invoke(app, shlex.split(command)[1:], env=environment)
    assert result.exit_code < 4, result.stderr  # a gate that blocks exits 1
    return result.stdout.replace(warehouse, "warehouse").strip("\n") + "\n"


def test_the_pages_show_output():
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_link_of_a_page_leads_somewhere(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_shown_command_prints_what_is_shown(command, shown, tmp_path):
    assert printed(command, str(tmp_path)) == shown


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(ROOT)
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            text = BLOCK.sub(lambda found: found[1] + printed(found[2], scratch) + found[4], text)
            page.write_text(text, encoding="utf-8")
