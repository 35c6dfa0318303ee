"""A headless browser for the tests of pages, where one is installed."""

import fcntl
import json
import os
import re
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
# the middle of a node, in the window
MIDDLE = (
    "(node => { const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })"
)

KEYS = {"Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Page:
    """One page of a headless browser, driven over its debugging pipe."""

    def __init__(self, browser, folder):
        to_child, self.write = os.pipe()
        self.read, from_child = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_child, from_child)]
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        options += ["--disable-dev-shm-usage", f"--user-data-dir={folder}", "--window-size=1100,1400", "about:blank"]
        self.process = subprocess.Popen(
            [browser, *options],
            preexec_fn=lambda: [os.dup2(end, number) for number, end in enumerate(ends, 3)],
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (to_child, from_child, *ends):
            os.close(end)
        self.buffer, self.count, self.session, self.events = b"", 0, None, []
        self.opened = set()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        message |= {"sessionId": self.session} if self.session else {}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while (answer := self.message()).get("id") != self.count:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read, 1 << 20)
            assert more, "the browser has ended"
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def open(self, path, hash=""):
        self.events = [event for event in self.events if event["method"] != "Page.loadEventFired"]
        self.opened.add(path.as_uri())
        self.call("Page.navigate", url=path.as_uri() + hash)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def js(self, code):
        """The value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=code, returnByValue=True)["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=KEYS[name])

    def faults(self):
        """Errors and warnings of the page, and requests for anything but itself."""
        told = [event for event in self.events if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
        told += [event for event in self.events if event["method"] == "Runtime.consoleAPICalled"]
        asked = [event["params"]["request"]["url"] for event in self.events
                 if event["method"] == "Network.requestWillBeSent"]  # fmt: skip
        return told + [url for url in asked if url not in self.opened]

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.write)
        os.close(self.read)


def opened_browser(tmp_path_factory):
    """Yield a page of a browser, for a fixture; without a browser its tests are skipped."""
    if BROWSER is None:
        pytest.skip("no chromium or chrome is installed")
    page = Page(BROWSER, tmp_path_factory.mktemp("browser"))
    yield page
    page.close()


def data_of(path):
    """The data in a page."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(text)
