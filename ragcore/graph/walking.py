"""From the things that a question names to what chunks say of them, the likeliest to answer it first. Pure.

RAGFlow walks the graph from what a model says the question is about, and lets what lies i steps away count 1/(2+i). The
steps count the same here. Where to begin the question's own words say, and of what lies at hand its other words tell
what was asked for: "who founded it" is no matter of all that is known of a company.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragcore.citations.evidence import content_terms
from ragcore.graph.values import HEAVIEST

_NAMED_BOTH = 1.0
_NAMED_ALONE = 0.4
"""What a word about a named thing itself counts: a little less than a relation of it."""
_ASKED = 2.0
"""How much more a line counts that has all of the question's other words."""
_BRIDGE = 2.0
"""How much more a relation counts whose other end two named things lead to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a chunk says of a thing by itself; ``key`` is that of its name."""

    chunk_id: str
    key: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What a chunk says of two things, the keys of their names; ``weight`` is 1 to 10."""

    chunk_id: str
    source: str
    target: str
    said: str
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What lies around the things that a question names.

    ``same`` has by each key the one of the question that means the same thing. ``near`` are the relations of these
    things, ``far`` those of what they lead to, ``names`` what is said of them by themselves.
    """

    same: Mapping[str, str]
    names: Sequence[Named] = ()
    near: Sequence[Related] = ()
    far: Sequence[Related] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line for a prompt, the chunk that it rests on, and how likely it is to answer.

    ``is_asked``: it has a word of the question beside the names, or joins two things that the question names.
    """

    chunk_id: str
    said: str
    score: float
    is_asked: bool


def lines_of(around: Around, question: str) -> list[Line]:
    """Return what may answer a question, the likeliest first; of what lies two steps away only what was asked for."""
    wanted = _words(question) - frozenset[str]().union(*map(_words, around.same))
    bridges = _bridges(around)
    found: dict[tuple[str, str], Line] = {}

    def add(chunk_id: str, said: str, score: float, *, joins: bool = False, needs_words: bool = False) -> None:
        share = len(wanted & _words(said)) / len(wanted) if wanted else 0.0
        if share or not needs_words:
            line = Line(chunk_id=chunk_id, said=said, score=score * (1 + _ASKED * share), is_asked=joins or share > 0)
            found.setdefault((chunk_id, said), line)

    for one in (*around.near, *around.far):
        ends = {around.same.get(one.source, ""), around.same.get(one.target, "")}
        named = len(ends - {""})
        # One that lies i steps from what is named counts 1/(2+i).
        score = _NAMED_BOTH if named == 2 else 1 / 2 if named else 1 / 3
        if bridges & {one.source, one.target}:
            score *= _BRIDGE
        score *= (HEAVIEST + one.weight) / (2 * HEAVIEST)  # halved at most: models weigh as they please
        add(one.chunk_id, one.said, score, joins=named == 2, needs_words=not named)
    for name in around.names:
        if name.said:
            add(name.chunk_id, name.said, _NAMED_ALONE)
    return sorted(found.values(), key=lambda line: (-line.score, line.chunk_id, line.said))


def ends_beyond(relations: Iterable[Related], same: Mapping[str, str], most: int) -> list[str]:
    """Return the keys that relations lead to from named things: where several lead first, then by their weights."""
    weights: dict[str, tuple[set[str], int]] = {}
    for one in relations:
        for here, there in ((one.source, one.target), (one.target, one.source)):
            if here in same and there not in same:
                leads, weight = weights.get(there, (set(), 0))
                weights[there] = (leads | {same[here]}, max(weight, one.weight))
    return sorted(weights, key=lambda key: (-len(weights[key][0]), -weights[key][1], key))[:most]


def _bridges(around: Around) -> frozenset[str]:
    """Return what several of the things that are named lead to."""
    leads: dict[str, set[str]] = {}
    for one in around.near:
        for here, there in ((one.source, one.target), (one.target, one.source)):
            if here in around.same and there not in around.same:
                leads.setdefault(there, set()).add(around.same[here])
    return frozenset(key for key, named in leads.items() if len(named) > 1)


def _words(text: str) -> frozenset[str]:
    return frozenset(term.text for term in content_terms(text))
