"""What a lazy tensor is to TensorFlow's Python: values, tapes, variables, functions, errors."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

import lazytensor.tf
from lazytensor.frontends.tf.tensors.tensor import LazyTensor

pytestmark = pytest.mark.usefixtures("no_fallbacks")


def lazy(values: Any, dtype: Any = None) -> Any:
    """A lazy tensor that is not computed yet."""
    made = tf.reshape(tf.raw_ops.Identity(input=tf.constant(values, dtype)), tf.shape(values))
    return tf.negative(tf.negative(made)) if not made.dtype.is_bool else made


def same(x: Any, y: Any) -> None:
    np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-6)


def test_values() -> None:
    x = lazy([1.0, 2.0])
    assert type(x) is LazyTensor
    assert isinstance(x, tf.Tensor)
    assert tf.is_tensor(x)
    assert (x.dtype, x.shape, x.ndim) == (tf.float32, (2,), 1)
    assert [float(v) for v in x] == [1.0, 2.0]
    assert len(x) == 2
    assert f"{lazy(1.5):.2f}" == "1.50"
    assert repr(x) == "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    assert bool(lazy(2.0) > 1.0)
    assert not bool(lazy(0.0) > 1.0)
    assert "CPU" in x.device


def test_numpy_takes_them() -> None:
    x = lazy([1.0, 2.0])
    assert isinstance(np.sin(x), np.ndarray)
    same(np.ones(2, np.float32) + x, [2.0, 3.0])
    same(np.asarray(memoryview(tf.identity(x).numpy())), [1.0, 2.0])
    same(np.from_dlpack(x), [1.0, 2.0])
    assert copy.deepcopy(lazy(1.0)) == 1.0
    assert float(pickle.loads(pickle.dumps(lazy(1.0)))) == 1.0


def test_lists_of_them_become_tensors() -> None:
    x = lazy(1.0)
    same(tf.constant([x, 2.0]), [1.0, 2.0])
    same(tf.convert_to_tensor([[x, x], [3.0, x]]), [[1.0, 1.0], [3.0, 1.0]])


def test_nested_and_persistent_tapes() -> None:
    x = lazy(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = x * x * x
        slope = inner.gradient(y, x)
    assert float(slope) == 27.0
    assert float(outer.gradient(slope, x)) == 18.0
    assert float(inner.gradient(y, x)) == 27.0


@pytest.mark.parametrize("pfor", [False, True])
def test_jacobian(pfor: bool) -> None:
    x = lazy([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**2
    same(tape.jacobian(y, x, experimental_use_pfor=pfor), np.diag([2.0, 4.0]))


def test_forward_mode() -> None:
    x = lazy(3.0)
    with tf.autodiff.ForwardAccumulator(x, lazy(1.0)) as accumulator:
        y = x * x
    assert float(accumulator.jvp(y)) == 6.0


def test_custom_and_recomputed_gradients() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return tf.sin(x), lambda dy: dy * 7.0

    g = tf.recompute_grad(lambda x: tf.sin(x) * x)
    x = lazy(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x) * 2.0, g(x)
    assert float(tape.gradient(y, x)) == 14.0
    same(tape.gradient(z, x), np.sin(1.0) + np.cos(1.0))


def test_unconnected_gradients() -> None:
    x, other = lazy(1.0), lazy(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * 2.0
    assert tape.gradient(y, other) is None
    zero = tape.gradient(y, other, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert float(zero) == 0.0


def test_variables() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    v.assign_add([1.0, 1.0, 1.0])
    v[1:].assign([7.0, 8.0])
    v.assign_sub(lazy([1.0, 0.0, 0.0]))
    v.scatter_add(tf.IndexedSlices(lazy([10.0]), tf.constant([2])))
    v.assign(v * 2.0)
    assert type(v.value()) is LazyTensor
    same(v, [2.0, 14.0, 36.0])
    same(v.sparse_read([1, 2]), [14.0, 36.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v[1:] ** 2)
    same(tape.gradient(y, v), [0.0, 28.0, 72.0])


def test_the_gradient_of_a_lookup() -> None:
    v = tf.Variable(np.eye(3, dtype=np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(v, tf.constant([0, 2, 0])) * 2.0)
    slope = tf.convert_to_tensor(tape.gradient(y, v))
    same(slope, [[4.0] * 3, [0.0] * 3, [2.0] * 3])


CONTROL: list[Callable[[], Any]] = [
    lambda: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), [0, lazy(1.0)])[1] == 8,
    lambda: tf.cond(lazy(1.0) > 0, lambda: lazy(3.0), lambda: lazy(4.0)) == 3,
    lambda: tf.reduce_all(tf.map_fn(lambda x: x * 2, lazy([1.0, 2.0])) == [2, 4]),
    lambda: tf.reduce_all(tf.scan(lambda a, x: a + x, lazy([1.0, 2.0, 3.0])) == [1, 3, 6]),
    lambda: tf.reduce_all(tf.vectorized_map(lambda x: x * x, lazy([1.0, 2.0])) == [1, 4]),
    lambda: tf.where(lazy([1.0, -1.0, 2.0]) > 0).numpy().tolist() == [[0], [2]],
    lambda: tf.unique(lazy([1.0, 1.0, 2.0]))[0].numpy().tolist() == [1, 2],
    lambda: tf.boolean_mask(lazy([1.0, -1.0]), [True, False]).numpy().tolist() == [1],
    lambda: tnp.sum(tnp.asarray(lazy([1.0, 2.0])) * 2) == 6,
    lambda: tf.reduce_sum(tf.TensorArray(tf.float32, 2).unstack(lazy([1.0, 2.0])).stack()) == 3,
]


@pytest.mark.parametrize("check", CONTROL)
def test_tensorflows_control_flow(check: Callable[[], Any]) -> None:
    assert bool(check())


def test_ragged_and_sparse_tensors_and_strings_are_untouched() -> None:
    ragged = tf.RaggedTensor.from_row_splits(lazy([1.0, 2.0, 3.0]), [0, 1, 3])
    assert (ragged * 2).to_list() == [[2.0], [4.0, 6.0]]
    assert tf.strings.as_string(lazy([1.0])).numpy()[0].startswith(b"1.")
    assert tf.strings.join(["a", "b"]).numpy() == b"ab"


def test_functions_of_the_host() -> None:
    same(tf.numpy_function(lambda x: x * 2, [lazy([1.0])], tf.float32), [2.0])
    same(tf.py_function(lambda x: x * 2, [lazy([1.0])], tf.float32), [2.0])


def test_checkpoints(tmp_path: Any) -> None:
    v = tf.Variable(3.0)
    v.assign(v * 2.0)
    saved = tf.train.Checkpoint(v=v)
    path = saved.save(str(tmp_path / "c"))
    v.assign(0.0)
    saved.restore(path)
    assert float(v) == 6.0


ERRORS: list[Callable[[], Any]] = [
    lambda: tf.matmul(lazy(np.ones((2, 3))), lazy(np.ones((2, 3)))),
    lambda: lazy([1.0, 2.0]) + lazy([1.0, 2.0, 3.0]),
    lambda: lazy([1.0]) + lazy(np.array([1], np.int32)),
    lambda: tf.reshape(lazy([1.0, 2.0]), [3]),
    lambda: lazy([1.0])[3],
    lambda: tf.concat([lazy([[1.0]]), lazy([1.0])], 0),
    lambda: tf.transpose(lazy([[1.0]]), [0, 0]),
    lambda: tf.split(lazy([1.0, 2.0, 3.0]), 2),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_tensorflows(call: Callable[[], Any]) -> None:
    import lazytensor.tf

    lazytensor.tf.disable()
    with pytest.raises(Exception) as theirs:
        call()
    lazytensor.tf.enable()
    with pytest.raises(theirs.type):
        call()


def test_a_list_where_one_tensor_is_wanted_is_stacked_each_time(no_fallbacks: None) -> None:
    x = tf.constant([1.0, 2.0, 3.0]) * 1.0
    for _ in range(2):  # the second call finds what the first one planned
        assert tf.reduce_all([x > 1, x < 3], axis=0).numpy().tolist() == [False, True, False]
        assert tf.reduce_sum((x, x, x), axis=0).numpy().tolist() == [3.0, 6.0, 9.0]


def test_an_operation_without_attributes_takes_a_plain_flag(no_fallbacks: None) -> None:
    """Which TensorFlow brings to its slow path."""
    flag = tf.constant([1.0]) * 2.0 > 1.0
    assert tf.logical_and(np.bool_(True), flag).numpy().tolist() == [True]
    few = tf.while_loop(lambda i: np.bool_(True), lambda i: [i + 1], [1], maximum_iterations=3)
    assert int(few[0]) == 4


def test_a_function_that_is_being_built_captures_what_is_pending(no_fallbacks: None) -> None:
    """Also what TensorFlow's own kernel computes for the interpreter."""
    x = tf.linalg.cross(tf.constant([1.0, 0.0, 0.0]), tf.constant([0.0, 1.0, 0.0]))
    assert tf.vectorized_map(lambda y: x + y, tf.zeros((2, 3))).numpy().tolist() == [[0, 0, 1]] * 2


