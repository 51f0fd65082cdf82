import hashlib

from eval_pipeline.recordings import Request


def test_the_key_is_the_hash_of_kind_model_and_ordered_parts():
    request = Request("chat", "fake:one", {"prompt": "aa", "question": "bb"})
    written = b'["chat","fake:one",[["prompt","aa"],["question","bb"]]]'
    assert request.key == hashlib.sha256(written).hexdigest()


def test_another_order_of_the_parts_is_another_key():
    one = Request("chat", "fake:one", {"question": "aa", "result of tool search": "bb"})
    other = Request("chat", "fake:one", {"result of tool search": "bb", "question": "aa"})
    assert one.key != other.key


def test_explanations_words_and_coverage_are_not_in_the_key():
    plain = Request("chat", "fake:one", {"text": "aa"})
    told = Request("chat", "fake:one", {"text": "aa"}, {"template": "cc"}, frozenset({"text"}), "words")
    assert plain.key == told.key


def test_kind_and_model_are_in_the_key():
    keys = {
        Request("chat", "fake:one", {"text": "aa"}).key,
        Request("embed", "fake:one", {"text": "aa"}).key,
        Request("chat", "fake:two", {"text": "aa"}).key,
    }
    assert len(keys) == 3
