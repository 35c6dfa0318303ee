"""Works on layers side by side, on each in one process: searches that cannot take turns, as proofs."""

import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NamedTuple, Protocol, override

from ...workloads import InputError
from ..runtime import State, in_order
from ..search.options import SearchOptions
from .time_slices import SliceResult, SliceState, Study, refused, with_own_tables

STOP = "stop"  # a file of this name tells the processes to end with the best so far


class WholeRequest(NamedTuple):
    """A layer to search whole."""

    number: int
    state: State | None  # from which to go on; None: start
    options: SearchOptions
    folder: str  # where a process looks for STOP, and leaves what nobody may read any more


class StoppableState(SliceState):
    """The state of a search that STOP in `folder` ends like Ctrl-C."""

    def __init__(self, request: WholeRequest) -> None:
        super().__init__(request.state)
        self.stop = Path(request.folder) / STOP

    @override
    def offer(self, state: Callable[[], State]) -> None:
        """Raise KeyboardInterrupt once there is the file."""
        if self.stop.exists():
            raise KeyboardInterrupt


class Numbered(Protocol):
    """The result of a layer."""

    @property
    def number(self) -> int: ...


def search_whole(study: Study, request: WholeRequest) -> SliceResult:
    """Search a layer to its end, or until it is told to stop."""
    part = StoppableState(request)
    if part.stop.exists():
        return SliceResult(request.number, request.state)
    try:
        result = study.search(request.number, study.space(request.number), request.options, None, part)
    except InputError as error:
        return refused(request.number, part.state, error)
    return left_behind(SliceResult(request.number, part.state, with_own_tables(result)), part)


def left_behind[R: Numbered](result: R, part: StoppableState) -> R:
    """Return what is found, and after a stop leave it in the folder, as nobody may read it any more."""
    if part.stop.exists():
        (part.stop.parent / f"{result.number}.pickle").write_bytes(pickle.dumps(result))
    return result


def side_by_side[Q, R: Numbered](
    work: Callable[[Study, Q], R],
    study: Study,
    requests: Callable[[str], Iterator[Q]],
    jobs: int,
    take: Callable[[R], None],
) -> bool:
    """Do the `work` on the layers of `requests`, which get the folder, and `take` each result; False after Ctrl-C.

    After Ctrl-C the processes soon end with the best so far, which is taken, too.
    """
    with TemporaryDirectory(prefix="ruby-map-") as name, _stopping(Path(name)):
        folder, whole, taken = Path(name), True, set[int]()
        with closing(in_order(work, study, requests(name), jobs, most=1)) as results:
            try:
                for result in results:
                    taken.add(result.number)
                    take(result)
            except KeyboardInterrupt:
                (folder / STOP).touch()
                whole = False
        for path in sorted(folder.glob("*.pickle")):
            late_result: R = pickle.loads(path.read_bytes())
            if late_result.number not in taken:
                take(late_result)
        return whole and not (folder / STOP).exists()


@contextmanager
def _stopping(folder: Path) -> Iterator[None]:
    """Make STOP as soon as Ctrl-C or SIGTERM comes: before it is told to anyone, as many wait for the processes."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler

    def stop(number: int, frame: FrameType | None) -> None:
        (folder / STOP).touch()
        before[signal.Signals(number)](number, frame)

    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
