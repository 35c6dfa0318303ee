"""All parallelism of the mapper: chunks of work go to workers, results come back in order.

Everything else is plain single-process code that a debugger can step through. What all chunks share reaches each worker
once (a file here, an object of the cluster elsewhere); a task is a few chunk numbers out and a few arrays back.
cluster.py says where else than on this machine joblib can run them.
"""

import os
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import ExitStack, closing, suppress
from functools import lru_cache
from itertools import batched, count, islice
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload
from uuid import uuid4

from ...workloads import Fault, InputError
from .cluster import SharedContent, on_cluster
from .signals import HELD, held_back
from .streams import print_message

MOST = 16  # chunks in one task: enough that handing it out costs nothing beside it
LOST = (BrokenExecutor, CancelledError)  # a process died; a cluster forgot a task of a worker that died
LOSSES = 3  # times in a row that work may be lost without a result between
STAYS = "what was saved in --out stays"
LOOK = 1.0  # seconds after which a worker looks whether its parent is still there


@overload
def in_order[P, C, T](
    work: Callable[[P, C], T],
    shared: P,
    chunks: Iterable[C],
    jobs: int | str = 1,
    most: int = MOST,
) -> Generator[T]: ...
@overload
def in_order[P, C, K, T](
    work: Callable[[P, Sequence[C], K], list[T]],
    shared: P,
    chunks: Iterable[C],
    jobs: int | str = 1,
    most: int = MOST,
    *,
    learnt: Callable[[], K],
) -> Generator[T]: ...
def in_order(
    work: Callable[..., Any],
    shared: Any,
    chunks: Iterable[Any],
    jobs: int | str = 1,
    most: int = MOST,
    *,
    learnt: Callable[[], Any] | None = None,
) -> Generator[Any]:
    """Yield `work(shared, chunk)` for each chunk, in the order of `chunks`, by `jobs` processes or a cluster's workers.

    `jobs` is a number of processes, or the name of a cluster (cluster.py). Work begins ahead of the reader (two tasks
    per worker); closing the generator lets that work finish unread. Tasks start at one chunk and grow, to `most`, so
    that a short search does not wait for work that it will not read. Where workers die (killed, out of memory) others
    do their work again; a chunk gives the same result wherever it is done. Processes end with this one. Raises
    InputError where none can begin, or they die time after time.

    With `learnt`, work is done by the task, `work(shared, chunks, learnt())` for a list of results, with what the
    reader has learnt by the time the task is handed out.
    """
    with closing(Workers(work, shared, jobs)) as workers:
        yield from workers.in_order(chunks, most, learnt)


class Workers:
    """Processes or a cluster's workers that keep what all chunks share, for several lots of chunks one after the other.

    Nothing begins before the first lot; with one process nothing begins at all. `close` ends the use of a cluster and
    deletes what is shared; a later lot begins anew.
    """

    def __init__(self, work: Callable[..., Any], shared: Any, jobs: int | str) -> None:
        self.work, self.shared, self.jobs = work, shared, jobs
        self._open = ExitStack()
        self._at: Any = None  # where the workers find what is shared; for a cluster what on_cluster gives

    def in_order(
        self, chunks: Iterable[Any], most: int = MOST, learnt: Callable[[], Any] | None = None
    ) -> Generator[Any]:
        """Yield the result of each chunk, in order; see the function `in_order`."""
        if isinstance(self.jobs, str):
            return self._by_cluster(self.jobs, _growing(chunks, 2, most), learnt)
        if self.jobs == 1:
            tasks = _growing(chunks, 1, most)
            return (result for task in tasks for result in _done(self.work, self.shared, task, learnt and learnt()))
        return self._by_processes(self.jobs, _growing(chunks, self.jobs, most), learnt)

    def close(self) -> None:
        """Leave the cluster, and delete what is shared."""
        self._at = None
        self._open.close()

    def _content(self) -> bytes:
        return pickle.dumps((self.work, self.shared), pickle.HIGHEST_PROTOCOL)

    def _by_cluster(
        self, cluster: str, tasks: Iterator[tuple[Any, ...]], learnt: Callable[[], Any] | None
    ) -> Generator[Any]:
        """Yield the results of `tasks` by the workers of a cluster; others take over where some are lost."""
        waiting: deque[tuple[Any, ...]] = deque()

        def attempt() -> Generator[Any]:
            if self._at is None:
                self._at = self._open.enter_context(on_cluster(cluster, SharedContent(uuid4().hex, self._content())))
            parallel, shared, dead = self._at
            try:
                yield from _ordered(lambda batch: _rounds(parallel, batch), shared, waiting, tasks, learnt)
            except dead as error:
                rule = f"its workers die of this work ({_first_line(error)}): perhaps they lack memory; {STAYS}"
                raise InputError(Fault("cluster", None, "", rule)) from None
            except OSError as error:  # of the connection: a new one tells whether anything answers still
                raise CancelledError(_first_line(error)) from None

        def lost(why: str) -> None:
            self.close()  # to connect anew, or to say that nothing answers any more
            print_message(f"work was lost on the cluster ({why}); it is done again")

        rule = f"work was lost on it {LOSSES} times in a row: look what becomes of its workers; {STAYS}"
        yield from _though_lost(attempt, lost, Fault("cluster", None, "", rule))

    def _by_processes(
        self, jobs: int, tasks: Iterator[tuple[Any, ...]], learnt: Callable[[], Any] | None
    ) -> Generator[Any]:
        """Yield the results of `tasks` by processes of this machine; new ones take over where some die."""
        _check_folder()
        # joblib ends a worker that waits for minutes
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        from joblib import Parallel  # a fifth of a second that a search in one process need not wait for

        if self._at is None:
            path = Path(self._open.enter_context(TemporaryDirectory(prefix="ruby-map-"))) / "shared.pickle"
            path.write_bytes(self._content())
            self._at = SharedContent(str(path))
        waiting: deque[tuple[Any, ...]] = deque()

        def attempt() -> Generator[Any]:
            # joblib begins its own resource tracker here, and workers with the first task
            with Parallel(jobs, return_as="generator", batch_size=1, pre_dispatch=2 * jobs,
                          initializer=_begin_worker, initargs=(os.getpid(),)) as parallel:  # fmt: skip
                yield from _ordered(parallel, self._at, waiting, tasks, learnt)

        def lost(why: str) -> None:
            print_message(f"a worker process died ({why}); others do its work again")

        why = f"perhaps for lack of memory: use fewer processes; {STAYS}"
        fault = Fault("jobs", None, "", f"worker processes died {LOSSES} times in a row, {why}")
        yield from _though_lost(attempt, lost, fault)


