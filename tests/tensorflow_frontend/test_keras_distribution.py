"""`keras.distribution` on a mesh: the losses of one device, an expert's exchanges."""

import json
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import lazytensor
import lazytensor.tf
from lazytensor.core.runtime.program_cache import cache
from lazytensor.sharding import sharding_of
from tests.core.processes import launch, said_by

DEVICES = [f"cpu:{number}" for number in range(8)]
R = np.random.default_rng(0)
X = R.standard_normal((260, 8), np.float32)  # the last batch is not divided
Y = X[:, :4] * 2


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazytensor.settings, "disk", False)
    cache.clear()


def data_parallel() -> Any:
    return keras.distribution.DataParallel(devices=DEVICES)


def model_parallel() -> Any:
    mesh = keras.distribution.DeviceMesh((2, 4), ("batch", "model"), DEVICES)
    layouts = keras.distribution.LayoutMap(mesh)
    layouts[".*dense.*kernel"] = (None, "model")
    layouts[".*dense.*bias"] = ("model",)
    return keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")


def trained() -> tuple[list[float], Any]:
    """Losses and predictions of a model that was trained, and the model."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)]
    net = keras.Sequential([keras.Input((8,)), *layers])
    net.compile("adam", "mse")
    done = net.fit(X, Y, batch_size=64, epochs=3, verbose=0, shuffle=False)
    found = [*done.history["loss"], net.evaluate(X, Y, batch_size=64, verbose=0)]
    return [*found, *net.predict(X, verbose=0)[:3].ravel()], net


@pytest.mark.parametrize("made", [data_parallel, model_parallel])
def test_training_gives_the_losses_of_one_device(made: Any) -> None:
    with lazytensor.tf.enabled():
        expected, _ = trained()
        with made().scope():
            found, net = trained()
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-5)
        kernel = sharding_of(net.weights[0].value)
        assert kernel is not None
        exchanges = [e for p in lazytensor.programs(50) if p.meshes for e in p.collectives()]
        nbytes = 4 * sum(np.prod(v.shape) for v in net.trainable_variables)
        added = [e.nbytes for e in exchanges if e.kind == "all-reduce"]
        if made is data_parallel:
            assert kernel.is_replicated
            assert nbytes <= max(added) <= nbytes + 64  # the gradients, in one exchange
        else:
            assert kernel.spec == ((), ("model",))
            state = [sharding_of(v.value) for v in net.optimizer.variables]
            assert state.count(kernel) == 4  # two means for each of two kernels
            assert added  # of activations, along the axis that splits the weights


def test_without_recording_the_backend_is_kerass_own() -> None:
    with lazytensor.tf.enabled():
        assert keras.distribution.list_devices() == ["cpu:0"]
        assert keras.distribution.get_device_count() == 1
    import tensorflow as tf

    own = len(tf.config.list_logical_devices("CPU"))
    assert keras.distribution.list_devices("cpu") == [f"cpu:{n}" for n in range(own)]


def test_a_tensor_is_distributed() -> None:
    with lazytensor.tf.enabled():
        mesh = keras.distribution.DeviceMesh((8,), ("batch",), DEVICES)
        layout = keras.distribution.TensorLayout(("batch", None), mesh)
        x = keras.ops.ones((16, 2)) * 3
        made = keras.distribution.distribute_tensor(x, layout)
        found = sharding_of(made)
        assert found is not None
        assert found.spec == (("batch",), ())
        np.testing.assert_array_equal(made.numpy(), 3)


PROGRAM = """
    import json
    import numpy as np
    import tensorflow as tf
    import keras
    import lazytensor.tf

    lazytensor.tf.enable()
    keras.distribution.initialize()
    keras.distribution.set_distribution(keras.distribution.DataParallel())
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).standard_normal((128, 8)).astype("f4")
    data = tf.data.Dataset.from_tensor_slices((x, x[:, :4] * 2)).batch(32)
    layers = [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)]
    net = keras.Sequential([keras.Input((8,)), *layers])
    net.compile("sgd", "mse")
    loss = net.fit(data, epochs=3, verbose=0).history["loss"]
    devices = keras.distribution.get_device_count()
    print(json.dumps([loss, devices, keras.distribution.distribution().num_processes]))
    """


def test_processes_train_as_one(tmp_path: Path) -> None:
    found = {}
    for size, devices in ((1, 4), (2, 2)):
        done = launch(PROGRAM, size, devices, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        said = [json.loads(said_by(rank, done.stdout)[-1]) for rank in range(size)]
        assert all(one[1:] == [4, size] for one in said)
        assert all(one == said[0] for one in said)
        found[size] = said[0][0]
    np.testing.assert_allclose(found[2], found[1], rtol=1e-4)
