"""Reading the HLO that XLA has compiled: its kernels, and how many bytes each reads and writes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

_TYPE: Final = re.compile(r"([a-z]+)(\d+)?[a-z0-9]*\[([\d,]*)\]")
_HEAD: Final = re.compile(r"(ENTRY )?%?(\S+) \(.*\{$")
_LINE: Final = re.compile(
    r"\s+(?:ROOT )?%(?P<name>\S+) = (?P<types>\(.*?\)|\S+) (?P<opcode>[a-z][\w-]*)\("
    r"(?P<operands>.*?)\)(?P<rest>.*)"
)
_COMPUTATIONS: Final = re.compile(
    r"(?:to_apply|body|condition|calls|branch_computations)=(?:\{([^}]*)\}|([^,\s]+))"
)
_OPERANDS: Final = re.compile(r"%([^\s,()]+)")

FREE: Final = frozenset(
    """parameter constant get-tuple-element tuple bitcast after-all partition-id replica-id
    copy-done all-reduce-done all-gather-done async-done""".split()  # noqa: SIM905
)
"""Opcodes that no kernel runs for."""
CALLS: Final = frozenset(["call", "while", "conditional", "async-start"])
"""Opcodes that run other computations."""


class Kernel(NamedTuple):
    """An instruction that the device runs. nbytes: of all its operands and results."""

    name: str
    opcode: str
    nbytes: int


class _Line(NamedTuple):
    name: str
    opcode: str
    types: str
    operands: tuple[str, ...]
    called: tuple[str, ...]


def nbytes(types: str) -> int:
    """The bytes of a type or of a tuple of types, as HLO's text has them."""
    bits = [
        int(width or 8) * math.prod(int(n) for n in shape.split(",") if n)
        for _, width, shape in _TYPE.findall(types)
    ]
    return sum(bits) // 8


def kernels(text: str) -> list[Kernel]:
    """The kernels of a compiled module; those of a loop's body once."""
    computations, entry = _computations(text)
    return list(_kernels(computations, entry))


def routines(text: str) -> Counter[str]:
    """The library routines that a compiled module calls, each with how often."""
    return Counter(re.findall(r'custom_call_target="([^"]+)"', text))


def _kernels(computations: dict[str, list[_Line]], name: str) -> Iterator[Kernel]:
    sizes = {line.name: nbytes(line.types) for line in computations[name]}
    for line in computations[name]:
        if line.opcode in CALLS:
            for called in line.called:
                yield from _kernels(computations, called)
        elif line.opcode not in FREE:
            moved = sizes[line.name] + sum(sizes.get(operand, 0) for operand in line.operands)
            yield Kernel(line.name, line.opcode, moved)


def _computations(text: str) -> tuple[dict[str, list[_Line]], str]:
    """The lines of each computation by its name, and the name of the entry."""
    found: dict[str, list[_Line]] = {}
    entry, lines = "", []
    for row in text.splitlines():
        head, line = _HEAD.match(row), _LINE.match(row)
        if head is not None:
            lines = found[head[2]] = []
            entry = head[2] if head[1] else entry
        elif line is not None:
            lines.append(_line(line))
    return found, entry


def _line(found: re.Match[str]) -> _Line:
    called = ",".join(several or one for several, one in _COMPUTATIONS.findall(found["rest"]))
    return _Line(
        found["name"],
        found["opcode"],
        found["types"],
        tuple(_OPERANDS.findall(found["operands"])),
        tuple(name.strip("% ") for name in called.split(",") if name),
    )
