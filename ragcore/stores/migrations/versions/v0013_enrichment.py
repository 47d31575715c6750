"""Keep what models wrote, and which enrichment each document has.

Revision ID: 0013
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table and the column; what is indexed has no enrichment yet."""
    op.add_column("documents", sa.Column("enriched", sa.String(64), nullable=False, server_default=""))
    op.create_table(
        "model_results",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("task", sa.String(50), nullable=False),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
    )
