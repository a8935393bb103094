"""The example: from training in torch to a page that recognises a picture, by its commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.artifacts import browser
from tests.artifacts.test_web import pytestmark as needs_a_browser
from tests.core.processes import ROOT, environment

pytestmark = needs_a_browser


def test_the_commands_give_a_page_that_recognises_shapes(tmp_path: Path) -> None:
    folder = tmp_path / "examples" / "export"
    shutil.copytree(ROOT / "examples" / "export", folder)
    words = (folder / "shapes.py").read_text().split('"""')[1].split("\n\n")[1].split("\n")
    train, export, _ = (line.strip() for line in words if line.strip())
    python = f"{sys.executable} -m lazytensor"
    variables = environment(LAZYTENSOR_CACHE_DIR=os.environ["LAZYTENSOR_CACHE_DIR"])
    for command in (
        train.replace("python", sys.executable, 1),
        export.replace("lazytensor", python, 1),
    ):
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    with browser.page() as page:
        page.open((tmp_path / "page" / "index.html").as_uri())
        page.until("!document.getElementById('run').disabled")
        for name in ("circle", "square", "triangle"):
            page.run("globalThis.RESULTS = null")
            page.choose("input[type=file]", folder / f"{name}.png")
            page.until(f"document.querySelector('textarea').value.startsWith('{name}')")
            page.run("document.getElementById('run').click()")
            found = page.until("RESULTS")
            assert found[name]["data"][0] > 0.8, (name, found)
        if picture := os.environ.get("LAZYTENSOR_TESTS_PICTURE"):
            page.picture(Path(picture))
