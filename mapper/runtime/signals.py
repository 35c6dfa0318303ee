"""Ctrl-C and SIGTERM while processes begin."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

HELD = (signal.SIGINT, signal.SIGTERM)  # reach every process; the parent alone decides


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back: they never reach processes that begin meanwhile, not even while Python starts.

    The mask is this thread's alone, which its processes inherit. Another thread may receive the signal, and Python
    would still end what this one does, a thread half begun: that is put off until the end.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # beginning, it would let them through again
    came = list[int]()
    main = threading.current_thread() is threading.main_thread()  # the only one that Python ends
    handlers = {number: by for number in HELD if main and callable(by := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, _: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)  # masked yet
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
