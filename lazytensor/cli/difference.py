"""The difference between two printed outputs."""

import math
import re
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)(?![\w])")


@dataclass(frozen=True)
class Difference:
    """Whether two texts are equal, and the largest difference if only numbers differ."""

    equal: bool
    largest: float | None = None
    line: int | None = None  # of the largest difference, or of the first different words

    def __str__(self) -> str:
        if self.equal:
            return "equal"
        if self.largest is not None:
            return f"numbers differ by at most {self.largest:.2g}, in line {self.line}"
        return f"differs from line {self.line}"


def difference(left: str, right: str) -> Difference:
    """Compare two outputs; the layout of numbers (blanks, digits) is not a difference in words."""
    if left == right:
        return Difference(equal=True)
    if _words(left) != _words(right):
        return Difference(equal=False, line=_first_line(left, right))
    pairs = zip(NUMBER.finditer(left), NUMBER.finditer(right), strict=True)
    distances = [(_distance(float(a[0]), float(b[0])), a.start()) for a, b in pairs]
    largest, place = max(distances, key=lambda pair: pair[0], default=(0.0, 0))
    return Difference(equal=False, largest=largest, line=left.count("\n", 0, place) + 1)


def _words(text: str) -> list[str]:
    return NUMBER.sub(" # ", text).split()


def _distance(left: float, right: float) -> float:
    if left == right or (math.isnan(left) and math.isnan(right)):
        return 0.0
    return math.inf if math.isnan(left) or math.isnan(right) else abs(left - right)


def _first_line(left: str, right: str) -> int:
    lines = zip(left.splitlines(), right.splitlines(), strict=False)
    for number, (one, other) in enumerate(lines, start=1):
        if _words(one) != _words(other):
            return number
    return min(len(left.splitlines()), len(right.splitlines())) + 1
