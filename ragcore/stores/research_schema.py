"""The table of the steps of researches under way."""

from sqlalchemy import Column, DateTime, Float, Index, MetaData, String, Table, Text


def research_table(metadata: MetaData) -> Table:
    """Return the table of steps."""
    # ``research`` names one (the reference of a turn), ``question`` is a digest of what it is about: another question
    # of the same name has nothing to do with these steps. ``elapsed`` are seconds since its start.
    return Table(
        "research_steps",
        metadata,
        Column("research", String(100), primary_key=True),
        Column("key", String(80), primary_key=True),
        Column("question", String(64), nullable=False),
        Column("step", Text, nullable=False),  # JSON (ragcore.research.records)
        Column("elapsed", Float, nullable=False),
        Column("done_at", DateTime(timezone=True), nullable=False),
        Index("research_steps_by_time", "done_at"),
    )
