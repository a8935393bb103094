"""What torch refuses is refused at the call, in its words; what is data, once it is looked at."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.pytorch import agreement
from tests.pytorch.agreement import Program, check, numbers


def flags(device: str, *shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.bool, device=device)


def whole(device: str, *values: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, device=device)


def written(x: torch.Tensor, index: Any, value: Any) -> torch.Tensor:
    x[index] = value
    return x


def bytes_(device: str) -> torch.Tensor:
    return torch.ones(2, dtype=torch.uint8, device=device)


MASKS: dict[str, Program] = {
    "too short": lambda d: numbers(d, 4)[flags(d, 2)],
    "too long": lambda d: numbers(d, 4)[flags(d, 6)],
    "written": lambda d: written(numbers(d, 4), flags(d, 2), 9.0),
    "written to at all places": lambda d: written(numbers(d, 4), flags(d, 2), numbers(d, 1)),
    "of two axes": lambda d: numbers(d, 4, 3)[flags(d, 4, 2)],
    "of the second axis": lambda d: numbers(d, 4, 3)[:, flags(d, 2)],
    "after an index": lambda d: numbers(d, 4, 3)[whole(d, 0, 1), flags(d, 2)],
    "on the CPU": lambda d: numbers(d, 4)[flags("cpu", 2)],
    "of bytes": lambda d: numbers(d, 4, 3)[bytes_(d)],
    "of signed bytes": lambda d: numbers(d, 2)[whole(d, 0, 1, dtype=torch.int8)],
    "more axes than there are": lambda d: numbers(d, 4)[flags(d, 4, 2)],
    "indices of several sizes": lambda d: numbers(d, 4, 3)[whole(d, 0, 1), whole(d, 0, 1, 2)],
    "written to at indices of several sizes": lambda d: written(
        numbers(d, 4, 3), (whole(d, 0, 1), whole(d, 0, 1, 2)), 9.0
    ),
    "an index and a mask": lambda d: numbers(d, 4, 3)[whole(d, 0, 1), flags(d, 3)],
    "values of another dtype": lambda d: written(numbers(d, 4), whole(d, 1), whole(d, 1)),
    "values of another size": lambda d: written(numbers(d, 4), whole(d, 0, 1), numbers(d, 3)),
}

CONVOLUTIONS: dict[str, Program] = {
    **{
        f"a large kernel, {n}-D": lambda d, n=n: getattr(functional, f"conv{n}d")(  # type: ignore[misc]
            numbers(d, 1, 1, *(2, 8, 8)[:n]), numbers(d, 1, 1, *(3,) * n)
        )
        for n in (1, 2, 3)
    },
    "a dilated kernel": lambda d: functional.conv2d(
        numbers(d, 1, 1, 4, 8), numbers(d, 1, 1, 3, 3), dilation=2
    ),
    "no batch": lambda d: functional.conv2d(numbers(d, 0, 1, 2, 4), numbers(d, 1, 1, 3, 3)),
    **{
        f"output padding, {n}-D": lambda d, n=n: getattr(functional, f"conv_transpose{n}d")(  # type: ignore[misc]
            numbers(d, 1, 1, *(4,) * n), numbers(d, 1, 1, *(3,) * n), stride=2, output_padding=2
        )
        for n in (1, 2, 3)
    },
    "no result": lambda d: functional.conv_transpose2d(
        numbers(d, 1, 1, 1, 1), numbers(d, 1, 1, 1, 1), padding=2
    ),
    "a bias": lambda d: functional.conv2d(
        numbers(d, 1, 1, 4, 8), numbers(d, 4, 1, 3, 3), numbers(d, 5)
    ),
    "a bias, transposed": lambda d: functional.conv_transpose2d(
        numbers(d, 1, 1, 4, 8), numbers(d, 1, 4, 3, 3), numbers(d, 5)
    ),
    "a bias of two axes": lambda d: functional.conv2d(
        numbers(d, 1, 1, 4, 8), numbers(d, 4, 1, 3, 3), numbers(d, 4, 1)
    ),
    "groups": lambda d: functional.conv2d(numbers(d, 1, 4, 4, 8), numbers(d, 3, 2, 3, 3), groups=2),
    "no groups": lambda d: functional.conv2d(
        numbers(d, 1, 3, 4, 8), numbers(d, 2, 1, 3, 3), groups=0
    ),
    "strides": lambda d: functional.conv2d(
        numbers(d, 1, 1, 4, 8), numbers(d, 4, 1, 3, 3), stride=(1, 1, 1)
    ),
}

IMAGES: dict[str, Program] = {
    "max_pool1d": lambda d: functional.max_pool1d(numbers(d, 1, 1, 2), 3),
    "max_pool2d": lambda d: functional.max_pool2d(numbers(d, 1, 1, 2, 2), 3),
    "max_pool3d": lambda d: functional.max_pool3d(numbers(d, 1, 1, 2, 2, 2), 3),
    "avg_pool1d": lambda d: functional.avg_pool1d(numbers(d, 1, 1, 2), 3),
    "avg_pool2d": lambda d: functional.avg_pool2d(numbers(d, 1, 1, 2, 2), 3),
    "avg_pool3d": lambda d: functional.avg_pool3d(numbers(d, 1, 1, 2, 2, 2), 3),
    "avg_pool2d of a matrix": lambda d: functional.avg_pool2d(numbers(d, 3, 3), 2),
    "adaptive_avg_pool2d": lambda d: functional.adaptive_avg_pool2d(numbers(d, 3, 3), 2),
    "adaptive_avg_pool3d": lambda d: functional.adaptive_avg_pool3d(numbers(d, 3, 3, 3), 2),
    "adaptive_max_pool2d": lambda d: functional.adaptive_max_pool2d(numbers(d, 3, 3), 2),
    "reflect 1-D": lambda d: functional.pad(numbers(d, 1, 2, 2), (2, 0), mode="reflect"),
    "reflect 2-D": lambda d: functional.pad(numbers(d, 1, 1, 2, 2), (2, 0, 0, 0), mode="reflect"),
    "reflect rows": lambda d: functional.pad(numbers(d, 1, 1, 2, 2), (0, 0, 0, 2), mode="reflect"),
    "reflect 3-D": lambda d: functional.pad(
        numbers(d, 1, 1, 2, 2, 2), (2, 0, 0, 0, 0, 0), mode="reflect"
    ),
    "reflect nothing": lambda d: functional.pad(
        numbers(d, 1, 0, 2, 2), (1, 0, 0, 0), mode="reflect"
    ),
    "circular 2-D": lambda d: functional.pad(numbers(d, 1, 1, 2, 2), (3, 0, 0, 0), mode="circular"),
    "a grid of three": lambda d: functional.grid_sample(
        numbers(d, 1, 1, 2, 2), numbers(d, 1, 2, 2, 3), align_corners=False
    ),
    "a grid of two for volumes": lambda d: functional.grid_sample(
        numbers(d, 1, 1, 2, 2, 2), numbers(d, 1, 2, 2, 2, 2), align_corners=False
    ),
    "a grid of another batch": lambda d: functional.grid_sample(
        numbers(d, 1, 1, 2, 2), numbers(d, 2, 2, 2, 2), align_corners=False
    ),
    "a grid of another dtype": lambda d: functional.grid_sample(
        numbers(d, 1, 1, 2, 2), numbers(d, 1, 2, 2, 2).double(), align_corners=False
    ),
}

LOSSES: dict[str, Program] = {
    "columns of classes": lambda d: functional.nll_loss(
        numbers(d, 4, 3), torch.zeros(4, 2, dtype=torch.int64, device=d)
    ),
    "a column of classes": lambda d: functional.cross_entropy(
        numbers(d, 4, 3), torch.zeros(4, 1, dtype=torch.int64, device=d)
    ),
    "another batch": lambda d: functional.cross_entropy(numbers(d, 4, 3), whole(d, 0, 0)),
    "one row": lambda d: functional.cross_entropy(numbers(d, 3), whole(d, 0, 0)),
    "weights": lambda d: functional.cross_entropy(
        numbers(d, 2, 3), whole(d, 0, 0), weight=numbers(d, 2)
    ),
    "images": lambda d: functional.cross_entropy(
        numbers(d, 2, 3, 2, 2), torch.zeros(2, 2, 1, dtype=torch.int64, device=d)
    ),
}

NUMBERS: dict[str, Program] = {
    "integers // 0": lambda d: whole(d, 1) // 0,
    "flags // 0": lambda d: flags(d, 1) // 0,
    "integers % 0": lambda d: whole(d, 1) % 0,
    "fmod": lambda d: torch.fmod(whole(d, 1), 0),
    "truncated": lambda d: torch.div(whole(d, 1), 0, rounding_mode="trunc"),
    "in place": lambda d: whole(d, 1).floor_divide_(0),
    "full": lambda d: torch.full((2,), 300, dtype=torch.uint8, device=d),
    "full_like": lambda d: torch.full_like(bytes_(d), 300),
    "new_full": lambda d: bytes_(d).new_full((2,), 300),
    "fill_": lambda d: bytes_(d).fill_(-300),
    "an element": lambda d: written(bytes_(d), 0, 300),
    "masked_fill": lambda d: bytes_(d).masked_fill(flags(d, 2), 300),
    "clamp": lambda d: bytes_(d).clamp(0, 300),
    "where": lambda d: torch.where(flags(d, 2), bytes_(d), 300),
    "pad": lambda d: functional.pad(bytes_(d), (1, 1), value=300),
    "index_fill": lambda d: bytes_(d).index_fill(0, whole(d, 0), 300),
    "scatter": lambda d: bytes_(d).scatter(0, whole(d, 0), 300),
    "a float": lambda d: numbers(d, 3).fill_(1e39),
    "a half": lambda d: numbers(d, 3).half().fill_(70000.0),
    "nan": lambda d: whole(d, 1, dtype=torch.int32).fill_(float("nan")),
    "infinity": lambda d: whole(d, 1, dtype=torch.int32).fill_(float("inf")),
    "a factor": lambda d: torch.add(numbers(d, 3), numbers(d, 3), alpha=1e39),
    "a factor of products": lambda d: numbers(d, 3).addcmul(
        numbers(d, 3), numbers(d, 1), value=1e39
    ),
    "a factor of quotients": lambda d: numbers(d, 3).addcdiv(
        numbers(d, 3), numbers(d, 3), value=1e39
    ),
    "an integer": lambda d: whole(d, 1, dtype=torch.int32).fill_(2**31),
    "a complex number": lambda d: numbers(d, 3).fill_(1j),
    "a negative power": lambda d: whole(d, 2) ** -1,
    "a negative power in place": lambda d: whole(d, 2).pow_(-1),
    "minus a flag": lambda d: -flags(d, 2),
    "where of floats": lambda d: torch.where(numbers(d, 2), numbers(d, 2), numbers(d, 2)),
    "where of integers": lambda d: torch.where(whole(d, 1), 1.0, numbers(d, 1)),
    "softplus": lambda d: functional.softplus(whole(d, 2)),
    "hardswish": lambda d: functional.hardswish(whole(d, 2)),
    "mish": lambda d: functional.mish(whole(d, 2)),
    "elu": lambda d: functional.elu(whole(d, 2)),
    "relu": lambda d: functional.relu(flags(d, 2)),
    "gelu": lambda d: functional.gelu(numbers(d, 2), approximate="sigmoid"),
    "std": lambda d: whole(d, 2, 3).std(),
    "var_mean": lambda d: torch.var_mean(whole(d, 2, 3)),
    "dropout": lambda d: functional.dropout(whole(d, 2)),
    "multinomial": lambda d: torch.multinomial(whole(d, 1, 2), 1),
    "normal": lambda d: torch.normal(numbers(d, 2), -1.0),
}


MATRICES: dict[str, Program] = {
    **{
        name: lambda d, name=name: getattr(torch.linalg, name)(numbers(d, 2, 3))  # type: ignore[misc]
        for name in ("det", "slogdet", "inv", "eigh", "eigvalsh", "eig", "eigvals", "matrix_exp")
    },
    **{
        f"{name} of a vector": lambda d, name=name: getattr(torch.linalg, name)(numbers(d, 3))  # type: ignore[misc]
        for name in ("det", "qr", "svd", "lu_factor", "lu", "cholesky")
    },
    **{
        f"{name} of integers": lambda d, name=name: getattr(torch.linalg, name)(  # type: ignore[misc]
            torch.ones(2, 2, dtype=torch.int64, device=d)
        )
        for name in ("det", "qr", "svd", "inv")
    },
    "logdet": lambda d: numbers(d, 2, 3).logdet(),
    "cholesky_inverse": lambda d: torch.cholesky_inverse(numbers(d, 2, 3)),
    "solve": lambda d: torch.linalg.solve(numbers(d, 2, 3), numbers(d, 2, 3)),
    "solve, sizes": lambda d: torch.linalg.solve(numbers(d, 3, 3), numbers(d, 2, 3)),
    "solve, dtypes": lambda d: torch.linalg.solve(numbers(d, 3, 3), numbers(d, 3, 3).double()),
    "solve_triangular": lambda d: torch.linalg.solve_triangular(
        numbers(d, 3, 3), numbers(d, 2, 3), upper=True
    ),
    "lu_solve": lambda d: torch.linalg.lu_solve(
        numbers(d, 3, 3), torch.ones(2, dtype=torch.int32, device=d), numbers(d, 3, 3)
    ),
    **{
        f"solve a vector, {a} and {b}": lambda d, a=a, b=b: torch.linalg.solve(  # type: ignore[misc]
            numbers(d, *a), numbers(d, *b)
        )
        for a, b in (((3, 3), (2,)), ((3, 3), (1,)), ((2, 3, 3), (2,)))
    },
    "solve a vector from the right": lambda d: torch.linalg.solve(
        numbers(d, 3, 3), numbers(d, 3), left=False
    ),
    "solve, batches": lambda d: torch.linalg.solve(numbers(d, 2, 3, 3), numbers(d, 4, 3, 1)),
    "solve_triangular, batches": lambda d: torch.linalg.solve_triangular(
        numbers(d, 2, 3, 3), numbers(d, 4, 3, 1), upper=True
    ),
    "solve_triangular, a vector": lambda d: torch.linalg.solve_triangular(
        numbers(d, 3, 3), numbers(d, 3), upper=True
    ),
    "lu_solve, a vector": lambda d: torch.linalg.lu_solve(
        numbers(d, 3, 3), torch.ones(3, dtype=torch.int32, device=d), numbers(d, 3)
    ),
    "lu_solve, sizes": lambda d: torch.linalg.lu_solve(
        numbers(d, 3, 3), torch.ones(3, dtype=torch.int32, device=d), numbers(d, 2, 3)
    ),
    "lstsq": lambda d: torch.linalg.lstsq(numbers(d, 2, 3), numbers(d, 3, 3)),
    "lstsq of a vector": lambda d: torch.linalg.lstsq(numbers(d, 3), numbers(d, 3)),
    "lstsq, batches": lambda d: torch.linalg.lstsq(numbers(d, 2, 4, 3), numbers(d, 3, 4, 2)),
    "lstsq, batches of vectors": lambda d: torch.linalg.lstsq(
        numbers(d, 2, 4, 3), numbers(d, 3, 4)
    ),
    "norm of integers": lambda d: whole(d, 1, 2).norm(),
    "norm of flags": lambda d: torch.linalg.vector_norm(flags(d, 2), 1),
    "householder_product": lambda d: torch.linalg.householder_product(numbers(d, 3), numbers(d, 1)),
    "qr, mode": lambda d: torch.linalg.qr(numbers(d, 3, 3), mode="bad"),
    "eigh, triangle": lambda d: torch.linalg.eigh(numbers(d, 3, 3), UPLO="X"),
}

BASES: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "longer": ("addmm", [(5,), (3, 4), (4, 3)]),
    "of more rows": ("addmm", [(3, 3), (1, 4), (4, 3)]),
    "of more axes": ("addmm", [(2, 3, 3), (3, 4), (4, 3)]),
    "of batches": ("baddbmm", [(5, 3, 3), (1, 3, 4), (1, 4, 3)]),
    "of a sum of batches": ("addbmm", [(5, 3, 3), (1, 3, 4), (1, 4, 3)]),
    "of an outer product": ("addr", [(5, 3), (1,), (3,)]),
    "of a vector": ("addmv", [(3,), (1, 4), (4,)]),
    "that is a matrix": ("addmv", [(2, 3), (3, 4), (4,)]),
}
"""What is added to a product has the product's shape, or is expanded to it."""

