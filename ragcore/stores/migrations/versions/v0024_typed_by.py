"""Tell who typed a question: only to them are its words those of their own later ones.

Revision ID: 0024
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add one column; of what was said before, nobody knows who typed it."""
    op.add_column("turns", sa.Column("typed_by", sa.Text(), nullable=False, server_default=""))