def _though_lost(attempt: Callable[[], Generator[Any]], lost: Callable[[str], object], fault: Fault) -> Generator[Any]:
    """Yield the results of attempt after attempt, as long as each that loses work also brings some."""
    losses = 0
    while losses < LOSSES:
        try:
            for result in attempt():
                yield result
                losses = 0
            return
        except LOST as error:
            losses += 1
            lost(_first_line(error))
    raise InputError(fault)


def _ordered(
    run: Callable[[Iterable[Any]], Generator[list[Any]]],
    shared: SharedContent,
    waiting: deque[tuple[Any, ...]],
    rest: Iterator[tuple[Any, ...]],
    learnt: Callable[[], Any] | None,
) -> Generator[Any]:
    """Yield the results of the tasks in `waiting` (handed out before, never read) and then of `rest`, chunk by chunk.

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

    results: Iterable[list[Any]] = ()
    try:
        with held_back():
            results = run(tasks())
        for several in results:
            waiting.popleft()
            yield from several
    finally:
        closing.set()  # draining is shorter than joblib's own way out, which kills the workers
        with suppress(*LOST):  # what ends this stands, whatever becomes of work that nobody reads
            for _ in results:
                pass


def _growing(chunks: Iterable[Any], workers: int, most: int) -> Iterator[tuple[Any, ...]]:
    """Put chunks into tasks of 1, 2, 4... up to `most` chunks; each size for every worker twice."""
    every = iter(chunks)
    for number in count():
        if not (task := tuple(islice(every, min(most, 2 ** min(number // (2 * workers), 10))))):
            return
        yield task


def _rounds(parallel: Any, tasks: Iterable[Any]) -> Generator[list[Any]]:
    """Yield results as they come, where the back end can; else round by round."""
    if parallel.return_generator:
        yield from parallel(tasks)
    else:
        for batch in batched(tasks, 4 * parallel._effective_n_jobs()):
            yield from parallel(batch)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _check_folder() -> None:
    """Raise InputError where no process can begin, as the folder it would begin in is gone."""
    try:
        os.getcwd()
    except FileNotFoundError:
        rule = "the working directory is gone, and processes begin there: go to another, or use one process"
        raise InputError(Fault("jobs", None, "", rule)) from None


def _begin_worker(parent: int) -> None:
    """Leave Ctrl-C and SIGTERM to the parent, end with it, and keep what is known of the work.

    joblib takes 300 MB for a leak where psutil is installed, and would put another process in place of this one.
    """
    for number in HELD:
        signal.signal(number, signal.SIG_IGN)
    with suppress(ImportError):
        from joblib.externals.loky import process_executor

        process_executor._MAX_MEMORY_LEAK_SIZE = inf
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process once its parent is gone. Nobody would read what it finds, and it would not notice: the workers
    hold both ends of the pipes that they wait at."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _work(shared: SharedContent, parent: int, task: tuple[Any, ...], learnt: Any) -> list[object]:
    if not shared.local and os.getpid() != parent and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a cluster on this machine; it ends its workers as it likes
    return list(_done(*_read(shared), task, learnt))


def _done(work: Callable[..., Any], given: object, task: tuple[Any, ...], learnt: Any) -> Iterable[Any]:
    """The results of a task; computed one after the other where the work does not take whole tasks."""
    return (work(given, chunk) for chunk in task) if learnt is None else work(given, task, learnt)


@lru_cache(maxsize=1)
def _read(shared: SharedContent) -> tuple[Callable[..., object], object]:
    work, given = pickle.loads(shared.content())
    return work, given