PRODUCTS: dict[str, Program] = {
    **{
        f"{name}, a base {how}": lambda d, name=name, shapes=shapes: getattr(torch, name)(  # type: ignore[misc]
            *(numbers(d, *shape) for shape in shapes)
        )
        for how, (name, shapes) in BASES.items()
    },
    "mv": lambda d: torch.mv(numbers(d, 3, 4), numbers(d, 3)),
    "mv of a matrix": lambda d: torch.mv(numbers(d, 3, 4), numbers(d, 4, 3)),
    "linear, a bias": lambda d: functional.linear(
        numbers(d, 3, 4), numbers(d, 5, 4), numbers(d, 3)
    ),
    **{
        f"_int_mm, {how}": lambda d, a=a, b=b: torch._int_mm(  # type: ignore[misc]
            numbers(d, *a[0]).to(a[1]), numbers(d, *b[0]).to(b[1])
        )
        for how, a, b in (
            ("sizes", ((3, 4), torch.int8), ((3, 2), torch.int8)),
            ("floats", ((3, 4), torch.float32), ((4, 2), torch.int8)),
            ("integers", ((3, 4), torch.int8), ((4, 2), torch.int32)),
            ("a vector", ((4,), torch.int8), ((4, 2), torch.int8)),
        )
    },
    "vdot, dtypes": lambda d: torch.vdot(numbers(d, 3), numbers(d, 3).double()),
}

