"""What is written in place and multiplied as well is written once."""

import numpy as np
import pytest

from lazytensor.backends.xla import client, workarounds
from lazytensor.backends.xla import stablehlo as text_of
from lazytensor.core import ops
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, starts
from lazytensor.core.ir.program import cut
from lazytensor.core.runtime.scheduler import fetch

pytestmark = pytest.mark.usefixtures("compiled")

SHAPE = 1, 4, 64, 32
BATCH = (0, 1), (0, 1)


def arrays(dtype: str) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    line = (*SHAPE[:2], 1, SHAPE[3])
    return [random.standard_normal(shape).astype(dtype) for shape in (SHAPE, line, line)]


def grown(cache: np.ndarray, line: np.ndarray) -> Node:
    written: Node = ops.update_slice(
        leaf(cache), leaf(line), starts((0, 0, 5, 0)), strides=(1,) * 4
    )
    return written


def scores(written: Node, query: np.ndarray) -> Node:
    found: Node = ops.dot_general(leaf(query), written, batch=BATCH, contract=((3,), (3,)))
    return found


def texts(outputs: list[Node]) -> tuple[str, str]:
    """What is emitted, and what XLA makes of it."""
    emitted = text_of(cut(reachable(outputs), outputs).program)
    (module,) = client.compile(emitted)._loaded.hlo_modules()
    return emitted, module.to_string()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("through", ["", "transpose"])
def test_a_cache_that_grows_is_written_once(dtype: str, through: str) -> None:
    cache, line, query = arrays(dtype)
    written = grown(cache, line)
    if through:
        turned = ops.transpose(written, axes=(0, 1, 3, 2))
        read = ops.dot_general(leaf(query), turned, batch=BATCH, contract=((3,), (2,)))
    else:
        read = scores(written, query)
    emitted, compiled = texts([written, read])
    assert "reduce_precision" in emitted
    assert compiled.count(" dynamic-update-slice(") == 1

    cache[:, :, 5:6] = line
    np.testing.assert_array_equal(fetch(written), cache)
    np.testing.assert_allclose(fetch(read), query @ cache.swapaxes(2, 3), rtol=1e-4, atol=1e-4)


def test_xla_still_writes_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workarounds, "read_shared", lambda block: None)
    cache, line, query = arrays("float32")
    written = grown(cache, line)
    _, compiled = texts([written, scores(written, query)])
    assert compiled.count(" dynamic-update-slice(") > 1


def test_what_nothing_else_needs_is_multiplied_as_it_is() -> None:
    cache, line, query = arrays("float32")
    emitted, compiled = texts([scores(grown(cache, line), query)])
    assert "reduce_precision" not in emitted
    assert compiled.count(" dynamic-update-slice(") == 1


def test_what_a_loop_reads_is_left_to_xla() -> None:
    cache, line, query = arrays("float32")
    written = grown(cache, line)
    doubled = ops.add(written, written)
    emitted, _ = texts([written, scores(doubled, query)])
    assert "reduce_precision" not in emitted
