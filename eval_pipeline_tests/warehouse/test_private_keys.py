"""A secret of several lines, as a private key is, stands in no column of JSON and in no report file."""

from __future__ import annotations

from eval_pipeline.traces import AgentTrace, ToolCall
from eval_pipeline.warehouse.store import Warehouse
from eval_pipeline.warehouse.table_writer import shows_secret
from eval_pipeline.warehouse.trace_rows import traces_table

SECRET = '-----BEGIN PRIVATE KEY-----\nMIIEvQ"IBADAN\n-----END PRIVATE KEY-----'
KEYS = {"suite": "s", "dataset": "d@1", "candidate": "c@1"}


def test_a_private_key_that_a_tool_puts_out_is_stored_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("SERVICE_PRIVATE_KEY", SECRET)
    trace = AgentTrace(
        "a",
        answer=f"It is {SECRET}.",
        tool_calls=(ToolCall("read", {"path": SECRET}, f"the file says {SECRET}"),),
        messages=[{"role": "tool", "content": f"the file says {SECRET}"}],
    )
    table = traces_table([trace])
    assert shows_secret(table)
    warehouse = Warehouse(str(tmp_path))
    warehouse.write("traces", table, **KEYS)
    (row,) = warehouse.read("traces", **KEYS).to_pylist()
    assert not shows_secret(warehouse.read("traces", **KEYS))
    assert row["answer"] == "It is ***."
    for column in ("messages", "tool_calls"):
        assert "the file says ***" in repr(row[column])
        assert "MIIEvQ" not in repr(row[column])
