"""Linear algebra refuses what torch refuses: `out=` of other dtypes, operands that do not fit, and
pivots that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.pytorch import agreement
from tests.pytorch.agreement import Program, numbers

Call = Callable[..., Any]
INT, F32, F64, C64 = torch.int32, torch.float32, torch.float64, torch.complex64


def square(device: str, *batch: int) -> torch.Tensor:
    return (numbers(device, *batch, 3, 3) + 4 * torch.eye(3).to(device)).contiguous()


def pivots(device: str, *values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=INT).to(device)


CALLS: dict[str, tuple[int, Call]] = {
    "cholesky": (1, lambda x, out: torch.linalg.cholesky(x @ x.mT, out=out)),
    "inv": (1, torch.linalg.inv),
    "pinv": (1, torch.linalg.pinv),
    "cond": (1, torch.linalg.cond),
    "det": (1, torch.linalg.det),
    "matrix_rank": (1, torch.linalg.matrix_rank),
    "matrix_power": (1, lambda x, out: torch.linalg.matrix_power(x, 3, out=out)),
    "eigvals": (1, torch.linalg.eigvals),
    "eigvalsh": (1, torch.linalg.eigvalsh),
    "svdvals": (1, torch.linalg.svdvals),
    "matrix_norm": (1, torch.linalg.matrix_norm),
    "vector_norm": (1, torch.linalg.vector_norm),
    "multi_dot": (1, lambda x, out: torch.linalg.multi_dot([x, x, x], out=out)),
    "cross": (1, lambda x, out: torch.linalg.cross(x, x, out=out)),
    "solve": (1, lambda x, out: torch.linalg.solve(x, x, out=out)),
    "solve_triangular": (
        1, lambda x, out: torch.linalg.solve_triangular(x, x, upper=True, out=out)
    ),
    "lu_solve": (
        1, lambda x, out: torch.linalg.lu_solve(x, pivots(x.device, 1, 2, 3), x, out=out)
    ),
    "householder_product": (1, lambda x, out: torch.linalg.householder_product(x, x[0], out=out)),
    "ormqr": (1, lambda x, out: torch.ormqr(x, x[0], x, out=out)),
    "cholesky_inverse": (1, torch.cholesky_inverse),
    "cholesky_solve": (1, lambda x, out: torch.cholesky_solve(x, x, out=out)),
    "kron": (1, lambda x, out: torch.kron(x, x, out=out)),
    "mm": (1, lambda x, out: torch.mm(x, x, out=out)),
    "addmm": (1, lambda x, out: torch.addmm(x, x, x, out=out)),
    "mv": (1, lambda x, out: torch.mv(x, x[0], out=out)),
    "dot": (1, lambda x, out: torch.dot(x[0], x[0], out=out)),
    "vdot": (1, lambda x, out: torch.vdot(x[0], x[0], out=out)),
    "outer": (1, lambda x, out: torch.outer(x[0], x[0], out=out)),
    "add": (1, lambda x, out: torch.add(x, x, out=out)),
    "tril": (1, torch.tril),
    "eigh": (2, torch.linalg.eigh),
    "eig": (2, torch.linalg.eig),
    "qr": (2, torch.linalg.qr),
    "slogdet": (2, torch.linalg.slogdet),
    "lu_factor": (2, torch.linalg.lu_factor),
    "inv_ex": (2, torch.linalg.inv_ex),
    "sort": (2, torch.sort),
    "svd": (3, torch.linalg.svd),
    "lu": (3, torch.linalg.lu),
}  # fmt: skip
"""By name: how many results, and the call."""


def ended(program: Program, device: str) -> Any:
    """The dtypes and shapes of a program's results, or the class and the text of its error."""
    try:
        made = program(device)
    except (RuntimeError, TypeError) as error:
        return type(error), agreement.text(error)
    return [(x.dtype, x.shape) for x in ([made] if isinstance(made, torch.Tensor) else made)]


