"""What torch's CPU checks is checked on the device: bounds, dtypes, zeros, axes, `out=` tensors."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from tests.pytorch import agreement
from tests.pytorch.agreement import Program, check, numbers

INTEGERS = (torch.uint8, torch.int8, torch.int32, torch.int64)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
LEAST = -(2**63)


def of(device: str, values: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.tensor(values, device=device).to(dtype)


def ones(device: str, dtype: torch.dtype) -> torch.Tensor:
    return torch.ones(2, device=device, dtype=dtype)


QUOTIENTS: dict[str, Any] = {
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "floor_divide": torch.floor_divide,
    "floored": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "truncated": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "//=": lambda x, y: x.floor_divide_(y),
    "%=": lambda x, y: x.remainder_(y),
    "fmod_": lambda x, y: x.fmod_(y),
    "div_": lambda x, y: x.div_(y, rounding_mode="floor"),
    "out": lambda x, y: torch.floor_divide(x, y, out=torch.empty_like(x)),
}
DIVISORS = {"some zero": [1, 0, 2], "a zero": 0}
ZEROS: dict[str, Program] = {
    **{
        f"{name} by {how}, {dtype}": lambda d, f=f, y=y, t=dtype: f(
            of(d, [4, 5, 7], t), of(d, y, t)
        )  # type: ignore[misc]
        for name, f in QUOTIENTS.items()
        for how, y in DIVISORS.items()
        for dtype in INTEGERS
    },
    "a number //": lambda d: 5 // of(d, [1, 0]),
    "a number %": lambda d: 5 % of(d, [1, 0]),
    "by a zero on the CPU": lambda d: of(d, [4, 5]) // torch.tensor(0),
    "repeats": lambda d: torch.repeat_interleave(numbers(d, 2), of(d, [1, 2]), output_size=4),
}


@pytest.mark.parametrize("name", ZEROS)
def test_what_data_tells_is_refused_where_it_is_looked_at(name: str) -> None:
    kind, text = agreement.raised(ZEROS[name], "cpu")
    for _ in range(3):  # calls of a kind are remembered
        with pytest.raises(kind) as found:
            ZEROS[name]("lazytensor").tolist()
        assert str(found.value).startswith(text.partition("  (Could")[0])
        assert __file__ in str(found.value)


DIVIDED: dict[str, Program] = {
    **{
        f"{name}, {dtype}": lambda d, f=f, t=dtype: f(of(d, [4, 5, 7], t), of(d, [1, 3, 2], t))  # type: ignore[misc]
        for name, f in QUOTIENTS.items()
        for dtype in INTEGERS
    },
    "nothing by zero": lambda d: of(d, []).to(torch.int64) // of(d, 0),
    "floats by zero": lambda d: numbers(d, 3) // of(d, [0.0, 1.0, 0.0], torch.float32),
    "a number": lambda d: 5 % of(d, [1, 3]),
    "repeats": lambda d: torch.repeat_interleave(numbers(d, 2), of(d, [1, 2]), output_size=3),
}
LINES: dict[str, Program] = {
    f"{name} into {how}, {dtype}": lambda d, f=f, o=o, t=dtype: f(
        o(torch.zeros(2, 3, device=d, dtype=t))
    )  # type: ignore[misc]
    for name, f in {
        "arange": lambda out: torch.arange(4, out=out),
        "linspace": lambda out: torch.linspace(0, 3, 4, out=out),
        "logspace": lambda out: torch.logspace(0, 3, 4, base=2, out=out),
        "eye": lambda out: torch.eye(2, 2, out=out),
        "full": lambda out: torch.full((2, 2), 1.5, out=out),
        "ones": lambda out: torch.ones(2, 2, out=out),
    }.items()
    for how, o in {
        "a part": lambda x: x[:, 1:],
        "a transposed part": lambda x: x[:, 1:].t(),
        "a larger one": lambda x: x,
    }.items()
    for dtype in (torch.float32, torch.int64)
    if (name, how) != ("arange", "a larger one")
}


def images(device: str) -> torch.Tensor:
    x = torch.arange(96.0).view(2, 3, 4, 4).to(memory_format=torch.channels_last)
    return torch.empty_like(x, device=device).copy_(x)


AXES = {
    "made": lambda d: torch.ones([1] * 65, device=d).dim(),
    "computed": lambda d: (torch.ones([1] * 65, device=d) + 1).exp().flatten(),
    "reduced": lambda d: torch.ones([1] * 65, device=d).sum(),
    "looked at": lambda d: torch.ones([1] * 65, device=d).item(),
    "moved": lambda d: torch.ones([1] * 65).to(d).squeeze(),
}
EIGHT_BITS = (
    torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz,
)  # fmt: skip
NOT_FINITE: dict[torch.dtype, list[float]] = {
    torch.float32: [float("inf"), float("-inf"), float("nan")],
    torch.float64: [float("inf"), float("nan")],
    torch.bfloat16: [float("-inf")],
    torch.int32: [],
}
BYTES: dict[str, Program] = {
    f"{dtype} of {given}": lambda d, dtype=dtype, given=given: (
        (  # type: ignore[misc]
            torch.tensor([0.0, 1.3, -2.7, 500.0, -7e4, 1e-3, *NOT_FINITE[given]])
            .to(d, given)
            .to(dtype)
        )
        .float()
        .nan_to_num(-1.0, 3e38, -3e38)
    )
    for dtype in EIGHT_BITS
    for given in NOT_FINITE
}
"""Torch rounds to the largest number of a dtype that has no infinities."""
GIVEN: dict[str, Program] = {
    **{f"bytes: {name}": program for name, program in BYTES.items()},
    **{f"divided: {name}": program for name, program in DIVIDED.items()},
    **{f"lines: {name}": program for name, program in LINES.items()},
    **{f"axes: {name}": program for name, program in AXES.items()},
    "empty vectors are joined": lambda d: torch.cat([torch.ones(0, device=d)] * 2, dim=1),
    "a byte is compared": lambda d: ones(d, torch.float32).to(torch.float8_e4m3fn).isnan(),
}


@pytest.mark.parametrize("name", GIVEN)
def test_it_gives_what_it_gives_on_the_cpu(name: str) -> None:
    for _ in range(3):
        check(GIVEN[name])


@pytest.mark.parametrize("dim", range(4))
@pytest.mark.parametrize("other", [images, lambda d: images(d).contiguous()])
def test_images_that_are_joined_keep_their_format(dim: int, other: Program) -> None:
    for cut in (slice(None), slice(1, 3)):
        made = [torch.cat([images(d)[..., cut], other(d)[..., cut]], dim) for d in BOTH]
        assert made[0].stride() == made[1].stride()
        assert torch.equal(made[0].cpu(), made[1])


BOTH = ("lazytensor", "cpu")
DTYPES = (torch.bool, torch.uint16, *INTEGERS, *FLOATS, torch.complex64)
BOUNDS = [(0, 300), (-5, 3), (-(2**40), 2**40), (LEAST, None), (5, None), (300, None), (300, 400),
          (LEAST, 2**63 - 1), (3, 3), (5, 2), (), (300,), (0,), (2**60,), (256, 258)]  # fmt: skip
UNIFORM = [(0, 1e39), (-1e39, 0), (-3e38, 3e38), (1, 0), (float("nan"), 1.0), (0.0, float("inf")),
           (0, 1e5), (-6e4, 6e4)]  # fmt: skip
DRAWN: dict[str, Program] = {
    **{
        f"{name}{given}, {dtype}": lambda d, n=name, g=given, t=dtype: getattr(  # type: ignore[misc]
            ones(d, t), n
        )(*g).dtype
        for dtype in DTYPES
        for name, table in {
            "random_": BOUNDS, "uniform_": UNIFORM, "normal_": [()], "geometric_": [(0.5,)],
            "exponential_": [()], "cauchy_": [()], "log_normal_": [()], "bernoulli_": [()],
        }.items()
        for given in table
    },
    **{
        f"randperm({n}), {dtype}": lambda d, n=n, t=dtype: torch.randperm(  # type: ignore[misc]
            n, device=d, dtype=t
        ).dtype
        for dtype in DTYPES
        for n in (-1, 5, 129, 257, 2050)
    },
    **{
        f"{name}, {dtype}": lambda d, f=f, t=dtype: f(ones(d, t)).dtype  # type: ignore[misc]
        for dtype in DTYPES
        for name, f in {
            "bernoulli": torch.bernoulli,
            "means": lambda x: torch.normal(x, 1.0),
            "randint_like": lambda x: torch.randint_like(x, 300),
            "randperm into": lambda x: torch.randperm(300, out=x),
        }.items()
    },
}  # fmt: skip


def said(program: Program, device: str) -> Any:
    """What a program gives or raises, and what it warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            made = program(device)
        except RuntimeError as error:
            made = type(error), agreement.text(error).partition("\n")[0]
    return made, [str(w.message).partition(" (Triggered")[0] for w in found]


