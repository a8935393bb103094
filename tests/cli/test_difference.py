"""How far two printed outputs are from one another."""

import math

import pytest

from lazytensor.cli.difference import difference

NUMBERS = [
    ("sum 1.5\n", "sum 1.25\n", 0.25),
    ("[1.   2.25]", "[1.  2.5]", 0.25),
    ("1e-3", "2E-3", 1e-3),
    ("a=-1", "a=+1", 2.0),
    ("nan", "nan ", 0.0),
    ("nan", "1", math.inf),
    ("[inf -inf]", "[inf  inf]", math.inf),
    ("1\n2\n3\n", "1\n2\n7\n", 4.0),
    ("no numbers", "no  numbers", 0.0),
]
WORDS = [
    ("one 1", "two 1", 1),
    ("same\nx 1", "same\ny 1", 2),
    ("same\n", "same\nmore\n", 2),
    ("1 2", "1", 1),
    ("v1", "v2", 1),  # a name with a digit is not a number
    ("", "text", 1),
]


@pytest.mark.parametrize("text", ["", "x 1\n", "nan"])
def test_a_text_equals_itself(text: str) -> None:
    assert str(difference(text, text)) == "equal"


@pytest.mark.parametrize(("left", "right", "largest"), NUMBERS)
def test_numbers_that_differ(left: str, right: str, largest: float) -> None:
    for apart in (difference(left, right), difference(right, left)):
        assert not apart.equal
        assert apart.largest == pytest.approx(largest)


def test_the_line_of_the_largest_difference() -> None:
    assert difference("1\n2 3\n4\n", "1.5\n2 8\n4\n").line == 2


@pytest.mark.parametrize(("left", "right", "line"), WORDS)
def test_words_that_differ(left: str, right: str, line: int) -> None:
    for apart in (difference(left, right), difference(right, left)):
        assert (apart.equal, apart.largest, apart.line) == (False, None, line)
