import dataclasses
import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.errors import EvalError
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall, TraceError, Usage
from eval_pipeline.warehouse.arrow_schemas import TRACES
from eval_pipeline.warehouse.row_inputs import RowInputs
from eval_pipeline.warehouse.stored_text import stored_text
from eval_pipeline.warehouse.trace_rows import traces_from, traces_table

TEXT = st.text(st.characters(exclude_categories=()), max_size=8).map(stored_text)
COUNT = st.integers(0, 2**40)
NUMBER = st.floats(allow_nan=False)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)


def tuples(items: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(items, max_size=3).map(tuple)


TRACE = st.builds(
    AgentTrace,
    case_id=TEXT,
    repeat=COUNT,
    answer=st.none() | TEXT,
    tool_calls=tuples(st.builds(ToolCall, TEXT, OBJECT, TEXT, st.sampled_from(["ok", "error"]), COUNT)),
    retrieved=tuples(st.builds(RetrievedDocument, TEXT, COUNT, NUMBER, TEXT, COUNT)),
    context=tuples(TEXT),
    messages=tuples(OBJECT),
    structured=JSON,
    usage=st.builds(Usage, COUNT, COUNT, COUNT, COUNT),
    latency_ms=NUMBER,
    tool_schemas=st.dictionaries(TEXT, TEXT, max_size=2),
    error=st.none() | st.builds(TraceError, st.sampled_from(["system", "provider"]), TEXT, TEXT),
)


@settings(deadline=None)
@given(st.lists(TRACE, max_size=3))
def test_traces_come_back_as_they_were(traces: list[AgentTrace]) -> None:
    table = traces_table(traces)
    assert table.schema == TRACES
    assert traces_from(table) == traces


def test_lone_surrogates_are_written_out_and_nul_survives() -> None:
    trace = AgentTrace(
        "a",
        answer="x\ud800",
        tool_calls=(ToolCall("f\ud800", {"q\ud800": "\x00"}, "\ud800"),),
        messages=({"role": "user", "content": "\udc80\x00"},),
    )
    (back,) = traces_from(traces_table([trace]))
    assert back.answer == "x\\ud800"
    assert back.tool_calls == (ToolCall("f\\ud800", {"q\\ud800": "\x00"}, "\\ud800"),)
    assert back.messages == ({"role": "user", "content": "\\udc80\x00"},)


def test_an_unknown_similarity_is_null() -> None:
    trace = AgentTrace("a", retrieved=(RetrievedDocument("storage", 1, math.nan, "", 0),))
    table = traces_table([trace])
    assert table["retrieved"].to_pylist() == [
        [{"id": "storage", "rank": 1, "score": None, "text": "", "call": 0}]
    ]
    assert math.isnan(traces_from(table)[0].retrieved[0].score)


def test_the_replayed_calls_are_a_column_and_the_inputs_are_the_callers() -> None:
    trace = AgentTrace("a", usage=Usage(calls=3, called=1))
    inputs = RowInputs("573cd4", ("call 1 ab", "read cd documents"))
    table = traces_table([trace, dataclasses.replace(trace, repeat=1)], {("a", 1): inputs})
    assert table["replayed"].to_pylist() == [2, 2]
    assert table["inputs_hash"].to_pylist() == [None, inputs.sha]
    assert table["inputs_known"].to_pylist() == [None, "573cd4"]
    assert table["inputs_used"].to_pylist() == [None, "call 1 ab\nread cd documents"]
    assert table["carried_over"].to_pylist() == [False, False]


def test_the_hash_of_a_row_covers_what_it_says_and_not_what_that_took() -> None:
    trace = AgentTrace("a", answer="yes", usage=Usage(calls=1), latency_ms=3.0)
    same = dataclasses.replace(trace, usage=Usage(calls=2, called=1, cost=0.1), latency_ms=4.0)
    other = dataclasses.replace(trace, answer="no")
    first, second, third = traces_table([trace, same, other])["content_hash"].to_pylist()
    assert first == second != third


def test_what_is_not_plain_json_is_refused_by_case_and_field() -> None:
    with pytest.raises(EvalError, match="trace of case 'a': structured output: object"):
        traces_table([AgentTrace("a", structured=object())])


def test_no_traces_make_an_empty_typed_table() -> None:
    assert traces_table([]) == pa.Table.from_pylist([], schema=TRACES)