@pytest.mark.parametrize("dtype", DTYPES)
def test_draws_are_checked_as_on_the_cpu(dtype: torch.dtype) -> None:
    own = {name: program for name, program in DRAWN.items() if name.endswith(f", {dtype}")}
    assert own
    for name, program in own.items():
        assert said(program, "lazytensor") == said(program, "cpu"), name


PAIRS = (torch.float16, torch.float32, torch.float64, torch.int64, torch.complex64, torch.bool)
WIDE = {torch.float32: torch.complex64, torch.float64: torch.complex128}
MET: dict[str, Program] = {
    f"{name}: {a} and {b}": lambda d, f=f, a=a, b=b: f(ones(d, a), ones(d, b)).dtype  # type: ignore[misc]
    for name, f in {
        "add, a float": lambda x, y: torch.add(x, y, alpha=1.5),
        "add, a complex number": lambda x, y: torch.add(x, y, alpha=0.5 + 2j),
        "add, False": lambda x, y: torch.add(x, y, alpha=False),
        "sub": lambda x, y: torch.sub(x, y, alpha=2),
        "rsub": lambda x, y: torch.rsub(x, y),
        "foreach": lambda x, y: torch._foreach_add([x], [y], alpha=1.5)[0],
        "addcdiv": lambda x, y: torch.addcdiv(x, x, y),
        "lerp": lambda x, y: torch.lerp(x, y, 0.5),
        "lerp, weights": lambda x, y: torch.lerp(x, x, y),
        "complex": torch.complex,
        "complex, out": lambda x, y: torch.complex(x, x, out=y),
        "polar, out": lambda x, y: torch.polar(x, x, out=y),
        "neg": lambda x, y: torch.neg(x, out=y),
        "abs": lambda x, y: torch.abs(x, out=y),
        "sgn": lambda x, y: torch.sgn(x, out=y),
        "floor": lambda x, y: torch.floor(x, out=y),
    }.items()
    for a in PAIRS
    for b in PAIRS
}
STRIDES: dict[str, Program] = {
    "new_empty_strided": lambda d: numbers(d, 1).new_empty_strided((2,), ()),
    "empty_strided": lambda d: torch.empty_strided((2,), (), device=d),
    "as_strided": lambda d: numbers(d, 1).as_strided((1,), ()),
    "as_strided_": lambda d: numbers(d, 1).as_strided_((1, 2), (1,)),
    "a complex line": lambda d: torch.linspace(0, 1j, 5, device=d, dtype=torch.float32),
    "a line of negative length": lambda d: torch.linspace(0, 1, -1, device=d),
    "a line over itself": lambda d: torch.logspace(
        1, 10, 3, out=torch.zeros(1, device=d).expand(3)
    ),
    "sum of an axis of 65": lambda d: torch.ones([1] * 65, device=d).sum(0),
    "max of an axis of 65": lambda d: torch.ones([1] * 65, device=d).max(0),
    "flip of 65 axes": lambda d: torch.ones([1] * 65, device=d).flip(0),
    "repeats of two axes": lambda d: torch.repeat_interleave(of(d, [[1, 2]])),
    "repeats that are floats": lambda d: torch.repeat_interleave(of(d, [1.0, 2.0], torch.float32)),
}


