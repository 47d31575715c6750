"""Find the entries of an index in their order, now that a set of readers is part of each.

Revision ID: 0010
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace the index: without the set of readers, each page of a refill sorted all that came after it."""
    op.drop_index("chunks_by_vector", table_name="chunks")
    op.create_index("chunks_by_vector", "chunks", ["knowledge_base", "vector_key", "reader_set"], unique=False)
