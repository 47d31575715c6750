"""Keep what filters compare: the values of each document by field, what models read out of it, and its columns.

Revision ID: 0014
"""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from ragcore.filters import field_name, read

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_PAGE = 500
_KNOWN = ("title", "source", "author", "media_type", "name")


def upgrade() -> None:
    """Add the columns and the table, and fill it with what is known of the live documents."""
    op.add_column("documents", sa.Column("extracted", sa.Text(), nullable=False, server_default="{}"))
    op.add_column("documents", sa.Column("row_fields", sa.Text(), nullable=False, server_default="{}"))
    table = op.create_table(
        "document_values",
        sa.Column("document_id", sa.Text(), primary_key=True),
        sa.Column("field", sa.String(100), primary_key=True),
        sa.Column("kind", sa.String(10), primary_key=True),
        sa.Column("knowledge_base", sa.String(200), nullable=False),
        sa.Column("generation", sa.String(64), nullable=False),
        sa.Column("reader_set", sa.String(32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("rank", sa.Float()),
    )
    ends = ["generation", "reader_set"]
    op.create_index("document_values_by_text", "document_values", ["knowledge_base", "field", "text", *ends])
    op.create_index(
        "document_values_by_rank",
        "document_values",
        ["knowledge_base", "field", "kind", "rank", *ends],
        sqlite_where=sa.text("rank IS NOT NULL"),
        postgresql_where=sa.text("rank IS NOT NULL"),
    )
    documents = sa.table(
        "documents",
        *(sa.column(name, sa.Text) for name in ("id", "knowledge_base", "generation", "reader_set", "metadata")),
        *(sa.column(name, sa.Text) for name in _KNOWN),
        sa.column("updated_at", sa.DateTime(timezone=True)),
        sa.column("deleted", sa.Boolean),
    )
    live = sa.select(documents).where(documents.c.deleted == sa.false()).order_by(documents.c.id).limit(_PAGE)
    connection, after = op.get_bind(), ""
    while rows := connection.execute(live.where(documents.c.id > after)).all():
        connection.execute(sa.insert(table), [record for row in rows for record in _records(row)])
        after = rows[-1].id


def _records(row: Any) -> Iterator[dict[str, Any]]:
    told = {field_name(name): value for name, value in json.loads(row.metadata).items()}
    known = {name: getattr(row, name) for name in _KNOWN if getattr(row, name)}
    if row.updated_at is not None:
        known["updated_at"] = row.updated_at.isoformat()
    for name, text in (told | known).items():
        value = read(text)
        if name and value.text:
            yield {
                "document_id": row.id,
                "field": name,
                "kind": value.kind.value,
                "knowledge_base": row.knowledge_base,
                "generation": row.generation,
                "reader_set": row.reader_set,
                "text": value.text,
                "rank": value.rank,
            }
