"""Checkpoints: what is saved is restored, on the same mesh, another one, or none."""

import json
from pathlib import Path
from typing import Any

import keras
import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
import torch

import lazytensor
import lazytensor.numpy as lnp
import lazytensor.tf
import lazytensor.torch
from lazytensor import DTypeError, Mesh, ShapeError, checkpoint
from lazytensor.sharding import sharding_of
from tests.core.processes import launch, said_by

LINE, GRID = Mesh((8,), ("a",)), Mesh((2, 4), ("a", "b"))
R = np.random.default_rng(0)
PLACES: dict[str, tuple[Mesh, Any] | None] = {
    "one device": None,
    "split": (LINE, ("a",)),
    "split both ways": (GRID, ("b", "a")),
    "split by both": (GRID, (("a", "b"),)),
    "whole on each": (GRID, ()),
}
DTYPES = ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"]


def placed(x: np.ndarray, place: tuple[Mesh, Any] | None) -> Any:
    return lnp.array(x) if place is None else lazytensor.shard(x, *place)


@pytest.mark.parametrize("after", PLACES)
@pytest.mark.parametrize("before", PLACES)
def test_arrays_come_back_on_another_mesh(before: str, after: str, tmp_path: Path) -> None:
    x = R.standard_normal((16, 24))
    checkpoint.save(tmp_path / "c", {"a/b.c": placed(x, PLACES[before])})
    there = placed(np.zeros_like(x), PLACES[after])
    checkpoint.restore(tmp_path / "c", {"a/b.c": there})
    np.testing.assert_array_equal(np.asarray(there), x)
    assert sharding_of(there) is sharding_of(placed(x, PLACES[after]))
    if (place := PLACES[after]) is not None:
        found = checkpoint.load(tmp_path / "c", place[0], {"a/b.c": place[1]})["a/b.c"]
        np.testing.assert_array_equal(np.asarray(found), x)
        assert sharding_of(found) is sharding_of(there)


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 0, 2), (5, 3)])
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_shape(name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    x = np.asarray(R.integers(0, 2, shape)).astype(dtype)
    checkpoint.save(tmp_path / "c", {"lazy": lnp.array(x), "host": x})
    found = checkpoint.load(tmp_path / "c")
    there = np.empty_like(x)
    checkpoint.restore(tmp_path / "c", {"lazy": there})
    for one in (*found.values(), there):
        assert one.dtype == dtype
        np.testing.assert_array_equal(np.asarray(one), x)


def test_a_torch_module_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    def made(seed: int) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
        torch.manual_seed(seed)
        net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
        net = lazytensor.torch.data_parallel(net, LINE)
        lazytensor.torch.mark_sharding(net[0].weight, LINE, ("a",))
        return net, torch.optim.SGD(net.parameters(), 0.1)

    def step(net: torch.nn.Module, optimizer: torch.optim.Optimizer) -> float:
        loss = (net(torch.ones(16, 8)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    net, optimizer = made(0)
    step(net, optimizer)
    checkpoint.save(tmp_path / "c", net.state_dict())
    expected = step(net, optimizer)
    other, optimizer = made(1)
    checkpoint.restore(tmp_path / "c", other.state_dict())
    assert step(other, optimizer) == expected
    assert sharding_of(other[0].weight) is sharding_of(net[0].weight)


def test_a_keras_model_is_restored(tmp_path: Path) -> None:
    with lazytensor.tf.enabled():
        keras.utils.set_random_seed(0)
        nets = [keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)]) for _ in range(2)]
        first, second = ({v.path: v.value for v in net.weights} for net in nets)
        pairs = dict(zip(second, first.values(), strict=True))
        checkpoint.save(tmp_path / "c", pairs)
        checkpoint.restore(tmp_path / "c", second)
        x = tf.ones((2, 4))
        np.testing.assert_array_equal(nets[0](x).numpy(), nets[1](x).numpy())


