"""What an answer shows once it is checked: its text, what it cites, and how it stands towards the documents. Pure."""

from dataclasses import replace

from ragcore.answer.options import AnswerOptions
from ragcore.answer.writing import Draft, under_nearest
from ragcore.citations import markers
from ragcore.citations.cite import CitedText
from ragcore.phrases import phrase
from ragcore.types import Citation, ScoredChunk, Support


def shown(
    draft: Draft, cited: CitedText, backing: CitedText | None, options: AnswerOptions, language: str
) -> tuple[str, tuple[Citation, ...], Support]:
    """Return the text, its citations, and how it stands.

    Args:
        draft: What was written.
        cited: The same, checked.
        backing: What was found, quoted, where nothing of it bears out what was written.
        options: Whether citations are shown, and what nothing bears out.
        language: Of the sentences that are set above it.
    """
    text, citations, support = cited.text, cited.citations, cited.support
    if not options.quote:
        text, citations = markers.strip(text), ()
    if draft.nearest:
        # Set above the quotes only now, so that the sentence is never given a citation.
        text, support = under_nearest(text, language), Support.NEAREST
    elif cited.support is Support.UNSUPPORTED:
        warning = phrase("unsupported", language)
        text = f"{warning}\n\n{text}" if options.unsupported == "mark" else phrase("withheld", language)
    if backing is not None:
        quoted = backing.text if options.quote else markers.strip(backing.text)
        text, support = f"{text.rstrip()}\n\n{quoted}", Support.NEAREST
        citations = backing.citations if options.quote else ()
    return text, citations, support


def read_or_cited(draft: Draft, cited: CitedText) -> tuple[ScoredChunk, ...]:
    """Return the chunks of the prompt, then the leaves of its summaries that are cited, with the best one's score."""
    leaves = {leaf.chunk.id: leaf for scored in reversed(draft.chunks) for leaf in scored.leaves}
    return (
        *(replace(scored, leaves=()) if scored.leaves else scored for scored in draft.chunks),
        *(leaves[chunk.id] for chunk in cited.beside),
    )
