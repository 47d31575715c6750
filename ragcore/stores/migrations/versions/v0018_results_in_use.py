"""Keep when results of models were used last, and by what, so that those that nothing needs can go.

Revision ID: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what is there was used when it was asked for, and by what is unknown."""
    then = "1970-01-01 00:00:00+00" if op.get_bind().dialect.name == "postgresql" else "1970-01-01 00:00:00.000000"
    op.add_column(
        "model_results", sa.Column("used_at", sa.DateTime(timezone=True), nullable=False, server_default=then)
    )
    op.execute("UPDATE model_results SET used_at = asked_at")
    op.add_column("model_results", sa.Column("owner", sa.Text(), nullable=False, server_default=""))
    op.add_column("model_results", sa.Column("purpose", sa.String(20), nullable=False, server_default=""))
    op.create_index("model_results_by_owner", "model_results", ["owner", "purpose"])
