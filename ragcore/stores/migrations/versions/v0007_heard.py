"""Keep what is said in groups where a platform lets a bot read nothing back.

Revision ID: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; what was said before was not kept."""
    op.create_table(
        "heard",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("platform", sa.String(50), nullable=False),
        sa.Column("workspace", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(200), nullable=False),
        sa.Column("thread", sa.String(200), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("heard_by_message", "heard", ["platform", "workspace", "channel", "message"], unique=True)
    op.create_index("heard_by_thread", "heard", ["platform", "workspace", "channel", "thread", "said_at"])
    op.create_index("heard_by_time", "heard", ["said_at"])
