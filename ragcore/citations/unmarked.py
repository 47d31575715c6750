"""Text of a document or a page in which nothing can be taken for a citation. Pure."""

from ragcore.citations import markers

_ANY_CHUNKS = 1_000
"""More than stand in any prompt."""
_MOST_ROUNDS = 8
_NO_BRACKETS = str.maketrans(dict.fromkeys("[]［］【】〔〕〖〗()（）", " "))


def unmarked(text: str) -> str:
    """Return a text with nothing in it that an answer could take for a citation.

    Quoted or repeated, it would lend its claims the name of a document that says something like it. So do reference
    numbers, whose list stands elsewhere in the text.
    """
    for _ in range(_MOST_ROUNDS):
        # Of so many chunks, each number that stands as a citation is one.
        plain = markers.strip(markers.repair(text, _ANY_CHUNKS))
        if plain == text:
            return text
        text = plain
    return text.translate(_NO_BRACKETS)  # nested on purpose
