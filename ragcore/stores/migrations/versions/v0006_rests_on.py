"""Tell which documents a remembered answer may repeat, so that it is recalled only while all of them may be read.

Revision ID: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add one column; of what was said before, nobody knows what it rests on."""
    op.add_column("turns", sa.Column("rests_on", sa.Text(), nullable=False, server_default=""))
