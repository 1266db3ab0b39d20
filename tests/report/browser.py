"""A headless Chromium, driven over loopback by chromedriver's WebDriver JSON; nothing but Python's library.

What it is not: a test framework. It opens a file, runs a snippet of JavaScript in it, sends a DevTools command, and
hands out what the page logged and asked the network for.

    with Browser() as browser:
        browser.open(Path("report.html"))
        browser.run("return document.title")
"""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-extensions", "--hide-scrollbars", "--force-color-profile=srgb", "--window-size=1280,900",
]
STARTS_WITHIN_S = 30
ANSWERS_WITHIN_S = 60


class BrowserError(Exception):
    """The browser did not do what was asked."""


def missing():
    """The programs that are not installed."""
    return [name for name in ("chromium", "chromedriver") if not shutil.which(name)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """One session with a profile of its own; both are gone at the end of the `with` block."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="ramline-chromium-", ignore_cleanup_errors=True)
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        # Its own group, so that ending it reaches the browser it started and nothing else.
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}", "--silent"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.session = None
        # A proxy of the environment must not see loopback.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            self._wait()
            self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "unhandledPromptBehavior": "ignore",
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                "goog:chromeOptions": {"binary": shutil.which("chromium"),
                                       "args": FLAGS + [f"--user-data-dir={self.profile.name}"]},
            }}})["sessionId"]
            # What the page of a new tab asks for is not asked for by a report.
            self._in_session("POST", "/url", {"url": "about:blank"})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.session:
            try:
                self._call("DELETE", f"/session/{self.session}")
            except (BrowserError, OSError):
                pass
        self.driver.terminate()
        try:
            self.driver.wait(10)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.profile.cleanup()

    def _wait(self):
        end = time.monotonic() + STARTS_WITHIN_S
        while True:
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except OSError:
                pass
            if time.monotonic() > end or self.driver.poll() is not None:
                raise BrowserError(f"chromedriver did not start within {STARTS_WITHIN_S} s; try: chromedriver --version")
            time.sleep(0.05)

    def _call(self, method, path, body=None):
        data = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=ANSWERS_WITHIN_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.loads(error.read() or b"{}").get("value") or {}
            raise BrowserError(f"{method} {path}: {value.get('error')}: {value.get('message', '').splitlines()[0:1]}") from error

    def _in_session(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def open(self, file: Path):
        """Loads a file; what was logged before is forgotten."""
        self.logs("browser"), self.logs("performance")
        self._in_session("POST", "/url", {"url": file.resolve().as_uri()})

    def run(self, script, *args):
        """Runs the body of a function in the page and returns its value."""
        return self._in_session("POST", "/execute/sync", {"script": script, "args": list(args)})

    def devtools(self, command, **params):
        """Sends a command of the DevTools protocol."""
        return self._in_session("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def logs(self, kind):
        """Entries since the last call: `browser` (the console) or `performance` (DevTools events)."""
        return self._in_session("POST", "/se/log", {"type": kind})

    def dialog(self):
        """The text of an open alert, or None."""
        try:
            return self._in_session("GET", "/alert/text")
        except BrowserError:
            return None

    def view(self, width, dark=False, height=900):
        """Sets the width of the view in CSS pixels and the colour scheme the page is asked for."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", media="screen",
                      features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def scripts(self, on):
        """Whether pages loaded from now on may run scripts."""
        self.devtools("Emulation.setScriptExecutionDisabled", value=not on)

    def screenshot(self, file: Path):
        """Writes the whole page, not only what is in view, as PNG."""
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(shot["data"]))
