"""Keep the steps of researches, so that one that was broken off is gone on with.

Revision ID: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "research_steps",
        sa.Column("research", sa.String(100), primary_key=True),
        sa.Column("key", sa.String(80), primary_key=True),
        sa.Column("question", sa.String(64), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("elapsed", sa.Float(), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("research_steps_by_time", "research_steps", ["done_at"])
