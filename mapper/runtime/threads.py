"""One thread for linear algebra: searches are parallel by processes, and sums round alike for any number of cores."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Run linear algebra in one thread, of NumPy and of what else is imported by then.

    Its threads wait for each other longer than they compute: products of small arrays take up to 18 times the processor
    time on two busy cores.
    """
    with threadpool_limits(1):
        yield
