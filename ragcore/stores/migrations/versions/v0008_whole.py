"""Keep the whole of a reply that stands in one message, page by page.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what was answered before stands in messages of its own."""
    op.add_column("claims", sa.Column("whole", sa.Text(), nullable=False, server_default=""))
