"""The table of what models wrote, or why they did not (``ragcore.stores.model_results``)."""

from sqlalchemy import Column, DateTime, Index, Integer, MetaData, String, Table, Text


def results_table(metadata: MetaData) -> Table:
    """Return the table: by all that a model was asked with what it wrote, so that nothing is asked twice."""
    # ``text`` is empty while there is none that can be used, and ``reason`` then says why, in our words (empty: it was
    # kept before there were any). ``attempts`` is how often it was asked; 0 where its endpoint refused the content, -1
    # where nothing came back yet. ``owner`` is the document that used it last, or ``:`` and a knowledge base as a
    # whole, and ``purpose`` what for: "" once they need it no more.
    return Table(
        "model_results",
        metadata,
        Column("key", String(64), primary_key=True),
        Column("task", String(50), nullable=False),
        Column("model", String(200), nullable=False),
        Column("text", Text, nullable=False),
        Column("attempts", Integer, nullable=False),
        Column("prompt_tokens", Integer, nullable=False),
        Column("completion_tokens", Integer, nullable=False),
        Column("asked_at", DateTime(timezone=True), nullable=False),
        Column("used_at", DateTime(timezone=True), nullable=False),
        Column("owner", Text, nullable=False),
        Column("purpose", String(20), nullable=False),
        Column("reason", Text, nullable=False, default="", server_default=""),
        Index("model_results_by_owner", "owner", "purpose"),
    )
