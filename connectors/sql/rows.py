"""The columns that a query must give for its rows to be documents."""

from collections.abc import Sequence

from connectors.rows import TAKEN
from ragcore.errors import SourceBadReply

NEEDED = ("id", "text")


def column_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, those that mean something here in lower case: ``Readers`` must not pass by."""
    return tuple(name.lower() if name.lower() in TAKEN else name for name in columns)


def check_columns(columns: Sequence[str], *, is_incremental: bool) -> None:
    """Raise SourceBadReply when the query doesn't give the columns that are needed, each once."""
    needed = (*NEEDED, "updated_at") if is_incremental else NEEDED
    there = ", ".join(columns) or "none"
    for name in needed:
        if name not in columns:
            why = ", which :since goes by" if name == "updated_at" else ""
            raise SourceBadReply(
                f'the query gives no column "{name}"{why} (it gives: {there})', mend=f"name one: SELECT ... AS {name}"
            )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise SourceBadReply(f'the query gives the column "{twice[0]}" twice', mend="name each column once")
