"""The chunk methods' names, each with the line that explains it in the settings; imports nothing.

The methods themselves stand in ``ragcore.chunking.METHODS``, which takes a while to import; a test holds the two equal.
"""

from collections.abc import Mapping

CHUNK_METHODS: Mapping[str, str] = {
    "naive": "each section on its own, cut within `chunk_tokens` at paragraphs, lines or sentences",
    "one": "the whole document as one chunk, for short ones; above 4,096 tokens as `naive`",
    "presentation": "a slide, or a page of a PDF, as one chunk with its notes; above 1,024 tokens as `naive`",
}