def test_the_class_of_a_lazy_tensor_equals_tensorflows(recording: None) -> None:
    x = tf.constant([1.0])
    y = x * 2.0
    assert type(x) == type(y)  # noqa: E721
    assert type(y) == type(x)  # noqa: E721
    assert {type(x): 1}[type(y)] == 1
    assert type(y) != tf.Variable  # noqa: E721


@pytest.mark.parametrize("as_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("shape", [(9,), (5, 2), (1, 3), ()])
def test_what_is_shuffled_has_tensorflows_order(shape: tuple[int, ...], as_function: bool) -> None:
    values = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)

    def shuffled(x: Any) -> Any:
        return tf.random.shuffle(x, seed=5) + 1.0

    def three(make: Callable[[Any], Any]) -> list[Any]:
        tf.random.set_seed(3)
        run = tf.function(shuffled) if as_function else shuffled
        return [run(make(values)) for _ in range(3)]

    for mine, theirs in zip(three(lazy), three(tf.constant), strict=True):
        same(mine, theirs)


def test_a_bridged_op_leaves_the_users_seeds_alone() -> None:
    def drawn(size: int) -> Any:
        tf.random.set_seed(3)
        tf.nn.local_response_normalization(lazy(np.ones((1, 2, 2, size), np.float32))).numpy()
        return tf.random.normal([3]), tf.random.normal([3])

    made = drawn(5)
    lazytensor.tf.disable()
    try:
        expected = drawn(5)
    finally:
        lazytensor.tf.enable()
    same(made, expected)


@pytest.mark.parametrize("as_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("given", [lazy, tf.constant], ids=["lazy", "tf"])
def test_python_within_tensorflow_is_differentiated(given: Any, as_function: bool) -> None:
    def cubed(x: Any) -> Any:
        return tf.py_function(lambda a: a**3, [x], tf.float32) * 2.0

    run = tf.function(cubed) if as_function else cubed
    for values in ([1.0, 2.0], [3.0, -1.0]):
        x = given(values)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        same(tape.gradient(y, x), 6.0 * np.square(values))