SIZES: dict[str, Program] = {
    "copy_": lambda d: numbers(d, 3).copy_(numbers(d, 4)),
    "copy_ from the CPU": lambda d: numbers(d, 3).copy_(numbers("cpu", 4)),
    "copy_ of more axes": lambda d: numbers(d, 2, 3).copy_(numbers(d, 1, 2, 3)),
    "copy_ of more": lambda d: numbers(d, 1, 3).copy_(numbers(d, 2, 3)),
    "pad_sequence": lambda d: torch.nn.utils.rnn.pad_sequence([numbers(d, 3, 2), numbers(d, 2, 3)]),
    "fill_": lambda d: numbers(d, 3).fill_(numbers(d, 2)),
    "repeat": lambda d: numbers(d, 3, 2).repeat(2),
    "repeat a negative number": lambda d: numbers(d, 2).repeat(-1),
    "arange": lambda d: torch.arange(float("inf"), device=d),
    "arange of nan": lambda d: torch.arange(float("nan"), device=d),
    "arange down": lambda d: torch.arange(0, 5, -1, device=d),
    "argmax": lambda d: torch.empty(0, device=d).argmax(),
    "argmax of an axis": lambda d: torch.empty(0, 2, device=d).argmax(0),
    "max of an axis": lambda d: torch.empty(0, 2, device=d).max(0),
    "new_zeros": lambda d: numbers(d, 2).new_zeros(-1),
    "empty": lambda d: torch.empty(2, -1, device=d),
    "full": lambda d: torch.full((-1,), 2, device=d),
    "repeat_interleave": lambda d: torch.repeat_interleave(numbers(d, 2), -1),
}

