"""Meshes, shardings, and programs whose values are split over a mesh."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import lazytensor
from lazytensor import DTypeError, Mesh, ShapeError, ShardingError
from lazytensor.core import ops
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, leaf
from lazytensor.core.ir.sharding import Sharding, sharding
from lazytensor.core.observe import events, metrics
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from lazytensor.core.trace.splitting import of, split

MESH = Mesh((4, 2), ("a", "b"))
LINE = Mesh((8,), ("x",))
SAME = Mesh((8,), ("y",))
FEW = Mesh((2,), ("x",))
ARRAY = np.arange(64.0 * 32).reshape(64, 32)
SPECS: list[tuple[Any, ...]] = [
    *[(), (None, "b"), ("a",), ("a", "b"), ("b", "a"), (("a", "b"),), (("b", "a"), None)]
]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    cache.clear()
    metrics.reset()


def parted(array: np.ndarray, mesh: Mesh, *spec: Any) -> Node:
    return split(leaf(array), sharding(mesh, spec, array.shape))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Mesh((4,), ("a", "b")), ValueError, "one name per axis"),
        (lambda: Mesh((2, 2), ("a", "a")), ValueError, "each another"),
        (lambda: Mesh((), ()), ValueError, "one or more axes"),
        (lambda: Mesh((0,), ("a",)), ValueError, "one or more devices"),
        (lambda: Mesh((2,), ("a",), (1, 1)), ValueError, "2 devices were expected"),
        (lambda: sharding(MESH, ("c",), (8,)), ValueError, "has no axis 'c'"),
        (lambda: sharding(MESH, ("a", "a"), (8, 8)), ValueError, "one axis only"),
        (lambda: sharding(MESH, ("a", None), (8,)), ValueError, "at most"),
        (lambda: sharding(MESH, ("a",), (6,)), ShapeError, "pad it to 8 elements"),
        (lambda: sharding("mesh", ("a",), (8,)), TypeError, "lazytensor.Mesh"),
    ],
)
def test_what_does_not_fit_is_an_error(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_equal_shardings_are_one_object() -> None:
    one, other = (sharding(Mesh((4, 2), ("a", "b")), ("a",), (8, 8)) for _ in range(2))
    assert one is other is pickle.loads(pickle.dumps(one))
    assert sharding(SAME, ("y",), (8, 8)) is not one


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_parts_are_where_the_sharding_says(spec: tuple[Any, ...]) -> None:
    found = sharding(MESH, spec, ARRAY.shape)
    value = parted(ARRAY, MESH, *spec).value
    assert isinstance(value, Sharded)
    said = {n: region for region, numbers in found.regions(ARRAY.shape).items() for n in numbers}
    for shard in value.buffer.addressable_shards:
        region = tuple(slice(*bounds) for bounds in said[shard.device.id])
        assert shard.data.shape == found.part(ARRAY.shape)
        np.testing.assert_array_equal(np.asarray(shard.data), ARRAY[region])


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize("other", SPECS, ids=str)
def test_an_array_is_split_another_way(spec: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    x = split(parted(ARRAY, MESH, *spec), wanted := sharding(MESH, other, ARRAY.shape))
    np.testing.assert_array_equal(fetch(x), ARRAY)
    assert of(x) is wanted


def test_what_is_split_before_it_is_computed_is_never_whole() -> None:
    made = split(
        ops.broadcast(ops.scalar(3.0, ARRAY.dtype), shape=(64, 8)), sharding(LINE, ("x",), (64, 8))
    )
    assert of(made) is sharding(LINE, ("x",), (64, 8))
    (entry,) = cache.entries()
    assert entry.executable is not None
    assert entry.executable.collectives() == []
    assert {shard.data.shape for shard in made.value.buffer.addressable_shards} == {(8, 8)}


def test_unsplit_operands_are_whole_on_every_device() -> None:
    x, y = parted(ARRAY, LINE, "x"), leaf(np.arange(32.0))
    found = x + ops.broadcast(y, shape=ARRAY.shape)
    np.testing.assert_array_equal(fetch(found), ARRAY + np.arange(32.0))
    assert of(y) is sharding(LINE, (), (32,))
    np.testing.assert_array_equal(fetch(y * 2.0), 2 * np.arange(32.0))  # on one device again
    assert of(y * 2.0) is None


@pytest.mark.parametrize("tier", ["auto", "interpret", "compile"])
def test_results_are_split_in_every_tier(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    for _ in range(3):
        found = parted(ARRAY, LINE, "x") * 2.0
        np.testing.assert_array_equal(fetch(found), 2 * ARRAY)
        assert of(found) is sharding(LINE, ("x",), ARRAY.shape)


def test_a_step_updates_its_state_in_place() -> None:
    """Two steps have one program; the second overwrites what the first made."""
    x = parted(ARRAY, MESH, "a", "b")
    for _ in range(3):
        x = x * 0.5 + 1.0
        sync(x)
        assert of(x) is sharding(MESH, ("a", "b"), ARRAY.shape)
    (entry,) = cache.entries()
    assert entry.runs == 3
    np.testing.assert_array_equal(fetch(x), ((ARRAY * 0.5 + 1) * 0.5 + 1) * 0.5 + 1)


def test_shardings_are_part_of_a_programs_identity() -> None:
    for spec in SPECS:
        sync(parted(ARRAY, MESH, *spec) + 1.0)
    sync(leaf(ARRAY) + 1.0)
    texts = [str(entry.program) for entry in cache.entries()]
    # The first is split along no axis, and is run on one device like the last.
    assert len(set(texts)) == len(texts) == len(SPECS)


def test_more_results_of_another_sharding_are_another_program() -> None:
    """One that is compiled and has more results may run in a program's place, if all else is so."""
    first = parted(ARRAY, LINE, "x") + 1.0
    second = first * 2.0
    sync(first, second)
    last = (leaf(ARRAY) + 1.0) * 2.0
    sync(last, compiles=True)
    assert of(last) is None
    np.testing.assert_array_equal(fetch(last), fetch(second))


