"""How much of a trace somebody may read who asks why an answer came about. Pure."""

from collections.abc import Collection
from dataclasses import replace

from ragcore.trace import Call, Passage, Search, Trace, WebSearched

HELD_BY_DOCUMENTS = frozenset({"answer", "cite", "rerank", "rewrite", "contents"})
"""Tasks whose prompts hold nothing but the question, the conversation and the documents that a trace names. That of
any other may hold more, such as the values of what is known of documents ("filter")."""


def as_read(trace: Trace, open_documents: Collection[str], *, covers: bool) -> Trace:
    """Return as much of a trace as somebody may read.

    A passage of a document that they may not read stays as one that is hidden. What models were told, and what was
    made of it, is shown where nothing that it may repeat is hidden.

    Args:
        trace: Of any answer.
        open_documents: Those of ``trace.documents`` that they may read now.
        covers: They may read whatever those may to whom the answer was given.
    """
    closed = trace.documents - frozenset(open_documents)
    if covers and not closed:
        return trace

    def passage(one: Passage) -> Passage:
        return Passage(fate=one.fate, hidden=True) if {one.document_id, *one.rests_on} & closed else one

    def call(one: Call) -> Call:
        if not closed and one.task in HELD_BY_DOCUMENTS:
            return one
        return replace(one, messages=(), reply="", hidden=True)

    def search(one: Search) -> Search:
        # What was drawn from the question may name values of any document; what it was put in, earlier answers.
        told = replace(one, filters=(), document_ids=(), passages=tuple(map(passage, one.passages)))
        return replace(told, text="", beside=()) if closed else told

    return replace(
        trace,
        rests_on=frozenset(),
        searches=tuple(map(search, trace.searches)),
        web=tuple(WebSearched(query="", engine=one.engine, hidden=True) if closed else one for one in trace.web),
        read=tuple(map(passage, trace.read)),
        calls=tuple(map(call, trace.calls)),
        hidden=len(closed),
    )
