import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from ragcore.parsing import parse
from ragcore.parsing.markup.rst_text import readable_rst
from ragcore.types import Section, SectionKind

GUIDE = """Setup
=====

.. contents::

.. _valves:

Valves
------

.. note:: Wear gloves, see :ref:`safety <safe>`, ``x`` and `the guide <https://x.y>`_.

.. a remark
   of two lines

.. warning::
   Hot surface.

.. code-block:: sh

   run ``this``

Example::

   +---+---+
   | a | b |
   +---+---+
   keep `it`

.. [1] A footnote.
"""


def tables(text: str) -> list[Section]:
    return [section for section in parse(text.encode(), name="x.rst").sections if section.kind is SectionKind.TABLE]


def test_directives_roles_and_comments_read_as_on_the_published_page() -> None:
    parsed = parse(GUIDE.encode(), name="x.rst")
    text = parsed.sections[0].text
    assert "Note: Wear gloves, see safety, `x` and the guide." in text
    assert "Warning:\n   Hot surface." in text
    assert "```sh\n\n   run ``this``\n```" in text
    assert "Example:\n\n   +---+---+" in text
    assert "keep `it`" in text
    assert "[1] A footnote." in text
    for gone in ("contents", "_valves", "remark", "two lines", ":ref:"):
        assert gone not in text
    assert not tables(GUIDE)
    assert parsed.sections[0].location.first_line == 1
    assert parsed.sections[0].location.last_line == GUIDE.split("\n").index(".. [1] A footnote.") + 1


def test_every_kind_of_table_is_one_with_its_header() -> None:
    wanted = "| Name | Max |\n| --- | --- |\n| flow | 9 |\n| heat | 80 C |"
    grid = "+------+-----+\n| Name | Max |\n+======+=====+\n| flow | 9   |\n+------+-----+\n| heat | 80  |\n|      | C   |\n+------+-----+\n"
    simple = "====  ====\nName  Max\n====  ====\nflow  9\nheat  80 C\n====  ====\n"
    listed = ".. list-table:: Limits\n   :header-rows: 1\n\n   * - Name\n     - Max\n   * - flow\n     - 9\n   * - heat\n     - 80\n       C\n"
    given = '.. csv-table::\n   :header: "Name", "Max"\n\n   flow, 9\n   "heat", "80 C"\n'
    for source in (grid, simple, listed, given, grid.replace("=", "-")):
        (table,) = tables(f"Text.\n\n{source}\nMore text.\n")
        assert table.text == wanted
        assert table.header == "| Name | Max |\n| --- | --- |\n"
    assert parse(listed.encode(), name="x.rst").sections[0].text == "Limits"


def test_a_cell_over_two_columns_stands_in_the_first() -> None:
    (table,) = tables("+---+---+---+\n| both  | c |\n+===+===+===+\n| 1 | 2 | 3 |\n+---+---+---+\n")
    assert table.text.split("\n")[0] == "| both |  | c |"


@given(st.lists(st.lists(st.text("ab c,", min_size=1, max_size=5), min_size=2, max_size=2), min_size=1, max_size=6))
def test_cells_of_a_csv_table_come_back(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n   ").writerows(rows)
    (table,) = tables(f"Text.\n\n.. csv-table:: T\n   :header: N, M\n\n   {out.getvalue()}\n\nEnd.\n")
    cells = [[cell.strip() for cell in line[2:-2].split(" | ")] for line in table.text.split("\n")[2:]]
    assert (
        cells == [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows] or "\\|" in table.text
    )


PARTS = [
    "", "text", "   indented", "Example::", ".. note:: x", ".. code-block:: sh", ".. list-table:: t", "   * - a", "     - b",
    "+---+---+", "| a | b |", "+===+===+", "==== ====", "a    b", "=====", "-----", ".. csv-table::", "   :header: a, b",
    "..", ".. _t:", "``", "`a`_", ".. [1] f", "* - x",
]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=14))
def test_no_mixture_breaks_it_or_loses_what_follows(parts: list[str]) -> None:
    lines = [*parts, "", "the last words"]
    assert len(readable_rst(lines)) == len(lines)
    sections = parse("\n".join(lines).encode(), name="x.rst").sections
    assert "the last words" in sections[-1].text
    assert sections[-1].location.last_line == len(lines)
