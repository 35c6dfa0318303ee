"""All parallelism of the mapper: chunks of work go to workers, results come back in order.

Everything else is plain single-process code that a debugger can step through. What all chunks share reaches each worker
once (a file here, an object of the cluster elsewhere); a task is a few chunk numbers out and a few arrays back.
cluster.py says where else than on this machine joblib can run them.
"""

import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import batched, count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from .cluster import Shared, on_cluster

MOST = 16  # chunks in one task: enough that handing it out costs nothing beside it
LOSSES = 3  # times in a row that all workers may be lost without one result between


def in_order[P, T](
    work: Callable[[P, int], T],
    shared: P,
    chunks: Iterable[int],
    jobs: int = 1,
    cluster: str | None = None,
    most: int = MOST,
) -> Generator[T]:
    """Yield `work(shared, chunk)` for each chunk, in the order of `chunks`, by `jobs` processes or a cluster's workers.

    Work begins ahead of the reader (two tasks per worker); closing the generator lets that work finish unread. Tasks
    start at one chunk and grow, to `most`, so that a short search does not wait for work that it will not read. Where
    processes die (killed, out of memory) others do their work again; a chunk gives the same result wherever it is done.
    """
    if cluster:
        payload = Shared(uuid4().hex, pickle.dumps((work, shared), pickle.HIGHEST_PROTOCOL))
        with on_cluster(cluster, payload) as (parallel, given):
            yield from _ordered(lambda tasks: _rounds(parallel, tasks), given, deque(), _growing(chunks, 2, most))
        return
    if jobs == 1:
        for chunk in chunks:
            yield work(shared, chunk)
        return
    from joblib import Parallel  # a fifth of a second that a search in one process need not wait for

    with TemporaryDirectory(prefix="ruby-map-") as folder:
        path = Path(folder) / "shared.pickle"
        path.write_bytes(pickle.dumps((work, shared), pickle.HIGHEST_PROTOCOL))
        waiting: deque[tuple[int, ...]] = deque()
        rest = _growing(chunks, jobs, most)
        lost = 0
        while lost < LOSSES:
            parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch=2 * jobs)
            try:
                for result in _ordered(parallel, Shared(str(path)), waiting, rest):
                    yield result
                    lost = 0
                return
            except BrokenProcessPool as error:
                lost += 1
                sys.stderr.write(f"a worker process died ({_first_line(error)}); others do its work again\n")
        raise RuntimeError(f"worker processes died {LOSSES} times in a row, perhaps for lack of memory: use fewer jobs")


def _ordered(
    run: Callable[[Iterable[Any]], Generator[list[Any]]],
    shared: Shared,
    waiting: deque[tuple[int, ...]],
    rest: Iterator[tuple[int, ...]],
) -> Generator[Any]:
    """The results of the tasks in `waiting` (handed out before, never read) and then of `rest`, chunk by chunk.

    Tasks handed out and not read are left in `waiting`.
    """
    from joblib import delayed

    closing = threading.Event()
    again = tuple(waiting)

    def tasks() -> Iterator[Any]:  # joblib draws these in a thread of its own
        for task in again:
            yield delayed(_work)(shared, os.getpid(), task)
        while not closing.is_set() and (task := next(rest, ())):
            waiting.append(task)
            yield delayed(_work)(shared, os.getpid(), task)

    results = run(tasks())
    try:
        for several in results:
            waiting.popleft()
            yield from several
    finally:
        closing.set()  # draining is shorter than joblib's own way out, which kills the workers
        for _ in results:
            pass


def _growing(chunks: Iterable[int], workers: int, most: int) -> Iterator[tuple[int, ...]]:
    """Chunks in tasks of one, then two, then four... up to `most`; each size for every worker twice."""
    every = iter(chunks)
    for number in count():
        if not (task := tuple(islice(every, min(most, 2 ** min(number // (2 * workers), 10))))):
            return
        yield task


def _rounds(parallel: Any, tasks: Iterable[Any]) -> Generator[list[Any]]:
    """Results as they come, where the back end can; else round by round."""
    if parallel.return_generator:
        yield from parallel(tasks)
    else:
        for some in batched(tasks, 4 * parallel._effective_n_jobs()):
            yield from parallel(some)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _work(shared: Shared, parent: int, task: tuple[int, ...]) -> list[object]:
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the parent alone decides
    work, given = _read(shared)
    return [work(given, chunk) for chunk in task]


@lru_cache(maxsize=1)
def _read(shared: Shared) -> tuple[Callable[[object, int], object], object]:
    work, given = pickle.loads(shared.content())
    return work, given
