"""`lazytensor explain` names the true cause of every cut and every compile."""

import json
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[[dict[str, str]], Path]

# A line whose end says `# cause` must be named for that cause; `NEW` and `CUTS` say what as.
NUMPY = """
    import numpy as np

    def inputs(n=40, dtype=np.float64):
        return np.linspace(0.0, 1.0, n).astype(dtype)

    x = inputs()
    for n in (40, 30):
        np.sin(x[:n]).sum().tolist()  # shape
    for dtype in (np.float64, np.float32):
        (np.cos(x.astype(dtype)) * 2).tolist()  # dtype
    for rate in (0.1, 0.2):
        (np.tan(x) * rate).tolist()  # scalar
    for more in (False, True):
        y = np.exp(x)
        if more:
            y = np.arctan(y)  # branch
        y.sum().tolist()
    for keep in (False, True):
        y = np.cosh(x)  # live
        z = np.sinh(y)
        y = y if keep else None
        z.tolist()
    for i in range(3):
        last = (x * 3 + i).max().item()  # item
    for i in range(3):
        print(f"{i}", (x * 5).min())  # print
    for i in range(3):
        x[x > 0.5].tolist()  # mask
    cache = np.zeros((1, 4))
    for i in range(4):
        cache = np.concatenate([cache, np.ones((1, 4))])  # growth
        cache.sum().tolist()
    weights = [np.eye(40) * k for k in range(3)]
    lazy = [w.tolist() for w in weights]
    for depth in (2, 3):
        y = x
        for w in weights[:depth]:
            y = w @ y  # layer
        y.tolist()
    for i in range(3):
        np.searchsorted(x * 1j, 1j)  # fallback
    for times in (3, 5):
        y = x
        for _ in range(times):
            y = np.log1p(y)  # loop
        y.tolist()
    """
TORCH = """
    import torch
    import lazytensor.torch

    x = torch.linspace(0.0, 1.0, 40).to("lazytensor")
    for n in (40, 30):
        x[:n].sin().sum().item()  # shape
    for dtype in (torch.float32, torch.float64):
        (x.to(dtype).cos() * 2).tolist()  # dtype
    for rate in (0.1, 0.2):
        (x.tan() * rate).tolist()  # scalar
    for more in (False, True):
        y = x.exp()
        if more:
            y = y.atan()  # branch
        y.sum().item()
    for keep in (False, True):
        y = x.cosh()  # live
        z = y.sinh()
        y = y if keep else None
        z.tolist()
    for i in range(3):
        last = (x * 3 + i).max().item()  # item
    for i in range(3):
        print(i, (x * 5).min())  # print
    for i in range(3):
        x[x > 0.5]  # mask
    cache = torch.zeros((1, 4)).to("lazytensor")
    for i in range(4):
        cache = torch.cat([cache, cache[:1] + 1])  # growth
        cache.sum().item()

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(40, 40) for _ in range(2)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)  # layer
            return x

    net = Net().to("lazytensor")
    net(x).tolist()
    net.layers.append(torch.nn.Linear(40, 40).to("lazytensor"))
    net(x).tolist()
    for i in range(3):
        torch.geqrf(x.reshape(-1, 1))  # fallback
    for times in (3, 5):
        y = x
        for _ in range(times):
            y = y.log1p()  # loop
        y.tolist()
    """
TF = """
    import tensorflow as tf
    import lazytensor.tf

    lazytensor.tf.enable()
    x = tf.linspace(0.0, 1.0, 40)
    x.numpy()
    for n in (40, 30):
        tf.reduce_sum(tf.sin(x[:n])).numpy()  # shape
    for dtype in (tf.float32, tf.float64):
        (tf.cos(tf.cast(x, dtype)) * 2).numpy()  # dtype
    for rate in (0.1, 0.2):
        (tf.tan(x) * rate).numpy()  # scalar
    for more in (False, True):
        y = tf.exp(x)
        if more:
            y = tf.atan(y)  # branch
        y.numpy()
    for keep in (False, True):
        y = tf.cosh(x)  # live
        z = tf.sinh(y)
        y = y if keep else None
        z.numpy()
    for i in range(3):
        last = tf.reduce_max(x * 3).numpy().item()  # item
    for i in range(3):
        print(i, tf.reduce_min(x * 5))  # print
    for i in range(3):
        tf.boolean_mask(x, x > 0.5)  # mask
    cache = tf.zeros((1, 4))
    for i in range(4):
        cache = tf.concat([cache, cache[:1] + 1], 0)  # growth
        tf.reduce_sum(cache).numpy()

    class Net(tf.Module):
        def __init__(self):
            self.weights = [tf.Variable(tf.eye(40)) for _ in range(2)]

        def __call__(self, x):
            for weight in self.weights:
                x = tf.linalg.matvec(weight, x)  # layer
            return x

    net = Net()
    net.weights[0].numpy()
    net(x).numpy()
    net.weights.append(tf.Variable(tf.eye(40)))
    net.weights[2].numpy()
    net(x).numpy()
    for i in range(3):
        tf.linalg.logm(tf.complex(tf.eye(2) * x[3], 0.0))  # fallback
    for times in (3, 5):
        y = x
        for _ in range(times):
            y = tf.math.log1p(y)  # loop
        y.numpy()
    """
