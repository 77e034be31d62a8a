"""The small cache of values that were used last."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from pyspec.model.kept import Kept


class Thing:
    """Something to keep."""


def test_those_used_least_recently_go_first() -> None:
    kept: Kept[Thing] = Kept()
    things = {name: kept.keep(name, Thing(), 3) for name in "abc"}
    assert kept.get("a") is things["a"]
    kept.keep("d", Thing(), 3)
    assert len(kept) == 3
    assert kept.get("b") is None
    assert kept.get("a") is things["a"]
    assert kept.get("c") is things["c"]
    kept.keep("e", Thing(), 1)
    assert len(kept) == 1
    assert kept.get("e") is not None


def test_the_first_that_is_kept_stays() -> None:
    kept: Kept[Thing] = Kept()
    first = kept.keep("a", Thing(), 3)
    assert kept.keep("a", Thing(), 3) is first
    kept.clear()
    assert not len(kept)
    assert kept.get("a") is None
    assert kept.keep("a", Thing(), 3) is not first


def test_threads_that_make_the_same_get_one() -> None:
    kept: Kept[Thing] = Kept()

    def get(index: int) -> Thing:
        key = index % 5
        return kept.get(key) or kept.keep(key, Thing(), 5)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(get, range(400)))
    assert len(set(map(id, found))) == 5
    assert len(kept) == 5
