"""The most telling messages of a talk, without a model: those that say most of what it is about. Pure."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from ragcore.citations.sentences import split_sentences
from ragcore.extractive.words import content

LONGEST_QUOTE = 280
"""Characters."""
FEWEST_WORDS = 2
"""Telling words; a message with fewer ("thanks", "ok") tells nothing alone."""
_SAME = 0.6
"""Two messages that share this share of the shorter one's words say the same."""
_OUTCOME = re.compile(
    r"\b(?:decid\w*|decision|agree\w*|deadline|due|blocked|broken|fixed|done|released?|shipped|approved?|rejected|will|must|todo|action"
    r"|beschlossen|entschieden|einigen|frist|fertig|erledigt|kaputt|behoben|freigegeben|abgelehnt|werde[nt]?|muss|müssen)\b"
    r"|决定|同意|截止|完成|已解决|修复|发布|批准|拒绝|必须|需要|负责|确认",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d")


def telling(texts: Sequence[str], most: int) -> tuple[int, ...]:
    """Return which of the messages tell most, in their order; ``most`` of them at most.

    A message counts by the words that it shares with others, by outcomes and numbers in it; a long one by no more than
    a few sentences' worth, and one that repeats another by nothing.
    """
    words = [frozenset(content(text[: LONGEST_QUOTE * 4])) for text in texts]
    spread = Counter(word for one in words for word in one)
    worth = [_worth(text, held, spread, len(texts)) for text, held in zip(texts, words, strict=True)]
    chosen: list[int] = []
    for index in sorted(range(len(texts)), key=lambda index: (-worth[index], index)):
        if len(chosen) == most or worth[index] <= 0.0:
            break
        if not any(_same(words[index], words[other]) for other in chosen):
            chosen.append(index)
    return tuple(sorted(chosen))


def quoted(text: str) -> str:
    """Return the first sentences of a message as they stand, on one line, without code; its first words at least."""
    line = " ".join(re.sub(r"```.*?(?:```|\Z)", " ", text, flags=re.DOTALL).split()) or " ".join(text.split())
    line = line.lstrip("#>-*+ ")
    end = 0
    for sentence in split_sentences(line):
        if sentence.body_end > LONGEST_QUOTE:
            break
        end = sentence.body_end
    if end:
        return line[:end]
    return f"{line[: LONGEST_QUOTE - 1].rsplit(' ', 1)[0].rstrip()} …" if len(line) > LONGEST_QUOTE else line


def _worth(text: str, words: frozenset[str], spread: Counter[str], count: int) -> float:
    if len(words) < FEWEST_WORDS:
        return 0.0
    # What a few others speak of too is what it is about; what nearly all have tells none apart.
    shares = sorted((math.log1p(spread[word]) * math.log((count + 1) / spread[word]) for word in words), reverse=True)
    about = sum(shares[:12]) / math.sqrt(min(len(words), 12))
    return about * (1.0 + 0.4 * bool(_OUTCOME.search(text)) + 0.15 * bool(_DIGITS.search(text)))


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME * min(len(one), len(other))
