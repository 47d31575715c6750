"""What lies around the names of a question comes in the order in which it is likely to answer."""

from hypothesis import given
from hypothesis import strategies as st

from ragcore.graph.walking import Around, Line, Named, Related, ends_beyond, lines_of

SAME = {"acme": "acme", "ann": "ann"}


def related(source: str, target: str, said: str, weight: int = 5, chunk: str = "") -> Related:
    return Related(chunk_id=chunk or said, source=source, target=target, said=said, weight=weight)


def said(lines: list[Line]) -> list[str]:
    return [line.said for line in lines]


FOUNDED = related("ann", "acme", "Ann founded Acme", 2)
SELLS = related("acme", "widget", "Acme sells widgets", 9)
BASED = related("berlin", "acme", "Acme is based in Berlin", 1)
MAYOR = related("bob", "berlin", "Bob governs Berlin as its mayor", 5)
RIVER = related("berlin", "spree", "Berlin lies at a river", 10)


def test_what_was_asked_for_comes_first() -> None:
    around = Around(same={"acme": "acme"}, near=[SELLS, BASED, FOUNDED])
    assert said(lines_of(around, "Who founded Acme?"))[0] == "Ann founded Acme"
    assert said(lines_of(around, "Where is Acme based?"))[0] == "Acme is based in Berlin"
    assert said(lines_of(around, "Tell me of Acme")) == [
        "Acme sells widgets",
        "Ann founded Acme",
        "Acme is based in Berlin",
    ]


def test_two_steps_away_counts_what_was_asked_for_alone() -> None:
    around = Around(same={"acme": "acme"}, near=[BASED], far=[MAYOR, RIVER])
    lines = lines_of(around, "Who is the mayor where Acme is based?")
    assert said(lines) == ["Acme is based in Berlin", "Bob governs Berlin as its mayor"]
    assert all(line.is_asked for line in lines)
    assert said(lines_of(around, "Acme?")) == ["Acme is based in Berlin"]


def test_what_joins_two_named_things_comes_before_what_speaks_of_one() -> None:
    around = Around(same=SAME, near=[SELLS, FOUNDED], names=[Named(chunk_id="n", key="ann", said="Ann: a person")])
    lines = lines_of(around, "Ann and Acme?")
    assert said(lines) == ["Ann founded Acme", "Acme sells widgets", "Ann: a person"]
    assert [line.is_asked for line in lines] == [True, False, False]


def test_what_two_named_things_lead_to_counts_more() -> None:
    lives = related("ann", "berlin", "Ann lives in Berlin", 1)
    around = Around(same=SAME, near=[SELLS, lives, BASED])
    assert set(said(lines_of(around, "Ann, Acme?"))[:2]) == {"Ann lives in Berlin", "Acme is based in Berlin"}
    assert ends_beyond(around.near, SAME, 2) == ["berlin", "widget"]
    assert ends_beyond(around.near, SAME, 1) == ["berlin"]


def test_another_name_of_the_same_thing_is_no_end_beyond() -> None:
    same = {"who": "who", "world health organization": "who"}
    relation = related("who", "world health organization", "WHO is the World Health Organization")
    assert ends_beyond([relation, related("world health organization", "acme", "x")], same, 9) == ["acme"]
    assert not lines_of(Around(same=same, near=[relation]), "What is the WHO?")[0].is_asked


_KEYS = st.sampled_from(["acme", "ann", "berlin", "bob", "widget"])
_SAID = st.sampled_from(["Ann founded Acme", "Acme sells", "", "Berlin lies", "the mayor of it", "柏林"])
_RELATED = st.builds(related, _KEYS, _KEYS, _SAID, st.integers(1, 10), st.sampled_from(["c1", "c2", "c3"]))


@given(
    near=st.lists(_RELATED, max_size=8),
    far=st.lists(_RELATED, max_size=8),
    question=st.sampled_from(["Who founded Acme?", "Ann", "", "mayor of Berlin, where Acme lies", "柏林"]),
    rng=st.randoms(use_true_random=False),
)
def test_lines_are_those_that_were_given_in_one_order(
    near: list[Related], far: list[Related], question: str, rng: "object"
) -> None:
    names = [Named(chunk_id="c9", key="acme", said="Acme (company): sells")]
    lines = lines_of(Around(same=SAME, names=names, near=near, far=far), question)
    given_lines = {(one.chunk_id, one.said) for one in (*near, *far, *names)}
    assert {(line.chunk_id, line.said) for line in lines} <= given_lines
    assert len({(line.chunk_id, line.said) for line in lines}) == len(lines)
    assert [line.score for line in lines] == sorted((line.score for line in lines), reverse=True)
    assert all(line.score > 0 for line in lines)
    mixed = list(near)
    rng.shuffle(mixed)  # type: ignore[attr-defined]
    unique = len({(one.chunk_id, one.said) for one in (*near, *far)}) == len(near) + len(far)
    if unique:
        assert lines_of(Around(same=SAME, names=names, near=mixed, far=far), question) == lines
