"""Linear algebra in one thread."""

from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.runtime import one_thread
from threadpoolctl import threadpool_info, threadpool_limits


def threads():
    """How many threads the linear algebra of NumPy has."""
    return [own["num_threads"] for own in threadpool_info() if own["user_api"] == "blas"]


def test_linear_algebra_has_one_thread_and_then_as_many_as_before():
    """Whatever the number of cores."""
    with threadpool_limits(3):
        assert set(threads()) == {3}
        with one_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {3}


def test_searches_have_one_thread():
    """Also those of Python, without a command."""
    seen = []
    with threadpool_limits(3):
        options = SearchOptions(strategy="random", samples=64, jobs=1)
        explore("eyeriss_like", "matmul_100", "pfm", options, progress=lambda *_: seen.extend(threads()))
        assert set(threads()) == {3}
    assert set(seen) == {1}
