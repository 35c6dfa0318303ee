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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import batched, count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload
from uuid import uuid4

from .cluster import Shared, on_cluster

MOST = 16  # chunks in one task: enough that handing it out costs nothing beside it
LOSSES = 3  # times in a row that all workers may be lost without one result between


@overload
def in_order[P, C, T](
    work: Callable[[P, C], T],
    shared: P,
    chunks: Iterable[C],
    jobs: int = 1,
    cluster: str | None = None,
    most: int = MOST,
) -> Generator[T]: ...
@overload
def in_order[P, C, K, T](
    work: Callable[[P, Sequence[C], K], list[T]],
    shared: P,
    chunks: Iterable[C],
    jobs: int = 1,
    cluster: str | None = None,
    most: int = MOST,
    *,
    learnt: Callable[[], K],
) -> Generator[T]: ...
def in_order(
    work: Callable[..., Any],
    shared: Any,
    chunks: Iterable[Any],
    jobs: int = 1,
    cluster: str | None = None,
    most: int = MOST,
    *,
    learnt: Callable[[], Any] | None = None,
) -> Generator[Any]:
    """Yield `work(shared, chunk)` for each chunk, in the order of `chunks`, by `jobs` processes or a cluster's workers.

    Work begins ahead of the reader (two tasks per worker); closing the generator lets that work finish unread. Tasks
    start at one chunk and grow, to `most`, so that a short search does not wait for work that it will not read. Where
    processes die (killed, out of memory) others do their work again; a chunk gives the same result wherever it is done.

    With `learnt`, work is done by the task, `work(shared, chunks, learnt())` for a list of results, given what the
    reader has learnt by the time the task is handed out.
    """
    if cluster:
        payload = Shared(uuid4().hex, pickle.dumps((work, shared), pickle.HIGHEST_PROTOCOL))
        with on_cluster(cluster, payload) as (parallel, given):
            rest = _growing(chunks, 2, most)
            yield from _ordered(lambda tasks: _rounds(parallel, tasks), given, deque(), rest, learnt)
        return
    if jobs == 1:
        for task in _growing(chunks, 1, most):
            yield from _done(work, shared, task, learnt and learnt())
        return
    from joblib import Parallel  # a fifth of a second that a search in one process need not wait for

    with TemporaryDirectory(prefix="ruby-map-") as folder:
        path = Path(folder) / "shared.pickle"
        path.write_bytes(pickle.dumps((work, shared), pickle.HIGHEST_PROTOCOL))
        waiting: deque[tuple[Any, ...]] = deque()
        rest = _growing(chunks, jobs, most)
        lost = 0
        while lost < LOSSES:
            parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch=2 * jobs)
            try:
                for result in _ordered(parallel, Shared(str(path)), waiting, rest, learnt):
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
    waiting: deque[tuple[Any, ...]],
    rest: Iterator[tuple[Any, ...]],
    learnt: Callable[[], Any] | None,
) -> Generator[Any]:
    """The results of the tasks in `waiting` (handed out before, never read) and then of `rest`, chunk by chunk.

    Tasks handed out and not read are left in `waiting`.
    """
    from joblib import delayed

    closing = threading.Event()
    again = tuple(waiting)

    def tasks() -> Iterator[Any]:  # joblib draws these in a thread of its own
        for task in again:
            yield delayed(_work)(shared, os.getpid(), task, learnt and learnt())
        while not closing.is_set() and (task := next(rest, ())):
            waiting.append(task)
            yield delayed(_work)(shared, os.getpid(), task, learnt and learnt())

    results = run(tasks())
    try:
        for several in results:
            waiting.popleft()
            yield from several
    finally:
        closing.set()  # draining is shorter than joblib's own way out, which kills the workers
        for _ in results:
            pass


def _growing(chunks: Iterable[Any], workers: int, most: int) -> Iterator[tuple[Any, ...]]:
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


def _work(shared: Shared, parent: int, task: tuple[Any, ...], learnt: Any) -> list[object]:
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the parent alone decides
        if shared.local:  # so may the SIGTERM of a batch system; a cluster ends its workers as it likes
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return list(_done(*_read(shared), task, learnt))


def _done(work: Callable[..., Any], given: object, task: tuple[Any, ...], learnt: Any) -> Iterable[Any]:
    """The results of a task; one by one where they do not need it as a whole."""
    return (work(given, chunk) for chunk in task) if learnt is None else work(given, task, learnt)


@lru_cache(maxsize=1)
def _read(shared: Shared) -> tuple[Callable[..., object], object]:
    work, given = pickle.loads(shared.content())
    return work, given
