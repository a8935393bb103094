"""Devices by number: values on one that is not the first, what is computed of them, errors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lazytensor import ShardingError
from lazytensor.core.device import device_names
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.sharding import Mesh, Sharding, sharding
from lazytensor.core.observe import events
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.runtime.sharded import devices_of
from lazytensor.core.settings import settings
from lazytensor.core.trace.splitting import moved, of, split
from lazytensor.launched import LOCAL_DEVICES

ARRAY = np.arange(24.0).reshape(4, 6)
LINE = Mesh((4,), ("x",))


@pytest.fixture(autouse=True)
def _four_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOCAL_DEVICES, "4")
    monkeypatch.setattr(settings, "disk", False)


def on(device: int, value: np.ndarray = ARRAY) -> Node:
    return moved(leaf(value), device)


def is_on(device: int, node: Node) -> bool:
    """Whether a computed value is on a device."""
    found: Sharding | None = of(node)
    if device == 0:
        return found is None
    return found is not None and found.mesh.devices == (device,)


@pytest.mark.parametrize("device", range(4))
def test_a_result_is_where_its_operands_are(device: int) -> None:
    x = on(device)
    y = x * 2.0 + leaf(np.ones(6))
    assert devices_of(y) == ((device,) if device else ())
    np.testing.assert_array_equal(fetch(y), ARRAY * 2 + 1)
    assert is_on(device, y)


@pytest.mark.parametrize("start", range(3))
@pytest.mark.parametrize("end", range(3))
@pytest.mark.parametrize("is_pending", [False, True])
def test_any_value_moves_to_any_device(start: int, end: int, is_pending: bool) -> None:
    x = on(start) + 1.0
    if not is_pending:
        sync(x)
    there = moved(x, end)
    np.testing.assert_array_equal(fetch(there), ARRAY + 1)
    assert is_on(end, there)
    np.testing.assert_array_equal(fetch(x * 2.0), 2 * ARRAY + 2)
    assert is_on(start, x)


@pytest.mark.parametrize("device", [0, 2])
def test_a_split_value_moves_to_one_device(device: int) -> None:
    parted = split(leaf(ARRAY), sharding(LINE, ("x",), ARRAY.shape))
    for x in (parted, parted * 1.0):
        there = moved(x, device)
        np.testing.assert_array_equal(fetch(there), ARRAY)
        assert is_on(device, there)
    back = split(on(device), sharding(LINE, ("x",), ARRAY.shape))
    np.testing.assert_array_equal(fetch(back), ARRAY)
    assert of(back) is sharding(LINE, ("x",), ARRAY.shape)


def test_operands_of_two_devices_are_an_error_and_keep_their_values() -> None:
    x, y = on(1), on(2)
    with pytest.raises(
        ShardingError,
        match=r"\(add\) has operands on lazytensor:1 and on .*:2.*test_devices\.py:\d+",
    ):
        fetch(x + y)
    np.testing.assert_array_equal(fetch(x + moved(y, 1)), 2 * ARRAY)


def test_an_array_of_no_device_is_used_on_all() -> None:
    weights = leaf(np.ones(6))
    for device in (1, 2, 0, 1):
        y = on(device) * weights
        sync(y)
        assert is_on(device, y)
    assert is_on(0, weights)


def test_the_program_of_each_device_is_compiled_once() -> None:
    before = len(events.events)
    for _ in range(3):
        for device in (1, 2):
            sync(on(device) * 3.0 - 1.0, compiles=True)
    compiled = [event for event in list(events.events)[before:] if event.change is not None]
    assert len(compiled) == 2


def test_steps_keep_a_state_where_it_is() -> None:
    x = on(3)
    for _ in range(5):
        x = x * 0.5 + 1.0
        sync(x)
        assert is_on(3, x)
    expected = ARRAY
    for _ in range(5):
        expected = expected * 0.5 + 1
    np.testing.assert_array_equal(fetch(x), expected)


@pytest.mark.parametrize(
    ("device", "number"),
    [
        ("lazytensor", 0),
        ("lazytensor:0", 0),
        ("lazytensor:3", 3),
        (SimpleNamespace(platform="gpu", id=2), 2),
    ],
)
def test_names(device: Any, number: int) -> None:
    assert device_names.number_of(device) == number


@pytest.mark.parametrize("device", ["cuda:1", "lazytensor:", "lazytensor:-1", 1, None, object()])
def test_what_names_no_device_is_an_error(device: Any) -> None:
    with pytest.raises(ValueError, match="was expected, got"):
        device_names.number_of(device)


def test_a_device_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="there are 4 devices, and no lazytensor:4"):
        device_names.number_of("lazytensor:4")
    monkeypatch.delenv(LOCAL_DEVICES)
    with pytest.raises(ValueError, match="there is one device, lazytensor, and no lazytensor:1"):
        device_names.number_of("lazytensor:1")
