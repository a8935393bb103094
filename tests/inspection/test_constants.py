"""The page of the policies' constants is what the code says."""

from benchmarks.constants import PAGE, constants, page


def test_the_page_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "`python -m benchmarks.constants` makes it anew"


def test_a_meaning_is_the_docstring_or_the_comment() -> None:
    declared = 'A: Final = 2**3\n"""Of a\nb."""\nB: Final = -1  # of c\n'
    source = f"{declared}# of d\nC: Final = 0.5\nD = 1\n"
    found = [(c.name, c.value, c.meaning) for c in constants(source)]
    assert found == [("A", "2 ** 3", "Of a b."), ("B", "-1", "of c"), ("C", "0.5", "of d")]
