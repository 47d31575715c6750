"""Tell until when a source's run is taken for alive, so that another process takes up what a dead one left.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add one column; no run is under way."""
    op.add_column("sources", sa.Column("lease_until", sa.Float(), nullable=False, server_default="0"))
