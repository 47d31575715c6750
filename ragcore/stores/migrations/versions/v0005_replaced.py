"""Tell which answered turn a claim takes the place of, so that an edited question keeps its others after a crash.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add one column and its index; what was edited before replaces nothing that is known."""
    op.add_column("claims", sa.Column("replaces", sa.String(8), nullable=False, server_default=""))
    op.create_index("claims_by_replaced", "claims", ["replaces"])
