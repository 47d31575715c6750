"""Questions to go on with, which the documents found answer: the buttons under an answer.

They stand in what was found: the questions that a model wrote for a chunk at ingest (``auto_questions``), and headings
and entries that ask by themselves, as those of an FAQ. So they cost no call, are there with the answer, and each has a
passage that answers it, which whoever sees them may read.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, zip_longest

from ragcore.chunking.questions import is_question, plain_question
from ragcore.citations.languages import asked_in, told_by_itself
from ragcore.on_web import is_web
from ragcore.refine.replies import cleaned, is_safe, telling
from ragcore.terms import language_of
from ragcore.types import Chunk, Question, ScoredChunk

LONGEST = 75
"""Characters of a question at most: what stands whole on a button of Slack; Discord takes 80."""
MOST_READ = 40
"""Questions that are compared at most."""
SAME = 0.6
"""Two questions that share so much of the words that say something are one."""


def related(question: Question, chunks: Sequence[ScoredChunk], cited: Collection[str], *, most: int) -> tuple[str, ...]:
    """Return questions that the chunks answer and nobody has asked yet, at most so many; in the asker's language.

    Args:
        question: What was asked, and what before it in the conversation.
        chunks: Those of the prompt, the best first. A page of the web puts no words on our buttons.
        cited: Ids of chunks that the answer cites: what else they answer comes before what others do.
        most: 0: none.
    """
    if most < 1:
        return ()
    own = (one.chunk for one in chunks if not is_web(one.chunk.document_id))
    ranked = sorted(own, key=lambda chunk: chunk.id not in cited)
    # In turn: three chunks with a question each tell more than one with three.
    in_turn = chain.from_iterable(zip_longest(*(_asked_by(chunk) for chunk in ranked), fillvalue=""))
    said = [question.text, *(message.text for message in question.history if message.role == "user")]
    known = [telling(text) for text in said]
    language, script = asked_in(question.text), language_of(question.text)
    found: list[str] = []
    for text in list(dict.fromkeys(text for text in in_turn if text))[:MOST_READ]:
        words = telling(text)
        if language_of(text) != script or told_by_itself(text) not in ("", language):
            continue
        if not words or any(_share(words, other) >= SAME for other in known):
            continue
        known.append(words)
        found.append(text)
        if len(found) == most:
            break
    return tuple(found)


def _asked_by(chunk: Chunk) -> Iterator[str]:
    """Yield the questions that a chunk answers, each on one line, none longer than a button."""
    first = chunk.text.lstrip().partition("\n")[0]
    asking = [line for line in (first, *chunk.heading_path[-1:], chunk.title) if len(line) < 2 * LONGEST]
    for text in (*chunk.questions, *(line for line in asking if is_question(line))):
        line = cleaned(plain_question(text[: 4 * LONGEST]))
        if line and len(line) <= LONGEST and is_safe(line, ""):
            yield line


def _share(words: set[str], others: set[str]) -> float:
    """Return the words that both have, as a share of all, 0..1."""
    return len(words & others) / len(words | others)