NEW = {"shape", "dtype", "scalar", "branch", "live", "growth", "loop", "layer"}
KINDS = {"layer": "input"}
CUTS = {"item": "made a Python value", "print": "printed: `print`", "mask": "a boolean mask"}
SCRIPTS = {"numpy": NUMPY, "torch": TORCH, "tensorflow": TF}


def causes(seen: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """What an explanation says: pairs of a cause and a line."""
    for line in seen:
        for name, text in CUTS.items():
            if any(text in said for said in line["cuts"]):
                yield name, line["line"]
        if line["fallbacks"]:
            yield "fallback", line["line"]
        for new in line["new"]:
            yield new["kind"], new["line"]


@pytest.fixture(scope="module", params=[name for name in SCRIPTS if find_spec(name)])
def script(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_cause_is_named_at_its_line(script: str, project: Write, lazytensor: Run) -> None:
    folder = project({"s.py": SCRIPTS[script]})
    words = ("explain", "--json", "seen.json", "s.py")
    done = lazytensor(*words, cwd=folder, LAZYTENSOR_TIER="compile", LAZYTENSOR_DISK="0")
    assert done.returncode == 0, done.stderr
    seen = json.loads((folder / "seen.json").read_text())["lines"]
    named = set(causes(seen))
    lines = enumerate((folder / "s.py").read_text().splitlines(), start=1)
    wanted = {(text.split("  # ")[1], number) for number, text in lines if "  # " in text}
    assert {cause for cause, _ in wanted} == NEW | CUTS.keys() | {"fallback"}
    missing = {(KINDS.get(cause, cause), number) for cause, number in wanted} - named
    assert not missing, done.stdout
    grows = [new["text"] for line in seen for new in line["new"] if new["kind"] == "growth"]
    assert any("sizes up to 64 are one program from now on" in text for text in grows), grows
    # What is not one of the seeded causes is the first program of its kind, and said to be.
    marked = {number for _, number in wanted}
    assert {kind for kind, number in named if number not in marked} <= {"first", "item"}


def test_what_is_interpreted_is_explained_as_well(project: Write, lazytensor: Run) -> None:
    folder = project({"s.py": NUMPY})
    done = lazytensor("explain", "--json", "seen.json", "s.py", cwd=folder, LAZYTENSOR_DISK="0")
    assert done.returncode == 0, done.stderr
    named = set(causes(json.loads((folder / "seen.json").read_text())["lines"]))
    assert NEW - {"scalar", "layer"} <= {kind for kind, _ in named}  # numbers make no program new


def test_a_script_ends_as_it_would_and_the_explanation_follows(
    ending: tuple[str, int], project: Write, lazytensor: Run
) -> None:
    last, status = ending
    text = f"import numpy as np\nprint(np.ones(3).sum() + 1)\n{last}\n"
    folder = project({"s.py": text})
    run, done = (lazytensor(word, "s.py", cwd=folder) for word in ("run", "explain"))
    assert (done.returncode, done.stderr) == (status, run.stderr)
    assert done.stdout.startswith("4.0\nlazytensor explain: 1 program run, 1 interpreted\n")
    assert "1 × s.py:2: printed: `print`" in done.stdout


def test_modules_and_arguments(project: Write, lazytensor: Run) -> None:
    files = {
        "tool/__init__.py": "",
        "tool/main.py": "import sys\nimport lazytensor, numpy\nprint(sys.argv[1:], numpy.__name__)",
    }
    done = lazytensor("explain", "-m", "tool.main", "--json", "x", cwd=project(files))
    assert done.stdout == "['--json', 'x'] numpy\nlazytensor explain: nothing was cut yet\n"


def test_small_arrays_are_told_of(project: Write, lazytensor: Run) -> None:
    folder = project({"s.py": "import numpy as np\nprint(np.ones(3).sum())\n"})
    done = lazytensor("explain", "s.py", cwd=folder, LAZYTENSOR_SMALL="16")
    assert done.stdout.endswith(
        "nothing was cut yet; arrays of fewer than 16 elements are not lazy\n"
    )
