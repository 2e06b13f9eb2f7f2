"""The container, JSON and the cache of the explorer."""

import json
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from consilience.explorer.replies import TYPES, Cache, json_reply, pack
from explorer_cases import unpack

SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7)
ARRAYS = st.lists(st.sampled_from(TYPES).flatmap(lambda kind: arrays(kind, SHAPES)), max_size=4)


@settings(deadline=None, max_examples=20)
@given(ARRAYS, st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3))
def test_what_is_packed_comes_out(found, header):
    names = {f"a{i}": array for i, array in enumerate(found)}
    told, back = unpack(pack({**header, "revision": 3}, names))
    assert told["revision"] == 3
    assert set(back) == set(names)
    for name, array in names.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)


def test_the_layout_is_the_one_that_the_page_reads():
    data = pack({"revision": 7}, {"a": np.array([1, 2, 3], np.uint8), "b": np.array([1.5, -2], np.float32)})
    (length,) = struct.unpack("<I", data[:4])
    assert (4 + length) % 8 == 0
    header = json.loads(data[4 : 4 + length])
    assert header["arrays"]["a"] == {"dtype": "uint8", "shape": [3], "offset": 0}
    assert header["arrays"]["b"] == {"dtype": "float32", "shape": [2], "offset": 8}
    assert struct.unpack_from("<2f", data, 4 + length + 8) == (1.5, -2.0)
    assert len(data) == 4 + length + 16
    with pytest.raises(TypeError, match="float64"):
        pack({}, {"a": np.zeros(2)})


def test_json_has_no_numbers_that_a_browser_would_misread():
    content = {"a": np.nan, "b": np.inf, "c": 2**53 + 1, "d": 2**53, "e": np.int64(4), "f": np.bool_(True), 3: (None,)}
    plain = {"a": None, "b": None, "c": str(2**53 + 1), "d": 2**53, "e": 4, "f": True, "3": [None]}
    assert json.loads(json_reply(content).body) == plain
    assert json.loads(json_reply({"id": "a\ud800b"}).body) == {"id": "a?b"}


def test_the_cache_keeps_what_fits_and_drops_the_oldest():
    cache, made = Cache(100), []

    def make(name):
        made.append(name)
        return np.zeros(5)

    for name in ("a", "b", "a", "c", "a", "b"):  # 40 bytes each: two fit
        cache.get(name, lambda name=name: make(name))
    assert made == ["a", "b", "c", "b"]
    assert len(cache) == 2


def test_what_is_larger_than_the_cache_is_still_answered_and_a_failure_is_not_kept():
    cache = Cache(10)
    assert cache.get("a", lambda: np.zeros(50)).nbytes == 400
    with pytest.raises(ZeroDivisionError):
        cache.get("b", lambda: np.zeros(1 // 0))
    assert cache.get("b", lambda: np.zeros(60)).nbytes == 480
    assert len(cache) == 1


def test_an_answer_made_by_two_after_one_gave_up_counts_once():
    cache, (started, waiting, fail, finish) = Cache(100), (threading.Event() for _ in range(4))

    class Watched:
        """A lock that says when somebody waits for it."""

        def __init__(self, lock):
            self.lock = lock

        def __enter__(self):
            waiting.set()
            self.lock.acquire()

        def __exit__(self, *error):
            self.lock.release()

    def give_up():
        started.set()
        fail.wait(60)
        raise ValueError

    def slow():
        fail.set()
        finish.wait(60)
        return np.zeros(5)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, "a", give_up)
        started.wait(60)
        cache._making["a"] = Watched(cache._making["a"])
        pool.submit(cache.get, "a", slow)
        assert waiting.wait(60)
        fail.set()
        assert isinstance(first.exception(), ValueError)
        cache.get("a", lambda: np.zeros(5))
        finish.set()
    cache.get("b", lambda: np.zeros(5))
    assert len(cache) == 2  # 40 bytes each: both fit


def test_an_answer_is_made_once_however_many_ask():
    cache, made = Cache(1000), []

    def make():
        made.append(1)
        time.sleep(0.05)
        return np.zeros(3)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(cache.get, "key", make)
    assert made == [1]
