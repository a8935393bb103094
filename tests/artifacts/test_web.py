"""The page runs the program in a real browser, without a network, and shows our values."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import lazytensor
from lazytensor import Unsupported
from lazytensor.artifacts import Artifact
from tests.artifacts import browser
from tests.artifacts.programs import PROGRAMS, assert_close, leaves

NEEDED = browser.DRIVER is not None and shutil.which("npm") is not None
pytestmark = pytest.mark.skipif(
    not NEEDED and "CI" not in os.environ, reason="it needs Debian's chromium-driver, and npm"
)
SHOWN = ("pipeline", "mlp", "cnn", "transformer", "lstm", "tf_function")


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Page]:
    with browser.page() as found:
        yield found


def opened(page: browser.Page, folder: Path) -> None:
    page.open((folder / "index.html").as_uri())
    page.until("!document.getElementById('run').disabled")


def entered(page: browser.Page, name: str, text: str) -> None:
    script = """
        const field = document.getElementById(arguments[0]);
        field.value = arguments[1];
        field.dispatchEvent(new Event("input"));
    """
    page.run(script, name, text)


def results(page: browser.Page, artifact: Artifact) -> list[np.ndarray]:
    """What the page shows when it is run."""
    page.run("globalThis.RESULTS = null; document.getElementById('run').click()")
    page.until("RESULTS || document.getElementById('error').textContent")
    assert page.run("return document.getElementById('error').textContent") == ""
    found = page.run("return RESULTS")
    return [
        np.array(found[port.name]["data"], port.dtype).reshape(found[port.name]["dims"])
        for port in artifact.outputs
    ]


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_gives_our_values(name: str, page: browser.Page, tmp_path: Path) -> None:
    example = PROGRAMS[name]
    artifact = example.exported(is_open=True, name=name)
    opened(page, artifact.to("web", tmp_path / "page"))
    assert page.run("return document.title") == name
    for arrays in list(example.batches())[:2]:
        entered(page, "count", str(arrays[0].shape[0]))
        for port, x in zip(artifact.inputs, arrays, strict=True):
            entered(page, f"input-{port.name}", json.dumps(x.tolist()))
        assert_close(results(page, artifact), list(leaves(artifact(*arrays))))
    assert page.run("return document.getElementById('time').textContent").endswith(" ms")
    assert page.messages() == []


def png(pixels: np.ndarray) -> bytes:
    """A picture's file: RGB, eight bits each."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    return b"".join(
        [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)),
         chunk(b"IEND", b"")]
    )  # fmt: skip


def test_files_are_read(page: browser.Page, tmp_path: Path) -> None:
    example = PROGRAMS["cnn"]
    x = example.arrays[0][:1]
    artifact = lazytensor.export(example.function(), *PROGRAMS["cnn"].given(example.function()),
                                 symbolic={"input": {0: "n"}})  # fmt: skip
    opened(page, artifact.to("web", tmp_path / "page"))
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "x.json").write_text(json.dumps(x.tolist()))
    (tmp_path / "x.csv").write_text("\n".join(",".join(map(str, row)) for row in x.reshape(48, 16)))
    pixels = np.arange(16 * 16 * 3, dtype=np.uint8).reshape(16, 16, 3)
    (tmp_path / "x.png").write_bytes(png(pixels))
    of_picture = np.moveaxis(pixels, 2, 0)[None] / np.float32(255)
    for name, expected in (("npy", x), ("json", x), ("csv", x), ("png", of_picture)):
        page.run("document.getElementById('input-input').value = ''")
        page.choose("input[type=file]", tmp_path / f"x.{name}")
        page.until(f"document.getElementById('input-input').value.startsWith('x.{name}')")
        assert_close(results(page, artifact), artifact(expected.astype(np.float32)))


def test_what_is_no_input_is_told(page: browser.Page, tmp_path: Path) -> None:
    artifact = lazytensor.export(lambda x: x * 2, np.ones((2, 2)))
    opened(page, artifact.to("web", tmp_path / "page"))
    for text, said in (
        ("1 2 3", "x: 4 numbers were expected, for the shape [2, 2]; got 3"),
        ("1 2 3 four", "a number was expected, got four"),
    ):
        entered(page, "input-x", text)
        page.run("document.getElementById('run').click()")
        page.until("document.getElementById('error').textContent")
        assert page.run("return document.getElementById('error').textContent") == said
    entered(page, "input-x", "3")
    assert results(page, artifact)[0].tolist() == [[6.0, 6.0], [6.0, 6.0]]


def test_a_dtype_that_a_page_cannot_show_is_refused(tmp_path: Path) -> None:
    artifact = lazytensor.export(lambda x: x * 2, np.ones(2, np.float16))
    with pytest.raises(Unsupported, match="web: x: float16"):
        artifact.to("web", tmp_path / "page")
    assert list(tmp_path.iterdir()) == []


def test_a_runtime_that_cannot_be_had_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAZYTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    artifact = lazytensor.export(lambda x: x * 2, np.ones(2))
    with pytest.raises(RuntimeError, match="install Node"):
        artifact.to("web", tmp_path / "page")
    assert not (tmp_path / "page").exists()
