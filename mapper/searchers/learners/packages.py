"""The optional packages of searches that learn: whether they are installed, and their threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


def missing_package(package: str, name: str, extra: str) -> list[str]:
    """Say how to install `package`, imported as `name`; nothing where it is installed."""
    if find_spec(name) is None:
        return [f"needs {package}, which is not installed: pip install 'ruby-map[{extra}]' brings it"]
    return []


@contextmanager
def one_thread() -> Iterator[None]:
    """Run linear algebra in one thread, so that sums round the same for any number of cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
