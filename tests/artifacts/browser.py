"""Debian's Chromium without a window, by the WebDriver protocol; no page of it has a network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DRIVER = shutil.which("chromedriver")
SECONDS = 60.0
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=900,1100",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


class Page:
    """One tab. `run` evaluates JavaScript, and `until` waits for it to be true."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call

    def open(self, address: str) -> None:
        self.call("POST", "/url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script: str) -> Any:
        end = time.monotonic() + SECONDS
        while not (found := self.run(f"return {script}")):
            assert time.monotonic() < end, (script, self.run("return document.body.innerText"))
            time.sleep(0.05)
        return found

    def choose(self, element: str, path: Path) -> None:
        """Give a file to an input of files."""
        found = self.call("POST", "/element", {"using": "css selector", "value": element})
        (key,) = found.values()
        self.call("POST", f"/element/{key}/value", {"text": str(path)})

    def messages(self) -> list[str]:
        """What the console was told."""
        return [line["message"] for line in self.call("POST", "/se/log", {"type": "browser"})]

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))


@contextmanager
def page() -> Iterator[Page]:
    """A tab of a new browser."""
    assert DRIVER is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"

    def ask(method: str, path: str, said: Any = None) -> Any:
        data = None if said is None else json.dumps(said).encode()
        request = urllib.request.Request(base + path, data, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read())["value"]

    with TemporaryDirectory() as profile:
        chrome = {"args": [*OPTIONS, f"--user-data-dir={profile}"]}
        if Path("/usr/bin/chromium").exists():
            chrome["binary"] = "/usr/bin/chromium"
        wanted = {"goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}
        driver = subprocess.Popen(
            [DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": profile},
        )  # fmt: skip
        try:
            _wait(ask)
            made = ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            session = f"/session/{made['sessionId']}"
            try:
                yield Page(lambda method, path, said=None: ask(method, session + path, said))
            finally:
                ask("DELETE", session)
        finally:
            driver.terminate()
            driver.wait()


def _wait(ask: Callable[..., Any]) -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            ask("GET", "/status")
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
