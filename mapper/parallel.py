"""All parallelism of the mapper: chunks of work go to processes, results come back in order.

Everything else is plain single-process code that a debugger can step through. What all chunks share is written to a
file once and read once by each worker; a chunk itself is a number out and a few arrays back. joblib's `parallel_config`
names another back end (dask, ray) without a change here.
"""

import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory


def in_order[P, T](work: Callable[[P, int], T], shared: P, chunks: Iterable[int], jobs: int = 1) -> Generator[T]:
    """Yield `work(shared, chunk)` for each chunk, in the order of `chunks`, computed by `jobs` processes.

    Work begins ahead of the reader (two chunks per process); closing the generator lets that work finish unread.
    """
    if jobs == 1:
        for chunk in chunks:
            yield work(shared, chunk)
        return
    from joblib import Parallel, delayed  # a fifth of a second that a search in one process need not wait for

    closing = threading.Event()
    with TemporaryDirectory(prefix="ruby-map-") as folder:
        path = Path(folder) / "shared.pickle"
        path.write_bytes(pickle.dumps((work, shared), pickle.HIGHEST_PROTOCOL))
        # joblib draws these in a thread of its own
        tasks = (delayed(_work)(str(path), os.getpid(), chunk) for chunk in _until(closing, chunks))
        results = Parallel(n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch=2 * jobs)(tasks)
        try:
            # not `yield from`, which would close joblib's generator before this one
            for result in results:  # noqa: UP028
                yield result
        finally:
            closing.set()  # draining is shorter than joblib's own way out, which kills the workers
            for _ in results:
                pass


def _until(closing: threading.Event, chunks: Iterable[int]) -> Iterator[int]:
    for chunk in chunks:
        if closing.is_set():
            return
        yield chunk


def _work(path: str, parent: int, chunk: int) -> object:
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the parent alone decides
    work, shared = _read(path)
    return work(shared, chunk)


@lru_cache(maxsize=1)
def _read(path: str) -> tuple[Callable[[object, int], object], object]:
    work, shared = pickle.loads(Path(path).read_bytes())
    return work, shared
