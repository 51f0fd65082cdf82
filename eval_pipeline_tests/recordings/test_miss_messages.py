"""What is told of all that a run misses: a line for each reason."""

from __future__ import annotations

from eval_pipeline.errors import MissedCall, RecordingMiss, RecordingMisses


def test_what_several_repeats_miss_alike_stands_once():
    why = "the same request is recorded for repeat 0, but not for this one"
    misses = [RecordingMiss("a", "agent", "m", why, repeat) for repeat in (2, 1)]
    misses.append(RecordingMiss("b", "agent", "m", "prompt changed"))
    assert str(RecordingMisses(misses, "record it")) == (
        "the recordings do not answer 2 of the run's cases:\n"
        f"  a (agent, repeats 1, 2): {why}\n"
        "  b (agent): prompt changed\n"
        "record what is missing with: record it"
    )


def test_cases_that_miss_for_one_reason_stand_in_one_line_up_to_twelve_of_them():
    misses = [RecordingMiss(f"case-{n}", "agent", "m", "prompt changed") for n in range(14)]
    misses.insert(1, RecordingMiss("other", "agent", "m", "question changed"))
    named = ", ".join(f"case-{n}" for n in range(12))
    assert str(RecordingMisses(misses)) == (
        "the recordings do not answer 15 of the run's cases:\n"
        f"  {named} and 2 more (agent): prompt changed\n"
        "  other (agent): question changed"
    )


def test_cases_that_differ_in_hashes_and_nearest_cases_alone_stand_in_one_line_and_of_many_reasons_some():
    hashes = [f"({n:012x} → {n + 1:012x}) [nearest is case case-{n}]" for n in range(2)]
    misses = [RecordingMiss(f"case-{n}", "agent", "m", f"question changed {hashes[n]}") for n in range(2)]
    assert str(RecordingMisses(misses)).splitlines()[1:] == ["  case-0, case-1 (agent): question changed"]
    misses = [RecordingMiss(f"case-{n}", "agent", "m", f"tool {n} added") for n in range(23)]
    assert str(RecordingMisses(misses)).splitlines()[20:] == [
        "  case-19 (agent): tool 19 added",
        "  and 3 more reasons",
    ]


def test_pages_are_no_cases():
    page = MissedCall(kind="embed", label="documents")
    misses = [RecordingMiss(f"page {name}", "agent", "m", "page changed", call=page) for name in ("a", "b")]
    heading = "the recordings do not hold the vector of 1 page, which every run needs:"
    assert str(RecordingMisses(misses[:1])) == f"{heading}\n  page a (agent): page changed"
    assert str(RecordingMisses(misses)).startswith("the recordings do not hold the vectors of 2 pages, which")
    case = RecordingMiss("page of a case", "agent", "m", "page changed")
    assert str(RecordingMisses([case])).startswith("the recordings do not answer 1 of the run's cases")
