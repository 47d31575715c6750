"""The table of answers that are kept for a while (``ragcore.stores.answer_cache``)."""

from sqlalchemy import Column, DateTime, Index, MetaData, String, Table, Text


def kept_table(metadata: MetaData) -> Table:
    """Return the table: by the hash of all that an answer was written from, the answer and the hash of its words."""
    return Table(
        "kept_answers",
        metadata,
        Column("key", String(64), primary_key=True),
        Column("said", String(64), nullable=False),
        Column("answer", Text, nullable=False),  # JSON
        Column("kept_at", DateTime(timezone=True), nullable=False),
        Index("kept_answers_by_words", "said"),
        Index("kept_answers_by_time", "kept_at"),
    )
