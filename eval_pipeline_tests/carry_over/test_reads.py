"""What a system reads of documents and fixtures is noted, whichever way it reads."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping

import pytest

from eval_pipeline.carry_over.reads import ReadContent, Reads, WatchedFixtures
from eval_pipeline.documents import Document
from eval_pipeline.recordings import scope

FIXTURES = {"prices": {"apple": 3, "pear": {"cents": 4}}, "names": ["a", "b"]}
WHOLE = 'fixture ["prices"]'
TABLE = 'table ["prices"]'


def reads_of(look, *, in_run: bool = True) -> tuple[frozenset[str], set[str]]:
    """What a run rests on after `look`, and what every run rests on."""
    reads = Reads()
    fixtures = WatchedFixtures(FIXTURES, reads)
    if in_run:
        with scope("case"):
            look(fixtures)
    else:
        look(fixtures)
    return reads.of(("case", 0)), reads.shared


@pytest.mark.parametrize(
    "look",
    [lambda f: f["prices"]["apple"], lambda f: f["prices"].get("apple"), lambda f: "apple" in f["prices"]],
)
def test_a_record_looked_up_counts_for_its_run_alone(look):
    assert reads_of(look) == ({TABLE, 'fixture ["prices", "apple"]'}, set())


def test_a_record_that_is_not_there_is_noted_too():
    assert reads_of(lambda f: f["prices"].get("plum"))[0] == {TABLE, 'fixture ["prices", "plum"]'}


@pytest.mark.parametrize(
    "look",
    [
        lambda f: list(f["prices"]),
        lambda f: dict(f["prices"]),
        lambda f: f["prices"].items() and max(f["prices"].values(), key=str),
        lambda f: len(f["prices"]),
        lambda f: bool(f["prices"]),
        lambda f: f["prices"] == {},
        lambda f: {**f["prices"]},
        lambda f: copy.copy(f["prices"]),
        lambda f: copy.deepcopy(f["prices"]),
        lambda f: pickle.dumps(f["prices"]),
        lambda f: f["prices"].get(1),
    ],
)
def test_a_table_gone_through_counts_for_every_run(look):
    assert WHOLE in reads_of(look)[1]


def test_what_is_read_while_the_system_is_built_counts_for_every_run():
    own, shared = reads_of(lambda f: f["prices"]["apple"], in_run=False)
    assert own == shared == {TABLE, 'fixture ["prices", "apple"]'}


def test_a_fixture_that_is_no_table_is_read_whole():
    assert reads_of(lambda f: f["names"])[0] == {'fixture ["names"]'}
    assert reads_of(lambda f: f.get("orders"))[0] == {'fixture ["orders"]'}
    assert reads_of(list)[1] == {"fixtures"}


def test_a_copy_is_plain_data():
    found = {}
    reads_of(lambda f: found.update(table=copy.deepcopy(f["prices"]), all=pickle.loads(pickle.dumps(f))))
    assert type(found["table"]) is dict
    assert found == {"table": FIXTURES["prices"], "all": FIXTURES}
    assert isinstance(WatchedFixtures(FIXTURES, Reads())["prices"], Mapping)


def test_each_name_hashes_what_it_stands_for():
    before = ReadContent((Document("a", "x"),), FIXTURES)
    after = ReadContent((Document("a", "y"),), {**FIXTURES, "prices": {"pear": {"cents": 4}}})
    changed = ["documents", "fixtures", WHOLE, 'fixture ["prices", "apple"]']
    same = [TABLE, 'fixture ["prices", "pear"]', 'fixture ["names"]', 'fixture ["prices", "plum"]']
    assert [name for name in changed if before.sha(name) == after.sha(name)] == []
    assert [name for name in same if before.sha(name) != after.sha(name)] == []
    assert after.sha('fixture ["prices", "apple"]') == "absent"


def test_the_order_of_keys_counts_where_a_table_is_gone_through():
    other = {"prices": dict(reversed(FIXTURES["prices"].items())), "names": ["a", "b"]}
    assert ReadContent((), FIXTURES).sha(WHOLE) != ReadContent((), other).sha(WHOLE)