def test_a_changed_sharding_is_the_reason_of_a_compile() -> None:
    for spec in (("x",), (None, "x"), ()):
        sync(parted(ARRAY, LINE, *spec) + 1.0, compiles=True)
    said = [event.change.text for event in events.events if event.change is not None]
    assert "first" in said[0]
    split, back = (sharding(LINE, spec, ARRAY.shape) for spec in ((None, "x"), ("x",)))
    assert said[1] == f"an input is split as {split} instead of split as {back}"
    assert said[2] == f"an input is on one device instead of split as {split}"


def test_meshes_of_the_same_devices_meet() -> None:
    found = parted(ARRAY, LINE, "x") + parted(ARRAY, SAME, None, "y") + parted(ARRAY, MESH, "a")
    np.testing.assert_array_equal(fetch(found), 3 * ARRAY)


def test_meshes_of_other_devices_do_not_meet() -> None:
    x, y = parted(ARRAY, LINE, "x"), parted(ARRAY, FEW, "x")
    found = x + y
    with pytest.raises(ShardingError, match=r"Mesh\(x=8\) and on Mesh\(x=2\)"):
        fetch(found)
    moved = split(y, sharding(LINE, ("x",), ARRAY.shape))
    np.testing.assert_array_equal(fetch(x + moved), 2 * ARRAY)


def test_work_on_other_meshes_goes_on() -> None:
    """Two meshes' work is pending when the value of one is asked for."""
    x, y = parted(ARRAY, LINE, "x") + 1.0, parted(ARRAY, FEW, "x") + 2.0
    np.testing.assert_array_equal(fetch(x), ARRAY + 1)
    np.testing.assert_array_equal(fetch(y), ARRAY + 2)


def test_work_on_one_device_stays_there() -> None:
    """It is pending beside a mesh's, which is cut with it."""
    x, y = parted(ARRAY, LINE, "x") + 1.0, leaf(ARRAY) + 2.0
    both = parted(ARRAY, LINE, "x") * y
    sync(x, y, both)
    assert of(both) is sharding(LINE, ("x",), ARRAY.shape)
    alone = leaf(ARRAY) * 3.0
    again = parted(ARRAY, LINE, "x") * 3.0
    sync(again, alone)
    assert of(alone) is None
    np.testing.assert_array_equal(fetch(alone), fetch(again))


