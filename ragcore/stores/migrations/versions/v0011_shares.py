"""Keep that an answer was shared, or is being shared.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; what was shared before can be shared once more."""
    op.create_table(
        "shares",
        sa.Column("reference", sa.String(8), sa.ForeignKey("claims.reference", ondelete="CASCADE"), primary_key=True),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True)),
    )
