"""The tables of questions that people answer: what was asked of them, what they said, and what stands of that.

A platform's own values are opaque text in them: ``incoming`` and ``sent`` are JSON of whoever wrote it.
"""

from sqlalchemy import Column, DateTime, Float, Index, Integer, MetaData, String, Table, Text


def people_tables(metadata: MetaData) -> tuple[Table, Table, Table]:
    """Return the table of questions, that of replies, and that of what is to be shown of both."""
    # A question that was taken to the owners of a knowledge base, by the reference of its turn.
    asks = Table(
        "people_asks",
        metadata,
        Column("reference", String(8), primary_key=True),
        Column("knowledge_base", String(200), nullable=False),
        Column("asker", Text, nullable=False),  # as a reader
        Column("question", Text, nullable=False),
        Column("incoming", Text, nullable=False),  # JSON, without its token
        # Whether only they saw the answer, in a place that others see: then they are written to directly.
        Column("direct", Integer, nullable=False, default=0),
        Column("asked_at", DateTime(timezone=True), nullable=False),
        Index("people_asks_by_asker", "asker", "asked_at"),
    )
    # What an owner said to it. Accepted and not removed since, it is a document; then it outlives its question.
    replies = Table(
        "people_replies",
        metadata,
        Column("id", String(8), primary_key=True),
        Column("reference", String(8), nullable=False),
        Column("knowledge_base", String(200), nullable=False),
        Column("title", Text, nullable=False),
        Column("platform", String(50), nullable=False),
        Column("channel", String(200), nullable=False),
        Column("message", Text, nullable=False),
        Column("author", Text, nullable=False),
        Column("text", Text, nullable=False),
        Column("incoming", Text, nullable=False),  # JSON
        Column("said_at", DateTime(timezone=True), nullable=False),
        Column("edited_at", DateTime(timezone=True)),
        Column("deleted_at", DateTime(timezone=True)),
        Column("accepted_at", DateTime(timezone=True)),
        Column("accepted_by", Text, nullable=False, default=""),
        Column("removed_at", DateTime(timezone=True)),
        Column("removed_by", Text, nullable=False, default=""),
        Index("people_replies_by_message", "platform", "channel", "message", unique=True),
        Index("people_replies_by_question", "reference"),
    )
    # What is to stand because of them: done when ``done`` has come to ``wanted``, which grows with each change.
    # ``begun``: somebody tried and came to no known end. Times are in seconds since 1970 by the database's own clock.
    posts = Table(
        "people_posts",
        metadata,
        Column("key", String(20), primary_key=True),
        Column("kind", String(10), nullable=False),
        Column("reference", String(8), nullable=False),
        Column("reply", String(8), nullable=False, default=""),
        Column("platform", String(50), nullable=False),
        Column("wanted", Integer, nullable=False),
        Column("done", Integer, nullable=False, default=0),
        Column("begun", Integer, nullable=False, default=0),
        Column("sent", Text, nullable=False, default="[]"),  # JSON list of what stands
        Column("channel", String(200), nullable=False, default=""),
        Column("message", Text, nullable=False, default=""),
        Column("owner", String(32), nullable=False, default=""),
        Column("lease_until", Float, nullable=False, default=0.0),
        Column("next_at", Float, nullable=False, default=0.0),
        Column("faults", Integer, nullable=False, default=0),
        Column("gave_up", Text, nullable=False, default=""),
        Index("people_posts_by_platform", "platform", "next_at"),
        Index("people_posts_by_message", "platform", "channel", "message"),
        Index("people_posts_by_question", "reference"),
    )
    return asks, replies, posts
