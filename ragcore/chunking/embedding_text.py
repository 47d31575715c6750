"""What is embedded of a chunk: its place in the document, then its text."""

from collections.abc import Sequence

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00ad": ""}
)
"""What PDFs print in place of letters; an embedder takes a word with one of them for an unknown word."""


def embedding_text(title: str, heading_path: Sequence[str], text: str, embedded: str = "") -> str:
    """Return the text to embed: a line with title and headings, then the chunk's text; the quoted text stays bare.

    Where the chunk method said what is ``embedded``, it stands in place of headings and text. Typographic ligatures
    and soft hyphens are resolved. A name that the line has said already is left out, as is an empty one; white space
    within becomes one blank.
    """
    if embedded:
        heading_path, text = (), embedded
    names = [" ".join(name.split()) for name in (title, *heading_path)]
    named = [name for index, name in enumerate(names) if name and name not in names[:index]]
    line = " > ".join(named)
    whole = f"{line}\n{text.strip()}" if line else text.strip()
    return whole.translate(_LIGATURES)
