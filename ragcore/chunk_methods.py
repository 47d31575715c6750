"""The chunk methods' names, each with the line that explains it in the settings, and the usual size; imports nothing.

The methods themselves stand in ``ragcore.chunking.METHODS``, which takes a while to import; a test holds the two equal.
"""

from collections.abc import Mapping

CHUNK_METHODS: Mapping[str, str] = {
    "naive": "each section on its own, cut within `chunk_tokens` at paragraphs, lines or sentences",
    "book": "as `naive`, under the chapters of a table of contents, or of lines such as `Chapter 3` and `第三章`",
    "email": "each mail under its sender and date; a quote is left out, or apart if no mail before has it",
    "laws": "an article as one chunk under its part, chapter and section, Chinese or English; a long one at clauses",
    "manual": "as `naive`, under numbered headings that have no markup: `1`, `1.1`, `一、`, `（一）`, `第一章`",
    "one": "the whole document as one chunk, for short ones; above 4,096 tokens as `naive`",
    "paper": "as `naive`, under a paper's sections: an abstract of up to 512 tokens whole, references apart; tells its "
    "authors where they are plain to see and nothing else tells them",
    "picture": "a picture, or a scanned page, as one chunk: a model's description and its words; long ones as `naive`; "
    "a source takes pictures where its `include` names them",
    "presentation": "a slide, or a page of a PDF, as one chunk with its notes; above 1,024 tokens as `naive`",
    "qa": "each question with its answer (rows, headings, marked text) as one chunk; the rest as `naive`",
    "table": "rows always with their header, up to 4 times `chunk_tokens` for a long row; the rest as `naive`",
    "tag": "a tag set: a chunk a row, a text and its comma-separated tags; the rest as `naive`",
}

CHUNK_TOKENS = 160
"""The most that a chunk holds where nothing else is set: what measured best of 112 to 256 (`benchmarks.chunking`)."""
