"""Turning laziness on and off: what is replaced, what is put back, which threads record."""

import threading
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python import pywrap_tfe

import lazytensor.tf
from lazytensor.frontends.tf.dispatch import entry
from lazytensor.frontends.tf.tensors.tensor import LazyTensor
from tests.core.processes import run


def is_lazy(x: Any) -> bool:
    return type(x) is LazyTensor


def test_enabling_twice_is_enabling_once() -> None:
    lazytensor.tf.enable()
    lazytensor.tf.enable()
    with lazytensor.tf.enabled():
        pass
    assert is_lazy(tf.constant([1.0]) + 1.0)
    lazytensor.tf.disable()
    assert not is_lazy(tf.constant([1.0]) + 1.0)


def test_lazy_tensors_and_variables_outlive_it() -> None:
    old = tf.Variable([1.0, 2.0])
    with lazytensor.tf.enabled():
        x = tf.constant([1.0, 2.0]) * 3.0
        new = tf.Variable([5.0, 6.0])
        new.assign_add(x)
        old.assign(new * 2.0)
    assert is_lazy(x)
    assert x.numpy().tolist() == [3.0, 6.0]
    assert str(x) == "tf.Tensor([3. 6.], shape=(2,), dtype=float32)"
    assert new.numpy().tolist() == [8.0, 12.0]
    assert old.numpy().tolist() == [16.0, 24.0]
    assert new.assign_add([1.0, 1.0]).numpy().tolist() == [9.0, 13.0]
    np.testing.assert_array_equal(x + 1.0, [4.0, 7.0])
    assert not is_lazy(x + 1.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * new)
    assert tape.gradient(y, new).numpy().tolist() == [3.0, 6.0]


def test_a_variable_has_one_truth() -> None:
    v = tf.Variable([1.0])
    with lazytensor.tf.enabled():
        v.assign_add([1.0])
    v.assign_add([1.0])
    with lazytensor.tf.enabled():
        assert v.numpy().tolist() == [3.0]
        v.assign(v * 2.0)
    assert v.numpy().tolist() == [6.0]


def test_threads_record_each_for_itself() -> None:
    found = []
    with lazytensor.tf.enabled():
        x = tf.constant([1.0, 2.0]) * 2.0
        thread = threading.Thread(target=lambda: found.append(x + 1.0))
        thread.start()
        thread.join()
    assert not is_lazy(found[0])
    assert found[0].numpy().tolist() == [3.0, 5.0]


def test_the_input_pipeline_stays_tensorflows(recording: None) -> None:
    v = tf.Variable(2.0)
    v.assign_add(1.0)
    data = tf.data.Dataset.from_tensor_slices(tf.constant([[1.0], [2.0]]) * 1.0)
    data = data.map(lambda x: x * v).batch(2)
    assert next(iter(data)).numpy().tolist() == [[3.0], [6.0]]


def test_generators_may_hand_lazy_tensors_to_it(recording: None) -> None:
    def batches() -> Any:
        yield tf.constant([1.0, 2.0]) * 2.0

    signature = tf.TensorSpec((2,), tf.float32)
    data = tf.data.Dataset.from_generator(batches, output_signature=signature)
    assert next(iter(data)).numpy().tolist() == [2.0, 4.0]


def test_another_tensorflow_is_refused_at_enable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(entry._DOORS, "TFE_Py_Elsewhere", (pywrap_tfe, lambda: None))
    with pytest.raises(lazytensor.tf.UnsupportedTensorFlow, match=r"TensorFlow 2\.19 to 2\.21"):
        lazytensor.tf.enable()


@pytest.mark.parametrize("eager", ["0", "1"])
def test_the_first_enable_leaves_no_trace(eager: str) -> None:
    """In a process of its own: what it tests is not the user's work, nor is that cut by it."""
    program = """
        import os
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import lazytensor, lazytensor.tf, lazytensor.numpy as np
        x = np.ones(3) * 2.0
        before = lazytensor.metrics.snapshot()
        lazytensor.tf.enable()
        print(lazytensor.metrics.snapshot() == before, len(lazytensor.programs()))
        print(lazytensor.explain().record(), x.node.value is None)
    """
    lines = run(program, LAZYTENSOR_EAGER=eager).stdout.splitlines()
    assert lines == ["True 0", f"{{'lines': []}} {eager == '0'}"]


def test_importing_changes_nothing_and_disabling_puts_everything_back() -> None:
    """In a process of its own: no lazy tensors of other tests are left."""
    program = """
        import gc, os, sys
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow as tf
        from tensorflow.python import pywrap_tfe
        from tensorflow.python.framework import constant_op

        def doors():
            modules = pywrap_tfe, constant_op
            return [vars(m)[n] for n in entry._DOORS for m in modules if n in vars(m)]

        def kept():
            return sum(a is b for a, b in zip(doors(), before, strict=True)) - len(before)

        before = pywrap_tfe.TFE_Py_FastPathExecute
        import lazytensor.tf
        print(pywrap_tfe.TFE_Py_FastPathExecute is before)
        print([m for m in ("torch", "lazytensor.frontends.numpy", "lazytensor.frontends.torch")
               if m in sys.modules])
        from lazytensor.frontends.tf.dispatch import entry
        before = doors()
        with lazytensor.tf.enabled():
            x = tf.constant([1.0]) + 1.0
            gc.freeze()  # its like are no less alive for not being listed by gc
            print(kept() <= -7, type(x).__name__)
        print(kept() <= -7, (x + 1.0).numpy())
        del x
        print(kept(), type(tf.constant([1.0]) + 1.0).__name__)
    """
    assert run(program).stdout.splitlines() == [
        "True", "[]", "True LazyTensor", "True [3.]", "0 EagerTensor",
    ]  # fmt: skip


def test_it_ends_where_a_variables_value_is_refused() -> None:
    """All others have their values, and that one the one it had."""
    bad, good = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    lazytensor.tf.enable()
    place = tf.cast(tf.constant([7.0, 7.0]) + 0.0, tf.int32)
    bad.assign(tf.gather(tf.constant([1.0, 2.0]), place))
    good.assign_add([1.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        lazytensor.tf.disable()
    assert not is_lazy(tf.constant([1.0]) + 1.0)
    assert bad.numpy().tolist() == [1.0, 2.0]
    assert good.numpy().tolist() == [2.0, 3.0]
    with lazytensor.tf.enabled():
        assert good.assign_add([1.0, 1.0]).numpy().tolist() == [3.0, 4.0]
