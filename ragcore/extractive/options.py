"""What decides how an extractive answer is chosen."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """How an extractive answer is chosen; every weight is a share of a score in 0..1."""

    sentences: int = 4
    """At most this many, with those that a leaning one brings; a row is one, and a list whose items are none."""
    sentences_near: int = 2
    """The same where none answers directly."""
    chunks: int = 5
    """Units are taken from this many of the best chunks; from the rest only rows whose very name is asked for."""
    embedded: int = 20
    """Only so many units, the best by words, are compared by meaning: what an embedder does in a fifth of a second."""
    compared: int = 8
    """Of so many units, the best by words, the single words are compared with the question's."""
    words: float = 0.6
    meaning: float = 0.4
    passage: float = 0.5
    """How much a sentence loses for standing in a passage that is worth nothing beside the best one."""
    aside: float = 0.5
    """What a word counts that only the clause has with which a sentence opens: "while a TW-200 is being repaired under
    warranty, a loan meter is sent" says nothing about the warranty of a TW-200."""
    around: float = 0.7
    """What a word of the question counts that only the title, a heading or the first sentence of the passage has: a
    passage says first what it is about, and often doesn't repeat it."""
    neighbour: float = 0.12
    """A sentence beside a good one gains: an answer often goes on in the next sentence. Table rows don't go on."""
    inherited: float = 0.5
    """A sentence that opens with a pronoun speaks of what the one before it names, so it inherits of its score."""
    identifier: float = 2.0
    """How much more a code, version or file name of the question weighs than a word as rare."""
    named: float = 0.1
    """A table's row whose whole name is asked for gains: of a TW-200 the row ``TW-200`` tells more than the row of what
    fits it or is done to it."""
    expected: float = 0.15
    """A question for a time, a price, a reason is answered by a sentence that holds one."""
    share_of_best: float = 0.6
    """A further sentence must score at least this share of the best, and hold words of the question that lack yet."""
    adds: float = 0.15
    """Which share of the question, by weight, a further sentence must add."""
    share_of_missing: float = 0.35
    """A sentence that holds a kind of answer which was asked for and lacks yet must score this share of the best."""
    share_of_step: float = 0.2
    """The same for the next step, where the question is how to do something."""
    share_of_step_before: float = 0.5
    """The same for the step before: what comes first is told when it speaks of the matter, too."""
    share_elsewhere: float = 0.9
    """The same for one of another passage: it has to say something of its own, not only sound alike."""
    alike: float = 0.97
    """A row that scores this share of the best and holds the same words of the question is an answer as good."""
    alike_selected: float = 0.8
    """The same where the question asks which ones: all that are so, named in whatever words."""
    as_good: float = 0.8
    """A sentence of the same paragraph that scores this share of the best is an answer as good, if it is as near in
    meaning: a rule beside its special case, which may repeat more words of the question."""
    as_near: float = 0.05
    """How much farther in meaning it may be, in cosine."""
    repeated: float = 0.7
    """A sentence that shares this many of its words with a chosen one says nothing new."""
    met: float = 0.6
    """How far a statement must hold a word of the question for it to be met: words of like meaning count."""
    words_a_spare: int = 5
    """For each so many telling words of a question a direct answer may lack one that is no name and no number: long
    questions tell more than what they ask. When chosen, on 40 questions of half 0 of each set of benchmarks.answers: 21
    more answered directly from a right document than without it, and 9 more with its source taken away; with 4, three
    questions of benchmarks.own_questions were answered that have no answer."""
    enough_near: float = 0.4
    """Which share of the question's telling words a statement must hold to be shown as near to what is asked."""
    enough_near_alone: float = 0.5
    """The same where neither the relevance of its passage nor its meaning speaks for it."""
    some_near: float = 0.25
    """The same where its meaning is near, too."""
    felt_near: float = 0.45
    """From this cosine with the question on, a statement is near to it in meaning."""
    felt_at_all: float = 0.3
    """Below this one it is far from it, whatever words it shares: a meeting room isn't the room of a laboratory."""
    known_languages: frozenset[str] | None = frozenset({"en"})
    """Those in which the embedder can compare; None: all."""
