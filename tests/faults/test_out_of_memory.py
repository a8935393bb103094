"""Arrays that no memory can hold: the error names their line and size, and all others are kept."""

import numpy
import pytest

import lazytensor
import lazytensor.numpy as np
from lazytensor.core.device import host_memory
from lazytensor.core.errors import OutOfMemory
from lazytensor.core.settings import settings

N = 10**6
TEXT = r"Unable to allocate 7\.28 TiB for an array with shape \(1000000, 1000000\) and data type"


@pytest.fixture(params=["interpret", "compile"], autouse=True)
def tier(request: pytest.FixtureRequest) -> str:
    settings.tier = request.param
    return str(request.param)


def pairs(x: np.ndarray) -> np.ndarray:
    return x[:, None] * x[None, :]


@pytest.mark.parametrize("error", [OutOfMemory, MemoryError, RuntimeError])
def test_the_error_is_numpys_and_names_the_line(error: type[Exception]) -> None:
    large = pairs(np.linspace(0.0, 1.0, N))
    for _ in range(2):
        with pytest.raises(error, match=TEXT + r" float64 \(recorded at .*memory\.py:\d+ in pairs"):
            numpy.asarray(large)
    with pytest.raises(MemoryError, match=TEXT.replace(r"7\.28 TiB", ".*").split(" for")[0]):
        numpy.ones((N, N))  # as NumPy has it


def test_what_does_not_need_it_is_computed() -> None:
    x = np.linspace(0.0, 1.0, N)
    before, large = np.sin(x), pairs(x)
    after, part, spoiled = np.cos(x), large[3, :5], large + 1.0
    with pytest.raises(MemoryError):
        lazytensor.sync()
    assert float(before[-1]) == pytest.approx(numpy.sin(1.0))
    assert float(after[-1]) == pytest.approx(numpy.cos(1.0))
    for lost in (large, part, spoiled):
        with pytest.raises(MemoryError):
            numpy.asarray(lost)
    x[:] = 2.0
    assert float((x + before).sum()) == pytest.approx(2e6 + float(before.sum()))


def test_what_is_never_whole_may_be_larger() -> None:
    settings.tier = "compile"
    x = np.linspace(0.0, 1.0, 300_000)  # 720 GB of pairs, of which a thousand are wanted
    part = (x[:, None] * x[None, :])[5:10, :200].copy()
    numpy.testing.assert_allclose(part, numpy.outer(x[5:10], x[:200]))


def test_intermediate_results_that_do_not_fit_lose_nothing() -> None:
    settings.tier = "compile"
    x = np.linspace(0.0, 1.0, N)
    y = np.sin(x)
    lost = pairs(x).sum()  # in two stages, the first of which has partial sums
    with pytest.raises(MemoryError, match=r"Unable to allocate .* for intermediate results"):
        float(lost)
    assert float(y[-1]) == pytest.approx(numpy.sin(1.0))


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.00 KiB"), (2**20 - 1, "1.02e+03 KiB"),
     (8 * 10**12, "7.28 TiB"), (2**62, "4.00 EiB"), (2**80, "1.05e+06 EiB")],
)  # fmt: skip
def test_sizes_in_words(nbytes: int, text: str) -> None:
    assert host_memory.in_words(nbytes) == text
