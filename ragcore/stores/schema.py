"""The tables of the one database: documents, chunks, their vectors, sources, history, and what chat platforms sent.

Which chunks are live is the registry's word: a chunk is live when its ``generation`` is its document's. A generation
is derived from the document's hash, so doing the same work twice after a crash writes the same rows.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

from ragcore.stores.graph_schema import graph_tables
from ragcore.stores.kept_schema import kept_table
from ragcore.stores.people_schema import people_tables
from ragcore.stores.research_schema import research_table
from ragcore.stores.results_schema import results_table

metadata = MetaData()

documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("knowledge_base", String(200), nullable=False),
    Column("source", String(200), nullable=False),
    Column("title", Text, nullable=False, default=""),
    Column("url", Text, nullable=False, default=""),
    Column("name", Text, nullable=False, default=""),
    Column("media_type", String(200), nullable=False, default=""),
    Column("author", Text, nullable=False, default=""),
    # What the source had to tell that nothing changed (ETag, time and size).
    Column("version", Text, nullable=False, default=""),
    # Content, what the source said about it, parser and chunker with their options: decides whether work is due.
    Column("hash", String(64), nullable=False, default=""),
    # Parser and chunker with their options alone: an unchanged version is only trusted under the same pipeline.
    Column("pipeline", String(64), nullable=False, default=""),
    # The live generation; empty after deletion.
    Column("generation", String(64), nullable=False, default=""),
    # Grows with every switch, across all documents and in commit order: what a keyword copy follows.
    Column("revision", BigInteger, nullable=False, default=0),
    Column("deleted", Boolean, nullable=False, default=False),
    Column("chunk_count", Integer, nullable=False, default=0),
    Column("token_count", Integer, nullable=False, default=0),
    Column("readers", Text),  # JSON list, null: the source did not say
    # The id of that set of readers, which both indexes carry; empty: the knowledge base decides.
    Column("reader_set", String(32), nullable=False, default="", server_default=""),
    Column("metadata", Text, nullable=False, default="{}"),
    Column("updated_at", DateTime(timezone=True)),
    Column("indexed_at", DateTime(timezone=True)),
    # The fingerprint of the enrichment that all its chunks have (ragcore.enrich); empty: none, or not all of it.
    Column("enriched", String(64), nullable=False, default="", server_default=""),
    # What a model read out of it, by field; where the source says something of a field, that counts.
    Column("extracted", Text, nullable=False, default="{}", server_default="{}"),  # JSON object
    # The columns of its tables by name, with a few of their values: its chunks hold the rows (``enrichment``).
    Column("row_fields", Text, nullable=False, default="{}", server_default="{}"),  # JSON object
    Index("documents_by_source", "source"),
    Index("documents_by_knowledge_base", "knowledge_base", "revision"),
    Index("documents_by_revision", "revision"),
    Index(
        "documents_by_reader_set",
        "knowledge_base",
        "reader_set",
        sqlite_where=text("reader_set != '' AND deleted = 0"),
        postgresql_where=text("reader_set != '' AND deleted = false"),
    ),
)

# What filters compare, of live documents alone (ragcore.stores.document_values): a row for each field that has a value,
# as ragcore.filters reads it. All have the field "source". Of the columns of its tables there is a row of the kind
# "rows" and without a text.
document_values = Table(
    "document_values",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("field", String(100), primary_key=True),
    Column("kind", String(10), primary_key=True),
    Column("knowledge_base", String(200), nullable=False),
    Column("generation", String(64), nullable=False),
    Column("reader_set", String(32), nullable=False),
    Column("text", Text, nullable=False),
    Column("rank", Float),
    Index("document_values_by_text", "knowledge_base", "field", "text", "generation", "reader_set"),
    Index(
        "document_values_by_rank",
        "knowledge_base",
        "field",
        "kind",
        "rank",
        "generation",
        "reader_set",
        sqlite_where=text("rank IS NOT NULL"),
        postgresql_where=text("rank IS NOT NULL"),
    ),
)

# Every row stands, or is just being written, in the indexes of its knowledge base: a refill copies all of them.
chunks = Table(
    "chunks",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("generation", String(64), nullable=False),
    Column("knowledge_base", String(200), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("overlap", Integer, nullable=False, default=0),
    Column("kind", String(10), nullable=False),
    Column("language", String(20), nullable=False),
    Column("heading_path", Text, nullable=False, default="[]"),  # JSON list
    Column("location", Text, nullable=False, default="{}"),  # JSON object, only what is set
    Column("token_count", Integer, nullable=False),
    Column("enrichment", Text, nullable=False, default="{}"),  # JSON, see chunk_record; only what is set
    # Hash of the text that was embedded; with the embedder's name it finds the vector.
    Column("vector_key", String(64), nullable=False),
    # As its document's when the chunk was written: readers are part of what makes a generation.
    Column("reader_set", String(32), nullable=False, default="", server_default=""),
    Index("chunks_by_generation", "generation", "ordinal"),
    Index("chunks_by_knowledge_base", "knowledge_base", "id"),
    Index("chunks_by_vector", "knowledge_base", "vector_key", "reader_set"),
)

# The knowledge graph, by name and by relation: live while the chunks are that tell it.
graph_names, graph_relations = graph_tables(metadata)
research_steps = research_table(metadata)
people_asks, people_replies, people_posts = people_tables(metadata)
kept_answers = kept_table(metadata)
model_results = results_table(metadata)

# Nothing is embedded twice: a vector outlives its chunk.
vectors = Table(
    "vectors",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("embedder", String(200), primary_key=True),
    Column("data", LargeBinary, nullable=False),  # float32, little-endian, L2-normalised
)

# Generations that are not live and may have left traces in chunks and indexes: being written, or replaced and not yet
# swept. Empty when nothing is under way. ``owner`` is the data directory whose process works on it.
staged = Table(
    "staged",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("generation", String(64), primary_key=True),
    Column("knowledge_base", String(200), nullable=False),
    Column("owner", String(64), nullable=False, default=""),
    Column("started_at", DateTime(timezone=True), nullable=False),
)

# In PostgreSQL: replaced generations by the revision that replaced them, for keyword indexes of other processes.
retired = Table(
    "retired",
    metadata,
    Column("generation", String(64), primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("retired_at", DateTime(timezone=True), nullable=False),
    Index("retired_by_revision", "revision"),
)

counters = Table(
    "counters",
    metadata,
    Column("name", String(50), primary_key=True),
    Column("value", BigInteger, nullable=False),
)

knowledge_bases = Table(
    "knowledge_bases",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("embedder", String(200), nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("collection", String(200), nullable=False),
    # Slots of the collection that deleted chunks left behind; they are not reused.
    Column("dead_slots", Integer, nullable=False, default=0),
)

# Per knowledge base and language, the sum of unit vectors: its length over the count tells the mean cosine of random
# pairs, by which a leg that knows nothing of a language shows itself.
vector_sums = Table(
    "vector_sums",
    metadata,
    Column("knowledge_base", String(200), primary_key=True),
    Column("language", String(20), primary_key=True),
    Column("count", Integer, nullable=False),
    # int64, little-endian, in units of 2**-40: exact, so that removing undoes adding to the last bit.
    Column("data", LargeBinary, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("cursor", Text),
    Column("last_run_at", DateTime(timezone=True)),
    Column("last_success_at", DateTime(timezone=True)),
    Column("last_error", Text, nullable=False, default=""),
    # What the cursor holds for (knowledge base, parser, chunker): under another it counts for nothing.
    Column("basis", String(64), nullable=False, default=""),
    # The deletion guard: which documents a listing missed, and since when it says so.
    Column("doubted", Text, nullable=False, default="[]"),  # JSON list of ids
    Column("doubted_since", DateTime(timezone=True)),
    # How often it has failed since its last success, the kind of the last fault (ragcore.reports.Fault), until when the
    # source asked to be left alone, and the fingerprint of the credential that it refused.
    Column("faults", Integer, nullable=False, default=0, server_default="0"),
    Column("fault", String(20), nullable=False, default="", server_default=""),
    Column("not_before", DateTime(timezone=True)),
    Column("refused", String(64), nullable=False, default="", server_default=""),
    # Until when its run is taken for alive, in seconds since 1970 by the database's own clock: renewed while it goes
    # on, 0 once it has ended. Only where another process could take it up.
    Column("lease_until", Float, nullable=False, default=0.0, server_default="0"),
    Column("lease_owner", String(32), nullable=False, default="", server_default=""),
)

failures = Table(
    "failures",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("source", String(200), nullable=False),
    Column("version", Text, nullable=False, default=""),
    Column("reason", Text, nullable=False),
    Column("mend", Text, nullable=False),
    Column("attempts", Integer, nullable=False, default=1),
    Column("failed_at", DateTime(timezone=True), nullable=False),
    Column("next_try_at", DateTime(timezone=True)),
    Index("failures_by_source", "source"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("platform", String(50), nullable=False),
    Column("workspace", String(200), nullable=False, default=""),
    Column("channel", String(200), nullable=False, default=""),
    Column("thread", String(200), nullable=False, default=""),
    Column("question", Text, nullable=False),
    Column("author", String(200), nullable=False, default=""),
    Column("answer", Text, nullable=False),
    Column("question_tokens", Integer, nullable=False),
    Column("answer_tokens", Integer, nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    # To whom it was said (a hash of the readers; empty: to the operator), and the name that chat platforms know it by.
    Column("audience", String(64), nullable=False, default="", server_default=""),
    Column("reference", String(8), nullable=False, default="", server_default=""),
    # The documents that the answer may repeat: of its prompt, and of what was recalled into it. Empty: nobody knows.
    Column("rests_on", Text, nullable=False, default="", server_default=""),  # JSON: id to passages
    # Who typed the question, as platforms name them. Empty: nobody did (a file's words, a button's), or nobody knows.
    Column("typed_by", Text, nullable=False, default="", server_default=""),
    Index("turns_by_conversation", "platform", "workspace", "channel", "thread", "id"),
    Index("turns_by_reference", "reference"),
    Index("turns_by_time", "asked_at"),
)

turn_citations = Table(
    "turn_citations",
    metadata,
    Column("turn_id", Integer, ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("marker", Integer, nullable=False, default=-1, server_default="-1"),  # n of [ID:n] in the answer
    Column("chunk_id", String(80), nullable=False),
    Column("document_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("quote", Text, nullable=False),
    Column("score", Float, nullable=False, default=0.0),
)

# What arrived from a chat platform and who answers it: one row a message (bots.turn.claims). ``owner`` and ``attempts``
# name the one who may still write to it; ``lease_until`` is in seconds since 1970 by the database's own clock.
claims = Table(
    "claims",
    metadata,
    Column("reference", String(8), primary_key=True),
    Column("platform", String(50), nullable=False),
    Column("workspace", String(200), nullable=False, default=""),
    Column("channel", String(200), nullable=False, default=""),
    Column("thread", String(200), nullable=False, default=""),
    Column("message", Text, nullable=False),
    Column("asker", Text, nullable=False),
    Column("incoming", Text, nullable=False),  # JSON
    Column("state", String(10), nullable=False),
    Column("outcome", String(20), nullable=False, default=""),
    # For whoever judges the answer: what it was, with its markers, and as a JSON list what its prompt held.
    Column("answer", Text, nullable=False, default=""),
    Column("chunks", Text, nullable=False, default="[]"),
    # The whole reply as JSON, where it stands in one message that shows a page of it; empty where it doesn't.
    Column("whole", Text, nullable=False, default=""),
    Column("merged_into", String(8), nullable=False, default=""),
    # The answered turn whose question was edited: this one answers it again, in its messages.
    Column("replaces", String(8), nullable=False, default=""),
    Column("owner", String(32), nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("attempts", Integer, nullable=False, default=1),
    Column("begun", Text, nullable=False, default=""),  # JSON
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("finished_at", DateTime(timezone=True)),
    Index("claims_by_state", "state", "platform", "lease_until"),
    Index("claims_by_message", "platform", "workspace", "channel", "message"),
    Index("claims_by_merge", "merged_into"),
    Index("claims_by_replaced", "replaces"),
    Index("claims_by_time", "created_at"),
)

# Every name under which a message may arrive again. A key goes with its claim, and may stand a moment before it.
claim_keys = Table(
    "claim_keys",
    metadata,
    Column("platform", String(50), primary_key=True),
    Column("workspace", String(200), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("reference", String(8), nullable=False),
    Index("claim_keys_by_claim", "reference"),
)

# The parts of an answer: a row is written before a part is sent, and again when the platform has taken it.
sends = Table(
    "sends",
    metadata,
    Column("reference", String(8), ForeignKey("claims.reference", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    Column("sent", Text, nullable=False, default=""),  # JSON: what is known to stand
    Column("intended_at", DateTime(timezone=True), nullable=False),
    Column("done_at", DateTime(timezone=True)),  # null: intended, and perhaps taken
)

# The answers that one person saw and shared with others: a row is written before the first part is shown to them.
shares = Table(
    "shares",
    metadata,
    Column("reference", String(8), ForeignKey("claims.reference", ondelete="CASCADE"), primary_key=True),
    Column("owner", String(32), nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("begun_at", DateTime(timezone=True), nullable=False),
    Column("done_at", DateTime(timezone=True)),  # null: begun, and perhaps shown
)

# What was said in groups of which a bot can read nothing back, in the order of hearing (bots.turn.claims.hearing).
heard = Table(
    "heard",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("platform", String(50), nullable=False),
    Column("workspace", String(200), nullable=False),
    Column("channel", String(200), nullable=False),
    Column("thread", String(200), nullable=False),
    Column("message", Text, nullable=False),
    Column("author", String(200), nullable=False),
    Column("text", Text, nullable=False),
    Column("said_at", DateTime(timezone=True), nullable=False),
    Index("heard_by_message", "platform", "workspace", "channel", "message", unique=True),
    Index("heard_by_thread", "platform", "workspace", "channel", "thread", "said_at"),
    Index("heard_by_time", "said_at"),
)

# A vote keeps a copy of what was voted on: it outlives the turn.
feedback = Table(
    "feedback",
    metadata,
    Column("reference", String(8), primary_key=True),
    Column("voter", Text, primary_key=True),
    Column("side", String(10), nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Column("platform", String(50), nullable=False, default=""),
    Column("question", Text, nullable=False, default=""),
    Column("answer", Text, nullable=False, default=""),
    Column("chunks", Text, nullable=False, default="[]"),  # JSON list, as in claims
    Column("voted_at", DateTime(timezone=True), nullable=False),
    Index("feedback_by_time", "voted_at"),
)
