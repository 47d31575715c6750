"""Tables as Markdown: a header of two lines, then one line a row."""

from collections.abc import Iterable, Sequence

from ragcore.parsing.titles import one_line


def markdown_row(cells: Sequence[str]) -> str:
    """Return one Markdown table row, without its newline; a bar inside a cell is escaped, a newline becomes a space."""
    return "| " + " | ".join(one_line(cell).replace("|", "\\|") for cell in cells) + " |"


def markdown_header(columns: Sequence[str]) -> str:
    """Return the column names and the rule, each with its newline."""
    return f"{markdown_row(columns)}\n|{' --- |' * len(columns)}\n"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> tuple[str, str]:
    """Return ``(header, text)``: the text begins with the header, and its k-th line after it is the k-th row."""
    header = markdown_header(columns)
    return header, header + "\n".join(markdown_row(row) for row in rows)


def without_empty_columns(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the rows at one width, without the columns in which no row has text."""
    width = max(map(len, rows), default=0)
    padded = [(*row, *[""] * (width - len(row))) for row in rows]
    kept = [column for column in range(width) if any(row[column].strip() for row in padded)]
    return [tuple(row[column] for column in kept) for row in padded]
