"""Keep what models read out of chunks for the knowledge graph, by name and by relation.

Revision ID: 0015
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables; no chunk has anything for them yet."""
    place = (
        ("document_id", sa.Text()),
        ("knowledge_base", sa.String(200)),
        ("generation", sa.String(64)),
        ("reader_set", sa.String(32)),
    )
    op.create_table(
        "graph_names",
        sa.Column("chunk_id", sa.String(80), primary_key=True),
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("stands_for", sa.Text(), primary_key=True),
        *(sa.Column(name, kind, nullable=False) for name, kind in place),
        sa.Column("said", sa.Text(), nullable=False),
    )
    op.create_index("graph_names_by_key", "graph_names", ["knowledge_base", "key", "chunk_id"])
    op.create_index("graph_names_by_long_form", "graph_names", ["knowledge_base", "stands_for", "chunk_id"])
    op.create_index("graph_names_by_generation", "graph_names", ["generation"])
    op.create_table(
        "graph_relations",
        sa.Column("chunk_id", sa.String(80), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        *(sa.Column(name, kind, nullable=False) for name, kind in place),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
    )
    for end in ("source", "target"):
        columns = ["knowledge_base", end, "weight", "chunk_id", "number"]
        op.create_index(f"graph_relations_by_{end}", "graph_relations", columns)
    op.create_index("graph_relations_by_generation", "graph_relations", ["generation"])
