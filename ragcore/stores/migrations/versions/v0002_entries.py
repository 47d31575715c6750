"""Find chunks by generation and by text, documents by revision: what a change costs does not grow with what stays.

Revision ID: 0002
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace three indexes."""
    op.drop_index("chunks_by_document", table_name="chunks")
    op.drop_index("chunks_by_vector", table_name="chunks")
    op.create_index("chunks_by_generation", "chunks", ["generation", "ordinal"], unique=False)
    op.drop_index("documents_by_knowledge_base", table_name="documents")
    op.create_index("documents_by_knowledge_base", "documents", ["knowledge_base", "revision"], unique=False)
    op.create_index("chunks_by_vector", "chunks", ["knowledge_base", "vector_key"], unique=False)
