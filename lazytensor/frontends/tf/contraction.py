"""Matrix products and Einstein sums."""

from __future__ import annotations

from string import ascii_letters
from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.dtypes import COMPLEX
from lazytensor.core.node import Node
from lazytensor.frontends.tf.table import rows

ELLIPSIS: Final = "..."


def _matmul(
    x: Node, y: Node, *, transpose_a: bool = False, transpose_b: bool = False, **_: Any
) -> Node:
    if x.type.ndim != 2 or y.type.ndim != 2:
        raise ValueError("matrices are multiplied")
    made: Node = ops.dot_general(
        x, y, contract=((0 if transpose_a else 1,), (1 if transpose_b else 0,))
    )
    return made


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
    batch = _broadcast(x.type.shape[:-2], y.type.shape[:-2])
    x, y = (
        t if t.type.shape[:-2] == batch else ops.broadcast(t, shape=(*batch, *t.type.shape[-2:]))
        for t in (x, y)
    )
    n = len(batch)
    axes = tuple(range(n))
    contract = ((n if adj_x else n + 1,), (n + 1 if adj_y else n,))
    made: Node = ops.dot_general(x, y, batch=(axes, axes), contract=contract)
    return made


def _broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    ndim = max(len(left), len(right))
    first, second = ((1,) * (ndim - len(s)) + s for s in (left, right))
    for a, b in zip(first, second, strict=True):
        if a != b and 1 not in (a, b):
            raise ValueError(f"{left} and {right} do not broadcast")
    return tuple(b if a == 1 else a for a, b in zip(first, second, strict=True))


def _einsum(xs: list[Node], *, equation: str, **_: Any) -> Node:
    left, _arrow, right = equation.replace(" ", "").partition("->")
    labels, right = _spelled_out(left.split(","), right, xs)
    if any(len(set(term)) != len(term) for term in (*labels, right)):
        raise ValueError(f"an Einstein sum with repeated labels: {equation}")
    terms = [_summed(x, term, labels, right) for x, term in zip(xs, labels, strict=True)]
    x, term = terms[0]
    for y, other in terms[1:]:
        x, term = _product(x, term, y, other, right)
    if term == right:
        return x
    made: Node = ops.transpose(x, axes=tuple(term.index(label) for label in right))
    return made


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


def _summed(x: Node, term: str, labels: list[str], right: str) -> tuple[Node, str]:
    """The sum over the axes that nothing else has."""
    others = "".join(labels).replace(term, "", 1) + right
    axes = tuple(i for i, label in enumerate(term) if label not in others)
    if not axes:
        return x, term
    left = "".join(label for label in term if label in others)
    return ops.reduce_sum(x, axes=axes), left


def _product(x: Node, a: str, y: Node, b: str, right: str) -> tuple[Node, str]:
    batch = [label for label in a if label in b and label in right]
    contract = [label for label in a if label in b and label not in right]
    made = ops.dot_general(
        x,
        y,
        batch=(tuple(map(a.index, batch)), tuple(map(b.index, batch))),
        contract=(tuple(map(a.index, contract)), tuple(map(b.index, contract))),
    )
    shared = {*batch, *contract}
    rest = [label for label in a + b if label not in shared]
    return made, "".join([*batch, *rest])


def attach() -> None:
    """Register the rows."""
    rows({"MatMul": _matmul, "BatchMatMul": _batch_matmul, "BatchMatMulV2": _batch_matmul,
          "BatchMatMulV3": _batch_matmul, "Einsum": _einsum})  # fmt: skip