def test_what_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", {"x": lnp.ones((4, 2)), "y": lnp.ones(3)})
    x = lnp.zeros((4, 2))
    with pytest.raises(KeyError, match="has no z; it has \\['x', 'y'\\]"):
        checkpoint.restore(tmp_path / "c", {"x": x, "z": x})
    with pytest.raises(ShapeError, match=r"y has shape \(2,\), in the checkpoint \(3,\)"):
        checkpoint.restore(tmp_path / "c", {"x": x, "y": lnp.zeros(2)})
    with pytest.raises(DTypeError, match="y has dtype float32, in the checkpoint float64"):
        checkpoint.restore(tmp_path / "c", {"x": x, "y": lnp.zeros(3, np.float32)})
    with pytest.raises(ValueError, match="y: a view changes with its array"):
        checkpoint.restore(tmp_path / "c", {"x": x, "y": lnp.zeros(6)[::2]})
    with pytest.raises(TypeError, match="x: a lazy array or a NumPy array was expected, got str"):
        checkpoint.save(tmp_path / "d", {"x": "a"})
    np.testing.assert_array_equal(np.asarray(x), 0)
    assert not (tmp_path / "d").exists()


def test_damage_is_an_error(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", {"x": lazytensor.shard(np.zeros((16, 2)), LINE, ("a",))})
    chunk = tmp_path / "c" / "x" / "c" / "3" / "0"
    data = bytearray(chunk.read_bytes())
    data[5] ^= 1
    chunk.write_bytes(data)
    with pytest.raises(ValueError, match="Digest mismatch"):
        checkpoint.load(tmp_path / "c")
    chunk.unlink()
    with pytest.raises(ValueError, match="7 of 8 chunks are there"):
        checkpoint.load(tmp_path / "c")
    (tmp_path / "c" / checkpoint.INDEX).write_text(json.dumps({"format": "other"}))
    with pytest.raises(ValueError, match="'lazytensor checkpoint 1' was expected, got 'other'"):
        checkpoint.load(tmp_path / "c")


def test_a_save_that_fails_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint.save(tmp_path / "c", {"x": lnp.ones(4)})

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space left"):
            checkpoint.save(tmp_path / "c", {"x": lnp.zeros(4)})
    np.testing.assert_array_equal(np.asarray(checkpoint.load(tmp_path / "c")["x"]), 1)
    checkpoint.save(tmp_path / "c", {"x": lnp.full(4, 2.0)})
    np.testing.assert_array_equal(np.asarray(checkpoint.load(tmp_path / "c")["x"]), 2)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_processes_write_and_read_their_own_parts(tmp_path: Path) -> None:
    program = """
        import sys
        import numpy
        import lazytensor
        from lazytensor import checkpoint

        lazytensor.distributed.initialize()
        n = lazytensor.distributed.device_count()
        mesh, x = lazytensor.Mesh((n,), ("x",)), numpy.arange(48.0).reshape(24, 2)
        if sys.argv[1] == "save":
            split = lazytensor.shard(x, mesh, ("x",))
            whole = lazytensor.shard(x, mesh)
            checkpoint.save(sys.argv[2], {"split": split, "whole": whole, "host": x})
        else:
            found = checkpoint.load(sys.argv[2], mesh, {"split": ("x",)})
            own = {name: lazytensor.sharding.to_local(a).shape for name, a in found.items()}
            print(own, all((numpy.asarray(a) == x).all() for a in found.values()))
        """
    folder = str(tmp_path / "c")
    for size, devices in ((2, 2), (3, 1), (1, 8)):
        done = launch(program, size, devices, "save", folder, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    for size, devices in ((2, 2), (3, 1), (1, 8)):
        done = launch(program, size, devices, "load", folder, folder=tmp_path)
        own = {"split": (24 // size, 2), "whole": (24, 2), "host": (24, 2)}
        for rank in range(size):
            assert said_by(rank, done.stdout) == [f"{own} True"], done.stderr