@pytest.mark.parametrize("dtype", [INT, F32, F64, C64], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_an_out_is_of_a_dtype_that_the_cpu_takes(name: str, dtype: torch.dtype) -> None:
    count, call = CALLS[name]

    def program(device: str, place: int) -> Any:
        x = square(device)
        made = call(square("cpu"), out=None)
        dtypes = [y.dtype for y in ([made] if count == 1 else made)]
        dtypes[place] = dtype
        outs = tuple(torch.empty(0, dtype=d, device=device) for d in dtypes)
        return call(x, out=outs[0] if count == 1 else outs)

    for place in range(count):
        wanted = ended(lambda d, at=place: program(d, at), "cpu")  # type: ignore[misc]
        for _ in range(2):  # what the CPU takes is remembered
            assert ended(lambda d, at=place: program(d, at), "lazytensor") == wanted  # type: ignore[misc]


@pytest.mark.parametrize("dtype", [C64, torch.complex128], ids=str)
def test_it_is_said_once_that_an_out_is_resized(dtype: torch.dtype) -> None:
    outs = [torch.empty(n, dtype=dtype, device="lazytensor") for n in (1, 2)]
    with pytest.warns(UserWarning, match="An output with one or more elements was resized") as said:
        torch.linalg.eig(square("lazytensor"), out=tuple(outs))
    assert len(said) == len(outs)


def sized(name: str, *shapes: tuple[int, ...], **options: Any) -> Program:
    """A call of torch's, or of its module of linear algebra, with operands of these shapes."""
    call = getattr(torch.linalg, name, None) or getattr(torch, name)
    return lambda d: call(*(numbers(d, *shape) for shape in shapes), **options)


def typed(name: str, *dtypes: torch.dtype, shape: tuple[int, ...] = (3, 3)) -> Program:
    call = getattr(torch.linalg, name, None) or getattr(torch, name)
    return lambda d: call(*(square(d).to(dtype) for dtype in dtypes))


def based(name: str, shapes: tuple[tuple[int, ...], ...], beta: int) -> Program:
    call, (first, *others) = getattr(torch, name), shapes
    return lambda d: call(numbers(d, *first).double(), *(numbers(d, *s) for s in others), beta=beta)


REFUSED: dict[str, Program] = {
    **{
        f"{name} of {dtype}": typed(name, *[dtype] * count)
        for names, count in (
            (("cholesky", "svd", "eigh", "eig", "det", "lu", "lu_factor", "qr"), 1),
            (("cholesky_inverse", "inv", "matrix_exp"), 1),
            (("solve", "cholesky_solve", "triangular_solve", "lstsq"), 2),
        )
        for name in names
        for dtype in (INT, torch.float16)
        if (name, dtype) != ("matrix_exp", torch.float16)
    },
    **{
        f"{name} of two dtypes": typed(name, F32, F64)
        for name in ("solve", "cholesky_solve", "triangular_solve", "lstsq", "mm")
    },
    **{f"ormqr, {shapes}": sized("ormqr", *shapes) for shapes in (
        ((3,), (3,), (3, 3)), ((3, 3), (3,), (3,)), ((3, 3), (3,), (4, 3)),
        ((4, 2), (3,), (4, 4)), ((2, 4, 2), (2,), (2, 4, 4)), ((2, 4, 2), (2, 2), (4, 4)),
        ((2, 4, 2), (2, 2), (3, 4, 4)), ((4, 3), (1,), (4, 4)),
    )},
    **{f"householder_product, {shapes}": sized("householder_product", *shapes) for shapes in (
        ((3,), (3,)), ((2, 3), (2,)), ((3, 2), (3,)), ((2, 3, 2), (2,)), ((2, 3, 2), (3, 2)),
        ((3, 2), (2, 2)),
    )},
    **{f"{name}, {shapes}": sized(name, *shapes)
        for name in ("triangular_solve", "cholesky_solve", "lstsq", "solve")
        for shapes in (((3,), (3, 3)), ((2, 3), (3, 3)))
        if (name, len(shapes[0])) != ("lstsq", 2)
    },
    **{f"{name}, {shapes}": sized(name, *shapes) for name, shapes in (
        ("mm", ((3, 3), (3,))), ("addmm", ((3, 3), (3,), (3, 3))), ("bmm", ((3, 3, 3), (3, 3))),
        ("baddbmm", ((3, 3, 3), (3, 3), (3, 3, 3))), ("addbmm", ((3, 3), (2, 2, 3), (1, 3, 3))),
        ("addr", ((3, 3), (3, 3), (3,))), ("dot", ((3,), (1,))),
    )},
    **{
        f"{name} with another dtype's base, {beta} times": based(name, shapes, beta)
        for name, shapes in (
            ("addmm", ((3, 3),) * 3), ("baddbmm", ((2, 3, 3),) * 3),
            ("addmv", ((3,), (3, 3), (3,))), ("addbmm", ((3, 3), (2, 3, 3), (2, 3, 3))),
        )
        for beta in (0, 1)
    },
    "dot, axes and dtypes": lambda d: torch.dot(numbers(d, 3, 3), numbers(d, 3, 3).double()),
    "lstsq, driver": lambda d: torch.linalg.lstsq(square(d), square(d), driver="none"),
    "lu_unpack, pivots of another dtype": lambda d: torch.lu_unpack(
        square(d), pivots(d, 1, 2, 3).long()
    ),
    "lu_unpack of a vector": lambda d: torch.lu_unpack(numbers(d, 3), pivots(d, 1)),
    "lu_solve, pivots of another dtype": lambda d: torch.linalg.lu_solve(
        square(d), pivots(d, 1, 2, 3).long(), square(d)
    ),
    "lu_solve, pivots of a batch": lambda d: torch.linalg.lu_solve(
        square(d, 2), pivots(d, 1, 2, 3), square(d, 2)
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@pytest.mark.parametrize("name", REFUSED)
def test_it_raises_what_it_raises_on_the_cpu(name: str) -> None:
    wanted = agreement.raised(REFUSED[name], "cpu")
    assert agreement.raised(REFUSED[name], "lazytensor") == wanted


PIVOTS: dict[str, Program] = {
    f"{name}, {values}": lambda d, call=call, values=values: call(d, pivots(d, *values))  # type: ignore[misc]
    for name, call in (
        ("lu_unpack", lambda d, p: torch.lu_unpack(square(d), p)[0]),
        ("lu_solve", lambda d, p: torch.linalg.lu_solve(square(d), p, square(d))),
        ("lu_solve, adjoint", lambda d, p: torch.linalg.lu_solve(
            square(d), p, square(d), adjoint=True
        )),
    )
    for values in ((0, 2, 3), (1, 2, 4))
}  # fmt: skip


@pytest.mark.parametrize("name", PIVOTS)
def test_pivots_are_rows(name: str) -> None:
    kind, text = agreement.raised(PIVOTS[name], "cpu")
    with pytest.raises(kind) as found:
        PIVOTS[name]("lazytensor").tolist()
    assert str(found.value).startswith(text)
    assert __file__ in str(found.value)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (2, 4, 3)])
def test_reflections_are_applied_as_on_the_cpu(shape: tuple[int, ...], left: bool) -> None:
    def program(device: str) -> torch.Tensor:
        packed, factors = torch.geqrf(numbers("cpu", *shape))
        m = shape[-2]
        other = numbers(device, *shape[:-2], *((m, 5) if left else (5, m)))
        return torch.ormqr(packed.to(device), factors.to(device), other, left=left)

    agreement.check(program)
