"""Matrix products: their factors, the rounding of halves, what is marked as conjugated and written
to, and how results that the CPU computes lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.pytorch import agreement
from tests.pytorch.agreement import Program

Call = Callable[..., torch.Tensor]
N = 5
VECTOR, MATRIX, STACK = (N,), (N, N), (2, N, N)
SUMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "addmm": (MATRIX, MATRIX, MATRIX),
    "addmv": (VECTOR, MATRIX, VECTOR),
    "baddbmm": (STACK, STACK, STACK),
    "addbmm": (MATRIX, STACK, STACK),
    "addr": (MATRIX, VECTOR, VECTOR),
}
"""The shapes of the three operands, by the call's name. The first operand is added."""
PRODUCTS: dict[str, tuple[Call, tuple[tuple[int, ...], ...], tuple[int, ...]]] = {
    "mm": (torch.mm, (MATRIX, MATRIX), MATRIX),
    "mv": (torch.mv, (MATRIX, VECTOR), VECTOR),
    "bmm": (torch.bmm, (STACK, STACK), STACK),
    "dot": (torch.dot, (VECTOR, VECTOR), ()),
    "vdot": (torch.vdot, (VECTOR, VECTOR), ()),
    "matmul": (torch.matmul, (STACK, MATRIX), STACK),
    "multi_dot": (
        lambda *x, out: torch.linalg.multi_dot(x, out=out), (MATRIX, MATRIX, MATRIX), MATRIX,
    ),
    "solve_triangular": (
        lambda a, b, out: torch.linalg.solve_triangular(a, b, upper=True, out=out),
        (MATRIX, MATRIX),
        MATRIX,
    ),
    "exp": (torch.exp, (MATRIX,), MATRIX),
    **{name: (getattr(torch, name), shapes, shapes[0]) for name, shapes in SUMS.items()},
}  # fmt: skip
"""By name: the call, the shapes of its operands, and of its result."""
INTO: dict[str, tuple[Call, tuple[tuple[int, ...], ...], tuple[int, ...]]] = {
    f"{name}_": (lambda *x, out, name=name: getattr(out, f"{name}_")(*x), shapes[1:], shapes[0])
    for name, shapes in SUMS.items()
}
DTYPES = (torch.bool, torch.int8, torch.int64, torch.float16, torch.float32, torch.complex64)
FACTORS = (True, False, 0, 0.0, 1, 1.0, 2, 2.5, 2j, 300)


def drawn(device: str, dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    maker = torch.Generator().manual_seed(0)
    wide = dtype if dtype.is_complex else torch.float32
    return [torch.rand(s, generator=maker, dtype=wide).to(dtype).to(device) for s in shapes]


def whole(device: str, dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    return [(torch.arange(torch.Size(s).numel()) % 3).view(s).to(dtype).to(device) for s in shapes]


def ended(program: Program, device: str) -> Any:
    """The dtype and elements of the program's result, or the class and text of its error."""
    try:
        made = program(device).cpu()
    except (RuntimeError, TypeError) as error:
        return type(error), agreement.text(error)
    return made.dtype, made.tolist()


ADDED: dict[str, Call] = {
    "add": torch.add,
    "add_": lambda x, y, **k: x.clone().add_(y, **k),
    "sub": torch.sub,
    "rsub": torch.rsub,
    "foreach": lambda x, y, **k: torch._foreach_add([x], [y], **k)[0],
    "index_add": lambda x, y, **k: x.index_add(0, torch.arange(N).to(x.device), y, **k),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [*SUMS, *ADDED])
def test_a_factor_is_of_a_kind_that_the_cpu_takes(name: str, dtype: torch.dtype) -> None:
    shapes = SUMS.get(name, (VECTOR, VECTOR))
    call = ADDED.get(name) or getattr(torch, name)
    differing = {}
    for word in ("alpha", "beta") if name in SUMS else ("alpha",):
        for factor in FACTORS:
            named = {word: factor}

            def program(device: str, named: dict[str, Any] = named) -> Any:
                return call(*whole(device, dtype, *shapes), **named)

            found = [ended(program, device) for device in ("lazytensor", "lazytensor", "cpu")]
            if not found[0] == found[1] == found[2]:
                differing[word, factor] = found
    assert not differing


@pytest.mark.parametrize("factors", [(1, 1), (0.2, 0), (0.2, 0.5), (1, 0)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", sorted({*SUMS} - {"addbmm"}))  # whose sum the CPU rounds each time
def test_halves_are_rounded_as_on_the_cpu(
    name: str, dtype: torch.dtype, factors: tuple[float, float]
) -> None:
    def program(device: str) -> Any:
        given = drawn(device, dtype, *SUMS[name])
        return getattr(torch, name)(*given, alpha=factors[0], beta=factors[1])

    assert ended(program, "lazytensor") == ended(program, "cpu")


@pytest.mark.parametrize("n", [10, 2049])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 4.5, -1, -3])
def test_norms_of_halves_are_rounded_once(order: float, dtype: torch.dtype, n: int) -> None:
    def program(device: str) -> Any:
        return torch.linalg.norm(torch.ones(n, dtype=dtype, device=device), order)

    assert ended(program, "lazytensor") == ended(program, "cpu")


@pytest.mark.parametrize("name", [*PRODUCTS, *INTO])
def test_what_is_marked_as_conjugated_shows_what_is_written(name: str) -> None:
    call, shapes, shape = (PRODUCTS | INTO)[name]

    def program(device: str) -> Any:
        *given, held = drawn(device, torch.complex64, *shapes, shape)
        marked = held.conj()
        call(*given, out=marked)
        return marked.is_conj(), marked.resolve_conj(), held

    agreement.check(program)


def test_a_result_of_the_cpu_lies_as_there() -> None:
    def program(device: str) -> Any:
        (given,) = drawn(device, torch.float32, (2, 5, 3))
        return [x.stride() for x in torch.geqrf(given)]

    with pytest.warns(UserWarning, match="geqrf"):
        assert program("lazytensor") == program("cpu")
