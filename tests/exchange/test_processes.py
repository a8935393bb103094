"""Programs in several processes give what they give in one, in three frameworks."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from tests.core.processes import launch, said_by

BEGIN = """
    import json
    import numpy
    import lazytensor
    from lazytensor.core.observe import metrics

    lazytensor.distributed.initialize()
    rank, size = lazytensor.distributed.rank(), lazytensor.distributed.size()
    mesh = lazytensor.Mesh((lazytensor.distributed.device_count(),), ("data",))
    rng = numpy.random.default_rng(0)

    def own(whole):
        return numpy.split(whole, size)[rank]
    """
PROGRAMS = {
    "numpy": """
    import lazytensor.numpy as np

    X = rng.standard_normal((64, 8))
    x, w, found = lazytensor.from_local(own(X), mesh, ("data",)), np.zeros(8), []
    y = lazytensor.from_local(own(X @ numpy.arange(8.0)), mesh, ("data",))
    for _ in range(6):
        error = x @ w - y
        w = w - 0.1 / 64 * (x.T @ error)
        found.append(float((error**2).mean()))
    found += [*map(float, w), *map(float, np.sort(x[:, 0])[:4]), float(x[63, 7])]
    found.append(float(numpy.abs(numpy.asarray(x) - X).max()))
    found.append(float(numpy.abs(lazytensor.sharding.to_local(x) - own(X)).max()))
    """,
    "torch": """
    import torch, lazytensor.torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 4))
    net, found = lazytensor.torch.data_parallel(net, mesh), []
    optimizer = torch.optim.AdamW(net.parameters(), 0.01)
    for _ in range(6):
        x = torch.tensor(own(rng.standard_normal((32, 8), numpy.float32)))
        labels = torch.tensor(own(rng.integers(0, 4, 32)))
        x, labels = (lazytensor.torch.from_local(t, mesh, ("data",)) for t in (x, labels))
        loss = torch.nn.functional.cross_entropy(net(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    """,
    "tf": """
    import keras, tensorflow as tf, lazytensor.tf

    lazytensor.tf.enable()
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4)]
    net, found = keras.Sequential([keras.Input((8,)), *layers]), []
    optimizer = keras.optimizers.Adam(0.01)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for _ in range(4):
        x, labels = rng.standard_normal((32, 8), numpy.float32), rng.integers(0, 4, 32)
        x, labels = (lazytensor.tf.from_local(own(t), mesh, ("data",)) for t in (x, labels))
        with tf.GradientTape() as tape:
            loss = loss_of(labels, net(x, training=True))
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        found.append(float(loss))
    """,
}
END = """
    print(json.dumps([found, metrics.counts["compiles"], metrics.counts["disk_hits"]]))
    """


def results(name: str, size: int, devices: int, **variables: str) -> list[list[Any]]:
    """What each process has found, and how many programs it has compiled and loaded."""
    with TemporaryDirectory() as folder:
        text = BEGIN + PROGRAMS[name] + END
        done = launch(text, size, devices, folder=Path(folder), **variables)
    assert done.returncode == 0, done.stderr
    return [json.loads(said_by(rank, done.stdout)[-1]) for rank in range(size)]


@cache
def _alone(name: str) -> list[float]:
    ((found, _, _),) = results(name, 1, 4)
    return list(found)


@pytest.mark.parametrize(
    ("name", "size", "devices"), [("numpy", 2, 2), ("numpy", 4, 1), ("torch", 2, 2), ("tf", 2, 2)]
)
def test_the_results_are_those_of_one_process(name: str, size: int, devices: int) -> None:
    found = results(name, size, devices)
    for one in found:
        assert one == found[0]
    np.testing.assert_allclose(found[0][0], _alone(name), rtol=2e-5, atol=1e-12)
    assert min(found[0][0]) < max(found[0][0])


def test_the_next_processes_compile_nothing(tmp_path: Path) -> None:
    disk = {"LAZYTENSOR_DISK": "1", "LAZYTENSOR_CACHE_DIR": str(tmp_path)}
    first, second = (results("numpy", 2, 2, **disk) for _ in range(2))
    assert [one[0] for one in first] == [one[0] for one in second]
    assert all(compiles == 0 < loads for _, compiles, loads in second)
    assert all(one[1] > 0 for one in first)
