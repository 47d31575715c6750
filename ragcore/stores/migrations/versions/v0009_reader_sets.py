"""Give each set of readers that a source told an id, by which the indexes can be searched.

Revision ID: 0009
"""

import json

import sqlalchemy as sa
from alembic import op

from ragcore.stores.rows import reader_set_of

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_DOCUMENTS = sa.table("documents", *(sa.column(name) for name in ("id", "generation", "readers", "reader_set")))
_CHUNKS = sa.table("chunks", sa.column("generation"), sa.column("reader_set"))


def upgrade() -> None:
    """Add the columns, and fill them for the documents whose source told readers; their chunks are indexed anew."""
    for name in ("documents", "chunks"):
        op.add_column(name, sa.Column("reader_set", sa.String(32), nullable=False, server_default=""))
    op.create_index(
        "documents_by_reader_set",
        "documents",
        ["knowledge_base", "reader_set"],
        sqlite_where=sa.text("reader_set != '' AND deleted = 0"),
        postgresql_where=sa.text("reader_set != '' AND deleted = false"),
    )
    connection = op.get_bind()
    told = sa.select(_DOCUMENTS.c.id, _DOCUMENTS.c.generation, _DOCUMENTS.c.readers)
    for row in connection.execute(told.where(_DOCUMENTS.c.readers.is_not(None))).all():
        named = {"reader_set": reader_set_of(json.loads(row.readers))}
        connection.execute(sa.update(_DOCUMENTS).where(_DOCUMENTS.c.id == row.id).values(named))
        if row.generation:
            connection.execute(sa.update(_CHUNKS).where(_CHUNKS.c.generation == row.generation).values(named))