@pytest.mark.parametrize("kind", sorted({name.partition(":")[0] for name in MET}))
def test_dtypes_that_do_not_go_together_are_refused(kind: str) -> None:
    own = {name: f for name, f in MET.items() if name.partition(":")[0] == kind}
    differing = {}
    for name, program in own.items():
        theirs, ours = said(program, "cpu"), said(program, "lazytensor")
        unknown = "not implemented for" in str(theirs) or "ComplexHalf" in str(theirs)
        unknown |= "operands must be of" in str(ours)  # the core's text for a dtype it has not
        if theirs != ours and not unknown:
            differing[name] = theirs, ours
    assert not differing


@pytest.mark.parametrize("name", STRIDES)
def test_it_raises_what_it_raises_on_the_cpu(name: str) -> None:
    assert agreement.raised(STRIDES[name], "lazytensor") == agreement.raised(STRIDES[name], "cpu")


def test_every_64_bit_integer_is_drawn() -> None:
    torch.manual_seed(0)
    drawn = torch.empty(4000, dtype=torch.int64, device="lazytensor").random_(LEAST, None).double()
    assert drawn.min() < -(2.0**62)
    assert drawn.max() > 2.0**62
    assert abs(drawn.mean()) < 2.0**59


def test_complex_uniform_draws_have_two_parts() -> None:
    drawn = torch.rand(1000, dtype=torch.complex64, device="lazytensor")
    for part in (drawn.real, drawn.imag):
        assert 0 <= part.min() < 0.1
        assert 0.9 < part.max() < 1