REFUSED = {
    f"{kind}: {name}": program
    for kind, table in {
        "masks": MASKS, "convolutions": CONVOLUTIONS, "images": IMAGES, "losses": LOSSES,
        "numbers": NUMBERS, "matrices": MATRICES, "products": PRODUCTS,
        "sizes": SIZES,
    }.items()
    for name, program in table.items()
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("name", REFUSED)
def test_it_raises_what_it_raises_on_the_cpu(name: str) -> None:
    wanted = agreement.raised(REFUSED[name], "cpu")
    for _ in range(3):  # calls of a kind are remembered
        assert agreement.raised(REFUSED[name], "lazytensor") == wanted


DATA: dict[str, Program] = {
    "a negative weight": lambda d: torch.multinomial(torch.tensor([-1.0, 2.0], device=d), 1),
    "no weight": lambda d: torch.multinomial(torch.zeros(2, device=d), 1, replacement=True),
    "a probability": lambda d: torch.bernoulli(torch.tensor([1.5], device=d)),
    "a probability in place": lambda d: numbers(d, 1).bernoulli_(torch.tensor([1.5], device=d)),
    "a deviation": lambda d: torch.normal(1.0, torch.tensor([-1.0], device=d)),
    "means and deviations": lambda d: torch.normal(
        numbers(d, 1), torch.tensor([-1.0], device=d)
    ),
    "a rate": lambda d: torch.poisson(torch.tensor([-1.5], device=d)),
    "repeats": lambda d: torch.repeat_interleave(numbers(d, 2), whole(d, 1, -1)),
}  # fmt: skip

INDICES: dict[str, Program] = {
    "gather": lambda d: numbers(d, 3).gather(0, whole(d, -1)),
    "index_select": lambda d: numbers(d, 3).index_select(0, whole(d, -1)),
    "scatter": lambda d: numbers(d, 3).scatter(0, whole(d, -1), 1.0),
    "index_add": lambda d: numbers(d, 3).index_add(0, whole(d, -1), numbers(d, 1)),
    "a class": lambda d: functional.nll_loss(numbers(d, 1, 3), whole(d, -1)),
    "embedding": lambda d: functional.embedding(whole(d, -1), numbers(d, 3, 2)),
}
"""Negative ones, which torch does not count from the end here."""


@pytest.mark.parametrize("name", DATA)
def test_what_is_data_is_refused_where_it_is_looked_at(name: str) -> None:
    kind, text = agreement.raised(DATA[name], "cpu")
    with pytest.raises(kind) as found:
        DATA[name]("lazytensor").tolist()
    assert str(found.value).startswith(text.partition("  (Could")[0])
    assert __file__ in str(found.value)


@pytest.mark.parametrize("name", INDICES)
def test_a_negative_index_is_refused_where_torch_does_not_count_from_the_end(name: str) -> None:
    kind, _ = agreement.raised(INDICES[name], "cpu")
    with pytest.raises(kind, match=r"out of (range|bounds)"):
        INDICES[name]("lazytensor").tolist()


def test_normal_draws_have_their_means_and_deviations() -> None:
    torch.manual_seed(0)
    mean = torch.tensor([[0.0], [5.0]], device="lazytensor").expand(2, 4000)
    drawn = torch.normal(mean, torch.full((4000,), 2.0, device="lazytensor"))
    assert torch.allclose(drawn.mean(1).cpu(), torch.tensor([0.0, 5.0]), atol=0.15)
    assert torch.allclose(drawn.std(1).cpu(), torch.tensor([2.0, 2.0]), atol=0.15)


def test_a_mask_on_the_cpu_says_where_a_number_is_written() -> None:
    mask = torch.tensor([True, False, True])
    check(lambda d: written(numbers(d, 3), mask, 7.0))
    check(lambda d: written(numbers(d, 3), mask, torch.tensor(7.0)))
    check(lambda d: written(numbers(d, 2, 3), (slice(None), mask), 7.0))


def test_there_is_one_device() -> None:
    for make in (torch.zeros, torch.ones, torch.empty, torch.randn):
        with pytest.raises(RuntimeError, match="no lazytensor:5"):
            make(2, device="lazytensor:5")
    with pytest.raises(RuntimeError, match="no lazytensor:5"):
        numbers("cpu", 2).to("lazytensor:5")


def test_tensors_of_two_devices_are_not_compared() -> None:
    with pytest.raises(RuntimeError, match="on the same device"):
        torch.equal(numbers("lazytensor", 2), numbers("cpu", 2))
    assert torch.equal(numbers("lazytensor", 2), numbers("lazytensor", 2))


def positive(device: str, *batch: int) -> torch.Tensor:
    return (torch.eye(3) * 3 + 1).expand(*batch, 3, 3).clone().to(device)


def turned(device: str) -> torch.Tensor:
    return numbers(device, 2, 3, 4).mT


LAID: dict[str, Program] = {
    "masked_fill of a transpose": lambda d: turned(d).masked_fill(turned(d) > 0, 1.0).view(-1),
    "logcumsumexp of a transpose": lambda d: turned(d).logcumsumexp(-1),
    "flip of a transpose": lambda d: turned(d).flip(0),
    "sort of a transpose": lambda d: turned(d).sort(-1),
    "argsort of a transpose": lambda d: turned(d).argsort(1),
    "index_fill of a transpose": lambda d: turned(d).index_fill(1, whole(d, 0), 1.0),
    "index_put of a transpose": lambda d: turned(d).index_put((whole(d, 0),), numbers(d, 1)[0]),
    "dropout of a transpose": lambda d: functional.dropout(turned(d).zero_(), 0.5),
    "nonzero": lambda d: numbers(d, 3, 2).nonzero(),
    "argwhere": lambda d: numbers(d, 3, 2).argwhere(),
    "nonzero of each axis": lambda d: numbers(d, 3, 2).nonzero(as_tuple=True),
    "qr": lambda d: torch.linalg.qr(numbers(d, 4, 3)),
    "cholesky": lambda d: torch.linalg.cholesky(positive(d)),
    "solve": lambda d: torch.linalg.solve(positive(d), numbers(d, 3, 2)),
    "solve, batches": lambda d: torch.linalg.solve(positive(d, 2), numbers(d, 2, 3, 2)),
    "solve, vectors": lambda d: torch.linalg.solve(positive(d, 2), numbers(d, 2, 3)),
    "solve from the right": lambda d: torch.linalg.solve(positive(d), numbers(d, 2, 3), left=False),
    "inv": lambda d: torch.linalg.inv(positive(d, 2)),
    "svd": lambda d: torch.linalg.svd(numbers(d, 4, 3)),
    "eigh": lambda d: torch.linalg.eigh(positive(d, 2)),
    "lu_factor": lambda d: torch.linalg.lu_factor(positive(d)),
    "lu": lambda d: torch.linalg.lu(positive(d)),
    "lu_solve": lambda d: torch.linalg.lu_solve(
        *torch.linalg.lu_factor(positive(d)), numbers(d, 3, 2)
    ),
    "cholesky_solve": lambda d: torch.cholesky_solve(numbers(d, 3, 2), positive(d)),
    "solve_triangular": lambda d: torch.linalg.solve_triangular(
        positive(d), numbers(d, 3, 2), upper=True
    ),
    "matrix_exp": lambda d: torch.linalg.matrix_exp(positive(d)),
}


@pytest.mark.parametrize("name", LAID)
def test_results_lie_as_on_the_cpu(name: str) -> None:
    def strides(device: str) -> Any:
        made = LAID[name](device)
        return [x.stride() for x in ([made] if isinstance(made, torch.Tensor) else made)]

    assert strides("lazytensor") == strides("cpu")
