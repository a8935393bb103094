"""Calls that were seen before give what they gave, recorded by the boxed kernel or by Python."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import lazytensor
from lazytensor.building import BuildError, torch_kernel
from lazytensor.core.ir import memo
from lazytensor.core.observe import metrics
from lazytensor.frontends.torch.native.loading import boxed
from tests.pytorch import agreement
from tests.pytorch.agreement import numbers

needs_kernel = pytest.mark.skipif(boxed is None, reason="Python kernels record every call here")
TIMES = 6
"""Calls of one kind: seen, learned, replayed by Python, and then by the boxed kernel."""
Call = Callable[[str], Any]


def x(device: str) -> Tensor:
    """A matrix of its own."""
    return numbers(device, 3, 4)


def square(device: str) -> Tensor:
    """A square matrix of its own."""
    return numbers(device, 4, 4)


CALLS: dict[str, Call] = {
    "two tensors": lambda d: x(d) + x(d),
    "one tensor twice": lambda d: (lambda a: a * a)(x(d)),
    "one storage, two views": lambda d: (lambda a: a[:2] * a[1:])(x(d)),
    "broadcast": lambda d: x(d) + numbers(d, 4),
    "alpha": lambda d: torch.add(x(d), x(d), alpha=3),
    "a float": lambda d: x(d) * 2.5,
    "an int": lambda d: x(d) * 2,
    "a bool": lambda d: x(d) * True,
    "zero": lambda d: 1 / (x(d) * 0.0),
    "minus zero": lambda d: 1 / (x(d) * -0.0),
    "not a number": lambda d: x(d) * float("nan"),
    "a number of another kind": lambda d: (x(d) * 10).to(torch.int32) * 2.5,
    "a number first": lambda d: 2.0 - x(d),
    "a complex number": lambda d: x(d) * 2j,
    "a conjugate": lambda d: (x(d) * 2j).conj() * 2,
    "a negated part": lambda d: (x(d) * 2j).conj().imag + 1,
    "a transpose": lambda d: x(d).t() * 2,
    "a transpose and rows": lambda d: square(d).t() + square(d),
    "two transposes": lambda d: square(d).t() + square(d).t(),
    "a slice with gaps": lambda d: torch.exp(x(d)[:, ::2]),
    "one that is expanded": lambda d: numbers(d, 4).expand(3, 4) * 2,
    "no axes": lambda d: x(d).sum() * 2,
    "no elements": lambda d: x(d)[:0] + 1,
    "an axis": lambda d: (x(d).sum(0), x(d).sum(1), x(d).sum((0, 1))),
    "kept axes": lambda d: x(d).mean(1, keepdim=True),
    "another dtype": lambda d: x(d).sum(dtype=torch.float64),
    "two results": lambda d: x(d).max(0),
    "a list of tensors": lambda d: torch.cat([x(d), x(d)]),
    "a condition": lambda d: torch.where(x(d) > 0, x(d), x(d) * 2),
    "matrices": lambda d: square(d) @ square(d),
    "a layer": lambda d: functional.linear(x(d), numbers(d, 2, 4), numbers(d, 2)),
    "one that is normalized": lambda d: functional.layer_norm(x(d), (4,), numbers(d, 4)),
    "in place": lambda d: x(d).add_(1),
    "in place, with itself": lambda d: (lambda a: a.mul_(a))(x(d)),
    "in place, into a view": lambda d: (lambda a: (a[1].mul_(2), a)[1])(x(d)),
    "in place, of a view": lambda d: (lambda a: (a.t().mul_(2), a)[1])(x(d)),
    "in place, of a higher dtype": lambda d: (x(d) * 10).to(torch.int32).add_(True),
    "images": lambda d: functional.relu(
        numbers(d, 2, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    ),
    "a reshape": lambda d: x(d).view(2, 6).view(-1)[3:9],
    "bits": lambda d: x(d).view(torch.int32) + 1,
    "parts": lambda d: torch.view_as_real(x(d) + 1j) * 2,
    "windows": lambda d: numbers(d, 8).unfold(0, 4, 2) + 1,
    "a view, then written to": lambda d: (lambda a, b: (a.add_(1), b + 0)[1])(
        *(lambda a: (a, a.t()))(x(d))
    ),
}


def lies(made: Any) -> list[Any]:
    """Size, strides and dtype of each result."""
    results = made if isinstance(made, tuple | list) else (made,)
    return [(y.shape, y.stride(), y.dtype) for y in results if isinstance(y, Tensor)]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_it_gives_on_the_cpu_each_time(name: str) -> None:
    call = CALLS[name]
    for _ in range(TIMES):
        assert lies(call("lazytensor")) == lies(call("cpu"))
        torch.testing.assert_close(
            agreement.result(call, "lazytensor"), agreement.result(call, "cpu"), equal_nan=True
        )


def gradients(call: Call, device: str) -> Any:
    """The gradient of a sum."""
    given = numbers(device, 4, 4, grad=True)
    call(given).sum().backward()  # type: ignore[arg-type]
    return given.grad


DIFFERENTIATED: dict[str, Any] = {
    "a product": lambda a: a * a,
    "a layer": lambda a: functional.linear(a, a),
    "a norm": lambda a: functional.layer_norm(a, (4,), a[0], a[1]),
    "a transpose": lambda a: torch.tanh(a.t()) @ a,
    "in place": lambda a: (a * 2).add_(a).relu_(),
    "a loss": lambda a: functional.cross_entropy(a, a.detach().argmax(1)),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients_are_those_of_the_cpu_each_time(name: str) -> None:
    for _ in range(TIMES):
        agreement.check(lambda device: gradients(DIFFERENTIATED[name], device))


def test_what_differs_between_calls_of_a_kind_is_told_apart() -> None:
    for _ in range(TIMES):
        for dtype in (torch.float32, torch.float64, torch.int64):
            for shape in ((4,), (2, 4), (1,)):
                for number in (1, 1.0, True, 0.0, -0.0, 2):
                    agreement.check(
                        lambda device, s=shape, t=dtype, n=number: numbers(device, *s).to(t) * n
                    )


def test_the_default_dtype_is_told_apart() -> None:
    def program(device: str) -> Any:
        made = []
        for dtype in (torch.float32, torch.float64) * 4:
            torch.set_default_dtype(dtype)
            made.append(torch.ones(3, dtype=torch.int64, device=device) / 2)
        torch.set_default_dtype(torch.float32)
        return made

    agreement.check(program)


REFUSED: dict[str, Call] = {
    "shapes": lambda d: x(d) + numbers(d, 3),
    "a cast": lambda d: (x(d) * 10).to(torch.int32).mul_(2.5),
    "an expanded tensor": lambda d: numbers(d, 4).expand(3, 4).add_(1),
    "too far": lambda d: x(d).as_strided((100,), (1,)),
    "a gradient's leaf": lambda d: numbers(d, 4, grad=True).add_(1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_call_is_refused_each_time(name: str) -> None:
    for _ in range(TIMES):
        kind, text = agreement.raised(REFUSED[name], "cpu")
        ours, said = agreement.raised(REFUSED[name], "lazytensor")
        assert ours is kind
        assert said[:40] == text[:40]


def functions_called(call: Callable[[], Any]) -> set[str]:
    """The files of the Python functions that a call runs."""
    found: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


KNOWN: dict[str, Callable[[Tensor], Any]] = {
    "a sum": lambda a: a + a,
    "a number": lambda a: a * 2.5,
    "a function": torch.relu,
    "a reduction": lambda a: a.sum(0),
    "in place": lambda a: a.mul_(1.0),
    "a view": lambda a: a.t(),
    "of a view": lambda a: a.t() + a,
    "a layer": lambda a: functional.linear(a, a),
}


@needs_kernel
@pytest.mark.parametrize("name", KNOWN)
def test_a_known_call_runs_no_python_kernel(name: str) -> None:
    given = square("lazytensor")
    for _ in range(TIMES):
        KNOWN[name](given)
        lazytensor.sync()
    files = functions_called(lambda: KNOWN[name](given))
    assert not [name for name in files if "frontends/torch/dispatch" in name]


@needs_kernel
def test_what_is_forgotten_is_learned_again() -> None:
    given = square("lazytensor")
    for _ in range(TIMES):
        given.sin()
    memo.forget()
    assert any("frontends/torch/dispatch" in name for name in functions_called(given.sin))
    for _ in range(TIMES):
        given.sin()
    assert not [name for name in functions_called(given.sin) if "frontends/torch/dispatch" in name]


def test_threads_record_their_own_calls() -> None:
    def work(seed: int) -> list[list[float]]:
        given = torch.full((4,), float(seed), device="lazytensor")
        return [((given + i) * given - given).tolist() for i in range(60)]

    seeds = range(1, 9)
    with ThreadPoolExecutor(len(seeds)) as pool:
        made = list(pool.map(work, seeds))
    assert made == [[[(seed + i) * seed - seed] * 4 for i in range(60)] for seed in seeds]


def test_what_is_dropped_leaves_no_objects() -> None:
    given = square("lazytensor")

    def work(count: int) -> int:
        for _ in range(count):
            (given.t() + given).relu().sum(0).mul_(2.0)
        lazytensor.sync()
        gc.collect()
        return sys.getallocatedblocks()

    work(500)
    before = work(500)
    assert work(2000) - before < 500  # a leak of one object a call would be 2,000 and more


def test_a_handle_is_the_storages() -> None:
    given = square("lazytensor")
    view = given.t()
    assert given.untyped_storage().handle is view.untyped_storage().handle
    assert not hasattr(torch.ones(3).untyped_storage(), "handle")


def test_the_report_says_what_records() -> None:
    said = metrics.modes["torch's kernel"]
    assert said.startswith("Python, as" if boxed is None else "compiled")
    assert f"torch's kernel  {said}" in metrics.report()


def test_a_failing_build_names_its_log(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("Cython")
    source = tmp_path / "boxed.cpp"
    source.write_text("this is not C++\n")
    monkeypatch.setattr(torch_kernel, "SOURCE", source)
    monkeypatch.setattr(torch_kernel, "LOG", tmp_path / "log")
    target = tmp_path / "made" / "boxed.so"
    with pytest.raises(BuildError, match=str(tmp_path / "log")):
        torch_kernel.build(target)
    assert "boxed.cpp" in (tmp_path / "log").read_text()
    assert not target.exists()


PROGRAM = """
import torch, lazytensor.torch
x = torch.arange(8.0, device="lazytensor")
for _ in range(6):
    x = (x + 1).view(2, 4).t().reshape(-1) * 0.5
print(x.tolist())
"""


def test_python_kernels_give_the_same() -> None:
    made = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "LAZYTENSOR_PURE": pure},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for pure in ("0", "1")
    ]
    assert made[0] == made[1]
