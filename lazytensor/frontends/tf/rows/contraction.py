"""Matrix products and Einstein sums."""

from __future__ import annotations

from string import ascii_letters
from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import COMPLEX
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.einsum import einsum
from lazytensor.frontends.tf.dispatch.table import rows

ELLIPSIS: Final = "..."


def _matmul(
    x: Node, y: Node, *, transpose_a: bool = False, transpose_b: bool = False, **_: Any
) -> Node:
    if x.type.ndim != 2 or y.type.ndim != 2:
        raise ValueError("matrices are multiplied")
    return ops.matmul(x, y, flipped=(transpose_a, transpose_b))


def _batch_matmul(
    x: Node, y: Node, *, adj_x: bool = False, adj_y: bool = False, Tout: Any = None, **_: Any
) -> Node:
    """Matrices in the last two axes; the axes before broadcast; an adjoint is conjugated.

    `Tout` is the dtype that is summed in, too: products of bytes do not fit into bytes.
    """
    if Tout is not None:
        x, y = (t if t.type.dtype == Tout else ops.convert(t, dtype=Tout) for t in (x, y))
    if adj_x and x.type.dtype in COMPLEX:
        x = ops.conj(x)
    if adj_y and y.type.dtype in COMPLEX:
        y = ops.conj(y)
    return ops.matmul(x, y, flipped=(adj_x, adj_y))


def _einsum(xs: list[Node], *, equation: str, **_: Any) -> Node:
    left, _arrow, right = equation.replace(" ", "").partition("->")
    labels, right = _spelled_out(left.split(","), right, xs)
    _check_sizes(equation, labels, xs)
    return einsum(xs, labels, right)


def _check_sizes(equation: str, labels: list[str], xs: list[Node]) -> None:
    """Raise unless all axes of a label have one length; those of an ellipsis broadcast."""
    sizes: dict[str, int] = {}
    for term, x in zip(labels, xs, strict=True):
        for label, n in zip(term, x.type.shape, strict=True):
            if label in equation and sizes.setdefault(label, n) != n:
                raise ValueError(f"an Einstein sum over axes of different lengths: {equation}")


def _spelled_out(labels: list[str], right: str, xs: list[Node]) -> tuple[list[str], str]:
    """The terms with a label for each axis of an ellipsis, which are counted from the last one."""
    if not any(ELLIPSIS in term for term in labels):
        return labels, right
    free = [label for label in ascii_letters if all(label not in t for t in (*labels, right))]
    found, most = [], ""
    for term, x in zip(labels, xs, strict=True):
        count = x.type.ndim - len(term.replace(ELLIPSIS, ""))
        axes = "".join(free[:count][::-1]) if ELLIPSIS in term else ""
        most = max(most, axes, key=len)
        found.append(term.replace(ELLIPSIS, axes))
    return found, right.replace(ELLIPSIS, most)


rows({"MatMul": _matmul, "BatchMatMul": _batch_matmul, "BatchMatMulV2": _batch_matmul,
      "BatchMatMulV3": _batch_matmul, "Einsum": _einsum})  # fmt: skip
