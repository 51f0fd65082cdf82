import json

import pytest

from eval_pipeline.recordings.credentials import without_credentials, without_secrets


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://me:secret@host/v1 refused", "https://***@host/v1 refused"),
        ("https://token@host/v1", "https://***@host/v1"),
        ("GET https://host/m:generate?key=abc123&alt=sse", "GET https://host/m:generate?key=***&alt=sse"),
        ("GET /x?a=1&api_key=abc", "GET /x?a=1&api_key=***"),
        ("GET /x?access_token=abc", "GET /x?access_token=***"),
        ("{'Authorization': 'Bearer abc.def'}", "{'Authorization': 'Bearer ***'}"),
        ("x-goog-api-key: abc123", "x-goog-api-key: ***"),
        ('{"api_key": "abc123"}', '{"api_key": "***"}'),
        ("Bearer abcdefghijklmnopqrst was refused", "Bearer *** was refused"),
        ("Incorrect API key provided: sk-proj-abcdefghijklmnop", "Incorrect API key provided: ***"),
        ("key AIzaSyA0123456789abcdefghijklmnopqrstu is invalid", "key *** is invalid"),
    ],
)
def test_credentials_are_hidden(text: str, kept: str):
    assert without_credentials(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "How do I make a backup of my keys?",
        "see https://host/docs?page=2#keys and mail me@host",
        "The bearer of bad news asks for basic understanding.",
        "a risk-averse plan",
    ],
)
def test_other_text_stays_as_it_is(text: str):
    assert without_credentials(text) == text


def test_a_secret_that_no_variable_s_name_gives_away_is_hidden_when_it_is_named():
    told = {"said": ["token a-named-secret"], "a-named-secret": "short"}
    assert without_secrets(told, {"a-named-secret", "short"}) == {"said": ["token ***"], "***": "short"}


def test_a_secret_is_known_as_soon_as_its_variable_is_set_changed_and_unset(monkeypatch):
    text = "first-secret second-secret"
    monkeypatch.setenv("SOME_TOKEN", "first-secret")
    assert without_secrets(text) == "*** second-secret"
    monkeypatch.setenv("SOME_TOKEN", "second-secret")
    assert without_secrets(text) == "first-secret ***"
    monkeypatch.delenv("SOME_TOKEN")
    assert without_secrets(text) == text
    monkeypatch.setenv("OTHER_KEY", "first-secret")  # as many variables as before
    assert without_secrets(text) == "*** second-secret"


@pytest.mark.parametrize("text", ["AUTHORIZATION: abc", "aPI-Key = abc", "X?PASSWORD=abc", "SIG=abc"])
def test_case_does_not_matter(text):
    assert ("abc" in without_credentials(text)) == (text == "SIG=abc")  # no parameter of an address


@pytest.mark.parametrize("ascii", [True, False])
def test_a_secret_of_several_lines_is_hidden_in_json_and_in_json_within_it_too(monkeypatch, ascii):
    secret = 'BEGIN KEY\nab"cd\\é\nEND KEY'
    monkeypatch.setenv("SOME_PRIVATE_KEY", secret)
    told = f"it is {secret}."
    for depth in range(3):
        hidden = without_secrets(told)
        for _ in range(depth):
            hidden = json.loads(hidden)
        assert hidden == "it is ***."
        told = json.dumps(told, ensure_ascii=ascii)
