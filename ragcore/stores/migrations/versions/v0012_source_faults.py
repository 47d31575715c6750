"""Keep of each source how often it failed in a row, and why, what credential was refused, and who holds its lease.

Revision ID: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what failed before counts as not failing."""
    op.add_column("sources", sa.Column("faults", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("sources", sa.Column("fault", sa.String(20), nullable=False, server_default=""))
    op.add_column("sources", sa.Column("not_before", sa.DateTime(timezone=True)))
    op.add_column("sources", sa.Column("refused", sa.String(64), nullable=False, server_default=""))
    op.add_column("sources", sa.Column("lease_owner", sa.String(32), nullable=False, server_default=""))
