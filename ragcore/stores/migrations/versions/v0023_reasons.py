"""Keep why a model wrote nothing of use.

Revision ID: 0023
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of what is there nobody knows."""
    op.add_column("model_results", sa.Column("reason", sa.Text(), nullable=False, server_default=""))
