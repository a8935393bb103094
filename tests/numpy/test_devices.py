"""NumPy's `device` arguments and attributes, on devices that are not the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import lazytensor.numpy as lnp
from lazytensor import Mesh
from lazytensor.launched import LOCAL_DEVICES


@pytest.fixture(autouse=True)
def _four_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOCAL_DEVICES, "4")


CREATORS: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda xp, device: xp.zeros((3, 4), device=device),
    "ones": lambda xp, device: xp.ones(5, device=device),
    "empty": lambda xp, device: xp.empty(0, device=device),
    "full": lambda xp, device: xp.full((2, 3), 7.0, device=device),
    "arange": lambda xp, device: xp.arange(6.0, device=device),
    "eye": lambda xp, device: xp.eye(3, device=device),
    "linspace": lambda xp, device: xp.linspace(0, 1, 5, device=device),
    "zeros_like": lambda xp, device: xp.zeros_like(xp.ones(3), device=device),
    "full_like": lambda xp, device: xp.full_like(xp.ones(3), 2.0, device=device),
    "fftfreq": lambda xp, device: xp.fft.fftfreq(8, device=device),
}


@pytest.mark.parametrize("name", CREATORS)
@pytest.mark.parametrize("device", ["cpu", "lazytensor:2"])
def test_what_is_created_there_is_there(name: str, device: str) -> None:
    made = CREATORS[name](lnp, device)
    assert made.device == device
    np.testing.assert_array_equal(made, CREATORS[name](np, "cpu"))


def test_an_array_stays_on_its_device_when_it_is_written_to() -> None:
    x, expected = lnp.arange(6.0, device="lazytensor:1"), np.arange(6.0)
    for y in (x, expected):
        y += 1
        y[2] = 7
        y[3:] *= 2
    assert x.device == (x[1:] * np.ones(5)).device == "lazytensor:1"
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("device", ["cpu", "lazytensor:3"])
def test_to_device(device: str) -> None:
    x = lnp.arange(6.0, device="lazytensor:1")
    made = x.to_device(device)
    assert (x.device, made.device) == ("lazytensor:1", device)
    np.testing.assert_array_equal(made + 1, np.arange(6.0) + 1)
    assert x.to_device("lazytensor:1") is x


def test_devices_of_jax_are_known_by_their_numbers() -> None:
    assert lnp.ones(3, device=jax.devices()[0]).device == "cpu"


def test_what_the_standard_asks() -> None:
    names = ("cpu", "lazytensor:1", "lazytensor:2", "lazytensor:3")
    assert lnp.__array_namespace_info__().devices() == names


def test_unknown_devices_are_refused_as_numpy_refuses_them() -> None:
    for call in (lambda xp: xp.zeros(3, device="gpu"), lambda xp: xp.arange(3, device="gpu")):
        with pytest.raises(ValueError) as expected:
            call(np)
        with pytest.raises(ValueError) as found:
            call(lnp)
        assert str(found.value) == str(expected.value)
    with pytest.raises(ValueError, match="no lazytensor:9"):
        lnp.zeros(3, device="lazytensor:9")


@pytest.mark.parametrize("name", ["identity", "tri", "array", "ascontiguousarray"])
def test_functions_without_a_device_refuse_one(name: str) -> None:
    for xp in (np, lnp):
        with pytest.raises(TypeError):
            getattr(xp, name)(3, device="cpu")


@pytest.mark.parametrize("name", sorted(CREATORS))
def test_every_creator_splits_over_a_mesh(name: str) -> None:
    mesh = Mesh((1,), ("x",), (3,))
    made = CREATORS[name](lnp, (mesh, ()))
    assert made.sharding.mesh == mesh
    np.testing.assert_array_equal(made, CREATORS[name](np, "cpu"))
