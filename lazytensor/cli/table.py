"""The format of tables and their figures."""

from rich import box
from rich.table import Table

ABSENT = "–"


def table(title: str, *headings: str) -> Table:
    """Return an empty table: names on the left, then columns of figures; 80 characters wide."""
    made = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    made.title_justify = "left"
    made.add_column("", no_wrap=True)
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def seconds(time: float) -> str:
    """Return a time for people: `1.23 s`, `45.6 ms`."""
    return f"{time:.2f} s" if time >= 1 else f"{time * 1000:.1f} ms"


def ratio(left: float, right: float) -> str:
    """Return how many times `right` goes into `left`."""
    return f"{left / right:.2f}×" if right else ABSENT
