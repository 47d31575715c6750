"""Keep answers for a while.

Revision ID: 0022
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "kept_answers",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("said", sa.String(64), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("kept_answers_by_words", "kept_answers", ["said"])
    op.create_index("kept_answers_by_time", "kept_answers", ["kept_at"])
