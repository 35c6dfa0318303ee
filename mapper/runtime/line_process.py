"""A process that is asked by lines: it reads a line on standard input and answers with a line on standard output.

Nothing here waits: a selector says which pipe is ready (line_processes.py), so no full pipe can stop both sides.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

LONGEST = 10_000  # bytes of an answer
AT_ONCE = 65_536  # bytes read or written
ABOUT = 0.2  # seconds that a process takes to end after it has closed a stream
KEPT = 4_000  # bytes of standard error, the last
SHOWN = 10  # lines of them


class LineProcess:
    """A running process, with at most one question. Raises OSError where it cannot begin.

    It leads a group of its own: Ctrl-C reaches this program alone, and what the process starts ends with it.
    """

    def __init__(self, command: Sequence[str], selector: selectors.BaseSelector) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe,
                                         start_new_session=True)  # fmt: skip
        self._selector = selector
        self.busy = False
        self.closed = ""  # which of its streams it has closed; it cannot answer any more
        self.ends = 0.0  # when the time for the answer is up, by the monotonic clock
        self._unsent, self._output, self._errors = b"", b"", b""
        for stream, event in ((self._out, selectors.EVENT_READ), (self._err, selectors.EVENT_READ)):
            selector.register(stream, event, self)
        os.set_blocking(self._in.fileno(), False)

    @property
    def _in(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _out(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def _err(self) -> IO[bytes]:
        assert self._process.stderr is not None
        return self._process.stderr

    @property
    def spoke(self) -> bool:
        """Whether there is output that no question asked for."""
        return not self.busy and bool(self._output)

    @property
    def said(self) -> str:
        """The last lines of its standard error."""
        lines = self._errors.decode(errors="backslashreplace").splitlines()
        return "\n".join(lines[-SHOWN:])

    def ask(self, line: str, timeout: float) -> None:
        """Send a line, which must be answered within `timeout` seconds."""
        self.busy, self.ends = True, time.monotonic() + timeout
        self._unsent = line.encode() + b"\n"
        self._selector.register(self._in, selectors.EVENT_WRITE, self)

    def ready(self, stream: object) -> None:
        """Read from a pipe of it, or write to it, as much as there is room for."""
        if stream is self._in:
            self._write()
        elif stream is self._err:
            data = os.read(self._err.fileno(), AT_ONCE)
            self._errors = (self._errors + data)[-KEPT:]
            if not data:
                self._selector.unregister(self._err)
        else:
            data = os.read(self._out.fileno(), AT_ONCE)
            self._output += data
            if len(self._output) > LONGEST:  # enough of it is known; reading on could take all memory
                self._selector.unregister(self._out)
            elif not data:
                self.closed = self.closed or "its standard output"
                self._selector.unregister(self._out)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in.fileno(), self._unsent[:AT_ONCE]) :]
        except BrokenPipeError:
            self.closed, self._unsent = "its standard input", b""
        if not self._unsent:
            self._selector.unregister(self._in)

    def answer(self) -> str | None:
        """Return the answer, once it is there. Raises ValueError, with the reason, where it is not one line."""
        line, end, rest = self._output.partition(b"\n")
        if len(self._output) > LONGEST:
            raise ValueError(f"more than {LONGEST:,} bytes for one mapping: {_shown(line)}")
        if not end:
            return None
        if rest:
            raise ValueError(f"more than one line: {_shown(line)}, then {_shown(rest)}")
        if self._unsent:
            raise ValueError(f"{_shown(line)} before it had read its line")
        self.busy, self._output = False, b""
        return line.decode(errors="backslashreplace").removesuffix("\r")

    def unasked(self) -> str:
        """Show the output that no question asked for."""
        return _shown(self._output)

    def gone(self) -> bool:
        """Test whether it can be asked no more: it has ended, or closed a stream."""
        return bool(self.closed) or self._process.poll() is not None

    def end(self) -> str:
        """Kill it, if it still runs, and what it started; return how it had ended by itself, if it had."""
        status = self._process.poll()
        if status is None and self.closed:  # mostly because it is about to end
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(ABOUT)
        with suppress(ProcessLookupError, PermissionError):  # gone, or (macOS) nothing but zombies left
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._read_errors()
        for stream in (self._in, self._out, self._err):
            with suppress(KeyError, ValueError):
                self._selector.unregister(stream)
            stream.close()
        if status is None:
            return ""
        return f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"

    def leave(self) -> None:
        """Tell it by the end of its input that there are no more questions."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(self._in)
        self._in.close()

    def _read_errors(self) -> None:
        """Read what is left on standard error, without waiting for more."""
        os.set_blocking(self._err.fileno(), False)
        with suppress(BlockingIOError):
            while data := os.read(self._err.fileno(), AT_ONCE):
                self._errors = (self._errors + data)[-KEPT:]


def _shown(output: bytes) -> str:
    """Quote the beginning of some output."""
    text = output[:80].decode(errors="backslashreplace")
    return repr(text) + ("..." if len(output) > 80 else "")
