"""The knowledge graph: what chunks say of things, and of how these things are related.

names     when two names mean the same thing; which names a question holds. Pure
doubtful  which names may mean the same thing though the rules leave them apart. Pure
communities  which things belong together. Pure
values    what one chunk says
walking   from the things that a question names to the relations that may answer it. Pure

A model reads a chunk's part of it out of its text (``ragcore.enrich.graph_step``); it stands with the chunk, and in two
tables that live and go with it (``ragcore.stores.graph_rows``). So there is no graph beside the documents that could
outlive them: each relation is looked up with the access of the chunk that tells it.
"""
