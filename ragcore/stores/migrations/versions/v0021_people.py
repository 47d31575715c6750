"""Keep what people were asked where the documents did not know, and what they said.

Revision ID: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of questions, of replies, and of what is to be shown of both."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "people_asks",
        sa.Column("reference", sa.String(8), primary_key=True),
        sa.Column("knowledge_base", sa.String(200), nullable=False),
        sa.Column("asker", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("incoming", sa.Text(), nullable=False),
        sa.Column("direct", sa.Integer(), nullable=False),
        sa.Column("asked_at", time, nullable=False),
    )
    op.create_index("people_asks_by_asker", "people_asks", ["asker", "asked_at"])
    op.create_table(
        "people_replies",
        sa.Column("id", sa.String(8), primary_key=True),
        sa.Column("reference", sa.String(8), nullable=False),
        sa.Column("knowledge_base", sa.String(200), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("platform", sa.String(50), nullable=False),
        sa.Column("channel", sa.String(200), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("incoming", sa.Text(), nullable=False),
        sa.Column("said_at", time, nullable=False),
        sa.Column("edited_at", time),
        sa.Column("deleted_at", time),
        sa.Column("accepted_at", time),
        sa.Column("accepted_by", sa.Text(), nullable=False),
        sa.Column("removed_at", time),
        sa.Column("removed_by", sa.Text(), nullable=False),
    )
    op.create_index("people_replies_by_message", "people_replies", ["platform", "channel", "message"], unique=True)
    op.create_index("people_replies_by_question", "people_replies", ["reference"])
    op.create_table(
        "people_posts",
        sa.Column("key", sa.String(20), primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("reference", sa.String(8), nullable=False),
        sa.Column("reply", sa.String(8), nullable=False),
        sa.Column("platform", sa.String(50), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Integer(), nullable=False),
        sa.Column("sent", sa.Text(), nullable=False),
        sa.Column("channel", sa.String(200), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("gave_up", sa.Text(), nullable=False),
    )
    op.create_index("people_posts_by_platform", "people_posts", ["platform", "next_at"])
    op.create_index("people_posts_by_message", "people_posts", ["platform", "channel", "message"])
    op.create_index("people_posts_by_question", "people_posts", ["reference"])
