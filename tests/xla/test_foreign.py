"""StableHLO from elsewhere: what is read, what is refused, when two modules are one."""

from __future__ import annotations

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.device.backend import backend
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.program import cut
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.foreign import Foreign
from lazytensor.core.runtime.disk_cache import _text

TEXT = """
module @{name} {{
  func.func @main(%x: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
    %y = {body} : tensor<{shape}xf32>
    return %y : tensor<{shape}xf32>
  }}
}}
"""
ARROW = "(%x) : tensor<3xf32>", "(%x) : (tensor<3xf32>) -> tensor<3xf32>"


def text(name: str = "a", shape: str = "3", body: str = "stablehlo.negate %x") -> str:
    return TEXT.format(name=name, shape=shape, body=body)


def test_types_are_read_and_where_a_module_was_made_is_forgotten() -> None:
    first, second = (backend().imported(text(name)) for name in ("a", "b"))
    assert first == second
    assert first.operands == first.results == (tensor_type(np.dtype(np.float32), (3,)),)


@pytest.mark.parametrize(
    "refused",
    [
        text(shape="?"),
        "nothing",
        text(body="stablehlo.custom_call @mine(%x)").replace(*ARROW),
    ],
    ids=["a size that is data", "no module", "a function of somebody's"],
)
def test_what_cannot_be_inlined_is_refused(refused: str) -> None:
    with pytest.raises(Unsupported, match="the module"):
        backend().imported(refused)


def test_a_key_on_disk_has_the_whole_module() -> None:
    def key(body: str) -> str:
        module = Foreign("same", text(body=body), list)
        made = ops.foreign(ops.leaf(np.zeros(3, np.float32)), module=module)
        return _text(cut(reachable([made]), [made]).program)

    assert "stablehlo.negate" in key("stablehlo.negate %x")
    assert key("stablehlo.negate %x") != key("stablehlo.abs %x")
    assert key("stablehlo.abs %x") == key("stablehlo.abs %x")