def test_a_result_that_no_spec_splits_is_whole() -> None:
    """60 rows do not split into eight, and neither do four: XLA would split both."""
    x = parted(ARRAY, LINE, "x")
    few = ops.slice(x, ops.starts((0, 0)), sizes=(60, 32), strides=(1, 1)) * 2.0
    folded = ops.reshape(x, shape=(4, 16, 32)) * 2.0
    np.testing.assert_array_equal(fetch(few), 2 * ARRAY[:60])
    np.testing.assert_array_equal(fetch(folded), 2 * ARRAY.reshape(4, 16, 32))
    assert of(few) is sharding(LINE, (), (60, 32))
    for node in (few, folded):
        assert isinstance(of(node), Sharding)


def test_more_runs_than_xla_lets_be_under_way() -> None:
    """The program waits for none of them. Too many at once would block each other in XLA:CPU."""
    x = parted(ARRAY, LINE, "x")
    total = ops.reduce_sum(x, axes=(0,))
    for _ in range(200):
        total = ops.reduce_sum(x + ops.broadcast(total * 0.0, shape=ARRAY.shape), axes=(0,))
        sync(total)
    np.testing.assert_array_equal(fetch(total), ARRAY.sum(0))


@pytest.mark.parametrize(
    "dtype", ["?", "u1", "i1", "i2", "i4", "i8", "u8", "f2", "f4", "f8", "c16"]
)
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min", "and", "or", "xor"])
def test_reductions_along_a_split_axis(kind: str, dtype: str) -> None:
    op: Op = getattr(ops, f"reduce_{kind}")
    array = (np.arange(32) % 5 - 2).astype(dtype).reshape(16, 2)
    try:
        expected = fetch(op(leaf(array), axes=(0,)))
    except DTypeError:
        pytest.skip("not of this dtype")
    found = fetch(op(parted(array, LINE, "x"), axes=(0,)))
    assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())


@pytest.mark.parametrize("mode", ["set", "add", "mul", "min", "max"])
@pytest.mark.parametrize("mesh", [FEW, MESH, LINE], ids=str)
@pytest.mark.parametrize("more", [0, 1, 3, 5])
def test_scatters_into_unequal_parts(mesh: Mesh, more: int, mode: str) -> None:
    draw = np.random.default_rng(more)
    array, head = draw.integers(0, 9, 16), np.arange(more)
    for n in (1, 3):
        places, values = draw.permutation(16 + more)[:n], draw.integers(1, 9, n)
        expected = np.concatenate([head, array])
        operands = [leaf(x) for x in (values, places)]
        whole = fetch(ops.scatter(leaf(expected), *operands, axes=(0,), mode=mode))
        x = ops.concatenate(leaf(head), parted(array, mesh, mesh.names), axis=0)
        found = ops.scatter(x, *operands, axes=(0,), mode=mode)
        np.testing.assert_array_equal(fetch(found), whole)


def test_a_mesh_of_one_device() -> None:
    found = parted(ARRAY, Mesh((1,), ("x",)), "x") * 2.0
    np.testing.assert_array_equal(fetch(found), 2 * ARRAY)


def test_subsets_of_devices() -> None:
    mesh = Mesh((2,), ("x",), devices=(5, 3))
    found = parted(ARRAY, mesh, "x") * 2.0
    np.testing.assert_array_equal(fetch(found), 2 * ARRAY)
    assert [s.device.id for s in found.value.buffer.addressable_shards] == [5, 3]


def test_a_page_of_text_says_which_device_has_what() -> None:
    import lazytensor.numpy as lnp

    x = lazytensor.shard(lnp.asarray(ARRAY), MESH, ("a",))
    text = lazytensor.sharding.show(x)
    assert "parts of (16, 32)" in text
    assert "[16:32, 0:32]  devices 2, 3" in text
    assert "one device" in lazytensor.sharding.show(lnp.asarray(ARRAY))
    with pytest.raises(TypeError, match="a lazy array was expected, got list"):
        lazytensor.sharding.show([1])
