"""Keep what chat platforms sent, what was sent in answer, and how readers judged it.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create four tables, and tell of each turn to whom it was said and how it is called."""
    op.add_column("turns", sa.Column("audience", sa.String(length=64), nullable=False, server_default=""))
    op.add_column("turns", sa.Column("reference", sa.String(length=8), nullable=False, server_default=""))
    op.create_index("turns_by_reference", "turns", ["reference"], unique=False)
    op.add_column("turn_citations", sa.Column("marker", sa.Integer(), nullable=False, server_default="-1"))
    _create_claims()
    _create_what_belongs_to_them()


def _create_claims() -> None:
    op.create_table(
        "claims",
        sa.Column("reference", sa.String(length=8), nullable=False),
        sa.Column("platform", sa.String(length=50), nullable=False),
        sa.Column("workspace", sa.String(length=200), nullable=False),
        sa.Column("channel", sa.String(length=200), nullable=False),
        sa.Column("thread", sa.String(length=200), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("asker", sa.Text(), nullable=False),
        sa.Column("incoming", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("chunks", sa.Text(), nullable=False),
        sa.Column("merged_into", sa.String(length=8), nullable=False),
        sa.Column("owner", sa.String(length=32), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("reference"),
    )
    op.create_index("claims_by_state", "claims", ["state", "platform", "lease_until"], unique=False)
    op.create_index("claims_by_message", "claims", ["platform", "workspace", "channel", "message"], unique=False)
    op.create_index("claims_by_merge", "claims", ["merged_into"], unique=False)
    op.create_index("claims_by_time", "claims", ["created_at"], unique=False)


def _create_what_belongs_to_them() -> None:
    op.create_table(
        "claim_keys",
        sa.Column("platform", sa.String(length=50), nullable=False),
        sa.Column("workspace", sa.String(length=200), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("reference", sa.String(length=8), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", "key"),
    )
    op.create_index("claim_keys_by_claim", "claim_keys", ["reference"], unique=False)
    op.create_table(
        "sends",
        sa.Column("reference", sa.String(length=8), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("sent", sa.Text(), nullable=False),
        sa.Column("intended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["reference"], ["claims.reference"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("reference", "number"),
    )
    op.create_table(
        "feedback",
        sa.Column("reference", sa.String(length=8), nullable=False),
        sa.Column("voter", sa.Text(), nullable=False),
        sa.Column("side", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("platform", sa.String(length=50), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("chunks", sa.Text(), nullable=False),
        sa.Column("voted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("reference", "voter"),
    )
    op.create_index("feedback_by_time", "feedback", ["voted_at"], unique=False)
