"""The chunk methods' names, each with the line that explains it in the settings; imports nothing.

The methods themselves stand in ``ragcore.chunking.METHODS``, which takes a while to import; a test holds the two equal.
"""

from collections.abc import Mapping

CHUNK_METHODS: Mapping[str, str] = {
    "naive": "each section on its own, cut within `chunk_tokens` at paragraphs, lines or sentences",
}
