"""`gate` of two files of outcomes."""

from __future__ import annotations

import json
import os
import threading
import time

from benchmarks.gate import make_run
from eval_pipeline.gating.own_outcomes import outcomes_text
from eval_pipeline_tests.gate_command.command_lines import cli, gate


def test_two_files_give_the_decision_that_the_suite_gives(promoted, tmp_path):
    sides = []
    for name in ("calm", "loud"):
        cli("run", "toy", "--candidate", name)
        sides.append(tmp_path / f"{name}.json")
        sides[-1].write_text(cli("report", "toy", "--candidate", name, "--format", "outcomes")[1])
    by_files = cli("gate", *sides, "--format", "json")
    assert by_files == gate("loud", "--format", "json")


def test_a_side_may_come_through_a_pipe(tmp_path):
    run = {"eval": {"suite": "s", "dataset": "d@1", "cases_sha": "a"}, "tests": []}
    run["tests"] = [{"nodeid": "s::c::tools", "outcome": "passed"}]
    (tmp_path / "new.json").write_text(json.dumps(run))
    os.mkfifo(tmp_path / "old")
    writer = threading.Thread(target=lambda: (tmp_path / "old").write_text(json.dumps(run)), daemon=True)
    writer.start()
    assert cli("gate", tmp_path / "old", tmp_path / "new.json")[0] == 0


def test_two_files_of_a_hundred_thousand_outcomes_take_seconds(tmp_path):
    for seed, name in enumerate(("old.json", "new.json")):
        (tmp_path / name).write_text(outcomes_text(make_run(seed, outcomes=100_000, repeats=1)))
    began = time.process_time()
    code, out = cli("gate", tmp_path / "old.json", tmp_path / "new.json")

    # About 1.2 s of CPU here; `benchmarks.gate` holds it to 2 s, and a busy machine may take its time.
    assert time.process_time() - began < 15
    assert (code, out.splitlines()[0]) == (1, "decision: BLOCK")
